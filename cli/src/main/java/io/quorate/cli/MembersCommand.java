// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import io.quorate.core.answer.MembersAnswer;
import io.quorate.core.answer.NodeStatus;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code quorate members} and the commands that change something about them. */
@Command(
        name = "members",
        description = "Shows the members of the cluster: their addresses, states, and how far each is.",
        mixinStandardHelpOptions = true)
final class MembersCommand implements Runnable {
    private static final int LOOKS = 20;
    private static final int LOOK_MILLIS = 250;

    @Spec
    private CommandSpec spec;

    @Mixin
    private NodeAddress node;

    @Override
    public void run() {
        AskedMembers asked = AskedMembers.of(node);
        PrintWriter out = spec.commandLine().getOut();
        if (node.json()) {
            out.println(asked.body());
            return;
        }
        MembersTable.print(out, asked.answer());
    }

    private static boolean isMember(MembersAnswer now, String name) {
        return now.members().stream().anyMatch(member -> member.name().equals(name));
    }

    private static void tell(CommandSpec spec, NodeAddress node, String what) {
        if (!node.json()) {
            spec.commandLine().getOut().println(what);
        }
    }

    /**
     * Asks any node for something about a member; then reads the members again, and says what is: a change may be made
     * though its answer was lost, and may have ended more than somebody wanted.
     */
    abstract static class OfMember implements Callable<Integer> {
        @Spec
        private CommandSpec spec;

        @Mixin
        private NodeAddress node;

        @Parameters(paramLabel = "NODE", description = "the node's name")
        private String member;

        /** @throws CommandException with the node's own words when it refuses */
        abstract void ask(AskedNode host, String member);

        /** What has come of it, for people; null where it hasn't. */
        abstract String done(MembersAnswer now, String member);

        @Override
        public Integer call() throws InterruptedException {
            AskedNode host = node.first();
            RuntimeException failed = null;
            try {
                ask(host, member);
            } catch (CommandException | UncheckedIOException e) {
                failed = e;
            }
            String done = null;
            try {
                // Who is asked may hear of it a moment later.
                AskedMembers now = AskedMembers.of(node);
                for (int look = 0; failed == null && done(now.answer(), member) == null && look < LOOKS; look++) {
                    TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
                    now = AskedMembers.of(node);
                }
                // A node that refuses has changed nothing; one that doesn't answer may have.
                done = failed instanceof CommandException ? null : done(now.answer(), member);
                tell(spec, node, (done == null ? names(now.answer()) : done) + "\n" + now.sentence());
            } catch (CommandException | UncheckedIOException e) {
                failed = failed == null ? e : failed;
            }
            if (failed != null) {
                throw failed;
            }
            return done == null ? 1 : 0;
        }

        private static String names(MembersAnswer now) {
            return "the members are "
                    + now.members().stream()
                            .map(m -> m.name() + (m.leader() ? ", which leads" : ""))
                            .collect(Collectors.joining(", "));
        }
    }

    /** Asks a node for something about itself, which has to be named where there are several. */
    abstract static class OfNode implements Callable<Integer> {
        @Spec
        private CommandSpec spec;

        @Mixin
        private NodeAddress node;

        private final String purpose;
        private final String action;
        private final String done;

        /** @param done what has come of it, for people */
        OfNode(String purpose, String action, String done) {
            this.purpose = purpose;
            this.action = action;
            this.done = done;
        }

        @Override
        public Integer call() {
            Membership.change(node.only(purpose), action);
            tell(spec, node, done);
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

        @Override
        String done(MembersAnswer now, String member) {
            return member + " may ask to be a member, once, within two days";
        }
    }

    /** Takes a member out. */
    @Command(
            name = "leave",
            description = "Takes a member out of the cluster, which goes on without it. Its data stays where it is.",
            mixinStandardHelpOptions = true)
    static final class Leave extends OfMember {
        @Option(names = "--force", description = "also where nobody could write without it")
        private boolean force;

        @Override
        void ask(AskedNode host, String member) {
            Membership.leave(host, member, force);
        }

        @Override
        String done(MembersAnswer now, String member) {
            return isMember(now, member) ? null : member + " is no member any more; its data stays where it is";
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

        @Override
        String done(MembersAnswer now, String member) {
            return member.equals(now.leader()) ? member + " leads" : null;
        }
    }

    /** Excludes a node from those that others wait for. */
    @Command(
            name = "desync",
            description =
                    "Keeps the others from waiting for a node, however far behind it is, for example during a backup.",
            mixinStandardHelpOptions = true)
    static final class Desync extends OfNode {
        Desync() {
            super("be left behind", "desync", "the others don't wait for it any more, until quorate resync");
        }
    }

    /** Includes it again. */
    @Command(name = "resync", description = "Ends what desync began.", mixinStandardHelpOptions = true)
    static final class Resync extends OfNode {
        Resync() {
            super("count again", "resync", "the others wait for it again, where it falls behind");
        }
    }

    /** Makes a node a member again. */
    @Command(
            name = "join",
            description = {
                "Makes a node that was taken out ask to be a member again. Where nodes have certificates, it has to be"
                        + " admitted at a member first (quorate admit). A new node asks by itself when it starts.",
                "Exit status 0: it is a member; 1: refused; 2: it isn't one yet, and goes on asking."
            },
            mixinStandardHelpOptions = true)
    static final class Join implements Callable<Integer> {
        private static final int NOT_YET = 2;

        @Spec
        private CommandSpec spec;

        @Mixin
        private NodeAddress node;

        @Option(
                names = "--wait",
                paramLabel = "SECONDS",
                defaultValue = "20",
                description = "waits that long until it is a member; 20 by default")
        private int seconds;

        @Override
        public Integer call() throws InterruptedException {
            AskedNode host = node.only("join");
            Membership.change(host, "join");
            long began = System.nanoTime();
            NodeStatus self = self(host);
            while (!isIn(host, self) && System.nanoTime() - began < TimeUnit.SECONDS.toNanos(seconds)) {
                TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
                self = self(host);
            }
            boolean in = isIn(host, self);
            tell(
                    spec,
                    node,
                    self.name()
                            + (in ? " is a member and " : " asks, and is NO MEMBER YET: it is ")
                            + self.state()
                            + (self.reason().isEmpty() ? "" : ", " + self.reason()));
            return in ? 0 : NOT_YET;
        }

        private static NodeStatus self(AskedNode host) {
            return Answers.read(host.askState("/actuator/cluster/self"), NodeStatus.class);
        }

        private static boolean isIn(AskedNode host, NodeStatus self) {
            return isMember(Answers.read(host.askState(Membership.PATH), MembersAnswer.class), self.name())
                    && self.primaryComponent();
        }
    }
}
