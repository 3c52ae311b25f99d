// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Makes a donor that can't keep up give its rows slowly. A node is behind while it has not applied what was ordered
 * some time ago; reading for a copy then yields to applying. It never stops for good, so a busy cluster still gets its
 * new node. Thread-safe.
 */
final class DonorPace {
    /** How long a portion, some 64 KB, is held back at most. Four streams then still give a megabyte a second. */
    private static final long HOLD_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final LongSupplier ordered;
    private final LongSupplier applied;
    private final long lagNanos;
    private final LongSupplier nanos;
    private final LongAdder held = new LongAdder();
    private long lookedAt;
    private long orderedThen;
    private long due;

    /**
     * @param ordered the last seqno of the order
     * @param applied the seqno up to which the donor's server has applied the order
     * @param lagMax how long ago a writeset may have been ordered that isn't applied yet; in effect up to twice that; 0
     *     for any age
     */
    DonorPace(LongSupplier ordered, LongSupplier applied, Duration lagMax, LongSupplier nanos) {
        this.ordered = ordered;
        this.applied = applied;
        this.lagNanos = lagMax.toNanos();
        this.nanos = nanos;
        this.lookedAt = nanos.getAsLong();
        this.orderedThen = ordered.getAsLong();
    }

    /** Whether a writeset that was ordered longer ago than that still waits to be applied. */
    synchronized boolean isBehind() {
        if (lagNanos == 0) {
            return false;
        }
        long now = nanos.getAsLong();
        long since = now - lookedAt;
        if (since >= lagNanos) {
            due = orderedThen;
            orderedThen = ordered.getAsLong();
            lookedAt = now;
        }
        return applied.getAsLong() < due;
    }

    /** Called before a portion is given: waits while the donor is behind, but only for a moment. */
    void await() {
        long from = nanos.getAsLong();
        while (isBehind()
                && nanos.getAsLong() - from < HOLD_NANOS
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(LOOK_NANOS);
        }
        held.add(nanos.getAsLong() - from);
    }

    /** How long portions were held back, in all streams together. */
    long heldMillis() {
        return TimeUnit.NANOSECONDS.toMillis(held.sum());
    }
}
