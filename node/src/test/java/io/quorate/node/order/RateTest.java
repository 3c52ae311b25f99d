// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.order;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RateTest {
    private final Rate rate = new Rate(Duration.ofSeconds(10));

    @Test
    void isNothingBeforeThereAreTwoCounts() {
        assertThat(rate.last()).isZero();
        assertThat(rate.at(1000, 500)).isZero();
    }

    @Test
    void isTheRiseASecond() {
        rate.at(0, 100);
        assertThat(rate.at(2000, 300)).isEqualTo(100);
        assertThat(rate.last()).isEqualTo(100);
    }

    @Test
    void forgetsWhatIsOlderThanItsWindow() {
        rate.at(0, 0);
        for (int second = 1; second <= 10; second++) {
            rate.at(second * 1000L, 1000);
        }
        assertThat(rate.last()).isEqualTo(100);
        rate.at(12_000, 1000);
        assertThat(rate.last()).as("nothing rose within the window").isZero();
    }

    @Test
    void afterALongPauseComparesWithTheLastCountThereWas() {
        rate.at(0, 0);
        rate.at(1000, 1000);
        assertThat(rate.at(101_000, 2000)).isEqualTo(10);
    }

    @Test
    void isNothingWhereTheCountBeganAnew() {
        rate.at(0, 1000);
        assertThat(rate.at(1000, 10)).isZero();
    }

    @Test
    void isNothingWithinOneMoment() {
        rate.at(1000, 1);
        assertThat(rate.at(1000, 100)).isZero();
    }
}
