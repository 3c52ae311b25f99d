// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class BacklogTest {
    private final Backlog backlog = new Backlog();

    @Test
    void whoHasAppliedAllIsNotBehind() {
        assertThat(backlog.lagMillis(0, 0, 0)).isZero();
        assertThat(backlog.lagMillis(1000, 50, 50)).isZero();
        assertThat(backlog.lagMillis(9000, 50, 60)).as("own ones may be ahead").isZero();
    }

    @Test
    void whatCameBetweenTwoLooksCameEvenly() {
        backlog.lagMillis(0, 100, 100);
        assertThat(backlog.lagMillis(1000, 200, 100)).isEqualTo(990);
        assertThat(backlog.lagMillis(1000, 200, 150)).isEqualTo(490);
        assertThat(backlog.lagMillis(2000, 200, 199)).isEqualTo(1000);
    }

    @Test
    void aPauseOfTheOrderMakesNobodyBehind() {
        backlog.lagMillis(0, 100, 100);
        backlog.lagMillis(60_000, 100, 100);
        assertThat(backlog.lagMillis(60_250, 110, 100)).isLessThan(250);
    }

    @Test
    void whoNeverAppliesAgesWithTheClock() {
        backlog.lagMillis(0, 100, 100);
        for (long now = 250; now <= 3_600_000; now += 250) {
            assertThat(backlog.lagMillis(now, 100 + now / 10, 100)).isBetween(now - 250, now);
        }
    }

    @Test
    void anOrderThatBeginsAnewIsAnotherOne() {
        backlog.lagMillis(0, 1000, 10);
        backlog.lagMillis(5000, 2000, 10);
        assertThat(backlog.lagMillis(6000, 50, 40)).isZero();
    }

    /** Against a record of when everything was ordered, with looks at any time. */
    @Test
    void isRightToALook() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        long[] orderedAt = new long[100_000];
        Backlog measured = new Backlog();
        long ordered = 0;
        long applied = 0;
        long lookedAt = 0;
        long pauseMax = 0;
        for (long now = 1; now < 60_000; now++) {
            for (int i = random.nextInt(4); i > 0 && ordered < orderedAt.length - 1; i--) {
                orderedAt[(int) ++ordered] = now;
            }
            applied = Math.min(ordered, applied + random.nextInt(now / 10_000 % 2 == 0 ? 3 : 6));
            if (random.nextInt(250) == 0) {
                pauseMax = Math.max(pauseMax, now - lookedAt);
                lookedAt = now;
                long age = applied == ordered ? 0 : now - orderedAt[(int) applied + 1];
                assertThat(measured.lagMillis(now, ordered, applied))
                        .as("seed %s, at %s", seed, now)
                        .isBetween(age - 2 * pauseMax, age + 2 * pauseMax);
            }
        }
    }
}
