// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class DonorPaceTest {
    private long ordered = 10;
    private long applied = 10;
    private long now;
    private final DonorPace pace = pace(Duration.ofSeconds(1));

    private DonorPace pace(Duration lagMax) {
        return new DonorPace(() -> ordered, () -> applied, lagMax, () -> now);
    }

    private boolean isBehindAfter(int millis) {
        now += millis * 1_000_000L;
        return pace.isBehind();
    }

    @Test
    void whatWasJustOrderedMayWait() {
        ordered = 20;
        assertThat(isBehindAfter(10)).isFalse();
        assertThat(isBehindAfter(990)).isFalse();
        applied = 19;
        assertThat(isBehindAfter(500)).isFalse();
    }

    @Test
    void isBehindUntilItHasAppliedWhatWasOrderedLongAgo() {
        ordered = 20;
        isBehindAfter(1000);
        ordered = 30;
        applied = 15;
        assertThat(isBehindAfter(1000)).isTrue();
        applied = 19;
        assertThat(isBehindAfter(1)).isTrue();
        applied = 20;
        assertThat(isBehindAfter(1)).isFalse();
        assertThat(isBehindAfter(1000)).isTrue();
        applied = 30;
        assertThat(isBehindAfter(1)).isFalse();
    }

    @Test
    void oneThatAppliesSteadilyIsNot() {
        for (int i = 0; i < 100; i++) {
            applied = ordered - 1;
            ordered += 5;
            assertThat(isBehindAfter(300)).isFalse();
        }
    }

    @Test
    void holdsAPortionBackForAWhileOnly() {
        ordered = 20;
        DonorPace real = new DonorPace(() -> ordered, () -> applied, Duration.ofNanos(1), System::nanoTime);
        // Look once, so that the pace knows what has been ordered for a while.
        real.isBehind();
        assertThat(real.isBehind()).isTrue();
        real.await();
        assertThat(real.heldMillis()).isBetween(200L, 15_000L);
    }

    @Test
    void noLimitMeansNever() {
        DonorPace any = pace(Duration.ZERO);
        ordered = 1_000_000;
        now += 1_000_000_000_000L;
        assertThat(any.isBehind()).isFalse();
        any.await();
        assertThat(any.heldMillis()).isZero();
    }
}
