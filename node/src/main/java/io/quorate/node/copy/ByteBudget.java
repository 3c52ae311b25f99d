// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Limits how many bytes a second a full copy takes of the network: whoever takes more has to wait. Also says whether
 * the copy is paused. Thread-safe.
 */
public final class ByteBudget {
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private long perSecond;
    private long freeAt = System.nanoTime();
    private volatile boolean paused;

    /** @param perSecond 0 for no limit */
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

    /** Waits until the bytes may be taken or the thread is interrupted. */
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
