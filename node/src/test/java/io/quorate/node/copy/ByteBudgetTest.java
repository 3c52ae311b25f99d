// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ByteBudgetTest {
    private static long millis(Runnable work) {
        long start = System.nanoTime();
        work.run();
        return Duration.ofNanos(System.nanoTime() - start).toMillis();
    }

    @Test
    void holdsNobodyUpWhereAnyNumberMayCome() {
        ByteBudget budget = new ByteBudget(0);
        budget.take(Long.MAX_VALUE);
        budget.take(Long.MAX_VALUE);
        assertThat(budget.perSecond()).isZero();
    }

    @Test
    void givesTheFirstBytesAtOnceAndHasTheNextWaitForThem() {
        ByteBudget budget = new ByteBudget(1000);
        long waited = millis(() -> {
            budget.take(200);
            budget.take(200);
            budget.take(1);
        });
        assertThat(waited).as("400 bytes at 1000 a second").isGreaterThanOrEqualTo(390);
    }

    @Test
    void anotherRateHoldsFromNowOn() {
        ByteBudget budget = new ByteBudget(1);
        budget.take(3600);
        budget.perSecond(0);
        budget.take(1_000_000);
        budget.perSecond(1_000_000);
        budget.take(1);
        assertThat(budget.perSecond()).isEqualTo(1_000_000);
    }

    @Test
    void anInterruptedThreadWaitsNoLonger() throws Exception {
        ByteBudget budget = new ByteBudget(1);
        budget.take(3600);
        Thread taking = new Thread(() -> budget.take(1));
        taking.start();
        taking.interrupt();
        taking.join();
    }

    @Test
    void saysWhetherAnythingIsToBeBegun() {
        ByteBudget budget = new ByteBudget(0);
        assertThat(budget.isPaused()).isFalse();
        budget.pause(true);
        assertThat(budget.isPaused()).isTrue();
        budget.pause(false);
        assertThat(budget.isPaused()).isFalse();
    }
}
