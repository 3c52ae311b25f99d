// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import io.quorate.core.FromOutside;
import io.quorate.core.answer.NodeStatus;
import io.quorate.node.question.Question;
import io.quorate.transport.TransportSettings.Peer;
import org.jspecify.annotations.Nullable;

/** What nodes ask of one another about who is a member. {@link MemberDesk} answers. */
public sealed interface MemberQuestion<A> extends Question<A> {
    /** Who is a member, as far as you know? */
    @Question.Name("member.who")
    @Question.OfJoiners
    record WhoIsMember() implements MemberQuestion<Membership> {}

    /** How are you? */
    @Question.Name("member.status")
    record HowAreYou() implements MemberQuestion<NodeStatus> {}

    /** A change that only the leader can carry out. It answers when the change is done. */
    sealed interface Change extends MemberQuestion<Changed> {
        /** The name of the node that is to become a member, to be taken out, or to lead. */
        String name();
    }

    /**
     * Make this node, which asks, a member.
     *
     * @param directory id of its data directory
     */
    @Question.Name("member.join")
    @Question.OfJoiners
    record Join(Peer member, String directory) implements Change {
        @Override
        public String name() {
            return member.name();
        }
    }

    /**
     * Take that node out of the members.
     *
     * @param force also where nobody could write without it
     */
    @Question.Name("member.leave")
    record Leave(String name, boolean force) implements Change {}

    /** Have that member lead. */
    @Question.Name("member.lead")
    record Lead(String name) implements Change {}

    /**
     * The result of a change.
     *
     * @param node name of the node that answers
     * @param leader name of the node that it takes for the leader; null when it knows none
     * @param refusal why the change was not done; null when it was
     */
    record Changed(
            String node, @Nullable String leader, @Nullable String refusal) {
        public Changed {
            refusal = FromOutside.oneLine(refusal);
        }
    }
}
