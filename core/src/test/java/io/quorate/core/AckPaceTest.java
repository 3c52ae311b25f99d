// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AckPaceTest {
    private static final long HOLD_MAX = 500;
    private static final long LEASE = 10_000;

    private final AckPace pace = new AckPace(HOLD_MAX);

    @Test
    void nobodyIsHeldUnlessARateIsGiven() {
        assertThat(pace.isSlow(0)).isFalse();
        assertThat(pace.passes(0, 0)).isTrue();
    }

    @Test
    void soManyPassInASecond() {
        pace.slow(100, 0, LEASE);
        assertThat(passedUntil(0, 2000)).isBetween(200, 210);
    }

    @Test
    void whatAStepBringsPassesAtOnceAndWhoeverIsLeftWaitsForTheNext() {
        pace.slow(20, 0, LEASE);
        assertThat(passedUntil(0, 100)).isEqualTo(2);
        assertThat(pace.waitMillis(99, 99)).isEqualTo(1);
        assertThat(passedUntil(100, 130)).isEqualTo(2);
        assertThat(pace.waitMillis(130, 130)).isEqualTo(70);
    }

    @Test
    void whereAStepBringsLessThanOneItTakesSeveral() {
        pace.slow(4, 0, LEASE);
        assertThat(pace.passes(0, 0)).isFalse();
        assertThat(pace.waitMillis(0, 0)).isEqualTo(200);
        assertThat(passedUntil(0, 2000)).isBetween(7, 8);
    }

    @Test
    void whatIsNotUsedIsSavedForAStepOnly() {
        pace.slow(1000, 0, LEASE);
        int passed = 0;
        while (pace.passes(5000, 5000)) {
            passed++;
        }
        assertThat(passed).as("and one that was begun").isEqualTo(101);
    }

    @Test
    void nobodyIsHeldForLongerThanTheLimitEvenAtARateOfNothing() {
        pace.slow(0, 0, LEASE);
        assertThat(pace.passes(100, 100 + HOLD_MAX - 1)).isFalse();
        assertThat(pace.waitMillis(100, 100 + HOLD_MAX - 1)).isEqualTo(1);
        assertThat(pace.passes(100, 100 + HOLD_MAX)).isTrue();
    }

    @Test
    void aRateThatIsntGivenAgainEndsByItself() {
        pace.slow(0, 0, 300);
        assertThat(pace.passes(0, 299)).isFalse();
        assertThat(pace.waitMillis(0, 290)).isEqualTo(10);
        assertThat(pace.passes(0, 300)).isTrue();
        assertThat(pace.isSlow(300)).isFalse();
    }

    @Test
    void anotherRateTakesEffectAtOnce() {
        pace.slow(10, 0, LEASE);
        assertThat(passedUntil(0, 1000)).isBetween(9, 11);
        pace.slow(1000, 1000, LEASE);
        assertThat(passedUntil(1000, 2000)).isBetween(900, 1100);
    }

    /** Everybody who asks has just come. */
    private int passedUntil(long from, long until) {
        int passed = 0;
        for (long now = from; now < until; now++) {
            while (pace.passes(now, now)) {
                passed++;
            }
        }
        return passed;
    }
}
