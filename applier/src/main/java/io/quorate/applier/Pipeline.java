// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.LogPosition;
import java.time.Duration;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * {@link Schedule} and {@link Dispatch} shared by the thread that reads the log and the workers. One lock; all waiting
 * happens here.
 *
 * <p>Commit order causes a deadlock that InnoDB can't see: group 7 waits for a row lock that group 8 holds, and group
 * 8, executed, waits for 7 to commit. It can happen although 8 doesn't depend on 7, for example because of gap locks,
 * or of two keys with one hash. The way out is that the later group yields: it rolls back and is executed again once it
 * is the head, when nothing of the order is left to collide with.
 */
final class Pipeline {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition room = lock.newCondition();
    private final Condition work = lock.newCondition();
    private final Condition turn = lock.newCondition();
    private final Condition stop = lock.newCondition();
    private final Schedule schedule;
    private final ApplierListener listener;
    private final Dispatch dispatch;
    private final long positionIntervalNanos;
    private int idle;
    /** Whether an idle worker waits for the group interval to pass, and needn't be woken for each writeset. */
    private boolean paced;

    private boolean stopped;
    private volatile long applied;

    Pipeline(Schedule schedule, ApplierListener listener, Duration groupInterval, Duration positionInterval) {
        this.schedule = schedule;
        this.listener = listener;
        this.dispatch = new Dispatch(schedule, groupInterval, positionInterval, System.nanoTime());
        this.positionIntervalNanos = positionInterval.toNanos();
        this.applied = schedule.committed();
    }

    /**
     * Hands in the next writesets, waiting for room. All at once, so that a waiting worker doesn't take only the first.
     * After one that takes more room than there is, returns when that is committed: nothing else is read meanwhile.
     *
     * @param batch loses what has been taken
     */
    void offer(Deque<Feed.Due> batch) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (!stopped && (!dispatch.offer(batch, idle > 0) || schedule.isOverfull())) {
                signalWork();
                report();
                room.await();
            }
            signalWork();
            report();
        } finally {
            lock.unlock();
        }
    }

    private void signalWork() {
        if (idle > 0 && (dispatch.isPositionAwaited() || (schedule.hasGroup() && (!paced || schedule.openIsFull())))) {
            work.signal();
        }
    }

    /** How long a group that isn't full would still be held back. */
    long pauseNanos() {
        lock.lock();
        try {
            return dispatch.pauseNanos(System.nanoTime());
        } finally {
            lock.unlock();
        }
    }

    /** The next group to execute, waiting for one; null when stopped. */
    Group take() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (!stopped) {
                long now = System.nanoTime();
                Group group = takeNow(now);
                if (group != null) {
                    return group;
                }
                long pause = dispatch.pauseNanos(now);
                boolean pacing = !paced && pause > 0 && schedule.queued() > 0;
                idle++;
                paced |= pacing;
                try {
                    work.awaitNanos(pacing ? pause : positionIntervalNanos);
                } finally {
                    idle--;
                    paced &= !pacing;
                }
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    private Group takeNow(long now) {
        Group group = dispatch.take(now);
        if (group != null) {
            room.signal();
            if (idle > 0 && schedule.queued() > 0) {
                work.signal();
            }
        }
        return group;
    }

    /**
     * Waits until everything before {@code group} is committed.
     *
     * @return false when the group must yield: roll back, {@link #awaitHead}, execute again
     */
    boolean awaitTurn(Group group) throws InterruptedException {
        return await(group, true);
    }

    /** Waits until everything before {@code group} is committed, even if it is asked to yield: it holds no locks. */
    void awaitHead(Group group) throws InterruptedException {
        await(group, false);
    }

    private boolean await(Group group, boolean mayYield) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            for (Schedule.Turn now; (now = schedule.turn(group)) != Schedule.Turn.COMMIT; ) {
                if (stopped) {
                    throw new InterruptedException("the applier is stopping");
                }
                if (mayYield && now == Schedule.Turn.YIELD) {
                    return false;
                }
                turn.await();
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** The order's position that belongs to everything committed so far. */
    LogPosition committedPosition() {
        lock.lock();
        try {
            return schedule.committedPosition();
        } finally {
            lock.unlock();
        }
    }

    boolean isHead(Group group) {
        lock.lock();
        try {
            return schedule.isHead(group);
        } finally {
            lock.unlock();
        }
    }

    /** The group that all others wait for, or null. */
    Group head() {
        lock.lock();
        try {
            return schedule.head();
        } finally {
            lock.unlock();
        }
    }

    /** Whether a connection of ours, by the server's number, executes a group. */
    boolean isRunning(long session) {
        lock.lock();
        try {
            for (Group group : schedule.running()) {
                if (group.session() == session) {
                    return true;
                }
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Waits this long, unless stopped. */
    void pause(long millis) throws InterruptedException {
        if (awaitStop(Duration.ofMillis(millis))) {
            throw new InterruptedException("the applier is stopping");
        }
    }

    /** Whether the pipeline was stopped within {@code timeout}. */
    boolean awaitStop(Duration timeout) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = timeout.toNanos();
            while (!stopped && left > 0) {
                left = stop.awaitNanos(left);
            }
            return stopped;
        } finally {
            lock.unlock();
        }
    }

    /** Asks every running group except the head to give up its locks. */
    void yieldAllButHead() {
        lock.lock();
        try {
            schedule.yieldAllButHead();
            turn.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** The head is committed, {@code saved} says whether its position row was written with it. */
    void committed(Group group, boolean positionSaved) {
        lock.lock();
        try {
            dispatch.committed(group, positionSaved, System.nanoTime());
            report();
            turn.signalAll();
            work.signal();
            room.signal();
        } finally {
            lock.unlock();
        }
    }

    private void report() {
        Dispatch.Progress progress = dispatch.progress();
        if (progress != null) {
            applied = progress.seqno();
            listener.applied(progress.seqno(), progress.transactions(), progress.originCommittedMicros());
        }
    }

    /**
     * Nothing is taken any more, and whatever waits here stops waiting. Running groups may still commit when they
     * become the head.
     */
    void stop() {
        lock.lock();
        try {
            stopped = true;
            room.signalAll();
            work.signalAll();
            turn.signalAll();
            stop.signalAll();
        } finally {
            lock.unlock();
        }
    }

    boolean stopped() {
        lock.lock();
        try {
            return stopped;
        } finally {
            lock.unlock();
        }
    }

    long applied() {
        return applied;
    }

    /** What the position table says, what runs, what is queued, and the origin's time of the last applied writeset. */
    record State(long saved, int executing, int queued, long originCommittedMicros) {}

    State state() {
        lock.lock();
        try {
            return new State(dispatch.saved(), schedule.executing(), schedule.queued(), schedule.committedMicros());
        } finally {
            lock.unlock();
        }
    }
}
