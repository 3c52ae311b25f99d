// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

import io.quorate.core.NodeState;
import io.quorate.core.answer.MembersAnswer.Member;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * How a cluster stands, in the sentence that matters to whoever is woken up: whether clients can write, and how many
 * members may fail before they can't.
 *
 * @param sentence for people
 */
public record ClusterHealth(Level level, String sentence) {
    /** How bad it is. */
    public enum Level {
        /** All that belongs to the cluster does what it is there for. */
        OK,
        /** Clients can write, and something is missing or behind. */
        ATTENTION,
        /** Clients can't write anywhere. */
        STOPPED
    }

    private static final Set<String> READY = names(NodeState::isReady);
    private static final Set<String> WRITABLE = names(NodeState::writable);
    /**
     * States in which a member is sure to acknowledge what is ordered. A JOINER does so too while it gets a copy, but
     * not while it receives writesets because the order's log has them no more.
     */
    private static final Set<String> VOTING =
            names(state -> state.isReady() || state == NodeState.CONNECTED || state == NodeState.JOINED);

    private static final Set<String> UP = names(state -> VOTING.contains(state.name()) || state == NodeState.JOINER);
    /** States of a node that takes no part in the order, or knows of no majority. */
    private static final Set<String> ALONE = Set.of(NodeState.OPEN.name(), NodeState.NON_PRIMARY.name());

    /** States in which a node may take no part in the order, while the others go on. */
    private static final Set<String> APART =
            Set.of(NodeState.JOINER.name(), NodeState.LEFT.name(), NodeState.INCONSISTENT.name());

    private static final List<String> NUMBERS = List.of("NONE", "ONE", "TWO", "THREE", "FOUR");

    private static Set<String> names(Predicate<NodeState> which) {
        return Arrays.stream(NodeState.values()).filter(which).map(Enum::name).collect(Collectors.toSet());
    }

    /**
     * Judges what a node knows.
     *
     * @param asked its name
     * @param leader which node it takes for the order's leader, null when it knows none
     */
    public static ClusterHealth of(String asked, String leader, List<Member> members) {
        return of(asked, leader, members, null);
    }

    /** @param cutOff what keeps the node asked from others that are there; null when nothing does */
    public static ClusterHealth of(String asked, String leader, List<Member> members, String cutOff) {
        String own = members.stream()
                .filter(member -> member.name().equals(asked))
                .map(Member::state)
                .findFirst()
                .orElse(null);
        if (members.isEmpty()) {
            return new ClusterHealth(
                    Level.ATTENTION, asked + " is in no cluster yet; its state says what it waits for.");
        }
        if (own == null) {
            return stopped(asked + " is no member of the cluster; ask one that is");
        }
        if (leader == null && APART.contains(own)) {
            return new ClusterHealth(
                    Level.ATTENTION, asked + " is " + own + " and doesn't hear the others; ask another node.");
        }
        int all = members.size();
        int majority = all / 2 + 1;
        List<Member> missing = without(members, UP);
        if (cutOff != null && ALONE.contains(own)) {
            return new ClusterHealth(
                    Level.ATTENTION,
                    asked + " takes no part in the order, and can't tell how the others are; ask another node. "
                            + cutOff);
        }
        if (leader == null || ALONE.contains(own)) {
            return all - missing.size() < majority
                    ? stopped(majority + " of " + all + " members have to take part in the order: " + states(missing))
                    : stopped("the members choose who leads, which takes seconds where they reach one another: "
                            + states(members));
        }
        if (members.stream().noneMatch(m -> WRITABLE.contains(m.state()) && !m.drained())) {
            return stopped("no server is level with the order and open to clients: " + states(members));
        }
        List<Member> unready = members.stream()
                .filter(m -> !READY.contains(m.state()) || m.drained())
                .toList();
        int spare = Math.max(0, all - without(members, VOTING).size() - majority);
        return new ClusterHealth(
                unready.isEmpty() ? Level.OK : Level.ATTENTION, up(all, missing, unready) + "; " + spare(all, spare));
    }

    /** Nobody leads, in the midst of a change of the members. */
    public static ClusterHealth changing(List<Member> members) {
        return stopped("a change of the members is begun, and a majority of those before it and of those after it has"
                + " to take part in the order: " + states(members));
    }

    private static List<Member> without(List<Member> members, Set<String> states) {
        return members.stream().filter(m -> !states.contains(m.state())).toList();
    }

    private static ClusterHealth stopped(String why) {
        return new ClusterHealth(Level.STOPPED, "NOBODY CAN WRITE: " + why + ".");
    }

    private static String up(int all, List<Member> missing, List<Member> unready) {
        String but = unready.isEmpty() ? "" : ", but " + states(unready);
        if (!missing.isEmpty()) {
            return (all - missing.size()) + " of " + all + " members " + (all - missing.size() == 1 ? "is" : "are")
                    + " up" + but;
        }
        return switch (all) {
            case 1 -> "The only member is up" + but;
            case 2 -> "Both members are up" + but;
            default -> "All " + all + " members are up" + but;
        };
    }

    private static String spare(int all, int spare) {
        if (all == 1) {
            return "there is no other that could go on without it.";
        }
        if (spare > 0) {
            return "the cluster can bear the loss of " + (spare < NUMBERS.size() ? NUMBERS.get(spare) : spare)
                    + " more.";
        }
        return all == 2
                ? "the loss of EITHER stops all writes (a third member, which may be an arbitrator, prevents that)."
                : "the loss of ONE MORE stops all writes.";
    }

    private static String states(List<Member> members) {
        return members.stream().map(m -> m.name() + " is " + state(m)).collect(Collectors.joining(", "));
    }

    private static String state(Member member) {
        if (member.state().equals(Member.ABSENT)) {
            return "away";
        }
        return READY.contains(member.state()) && member.drained() ? "drained" : member.state();
    }
}
