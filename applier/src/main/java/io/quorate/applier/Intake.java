// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Brings what the record has to the schedule, batch by batch. A batch is what there is, but not much more than one
 * group may hold; the next one is read when all of it has been taken. For one thread.
 */
public final class Intake {
    private final Feed feed;
    private final int transactionsMax;
    private final long bytesMax;
    private final Taker taker;
    private final Deque<Feed.Due> batch = new ArrayDeque<>();
    private boolean more;

    /** Takes what is read: the {@link Schedule}, as whoever guards it has it. */
    public interface Taker {
        /** Says what has just been read, and is offered next; what is offered in its place. */
        Feed.Due read(Feed.Due due);

        /** Takes the first of these, and removes what it has taken ({@link Dispatch#offer}). */
        boolean offer(Deque<Feed.Due> batch) throws InterruptedException;
    }

    /**
     * @param transactionsMax the most writesets of a group
     * @param bytesMax and their largest payload
     */
    public Intake(Feed feed, int transactionsMax, long bytesMax, Taker taker) {
        this.feed = feed;
        this.transactionsMax = transactionsMax;
        this.bytesMax = bytesMax;
        this.taker = taker;
    }

    /**
     * Reads a batch, waiting so long for the first writeset, and offers it; or offers what is left of the last one.
     *
     * @return whether there may be more, and room for it
     */
    public boolean turn(Duration wait) throws IOException, InterruptedException {
        more = batch.isEmpty() ? fill(wait) : more;
        return taker.offer(batch) && more;
    }

    private boolean fill(Duration wait) throws IOException, InterruptedException {
        Feed.Due next = feed.next(wait);
        long bytes = 0;
        while (next != null) {
            batch.add(taker.read(next));
            bytes += next.duty() == Duty.NONE
                    ? 0
                    : next.writeSet().writeSet().payload().heapBytes();
            if (batch.size() >= transactionsMax || bytes >= bytesMax) {
                return true;
            }
            next = feed.next(Duration.ZERO);
        }
        return false;
    }
}
