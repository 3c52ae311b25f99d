// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code quorate heal}: has a node's server get a copy of tables from another one. */
@Command(
        name = "heal",
        description = {
            "Has the node at --http get a copy of these tables, and of those that foreign keys tie to them, from"
                    + " another node. What it has of them goes; the rest of its data stays. Its clients can't connect"
                    + " until it is level again. A node that is found to differ does this by itself.",
            "quorate transfer show says how far it is."
        },
        mixinStandardHelpOptions = true)
final class HealCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private NodeAddress nodes;

    @Parameters(paramLabel = "SCHEMA.TABLE", arity = "1..*", description = "the tables")
    private List<String> tables;

    @Override
    public Integer call() {
        String host = nodes.only("get the copy");
        NodeAddress.post(host, "/actuator/heal", Map.of("tables", String.join(",", tables)));
        spec.commandLine().getOut().println("it begins; quorate transfer show --http " + host);
        return 0;
    }
}
