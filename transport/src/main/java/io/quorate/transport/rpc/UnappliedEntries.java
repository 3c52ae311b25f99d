// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport.rpc;

import java.util.ArrayDeque;
import java.util.function.LongSupplier;

/**
 * Holds a follower's connection back while much of what came over it isn't applied: Ratis keeps each entry in memory
 * until then, and a leader sends as fast as the disk takes it. A follower that was away would get hundreds of megabytes
 * while it certifies one large transaction.
 *
 * <p>Only for a moment at a time: what is held back may be what says that the entries before it are committed, without
 * which they are never applied. So the connection gets slower, and never stops. For one thread.
 */
final class UnappliedEntries {
    /** Between looks at what has been applied. */
    private static final long LOOK_MILLIS = 2;

    private record Received(long last, long bytes) {}

    private final long bytesMax;
    private final long waitMillisMax;
    private final LongSupplier applied;
    private final ArrayDeque<Received> received = new ArrayDeque<>();
    private long bytes;

    /**
     * @param bytesMax received and not applied, beyond which the next entries are held back
     * @param waitMillisMax for how long; well below the time after which a follower stands for election
     * @param applied tells the index of the last entry that is applied
     */
    UnappliedEntries(long bytesMax, long waitMillisMax, LongSupplier applied) {
        this.bytesMax = bytesMax;
        this.waitMillisMax = waitMillisMax;
        this.applied = applied;
    }

    /**
     * Waits, if need be, before entries are handed on.
     *
     * @param last the index of the last of them
     */
    void next(long last, long size) throws InterruptedException {
        long end = System.nanoTime() + waitMillisMax * 1_000_000;
        while (unapplied() > bytesMax && System.nanoTime() < end) {
            Thread.sleep(LOOK_MILLIS);
        }
        received.add(new Received(last, size));
        bytes += size;
    }

    /** How many bytes of what has come aren't applied. */
    long unapplied() {
        long reached = applied.getAsLong();
        while (!received.isEmpty() && received.peek().last <= reached) {
            bytes -= received.remove().bytes;
        }
        return bytes;
    }
}
