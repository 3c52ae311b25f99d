// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * What the applier has reported: how far it has applied the order, and how old the writesets are that it applies.
 * Written by the applier's threads, read by any.
 */
public final class ApplyProgress {
    private volatile long lastApplied;
    private final LongAdder transactions = new LongAdder();
    private volatile long lagMicros;
    private volatile Timer lag;

    /**
     * Notes the seqno that the server holds when a session with it begins; it is lower than before if the server lost
     * something.
     */
    public void startFrom(long seqno) {
        lastApplied = seqno;
    }

    void applied(long seqno, int count, long originCommittedMicros) {
        lastApplied = seqno;
        if (count == 0) {
            return;
        }
        transactions.add(count);
        long age = Math.max(0, System.currentTimeMillis() * 1000 - originCommittedMicros);
        lagMicros = age;
        Timer timer = lag;
        if (timer != null) {
            timer.record(age, TimeUnit.MICROSECONDS);
        }
    }

    public void bind(MeterRegistry registry) {
        lag = Timer.builder("quorate.apply.lag")
                .description("age of a writeset of another node when it is applied, by the two nodes' clocks")
                .publishPercentiles(0.5, 0.95, 0.99)
                .distributionStatisticExpiry(Duration.ofMinutes(1))
                .register(registry);
    }

    public long lastApplied() {
        return lastApplied;
    }

    public long transactions() {
        return transactions.sum();
    }

    public long lagMicros() {
        return lagMicros;
    }
}
