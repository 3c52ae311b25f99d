// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

import java.util.List;

/**
 * {@code /actuator/members}: the members, their addresses and how far they are, as the node asked knows it.
 *
 * @param health how the cluster stands, as far as the node asked can tell; null when an older version doesn't say
 * @param node its name
 * @param leader which node it takes for the order's leader, null when it knows none
 * @param others names of nodes that were heard of and are no members
 * @param advice what to mind, for people; empty when there is nothing
 */
public record MembersAnswer(
        ClusterHealth health,
        String node,
        String leader,
        List<Member> members,
        List<String> others,
        List<String> advice) {
    public MembersAnswer {
        node = LeftOut.orEmpty(node);
        members = LeftOut.orEmpty(members);
        others = LeftOut.orEmpty(others);
        advice = LeftOut.orEmpty(advice);
    }

    /**
     * A member, with what it says about itself. All of that is null while it isn't heard, but for where its server and
     * its HTTP are.
     *
     * @param address of its part in the order
     * @param generation how often a node of that name has become a member anew, from 1
     * @param leader whether it leads the order
     * @param state a {@link io.quorate.core.NodeState}, or {@link #ABSENT} when it isn't heard
     * @param absentSeconds since it was heard last, 0 while it is; null of the node asked itself
     * @param canReturnForSeconds for how long an absent member can still come back by a transfer: 0 when it no longer
     *     can, -1 as long as nothing is written; null when it is not absent
     * @param ordered last seqno the order handed to it
     * @param applied its server holds everything up to this seqno
     * @param orderedPerSecond writesets, lately
     * @param appliedPerSecond likewise
     * @param queue writesets ordered and not applied
     * @param cause why that is so many, null also when they are few
     * @param waitingCommits how many commits of its clients wait for their verdict, in commit mode {@code after-sync}
     * @param waitingMillis how long the first of them has waited
     * @param runsEvents whether its server's event scheduler is on; null when somebody keeps it off there
     * @param desynced whether nobody is to wait for it
     * @param drained whether its server is closed to clients, because it was told to drain it
     * @param lagMillis age of the first writeset that its server doesn't hold yet; 0 when it holds everything
     * @param slowedFor the node for which its clients are slowed by flow control, null when they aren't
     * @param leftBehind whether flow control doesn't wait for it, because it was too far behind for too long
     * @param mysql host:port of its server, null also with an arbitrator
     * @param version of its server, as that says it; null when it isn't known
     * @param http host:port of its Actuator, null also where other nodes may not ask it
     */
    public record Member(
            String name,
            String address,
            int generation,
            boolean leader,
            String state,
            Long absentSeconds,
            Long canReturnForSeconds,
            Long ordered,
            Long applied,
            Long orderedPerSecond,
            Long appliedPerSecond,
            Long queue,
            String cause,
            Long waitingCommits,
            Long waitingMillis,
            Boolean runsEvents,
            boolean desynced,
            boolean drained,
            Long lagMillis,
            String slowedFor,
            boolean leftBehind,
            String mysql,
            String version,
            String http) {
        public static final String ABSENT = "ABSENT";

        public Member {
            name = LeftOut.orEmpty(name);
            address = LeftOut.orEmpty(address);
            state = LeftOut.orEmpty(state);
        }
    }
}
