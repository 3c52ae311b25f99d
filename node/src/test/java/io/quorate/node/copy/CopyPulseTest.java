// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sst.CopyProgress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class CopyPulseTest {
    private static CopyProgress at(long bytes) {
        return CopyProgress.of("FILE COPY", 0, bytes, 1000, 1000);
    }

    private static long seconds(long s) {
        return TimeUnit.SECONDS.toNanos(s);
    }

    @Test
    void aCopyOfWhichNothingComesHasNoRateAndNoTimeLeft() {
        CopyPulse pulse = new CopyPulse();
        assertThat(pulse.shown(at(500), seconds(0))).isEqualTo(at(500));
        assertThat(pulse.shown(at(500), seconds(10))).isEqualTo(at(500));
        CopyProgress still = pulse.shown(at(500), seconds(20));
        assertThat(still.perSecond()).isZero();
        assertThat(still.etaMillis()).isEqualTo(-1);
        assertThat(pulse.stillSeconds(seconds(20))).isEqualTo(20);
        assertThat(pulse.shown(at(600), seconds(21))).isEqualTo(at(600));
        assertThat(pulse.stillSeconds(seconds(22))).isZero();
        assertThat(pulse.shown(null, seconds(50))).isNull();
        assertThat(pulse.stillSeconds(seconds(90))).isZero();
    }
}
