// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import io.quorate.core.answer.MembersAnswer;
import io.quorate.core.answer.MembersAnswer.Member;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code quorate members} and the commands that change something about them. */
@Command(
        name = "members",
        description = "Shows the members of the cluster: their addresses, states, and how far each is.",
        mixinStandardHelpOptions = true)
final class MembersCommand implements Runnable {
    /** Every commit waits for a round of the order; that is nothing to be told of. */
    private static final long WAITING_MILLIS_SHOWN = 1000;

    private static final String FORMAT = "%-8s %-22s %-12s %10s %10s %9s %8s %9s%s%n";

    @Spec
    private CommandSpec spec;

    @Mixin
    private NodeAddress node;

    @Override
    public void run() {
        String body = node.first().ask(Membership.PATH);
        PrintWriter out = spec.commandLine().getOut();
        if (node.json()) {
            out.println(body);
            return;
        }
        out.printf(FORMAT, "member", "address", "state", "ordered", "applied", "applied/s", "queue", "behind", "");
        MembersAnswer answer = Answers.read(body, MembersAnswer.class);
        answer.members().forEach(member -> print(out, member));
        out.println("* leads");
        answer.advice().forEach(out::println);
    }

    private static void print(PrintWriter out, Member m) {
        out.printf(
                FORMAT,
                m.name() + (m.leader() ? "*" : ""),
                m.address(),
                m.state(),
                orDash(m.ordered()),
                orDash(m.applied()),
                orDash(m.appliedPerSecond()),
                orDash(m.queue()),
                m.lagMillis() == null ? "-" : m.lagMillis() + " ms",
                m.desynced() ? " desynced" : "");
        if (m.cause() != null) {
            out.println("         " + m.cause());
        }
        if (m.slowedFor() != null) {
            out.println("         its clients are slowed for " + m.slowedFor());
        }
        if (m.leftBehind()) {
            out.println("         was too far behind for too long: nobody waits for it until it is level");
        }
        if (m.waitingMillis() != null && m.waitingMillis() >= WAITING_MILLIS_SHOWN) {
            out.println("         " + m.waitingCommits() + " commits wait for their verdict, the first for "
                    + m.waitingMillis() / 1000 + " s");
        }
        if (m.canReturnForSeconds() != null) {
            out.println("         " + returns(m.canReturnForSeconds()));
        }
    }

    private static String returns(long seconds) {
        if (seconds < 0) {
            return "can come back by a transfer: nothing is being written";
        }
        if (seconds == 0) {
            return "is away for too long: it needs a full copy";
        }
        return "can come back by a transfer for " + seconds / 60 + " min more, at the present rate";
    }

    private static String orDash(Long value) {
        return value == null ? "-" : Long.toString(value);
    }

    /** Asks any node for something about a member. */
    abstract static class OfMember implements Callable<Integer> {
        @Mixin
        private NodeAddress node;

        @Parameters(paramLabel = "NODE", description = "the node's name")
        private String member;

        abstract void ask(AskedNode host, String member);

        @Override
        public Integer call() {
            ask(node.first(), member);
            return 0;
        }
    }

    /** Lets a node become a member. */
    @Command(
            name = "admit",
            description = "Lets a node that is no member ask to be one, once and within two days. Needed where nodes"
                    + " have certificates (quorate.tls.bundle), of which the node needs one too (quorate certs issue).",
            mixinStandardHelpOptions = true)
    static final class Admit extends OfMember {
        @Override
        void ask(AskedNode host, String member) {
            Membership.admit(host, member);
        }
    }

    /** Takes a member out. */
    @Command(
            name = "leave",
            description = "Takes a member out of the cluster, which goes on without it. Its data stays where it is.",
            mixinStandardHelpOptions = true)
    static final class Leave extends OfMember {
        @Override
        void ask(AskedNode host, String member) {
            Membership.leave(host, member);
        }
    }

    /** Has a member lead. */
    @Command(
            name = "lead",
            description = "Has a member lead the cluster. What is written at the leader's server is ordered after one"
                    + " round trip to the others, what is written elsewhere after two, so it should be the node with"
                    + " most writers.",
            mixinStandardHelpOptions = true)
    static final class Lead extends OfMember {
        @Override
        void ask(AskedNode host, String member) {
            Membership.lead(host, member);
        }
    }

    /** Excludes a node from those that others wait for. */
    @Command(
            name = "desync",
            description =
                    "Keeps the others from waiting for a node, however far behind it is, for example during a backup.",
            mixinStandardHelpOptions = true)
    static final class Desync implements Callable<Integer> {
        @Mixin
        private NodeAddress node;

        @Override
        public Integer call() {
            Membership.change(node.first(), "desync");
            return 0;
        }
    }

    /** Includes it again. */
    @Command(name = "resync", description = "Ends what desync began.", mixinStandardHelpOptions = true)
    static final class Resync implements Callable<Integer> {
        @Mixin
        private NodeAddress node;

        @Override
        public Integer call() {
            Membership.change(node.first(), "resync");
            return 0;
        }
    }

    /** Makes a node a member again. */
    @Command(
            name = "join",
            description = "Makes a node that was taken out ask to be a member again. A new node asks by itself when"
                    + " it starts.",
            mixinStandardHelpOptions = true)
    static final class Join implements Callable<Integer> {
        @Mixin
        private NodeAddress node;

        @Override
        public Integer call() {
            Membership.change(node.first(), "join");
            return 0;
        }
    }
}
