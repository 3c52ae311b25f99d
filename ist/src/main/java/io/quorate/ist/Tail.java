// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** The end of the cache, where readers wait. Appending takes a lock only while a reader waits. */
final class Tail {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition moved = lock.newCondition();
    private final AtomicInteger waiting = new AtomicInteger();
    private volatile long last;
    private final AtomicInteger lives = new AtomicInteger();
    private volatile boolean closed;

    long last() {
        return last;
    }

    /** How many times the cache was emptied. */
    int lives() {
        return lives.get();
    }

    void reach(long seqno) {
        last = seqno;
        wake();
    }

    /** Everything is gone; the cache continues after {@code seqno}. */
    void reset(long seqno) {
        lives.incrementAndGet();
        reach(seqno);
    }

    void close() {
        closed = true;
        wake();
    }

    private void wake() {
        // A reader announces that it waits before it checks a last time, so one of the two sees the other.
        if (waiting.get() > 0) {
            lock.lock();
            try {
                moved.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    /** Waits until {@code seqno} is there; false when it is not within the time. */
    boolean await(long seqno, int life, long timeoutNanos) throws IOException, InterruptedException {
        requireSame(life);
        if (last >= seqno) {
            return true;
        }
        lock.lockInterruptibly();
        try {
            waiting.incrementAndGet();
            long left = timeoutNanos;
            while (last < seqno && !closed && lives.get() == life && left > 0) {
                left = moved.awaitNanos(Math.min(left, TimeUnit.DAYS.toNanos(1)));
            }
        } finally {
            waiting.decrementAndGet();
            lock.unlock();
        }
        requireSame(life);
        return last >= seqno;
    }

    /** Fails when the cache was closed or emptied since {@code life} began. */
    void requireSame(int life) throws IOException {
        if (closed || lives.get() != life) {
            throw new IOException(closed ? "the writeset cache was closed" : "the writeset cache was emptied");
        }
    }
}
