// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.time.Duration;
import java.util.Deque;

/**
 * Decides what the {@link Schedule} is given, when its groups go to the workers, and when the position is written
 * although there is nothing to apply. After one group has been taken, a next one that isn't full is held back for an
 * interval, so that groups fill. The position is written together with rows; where there are none for an interval, it
 * gets a group of its own.
 *
 * <p>Pure: time comes in as an argument, from any clock that never goes back. Not thread-safe.
 */
public final class Dispatch {
    private final Schedule schedule;
    private final long groupIntervalNanos;
    private final long positionIntervalNanos;
    private long lastTakenNanos;
    private long saved;
    /** When the position was last written, or was to be. */
    private long savedNanos;

    private long reported;
    private int unreportedTransactions;

    /**
     * How far the database is.
     *
     * @param seqno up to which everything is there
     * @param transactions how many were applied since the last time
     * @param originCommittedMicros when the last of them was committed at its origin
     */
    public record Progress(long seqno, int transactions, long originCommittedMicros) {}

    public Dispatch(Schedule schedule, Duration groupInterval, Duration positionInterval, long nowNanos) {
        this.schedule = schedule;
        this.groupIntervalNanos = groupInterval.toNanos();
        this.positionIntervalNanos = positionInterval.toNanos();
        this.lastTakenNanos = nowNanos - groupIntervalNanos;
        this.savedNanos = nowNanos;
        this.saved = schedule.committed();
        this.reported = saved;
    }

    /**
     * Takes the next writesets, as many as there is room for, and removes them from {@code batch}.
     *
     * @param idle whether a worker waits for a group
     * @return whether there was room for all of them
     */
    public boolean offer(Deque<Feed.Due> batch, boolean idle) {
        for (Feed.Due next; (next = batch.peek()) != null; batch.remove()) {
            if (!schedule.offer(next.writeSet(), next.duty(), idle)) {
                return false;
            }
        }
        return true;
    }

    /** The next group to execute, null when there is none now. */
    public Group take(long nowNanos) {
        Group group = schedule.take(pauseNanos(nowNanos) <= 0 || schedule.openIsFull());
        boolean due = nowNanos - savedNanos >= positionIntervalNanos && schedule.committed() > saved;
        if (group == null && (due || isPositionAwaited())) {
            group = schedule.takePositionOnly();
            savedNanos = nowNanos;
        }
        lastTakenNanos = group == null ? lastTakenNanos : nowNanos;
        return group;
    }

    /** How long a group that isn't full is still held back. */
    public long pauseNanos(long nowNanos) {
        return lastTakenNanos + groupIntervalNanos - nowNanos;
    }

    /** Whether the position has to be written now, or as soon as that is possible. */
    boolean isPositionAwaited() {
        return schedule.isPositionAwaited(saved);
    }

    /**
     * The head is committed.
     *
     * @param positionSaved whether the position was written with it
     */
    public void committed(Group group, boolean positionSaved, long nowNanos) {
        schedule.committed(group);
        if (positionSaved) {
            saved = group.last();
            savedNanos = nowNanos;
        }
        unreportedTransactions += group.transactions();
    }

    /** What there is to tell since the last time; null when that is nothing. */
    public Progress progress() {
        if (schedule.committed() <= reported) {
            return null;
        }
        reported = schedule.committed();
        Progress progress = new Progress(reported, unreportedTransactions, schedule.committedMicros());
        unreportedTransactions = 0;
        return progress;
    }

    /** The seqno that the position table has. */
    long saved() {
        return saved;
    }
}
