// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.OriginPosition;
import io.quorate.core.ProposalWindow;
import io.quorate.core.TotalOrder;
import io.quorate.core.WriteSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drives a {@link ProposalWindow}: the capture fills it and is held back while it is full, one thread submits from it,
 * deliveries empty it. A submission that failed, or whose delivery is overdue, sends the window back to its oldest
 * proposal; the state machine drops what it turns out to have had already.
 */
final class Proposer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Proposer.class);
    private static final long RETRY_MILLIS = 100;

    private final ProposalWindow window;
    private final TotalOrder order;
    private final long resendMillis;
    private final OwnedThread thread;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final Condition room = lock.newCondition();
    private boolean primary;
    private boolean closed;
    /** Counts rewinds: what was submitted before the last one no longer speaks for the window. */
    private long epoch;

    private long notBeforeMillis;
    private long lastDeliveryMillis;
    private final LongAdder resends = new LongAdder();

    Proposer(ProposalWindow window, TotalOrder order, long resendMillis, FaultHandler faults) {
        this.window = window;
        this.order = order;
        this.resendMillis = resendMillis;
        this.primary = order.quorum().primary();
        this.lastDeliveryMillis = millis();
        this.thread = OwnedThread.lasting("quorate-proposer", this::run, faults).start();
    }

    /** A captured transaction; waits while the window is full. */
    void captured(WriteSet writeSet, long[] undecided) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (window.full() && !closed) {
                room.await();
            }
            window.captured(writeSet, undecided, millis());
            work.signal();
        } finally {
            lock.unlock();
        }
    }

    /** The binlog has been read up to {@code last}. */
    void progress(long last, long lastSeen, long[] undecided) {
        lock.lock();
        try {
            window.progress(last, lastSeen, undecided, millis());
        } finally {
            lock.unlock();
        }
    }

    /** The order has taken this origin that far. */
    void delivered(OriginPosition position) {
        lock.lock();
        try {
            lastDeliveryMillis = millis();
            window.delivered(position.last(), lastDeliveryMillis);
            work.signal();
            if (!window.full()) {
                room.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    /** A proposal of ours was left out because an earlier one is missing. */
    void gap() {
        rewind("an earlier proposal is missing in the order");
    }

    void quorumChanged(TotalOrder.Quorum quorum) {
        lock.lock();
        try {
            primary = quorum.primary();
            rewindNow();
        } finally {
            lock.unlock();
        }
    }

    private void rewind(String why) {
        lock.lock();
        try {
            log.debug("proposing again from the oldest not delivered: {}", why);
            notBeforeMillis = millis() + RETRY_MILLIS;
            rewindNow();
        } finally {
            lock.unlock();
        }
    }

    private void rewindNow() {
        if (window.awaiting()) {
            resends.increment();
        }
        epoch++;
        window.rewind();
        lastDeliveryMillis = millis();
        work.signal();
    }

    private void run() throws InterruptedException {
        for (byte[] entry; (entry = next()) != null; ) {
            submit(entry);
        }
    }

    private void submit(byte[] entry) {
        long submitted;
        lock.lock();
        try {
            submitted = epoch;
        } finally {
            lock.unlock();
        }
        // Success proves nothing; only the delivery does. The stage that whenComplete makes has no one to ask it
        // anything.
        var unused = order.submit(entry).whenComplete((done, failure) -> {
            if (failure != null) {
                failed(submitted, failure);
            }
        });
    }

    private void failed(long submitted, Throwable failure) {
        lock.lock();
        try {
            if (submitted == epoch) {
                rewind(String.valueOf(failure.getMessage()));
            }
        } finally {
            lock.unlock();
        }
    }

    /** Waits for an entry to submit; null when closed. */
    private byte[] next() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (!closed) {
                long now = millis();
                if (window.awaiting() && now - lastDeliveryMillis > resendMillis) {
                    log.warn("no proposal of this node was delivered for {} ms; sending them again", resendMillis);
                    rewindNow();
                }
                boolean may = primary && now >= notBeforeMillis;
                boolean wasAwaiting = window.awaiting();
                byte[] entry = may ? window.poll(now) : null;
                if (entry != null) {
                    if (!wasAwaiting) {
                        lastDeliveryMillis = now;
                    }
                    return entry;
                }
                long wait = now < notBeforeMillis ? notBeforeMillis - now : window.waitMillis(now, RETRY_MILLIS * 5);
                work.await(wait, TimeUnit.MILLISECONDS);
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    /** Bytes captured and not yet known to be ordered. */
    long windowBytes() {
        lock.lock();
        try {
            return window.bytes();
        } finally {
            lock.unlock();
        }
    }

    /** How often proposals under way had to be sent again. */
    long resends() {
        return resends.sum();
    }

    private static long millis() {
        return System.nanoTime() / 1_000_000;
    }

    @Override
    public void close() {
        thread.expectEnd();
        lock.lock();
        try {
            closed = true;
            work.signalAll();
            room.signalAll();
        } finally {
            lock.unlock();
        }
        thread.close();
    }
}
