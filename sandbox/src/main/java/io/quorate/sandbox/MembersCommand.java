// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code quorate members}, {@code quorate join} and {@code quorate leave}. */
@Command(
        name = "members",
        description = "Who is a member of the cluster, where, and how far.",
        mixinStandardHelpOptions = true)
final class MembersCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Mixin
    private NodeAddress node;

    @Override
    public void run() {
        String body = node.ask("/actuator/members");
        var out = spec.commandLine().getOut();
        if (node.json()) {
            out.println(body);
            return;
        }
        String format = "%-8s %-22s %-12s %10s %10s %9s %8s%n";
        out.printf(format, "member", "address", "state", "ordered", "applied", "applied/s", "queue");
        for (JsonNode m : JsonMapper.shared().readTree(body).path("members")) {
            out.printf(
                    format,
                    m.path("name").asString() + (m.path("leader").asBoolean() ? "*" : ""),
                    m.path("address").asString(),
                    m.path("state").asString(),
                    text(m.path("ordered")),
                    text(m.path("applied")),
                    text(m.path("appliedPerSecond")),
                    text(m.path("queue")) + (m.path("desynced").asBoolean() ? " desynced" : ""));
            if (m.path("cause").isString()) {
                out.println("         " + m.path("cause").asString());
            }
            if (m.path("canReturnForSeconds").isNumber()) {
                out.println("         " + returns(m.path("canReturnForSeconds").asLong()));
            }
        }
        out.println("* leads");
    }

    private static String returns(long seconds) {
        return seconds < 0
                ? "can come back by a transfer: nothing is being written"
                : seconds == 0
                        ? "is away for too long: it needs a full copy"
                        : "can come back by a transfer for " + seconds / 60 + " min more, at the present rate";
    }

    private static String text(JsonNode value) {
        return value.isNumber() ? Long.toString(value.asLong()) : "-";
    }

    /** Takes a member out. */
    @Command(
            name = "leave",
            description = "Takes a member out of the cluster, which goes on without it. Its data stays where it is.",
            mixinStandardHelpOptions = true)
    static final class Leave implements Callable<Integer> {
        @Mixin
        private NodeAddress node;

        @Parameters(paramLabel = "NODE", description = "the member's name")
        private String member;

        @Override
        public Integer call() {
            NodeAddress.change(node.all().get(0), Map.of("action", "leave", "member", member));
            return 0;
        }
    }

    /** Takes a node out of what others wait for. */
    @Command(
            name = "desync",
            description = "Has nobody wait for a node, however far behind it is: for a backup, say.",
            mixinStandardHelpOptions = true)
    static final class Desync implements Callable<Integer> {
        @Mixin
        private NodeAddress node;

        @Override
        public Integer call() {
            NodeAddress.change(node.all().get(0), Map.of("action", "desync"));
            return 0;
        }
    }

    /** Counts it again. */
    @Command(name = "resync", description = "Ends what desync began.", mixinStandardHelpOptions = true)
    static final class Resync implements Callable<Integer> {
        @Mixin
        private NodeAddress node;

        @Override
        public Integer call() {
            NodeAddress.change(node.all().get(0), Map.of("action", "resync"));
            return 0;
        }
    }

    /** Makes a node a member again. */
    @Command(
            name = "join",
            description =
                    "Has a node that was taken out ask to be a member again. A new node asks by itself when it starts.",
            mixinStandardHelpOptions = true)
    static final class Join implements Callable<Integer> {
        @Mixin
        private NodeAddress node;

        @Override
        public Integer call() {
            NodeAddress.change(node.all().get(0), Map.of("action", "join"));
            return 0;
        }
    }
}
