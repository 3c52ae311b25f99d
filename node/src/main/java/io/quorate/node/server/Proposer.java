// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.core.CaptureProtocol;
import io.quorate.core.OriginPosition;
import io.quorate.core.ProposalCourse;
import io.quorate.core.ProposalCourse.Submission;
import io.quorate.core.ProposalWindow;
import io.quorate.core.TotalOrder;
import io.quorate.core.WriteSet;
import io.quorate.node.thread.FaultHandler;
import io.quorate.node.thread.MonotonicClock;
import io.quorate.node.thread.OwnedThread;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;

/**
 * Carries out a {@link ProposalCourse}: the capture fills the window of the course and is held back while that is full,
 * proposals are submitted, and the course is told of deliveries and failures. One lock, one clock.
 *
 * <p>One thread submits, woken only for what comes sooner than it would look by itself. Where clients wait for the
 * verdict, the capture submits what it has read at the end of each group of commits: that saves the waking of a thread
 * between a commit and its OK, and a group is proposed as a whole.
 */
final class Proposer implements CaptureProtocol.Proposing, AutoCloseable {
    private static final long RETRY_MILLIS = 100;
    /** How long the end of a group is waited for; the server doesn't always say where it is. */
    private static final long GROUP_MILLIS = 2;

    private final ProposalCourse course;
    private final TotalOrder order;
    private final LongConsumer proposed;
    private final boolean byGroups;
    private final OwnedThread thread;

    /** Held while the next proposal is taken and submitted, so that they go in their order. */
    private final ReentrantLock submitting = new ReentrantLock();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final Condition room = lock.newCondition();
    /** When the thread looks next. */
    private long looksMillis;

    private boolean quorumHeard;
    private boolean closed;

    /**
     * @param proposed is told, before the order can answer, up to which GTID number this origin is handed to the order;
     *     more than once when it is proposed again
     * @param byGroups whether {@link #read} will be called after each transaction
     */
    public Proposer(
            ProposalWindow window,
            TotalOrder order,
            long resendMillis,
            LongConsumer proposed,
            boolean byGroups,
            FaultHandler faults) {
        this.order = order;
        this.proposed = proposed;
        this.byGroups = byGroups;
        this.course = new ProposalCourse(
                window,
                new ProposalCourse.Timing(resendMillis, RETRY_MILLIS),
                order.quorum().primary(),
                MonotonicClock.millis());
        this.thread = OwnedThread.lasting("quorate-proposer", this::run, faults).start();
    }

    @Override
    public void captured(WriteSet writeSet, long[] undecided) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (course.isFull() && !closed) {
                room.await();
            }
            course.captured(writeSet, undecided, MonotonicClock.millis());
            if (!byGroups) {
                wakeIfDue();
            }
        } finally {
            lock.unlock();
        }
    }

    /** The capture has read a transaction to its end, and handed it in if others have something to apply. */
    void read(boolean endsGroup) {
        if (endsGroup && submitting.tryLock()) {
            try {
                Submission due = poll();
                if (due != null) {
                    submit(due);
                }
            } finally {
                submitting.unlock();
            }
        }
        lock.lock();
        try {
            long now = MonotonicClock.millis();
            long wait = course.waitMillis(now);
            wakeAt(now + (endsGroup || wait > 0 ? wait : GROUP_MILLIS));
        } finally {
            lock.unlock();
        }
    }

    private Submission poll() {
        lock.lock();
        try {
            return closed ? null : course.next(MonotonicClock.millis());
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void progress(long last, long lastSeen, long[] undecided) {
        tell(() -> course.progress(last, lastSeen, undecided, MonotonicClock.millis()));
    }

    @Override
    public void delivered(OriginPosition position) {
        tell(() -> course.delivered(position, MonotonicClock.millis()));
    }

    @Override
    public void gap() {
        tell(() -> course.gap(MonotonicClock.millis()));
    }

    public void quorumChanged(TotalOrder.Quorum quorum) {
        tell(() -> {
            quorumHeard = true;
            course.quorumChanged(quorum.primary(), MonotonicClock.millis());
        });
    }

    /**
     * To be called once {@link #quorumChanged} can be called: the quorum may have changed since this object was
     * created.
     */
    public void quorumMayHaveChanged() {
        tell(() -> {
            if (!quorumHeard) {
                course.quorumChanged(order.quorum().primary(), MonotonicClock.millis());
            }
        });
    }

    private void tell(Runnable what) {
        lock.lock();
        try {
            what.run();
            wakeIfDue();
            if (!course.isFull()) {
                room.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    private void wakeIfDue() {
        long now = MonotonicClock.millis();
        wakeAt(now + course.waitMillis(now));
    }

    /** Has the thread look at that time, if it wouldn't have looked by then. */
    private void wakeAt(long millis) {
        if (millis < looksMillis) {
            looksMillis = millis;
            work.signal();
        }
    }

    private void run() throws InterruptedException {
        while (awaitWork()) {
            submitting.lockInterruptibly();
            try {
                for (Submission next = poll(); next != null; next = poll()) {
                    submit(next);
                }
            } finally {
                submitting.unlock();
            }
        }
    }

    private void submit(Submission next) {
        proposed.accept(next.last());
        // Success proves nothing; only the delivery does. Nobody needs the stage that whenComplete returns.
        var unused = order.submit(next.entry()).whenComplete((done, failure) -> {
            if (failure != null) {
                tell(() -> course.failed(next, String.valueOf(failure.getMessage()), MonotonicClock.millis()));
            }
        });
    }

    /** Waits until there may be something to submit; false when closed. */
    private boolean awaitWork() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long now = MonotonicClock.millis();
            looksMillis = now + course.waitMillis(now);
            while (!closed && now < looksMillis) {
                work.await(looksMillis - now, TimeUnit.MILLISECONDS);
                now = MonotonicClock.millis();
            }
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    /** Bytes that are captured and not yet known to be ordered. */
    public long windowBytes() {
        lock.lock();
        try {
            return course.bytes();
        } finally {
            lock.unlock();
        }
    }

    /** How often proposals had to be sent again. */
    public long resends() {
        lock.lock();
        try {
            return course.resends();
        } finally {
            lock.unlock();
        }
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
