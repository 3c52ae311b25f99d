// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code quorate heal}: has a node's server get a copy of tables from another one. */
@Command(
        name = "heal",
        description = {
            "Has the node at --http get a copy of these tables, and of those that foreign keys tie to them, from"
                    + " another node. What it has of them goes; the rest stays. Its clients can't connect"
                    + " until it is level again. A node that is found to differ does this by itself, unless most"
                    + " others lack what it lacks.",
            "quorate transfer show says how far it is.",
            "With --trust it is the other way round: the tables in which the node at --http differs are right as they"
                    + " are, and all other nodes get copies of them. That is the way out where the servers of all"
                    + " nodes differ at one time, so that none can give a copy, and where the others are wrong. What"
                    + " other nodes' clients wrote to these tables, and this server couldn't take, is lost; its log"
                    + " names it. A transaction that it couldn't take counts with all its tables, so naming the one"
                    + " that differs may save rows."
        },
        mixinStandardHelpOptions = true)
final class HealCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private NodeAddress nodes;

    @Parameters(paramLabel = "SCHEMA.TABLE", arity = "0..*", description = "the tables")
    private List<String> tables = List.of();

    @Option(
            names = "--trust",
            description = "this node's tables are right; without names, all in which it is known to differ")
    private boolean trust;

    @Override
    public Integer call() {
        if (tables.isEmpty() && !trust) {
            throw new ParameterException(spec.commandLine(), "name tables");
        }
        AskedNode host = nodes.only(trust ? "be the one whose tables are right" : "get the copy");
        Map<String, String> body = new HashMap<>();
        if (!tables.isEmpty()) {
            body.put("tables", String.join(",", tables));
        }
        if (trust) {
            body.put("trust", "true");
        }
        host.post("/actuator/heal", body);
        spec.commandLine().getOut().println("it begins; quorate transfer show --http " + host);
        return 0;
    }
}
