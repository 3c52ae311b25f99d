// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WorkRateTest {
    private final WorkRate rate = new WorkRate();

    @Test
    void whoBecomesSlowIsSoAtOnceAndWhoBecomesFastIsSoAfterAWhile() {
        for (int t = 0; t <= 3000; t += 100) {
            assertThat(rate.at(t, t, true)).isEqualTo(t == 0 ? 0 : 1000);
        }
        long count = 3000;
        for (int t = 3100; t <= 3500; t += 100) {
            rate.at(t, count += 20, true);
        }
        assertThat(rate.at(3600, count += 20, true)).as("a fifth").isBetween(200L, 400L);
        for (int t = 3700; t <= 5500; t += 100) {
            rate.at(t, count += 20, true);
        }
        for (int t = 5600; t <= 6100; t += 100) {
            rate.at(t, count += 100, true);
        }
        assertThat(rate.at(6200, count += 100, true)).isBetween(400L, 600L);
        for (int t = 6300; t <= 8200; t += 100) {
            rate.at(t, count += 100, true);
        }
        assertThat(rate.at(8300, count + 100, true)).isEqualTo(1000);
    }

    @Test
    void stepsThatTakeLongerThanTheWindowAreTakenTogether() {
        for (long t = 0; t <= 5000; t += 100) {
            long now = rate.at(t, t / 1000 * 250L, true);
            if (t >= 2000) {
                assertThat(now).as("at %s", t).isEqualTo(250);
            }
        }
    }

    @Test
    void whoStandsStillBecomesSlowerAndSlower() {
        rate.at(0, 0, true);
        rate.at(1000, 250, true);
        rate.at(2000, 500, true);
        assertThat(rate.at(3000, 500, true)).isEqualTo(250);
        assertThat(rate.at(5000, 500, true)).isEqualTo(125);
        assertThat(rate.at(11_000, 500, true)).isEqualTo(50);
    }

    @Test
    void timeInWhichNothingWaitsDoesNotCount() {
        rate.at(0, 100, false);
        rate.at(60_000, 100, false);
        assertThat(rate.at(60_100, 150, true)).isEqualTo(500);
    }

    @Test
    void aCountThatBeginsAnewIsAnotherServers() {
        rate.at(0, 5000, true);
        rate.at(100, 5100, true);
        assertThat(rate.at(200, 10, true)).isZero();
        assertThat(rate.at(300, 30, true)).isEqualTo(200);
    }
}
