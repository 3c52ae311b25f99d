// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.NodeState;
import io.quorate.core.answer.ClusterHealth.Level;
import io.quorate.core.answer.MembersAnswer.Member;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ClusterHealthTest {
    /** The first member is asked, and leads. */
    private static ClusterHealth of(String... states) {
        return ClusterHealth.of("n1", "n1", members(states));
    }

    private static List<Member> members(String... states) {
        List<Member> members = new ArrayList<>();
        for (int i = 0; i < states.length; i++) {
            members.add(member("n" + (i + 1), states[i]));
        }
        return members;
    }

    private static Member member(String name, String state) {
        return member(name, state, false);
    }

    private static Member member(String name, String state, boolean drained) {
        return new Member(
                name, "h:1", 1, false, state, null, null, null, null, null, null, null, null, null, null, null, false,
                drained, null, null, false, null, null, null);
    }

    @Test
    void whatAClusterCanBearIsTold() {
        assertThat(of("SYNCED", "SYNCED", "SYNCED"))
                .isEqualTo(new ClusterHealth(
                        Level.OK, "All 3 members are up; the cluster can bear the loss of ONE more."));
        assertThat(of("SYNCED", "DONOR", "SYNCED", "SYNCED", "ARBITRATOR").sentence())
                .isEqualTo("All 5 members are up; the cluster can bear the loss of TWO more.");
        assertThat(of("SYNCED").sentence())
                .isEqualTo("The only member is up; there is no other that could go on without it.");
        assertThat(of("SYNCED", "SYNCED").sentence())
                .startsWith("Both members are up; the loss of EITHER stops all writes");
    }

    @Test
    void aNodeThatIsNotLetInDoesNotSayThatNobodyCanWrite() {
        assertThat(ClusterHealth.of("n1", null, members("OPEN", "ABSENT", "ABSENT"), "n2 refuses this node"))
                .isEqualTo(new ClusterHealth(
                        Level.ATTENTION,
                        "n1 takes no part in the order, and can't tell how the others are; ask another node."
                                + " n2 refuses this node"));
    }

    @Test
    void aChangeOfTheMembersThatIsBegunIsNamed() {
        assertThat(ClusterHealth.changing(members("NON_PRIMARY", "ABSENT", "NON_PRIMARY")))
                .isEqualTo(new ClusterHealth(
                        Level.STOPPED,
                        "NOBODY CAN WRITE: a change of the members is begun, and a majority of those before it and of"
                                + " those after it has to take part in the order: n1 is NON_PRIMARY, n2 is away, n3 is"
                                + " NON_PRIMARY."));
    }

    @Test
    void whoIsDrainedTakesNoWritesAndCountsForTheMajority() {
        Member drained = member("n2", "SYNCED", true);
        assertThat(ClusterHealth.of("n1", "n1", List.of(member("n1", "SYNCED"), drained, member("n3", "SYNCED"))))
                .isEqualTo(new ClusterHealth(
                        Level.ATTENTION,
                        "All 3 members are up, but n2 is drained; the cluster can bear the loss of ONE more."));
        assertThat(ClusterHealth.of("n1", "n2", List.of(member("n1", "JOINED"), drained)))
                .isEqualTo(new ClusterHealth(
                        Level.STOPPED,
                        "NOBODY CAN WRITE: no server is level with the order and open to clients:"
                                + " n1 is JOINED, n2 is drained."));
    }

    @Test
    void whoIsMissingIsNamed() {
        assertThat(of("SYNCED", "SYNCED", "ABSENT"))
                .isEqualTo(new ClusterHealth(
                        Level.ATTENTION,
                        "2 of 3 members are up, but n3 is away; the loss of ONE MORE stops all writes."));
        assertThat(of("SYNCED", "SYNCED", "JOINER").sentence())
                .isEqualTo("All 3 members are up, but n3 is JOINER; the loss of ONE MORE stops all writes.");
        assertThat(of("SYNCED", "SYNCED", "INCONSISTENT").sentence())
                .isEqualTo("2 of 3 members are up, but n3 is INCONSISTENT; the loss of ONE MORE stops all writes.");
    }

    @Test
    void itIsToldWhenNobodyCanWrite() {
        assertThat(of("NON_PRIMARY", "ABSENT", "ABSENT"))
                .isEqualTo(new ClusterHealth(
                        Level.STOPPED,
                        "NOBODY CAN WRITE: 2 of 3 members have to take part in the order: n1 is NON_PRIMARY, n2 is"
                                + " away, n3 is away."));
        assertThat(of("NON_PRIMARY", "SYNCED", "SYNCED").sentence())
                .isEqualTo("NOBODY CAN WRITE: the members choose who leads, which takes seconds where they reach one"
                        + " another: n1 is NON_PRIMARY, n2 is SYNCED, n3 is SYNCED.");
        assertThat(of("SYNCED", "JOINER", "ABSENT").level())
                .as("there is a majority, so the joiner takes part in the order")
                .isEqualTo(Level.ATTENTION);
        assertThat(of("ARBITRATOR", "JOINER", "ABSENT").sentence())
                .startsWith("NOBODY CAN WRITE: no server is level with the order and open to clients: n1 is ARBITRATOR,"
                        + " n2 is JOINER");
        assertThat(ClusterHealth.of("n1", null, members("SYNCED", "SYNCED", "SYNCED"))
                        .sentence())
                .startsWith("NOBODY CAN WRITE: the members choose who leads");
        assertThat(ClusterHealth.of("n9", "n1", members("SYNCED")).level()).isEqualTo(Level.STOPPED);
        assertThat(ClusterHealth.of("n1", null, List.of()).sentence()).contains("in no cluster yet");
    }

    @Test
    void whoTakesNoPartCannotTell() {
        assertThat(ClusterHealth.of("n1", null, members("JOINER")))
                .isEqualTo(new ClusterHealth(
                        Level.ATTENTION, "n1 is JOINER and doesn't hear the others; ask another node."));
    }

    /** A state that is added must not be forgotten here. */
    @ParameterizedTest
    @EnumSource(NodeState.class)
    void aMemberIsReadyHereIfItsStateIs(NodeState state) {
        assertThat(of("SYNCED", "SYNCED", state.name()).level() == Level.OK).isEqualTo(state.isReady());
    }
}
