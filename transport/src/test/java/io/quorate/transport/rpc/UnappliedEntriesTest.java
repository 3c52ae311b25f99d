// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class UnappliedEntriesTest {
    private final AtomicLong applied = new AtomicLong();

    @Test
    void countsWhatHasComeAndIsNotApplied() throws Exception {
        UnappliedEntries entries = new UnappliedEntries(100, 60_000, applied::get);
        entries.next(3, 60);
        entries.next(5, 50);
        assertThat(entries.unapplied()).isEqualTo(110);
        applied.set(4);
        assertThat(entries.unapplied()).isEqualTo(50);
        applied.set(9);
        assertThat(entries.unapplied()).isZero();
    }

    @Test
    void goesOnWhenEnoughIsApplied() throws Exception {
        UnappliedEntries entries = new UnappliedEntries(100, 60_000_000, applied::get);
        entries.next(1, 101);
        CountDownLatch passed = new CountDownLatch(1);
        Thread reader = new Thread(() -> {
            try {
                entries.next(2, 1);
                passed.countDown();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        reader.start();
        assertThat(passed.await(50, TimeUnit.MILLISECONDS)).isFalse();
        applied.set(1);
        assertThat(passed.await(30, TimeUnit.SECONDS)).isTrue();
        reader.join();
        assertThat(entries.unapplied()).isEqualTo(1);
    }

    /** What is held back may say that the entries before it are committed. */
    @Test
    void neverStops() throws Exception {
        UnappliedEntries entries = new UnappliedEntries(100, 10, applied::get);
        for (int index = 1; index <= 10; index++) {
            entries.next(index, 1000);
        }
        assertThat(entries.unapplied()).isEqualTo(10_000);
    }
}
