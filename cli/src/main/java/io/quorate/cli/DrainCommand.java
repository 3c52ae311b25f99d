// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code quorate drain}: empties a node's server of clients, before mysqld is stopped. */
@Command(
        name = "drain",
        description = {
            "Disconnects the clients of the server at --http, lets none connect, and waits until everything that they"
                    + " committed is decided. After that mysqld may be stopped. Without this, an orderly stop of mysqld"
                    + " tells those OK who still wait for the order (commit-mode after-sync).",
            "It ends by itself when mysqld starts again, or with --end."
        },
        mixinStandardHelpOptions = true)
final class DrainCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private NodeAddress nodes;

    @Option(names = "--end", description = "let clients connect again")
    private boolean end;

    @Option(names = "--force", description = "also where no other server is open to clients: then nobody can write")
    private boolean force;

    @Override
    public Integer call() {
        AskedNode host = nodes.only("be drained");
        if (end) {
            Draining.end(host);
            spec.commandLine().getOut().println("clients can connect again");
        } else {
            Draining.drain(host, force);
            spec.commandLine().getOut().println("drained: mysqld may be stopped");
        }
        return 0;
    }
}
