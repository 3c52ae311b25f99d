// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

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

    private static void tell(CommandSpec spec, NodeAddress node, String what) {
        if (!node.json()) {
            spec.commandLine().getOut().println(what);
        }
    }

    /** Asks any node for something about a member. */
    abstract static class OfMember implements Callable<Integer> {
        @Spec
        private CommandSpec spec;

        @Mixin
        private NodeAddress node;

        @Parameters(paramLabel = "NODE", description = "the node's name")
        private String member;

        /** @return what has come of it, for people */
        abstract String ask(AskedNode host, String member);

        @Override
        public Integer call() {
            tell(spec, node, ask(node.first(), member));
            return 0;
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
        String ask(AskedNode host, String member) {
            Membership.admit(host, member);
            return member + " may ask to be a member, once, within two days";
        }
    }

    /** Takes a member out. */
    @Command(
            name = "leave",
            description = "Takes a member out of the cluster, which goes on without it. Its data stays where it is.",
            mixinStandardHelpOptions = true)
    static final class Leave extends OfMember {
        @Override
        String ask(AskedNode host, String member) {
            Membership.leave(host, member);
            return member + " is no member any more; its data stays where it is";
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
        String ask(AskedNode host, String member) {
            Membership.lead(host, member);
            return member + " leads";
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
            description = "Makes a node that was taken out ask to be a member again. Where nodes have certificates, it"
                    + " has to be admitted at a member first (quorate admit). A new node asks by itself when it"
                    + " starts.",
            mixinStandardHelpOptions = true)
    static final class Join extends OfNode {
        Join() {
            super("join", "join", "it asks to be a member; quorate members says when it is one");
        }
    }
}
