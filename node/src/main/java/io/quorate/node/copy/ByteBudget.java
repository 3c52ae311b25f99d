// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Holds up those who take more bytes a second than there are; says whether anything is to be begun at all. Thread-safe.
 */
public final class ByteBudget {
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private long perSecond;
    private long freeAt = System.nanoTime();
    private volatile boolean paused;

    /** @param perSecond 0 for any number */
    ByteBudget(long perSecond) {
        this.perSecond = perSecond;
    }

    public synchronized void perSecond(long value) {
        perSecond = value;
        freeAt = System.nanoTime();
    }

    public synchronized long perSecond() {
        return perSecond;
    }

    void pause(boolean value) {
        paused = value;
    }

    public boolean isPaused() {
        return paused;
    }

    /** Returns when the bytes may be taken, or the thread is interrupted. */
    void take(long bytes) {
        long wait = reserve(bytes);
        while (wait > 0 && !Thread.currentThread().isInterrupted()) {
            long nanos = Math.min(wait, LOOK_NANOS);
            LockSupport.parkNanos(nanos);
            wait -= nanos;
        }
    }

    private synchronized long reserve(long bytes) {
        if (perSecond == 0) {
            return 0;
        }
        long now = System.nanoTime();
        long wait = Math.max(0, freeAt - now);
        freeAt = Math.max(now, freeAt) + TimeUnit.SECONDS.toNanos(1) * bytes / perSecond;
        return wait;
    }
}
