// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LeaderReachTest {
    private final LeaderReach reach = new LeaderReach(Duration.ofSeconds(2));

    @BeforeEach
    void n1LeadsFromTheBeginning() {
        reach.leads("n1", 0);
    }

    @Test
    void whereAConnectionIsNothingCutsOff() {
        assertThat(reach.cutOff(true, null, at(9000))).isNull();
        assertThat(reach.cutOff(false, null, at(9000))).isNull();
    }

    @Test
    void aPrimaryNodeMayBeWithoutForAWhile() {
        assertThat(reach.cutOff(true, broken(2000), at(9000))).isNull();
        assertThat(reach.cutOff(true, broken(2001), at(9000))).isEqualTo(broken(2001));
    }

    @Test
    void aNodeThatIsNotPrimaryNeedsIt() {
        assertThat(reach.cutOff(false, broken(1), at(9000))).isEqualTo(broken(1));
    }

    /** A node that was down, or paused, for long, and leads as soon as it is back. */
    @Test
    void whatWasBrokenBeforeANodeLedDoesNotCount() {
        reach.leads("n2", at(9000));

        assertThat(reach.cutOff(true, broken(9000), at(9000))).isNull();
        assertThat(reach.cutOff(true, broken(11_000), at(11_000))).isNull();
        assertThat(reach.cutOff(true, broken(11_001), at(11_001))).isEqualTo(broken(2001));
    }

    @Test
    void aLeaderThatStillLeadsHasNotBegunAnew() {
        reach.leads("n1", at(8000));

        assertThat(reach.cutOff(true, broken(5000), at(9000))).isNotNull();
    }

    @Test
    void aLeaderThatLeadsAgainAfterNobodyDidHas() {
        reach.leads(null, at(8000));
        reach.leads("n1", at(8500));

        assertThat(reach.cutOff(true, broken(5000), at(9000))).isNull();
    }

    private static Unreachable broken(long millis) {
        return new Unreachable(millis, "closed");
    }

    private static long at(long millis) {
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }
}
