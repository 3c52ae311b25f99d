// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import io.quorate.cli.OperatorCommands;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import picocli.CommandLine.Command;

/** {@code quorate ddl}, as an operator gives it. */
final class OrderedFirst {
    @Command(name = "test")
    private static final class Root {}

    /** What the command said, and its exit code. */
    record Said(int code, String text) {}

    private OrderedFirst() {}

    static Said ddl(Cluster cluster, int node, String schema, String statement) {
        StringWriter text = new StringWriter();
        int code = OperatorCommands.added(
                        new Root(), directory -> List.of(cluster.node(node).asked()))
                .setExecutionExceptionHandler((failure, command, parsed) -> {
                    command.getErr().println(failure);
                    return 9;
                })
                .setOut(new PrintWriter(text, true))
                .setErr(new PrintWriter(text, true))
                .execute("ddl", "--schema", schema, statement);
        return new Said(code, text.toString());
    }
}
