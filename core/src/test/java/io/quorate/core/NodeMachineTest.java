// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NodeMachineTest {
    private static final NodeEvent MAJORITY = new NodeEvent.QuorumChanged(new TotalOrder.Quorum(true, "n1", 3), 0);
    private static final NodeEvent NO_MAJORITY = new NodeEvent.QuorumChanged(TotalOrder.Quorum.NONE, 0);

    private final NodeMachine machine = new NodeMachine(10, 500);

    @Test
    void isSyncedOnceItHasAppliedWhatWasOrderedWhenItJoined() {
        machine.on(MAJORITY);
        assertThat(machine.state()).isEqualTo(NodeState.CONNECTED);
        machine.on(new NodeEvent.DatabaseUp());
        assertThat(machine.state()).isEqualTo(NodeState.JOINED);
        machine.on(new NodeEvent.Progress(100, 50, 0));
        assertThat(machine.state()).isEqualTo(NodeState.JOINED);
        assertThat(machine.reason()).contains("50 writesets behind");
        machine.on(new NodeEvent.Progress(105, 99, 0));
        assertThat(machine.state())
                .as("what was ordered at joining is not applied")
                .isEqualTo(NodeState.JOINED);
        machine.on(new NodeEvent.Progress(105, 100, 0));
        assertThat(machine.state()).isEqualTo(NodeState.SYNCED);
        assertThat(machine.state().writable()).isTrue();
    }

    @Test
    void isNotSyncedBeforeTheLeaderSaysHowFarTheOrderIs() {
        machine.on(MAJORITY);
        machine.on(new NodeEvent.DatabaseUp());
        machine.on(new NodeEvent.Progress(-1, 50, 0));
        machine.on(new NodeEvent.Progress(-1, 50, 0));
        assertThat(machine.state()).isEqualTo(NodeState.JOINED);
        assertThat(machine.reason()).contains("leader");
        machine.on(new NodeEvent.Progress(8000, 50, 0));
        assertThat(machine.reason()).contains("7950 writesets behind");
        machine.on(new NodeEvent.Progress(8000, 8000, 0));
        assertThat(machine.state()).isEqualTo(NodeState.SYNCED);
    }

    @Test
    void withoutAServerItIsAnArbitratorWhileThereIsAMajority() {
        NodeMachine arbitrator = NodeMachine.ofArbitrator(500);
        arbitrator.on(new NodeEvent.Progress(0, 0, 0));
        assertThat(arbitrator.state()).isEqualTo(NodeState.OPEN);
        arbitrator.on(MAJORITY);
        assertThat(arbitrator.state()).isEqualTo(NodeState.ARBITRATOR);
        assertThat(arbitrator.state().writable()).isFalse();
        assertThat(arbitrator.state().isReady()).isTrue();
        arbitrator.on(new NodeEvent.JoinChanged(NodeEvent.Part.JOINER, "asking"));
        assertThat(arbitrator.state()).isEqualTo(NodeState.JOINER);
        arbitrator.on(new NodeEvent.JoinChanged(NodeEvent.Part.MEMBER, ""));
        assertThat(arbitrator.state()).isEqualTo(NodeState.ARBITRATOR);
        arbitrator.on(NO_MAJORITY);
        arbitrator.on(new NodeEvent.Progress(0, 0, 499));
        assertThat(arbitrator.state()).isEqualTo(NodeState.ARBITRATOR);
        arbitrator.on(new NodeEvent.Progress(0, 0, 500));
        assertThat(arbitrator.state()).isEqualTo(NodeState.NON_PRIMARY);
    }

    @Test
    void isJoinerWhileItReceivesAndDonorWhileItGives() {
        synced();
        machine.on(new NodeEvent.Donating(true));
        assertThat(machine.state()).isEqualTo(NodeState.DONOR);
        assertThat(machine.state().writable()).isTrue();
        machine.on(new NodeEvent.Donating(false));
        assertThat(machine.state()).isEqualTo(NodeState.SYNCED);
        machine.on(new NodeEvent.JoinChanged(NodeEvent.Part.JOINER, "5 of 9 are here"));
        machine.on(NO_MAJORITY);
        assertThat(machine.state()).isEqualTo(NodeState.JOINER);
        assertThat(machine.reason()).isEqualTo("5 of 9 are here");
        machine.on(new NodeEvent.JoinChanged(NodeEvent.Part.MEMBER, ""));
        assertThat(machine.state()).isEqualTo(NodeState.OPEN);
        machine.on(MAJORITY);
        assertThat(machine.state()).isEqualTo(NodeState.JOINED);
    }

    @Test
    void isLeftUntilItAsksToBeAMemberAgain() {
        synced();
        machine.on(new NodeEvent.JoinChanged(NodeEvent.Part.OUT, "taken out"));
        machine.on(NO_MAJORITY);
        machine.on(new NodeEvent.Progress(7, 7, 60_000));
        assertThat(machine.state()).isEqualTo(NodeState.LEFT);
        assertThat(machine.state().writable()).isFalse();
        machine.on(new NodeEvent.JoinChanged(NodeEvent.Part.MEMBER, ""));
        assertThat(machine.state()).isEqualTo(NodeState.OPEN);
    }

    @Test
    void staysSyncedWhenItFallsBehind() {
        synced();
        assertThat(machine.on(new NodeEvent.Progress(100_000, 1, 0))).isFalse();
        assertThat(machine.state()).isEqualTo(NodeState.SYNCED);
    }

    @Test
    void isNonPrimaryWithoutAMajorityAndComesBackThroughJoined() {
        synced();
        machine.on(NO_MAJORITY);
        assertThat(machine.on(new NodeEvent.Progress(7, 7, 500))).isTrue();
        assertThat(machine.state()).isEqualTo(NodeState.NON_PRIMARY);
        assertThat(machine.state().writable()).isFalse();
        assertThat(machine.reason()).startsWith("QRT-3003");
        machine.on(MAJORITY);
        assertThat(machine.state()).isEqualTo(NodeState.JOINED);
        machine.on(new NodeEvent.Progress(7, 7, 0));
        assertThat(machine.state()).isEqualTo(NodeState.SYNCED);
    }

    @Test
    void isNonPrimaryWithoutSpaceOnItsDiskAndSaysSo() {
        synced();
        assertThat(machine.on(new NodeEvent.DiskLow("12 MB are left"))).isTrue();
        assertThat(machine.state()).isEqualTo(NodeState.NON_PRIMARY);
        assertThat(machine.reason()).startsWith("QRT-6005 12 MB are left");
        machine.on(NO_MAJORITY);
        machine.on(new NodeEvent.DiskLow(null));
        assertThat(machine.state()).isEqualTo(NodeState.NON_PRIMARY);
        assertThat(machine.reason()).startsWith("QRT-3003");
        machine.on(MAJORITY);
        machine.on(new NodeEvent.Progress(7, 7, 0));
        assertThat(machine.state()).isEqualTo(NodeState.SYNCED);
    }

    @Test
    void anElectionIsNotALossOfTheMajority() {
        synced();
        machine.on(NO_MAJORITY);
        machine.on(new NodeEvent.Progress(7, 7, 499));
        assertThat(machine.state()).isEqualTo(NodeState.SYNCED);
        machine.on(MAJORITY);
        assertThat(machine.on(new NodeEvent.Progress(7, 7, 5000))).isFalse();
        assertThat(machine.on(lost(5000, 0))).isFalse();
        assertThat(machine.on(new NodeEvent.Progress(7, 7, 5499)))
                .as("the silence begins anew")
                .isFalse();
        machine.on(new NodeEvent.Progress(7, 7, 5500));
        assertThat(machine.state()).isEqualTo(NodeState.NON_PRIMARY);
    }

    @Test
    void theSilenceBeforeTheLossWasNoticedCounts() {
        synced();
        machine.on(lost(1000, 400));
        assertThat(machine.on(new NodeEvent.Progress(7, 7, 1099))).isFalse();
        assertThat(machine.on(new NodeEvent.QuorumChanged(new TotalOrder.Quorum(false, "n2", 4, 400, null), 1099)))
                .as("another leader without a majority doesn't prolong it")
                .isFalse();
        machine.on(new NodeEvent.Progress(7, 7, 1100));
        assertThat(machine.state()).isEqualTo(NodeState.NON_PRIMARY);
    }

    @Test
    void saysWhatKeepsItFromTheLeader() {
        synced();
        machine.on(new NodeEvent.QuorumChanged(
                new TotalOrder.Quorum(false, "n2", 3, 1000, "the port of n2 is closed"), 1000));
        machine.on(new NodeEvent.Progress(7, 7, 2000));
        assertThat(machine.state()).isEqualTo(NodeState.NON_PRIMARY);
        assertThat(machine.reason()).contains("QRT-3003").contains("the port of n2 is closed");
    }

    /** It may have been silent only because this machine stood still. */
    @Test
    void theTimeSinceTheLastLookDoesNotCount() {
        synced();
        machine.on(lost(60_000, 100));
        assertThat(machine.on(new NodeEvent.Progress(7, 7, 60_399))).isFalse();
        assertThat(machine.on(new NodeEvent.Progress(7, 7, 60_400))).isTrue();
    }

    private static NodeEvent lost(long nowMillis, long silentMillis) {
        return new NodeEvent.QuorumChanged(new TotalOrder.Quorum(false, null, 3, silentMillis, null), nowMillis);
    }

    @Test
    void isOnlyConnectedWithoutItsServerAndSaysWhy() {
        synced();
        machine.on(new NodeEvent.DatabaseDown("Connection refused"));
        assertThat(machine.state()).isEqualTo(NodeState.CONNECTED);
        assertThat(machine.reason()).contains("Connection refused");
    }

    @Test
    void neverLeavesInconsistentAndKeepsTheFirstCause() {
        synced();
        QuorateException first = new QuorateException(ErrorCode.UNDO_IMPOSSIBLE, "first");
        machine.on(new NodeEvent.Failed(first));
        machine.on(new NodeEvent.Failed(new QuorateException(ErrorCode.APPLY_FAILED, "second")));
        machine.on(MAJORITY);
        machine.on(new NodeEvent.DatabaseUp());
        machine.on(new NodeEvent.Progress(9, 9, 0));
        assertThat(machine.state()).isEqualTo(NodeState.INCONSISTENT);
        assertThat(machine.failure()).isSameAs(first);
    }

    @Test
    void isOpenUntilTheFirstMajority() {
        machine.on(new NodeEvent.DatabaseUp());
        machine.on(NO_MAJORITY);
        assertThat(machine.state()).isEqualTo(NodeState.OPEN);
    }

    private void synced() {
        machine.on(MAJORITY);
        machine.on(new NodeEvent.DatabaseUp());
        machine.on(new NodeEvent.Progress(0, 0, 0));
        assertThat(machine.state()).isEqualTo(NodeState.SYNCED);
    }
}
