// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.capture.CaptureStats;
import io.quorate.capture.SemiSyncReplica;
import io.quorate.core.AckCourse;
import io.quorate.core.AckCourse.Ending;
import io.quorate.core.AckTurns;
import io.quorate.core.AckTurns.Acknowledgement;
import io.quorate.core.BinlogPosition;
import io.quorate.core.Gtid;
import io.quorate.core.GtidSet;
import io.quorate.core.OverdueCommits;
import io.quorate.core.OwnRegister;
import io.quorate.core.WriteSet;
import io.quorate.node.thread.FaultHandler;
import io.quorate.node.thread.MonotonicClock;
import io.quorate.node.thread.OwnedThread;
import io.quorate.node.trace.Traces;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out an {@link AckCourse}: the capture tells it what it has read, the order what has won and lost, and
 * sessions are ended and positions acknowledged, one after the other as {@link AckTurns} says. One lock, one clock.
 *
 * <p>One thread does that. Where nobody has lost, whoever brings the decision acknowledges it, which saves the waking
 * of a thread; it writes some bytes, of which the server has asked for each before it sends more.
 */
final class AckGate implements OwnRegister.Listener, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(AckGate.class);

    private static final long LOOK_MILLIS = 1000;
    private static final long RETRY_MILLIS = 100;

    /**
     * No client waits for longer than this because of flow control. It holds its row locks meanwhile, also where the
     * applier needs them next, who ends sessions that are in its way for a second.
     */
    private static final long HOLD_MAX_MILLIS = 500;

    private static final Duration KILL_MAX = Duration.ofSeconds(5);

    /** A commit that isn't captured so long after it is in the binlog is late. */
    private static final long READ_MAX_MILLIS = 2000;

    private final ServerAccess access;
    private final UUID server;
    private final AckStats stats;
    private final Traces traces;
    private final AckCourse course;
    private final AckTurns<SemiSyncReplica.Acknowledger> turns;
    private final CommitStages stages;
    private final OwnedThread thread;
    private final Duration commitTimeout;

    /** The thread's own. */
    private final OverdueCommits overdue;

    private long lookedMillis;

    /** The capture's numbers; null before it has begun. */
    private volatile Supplier<CaptureStats> capture;

    /** Why commits have waited for too long though nobody has captured them; null while none has. */
    private volatile String stalled;

    /** Held while a turn is carried out. */
    private final ReentrantLock acting = new ReentrantLock();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final Condition settled = lock.newCondition();
    private boolean closed;
    /** When the thread looks next. */
    private long looksMillis;

    /**
     * For ending sessions; the thread's own. It is kept, because nobody can connect while a statement of accounts waits
     * for its verdict, as little as anybody can while it has lost and its session isn't ended.
     */
    private Connection connection;

    /** Why a session couldn't be ended the last time; null when it could. The thread's own. */
    private String complaint;

    /**
     * @param server whose clients wait
     * @param lagTarget what flow control aims at; no client waits for longer than half of it because of that
     * @param answered the GTID number up to which nobody waits, because the server had committed before
     */
    AckGate(
            ServerAccess access,
            UUID server,
            Duration commitTimeout,
            Duration lagTarget,
            long answered,
            AckStats stats,
            Traces traces,
            FaultHandler faults) {
        this.access = access;
        this.server = server;
        this.stats = stats;
        this.traces = traces;
        this.course = new AckCourse(commitTimeout.toMillis(), Math.min(HOLD_MAX_MILLIS, lagTarget.toMillis() / 2));
        course.answered(answered);
        this.commitTimeout = commitTimeout;
        this.overdue = new OverdueCommits(commitTimeout.toMillis() + READ_MAX_MILLIS);
        this.turns = new AckTurns<>(course, RETRY_MILLIS);
        this.stages = new CommitStages(stats);
        this.thread =
                OwnedThread.lasting("quorate-acknowledge", this::run, faults).start();
    }

    // For the capture.

    /** It has begun to read. */
    void reads(Supplier<CaptureStats> stats) {
        capture = stats;
    }

    @Override
    public void captured(WriteSet w) {
        traces.captured(w, !w.isPrepared());
        if (w.isPrepared()) {
            return; // It has been prepared, not committed; the verdict comes before its commit.
        }
        locked(() -> {
            course.captured(w.gtid().number(), w.session(), w.payload().size(), MonotonicClock.millis());
            stages.captured(w.gtid().number(), w.committedMicros(), System.nanoTime());
        });
    }

    /** All up to that number are about to be handed to the order. */
    void proposed(long last) {
        locked(() -> stages.proposed(last, System.nanoTime()));
        traces.proposed(last);
    }

    /** As {@link SemiSyncReplica#awaitSettled}. */
    void awaitSettled() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            turns.disconnected();
            while (!turns.mayConnect() && !closed) {
                settled.await();
            }
        } finally {
            lock.unlock();
        }
    }

    /** As {@link SemiSyncReplica#connected}. */
    void connected(SemiSyncReplica.Acknowledger next) {
        locked(() -> {
            turns.connected(next);
            work.signal();
        });
    }

    /** The binlog has been read up to the end of a transaction. */
    void read(BinlogPosition end) {
        locked(() -> {
            course.read(end, MonotonicClock.millis());
            signalIfSettled();
        });
        acknowledgeDue();
    }

    /** Commits are about to wait for their verdict, and the server has committed everything up to {@code number}. */
    void answered(long number) {
        locked(() -> {
            course.answered(number);
            work.signal();
        });
    }

    /** Until {@code lease} is over, at most so many clients a second get their OK. */
    void slow(double perSecond, Duration lease) {
        locked(() -> {
            long now = MonotonicClock.millis();
            course.slow(perSecond, now, now + lease.toMillis());
            signalIfSoon();
        });
    }

    /** For how long flow control has kept the first of its clients from OK by now, and all of them so far. */
    HeldCommits held() {
        lock.lock();
        try {
            return new HeldCommits(course.heldMillis(MonotonicClock.millis()), course.heldMillisInAll());
        } finally {
            lock.unlock();
        }
    }

    // For the order.

    @Override
    public void decided(Collection<Long> lost, long last) {
        locked(() -> {
            course.decided(lost, last);
            stages.decided(last, System.nanoTime());
            signalIfSettled();
            if (!lost.isEmpty()) {
                work.signal();
            }
        });
        if (lost.isEmpty()) {
            acknowledgeDue();
        }
    }

    private void signalIfSettled() {
        if (!turns.isAckDue(MonotonicClock.millis()) && turns.mayConnect()) {
            settled.signalAll();
        }
    }

    /** Acknowledges what may be; leaves it to the thread if that is acting, or if something else comes before it. */
    private void acknowledgeDue() {
        if (acting.tryLock()) {
            try {
                if (nextNow() instanceof Acknowledgement<SemiSyncReplica.Acknowledger> due) {
                    acknowledge(due);
                }
            } finally {
                acting.unlock();
            }
        }
        locked(this::signalIfSoon);
    }

    /** Wakes the thread if it has something to do before it would look by itself. */
    private void signalIfSoon() {
        long now = MonotonicClock.millis();
        if (turns.isAckDue(now) || now + turns.waitMillis(now, LOOK_MILLIS) < looksMillis) {
            work.signal();
        }
    }

    private AckTurns.Turn<SemiSyncReplica.Acknowledger> nextNow() {
        lock.lock();
        try {
            return closed ? null : turns.next(MonotonicClock.millis());
        } finally {
            lock.unlock();
        }
    }

    /** The clients that wait for their OK. */
    WaitingCommits waiting() {
        lock.lock();
        try {
            return new WaitingCommits(course.size(), course.waitedMillis(MonotonicClock.millis()));
        } finally {
            lock.unlock();
        }
    }

    /** The transactions whose clients wait for their OK. */
    GtidSet open() {
        GtidSet open = new GtidSet();
        locked(() -> course.open().forEach(number -> open.add(new Gtid(server, number))));
        return open;
    }

    // The thread.

    private void run() throws InterruptedException {
        while (awaitTurn()) {
            acting.lockInterruptibly();
            try {
                act();
            } finally {
                acting.unlock();
            }
            if (MonotonicClock.millis() - lookedMillis >= LOOK_MILLIS) {
                look();
                lookedMillis = MonotonicClock.millis();
            }
        }
    }

    /** Ends the sessions of commits that wait though nobody captures them. Their clients don't know the outcome. */
    private void look() {
        Supplier<CaptureStats> stats = capture;
        try {
            Map<Gtid, Long> waiting = new HashMap<>(Committing.owned(connection()));
            locked(() ->
                    waiting.keySet().removeIf(gtid -> !gtid.source().equals(server) || course.isInHand(gtid.number())));
            long read = stats == null ? 0 : stats.get().events();
            for (Map.Entry<Gtid, Long> each : overdue.look(waiting, read, MonotonicClock.millis())) {
                if (Committing.endOverdue(connection, each.getValue())) {
                    this.stats.ended(AckCourse.Cause.UNDECIDED);
                    stalled = "commits wait for longer than " + commitTimeout.toMillis() + " ms, and are ended: "
                            + why(stats);
                    log.warn(
                            "session {} was ended: {} waits in its commit, and {}; quorate outcome will say what became"
                                    + " of it",
                            each.getValue(),
                            each.getKey(),
                            why(stats));
                }
            }
            if (waiting.isEmpty()) {
                stalled = null;
            }
        } catch (SQLException e) {
            log.debug("who waits in a commit isn't known: {}", e.toString());
            closeConnection();
        }
    }

    private static String why(Supplier<CaptureStats> capture) {
        CaptureStats stats = capture == null ? null : capture.get();
        if (stats == null) {
            return "the binlog isn't read yet";
        }
        if (!stats.connected()) {
            return "the binlog can't be read: " + stats.lastError();
        }
        return "who reads the binlog stands still since " + (System.currentTimeMillis() - stats.lastEventMillis())
                + " ms, waiting for the order or for the server";
    }

    /** Why commits are ended before anybody has captured them; null when none is. */
    String stalled() {
        return stalled;
    }

    private Connection connection() throws SQLException {
        if (connection == null) {
            connection = access.connectAlone(KILL_MAX);
        }
        return connection;
    }

    private void act() {
        AckTurns.Turn<SemiSyncReplica.Acknowledger> next = nextNow();
        if (next instanceof Acknowledgement<SemiSyncReplica.Acknowledger> due) {
            acknowledge(due);
        } else if (next instanceof AckTurns.End<SemiSyncReplica.Acknowledger> due) {
            endOf(due.ending());
        }
    }

    /** Waits until there is something to do; false when closed. */
    private boolean awaitTurn() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (!closed) {
                long now = MonotonicClock.millis();
                if (turns.next(now) != null || now - lookedMillis >= LOOK_MILLIS) {
                    return true;
                }
                if (turns.mayConnect()) {
                    settled.signalAll();
                }
                long wait = turns.waitMillis(now, LOOK_MILLIS);
                looksMillis = now + wait;
                work.await(wait, TimeUnit.MILLISECONDS);
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    private void acknowledge(Acknowledgement<SemiSyncReplica.Acknowledger> turn) {
        try {
            turn.to().acknowledge(turn.ack().end());
            locked(() -> {
                if (turns.acknowledged(turn)) {
                    stages.acknowledged(turn.ack().number(), System.nanoTime());
                    traces.acknowledged(turn.ack().number());
                }
            });
        } catch (IOException e) {
            log.debug(
                    "{} can't be acknowledged on this connection: {}",
                    turn.ack().end(),
                    e.toString());
            locked(() -> turns.notAcknowledged(turn));
        }
    }

    private void locked(Runnable what) {
        lock.lock();
        try {
            what.run();
        } finally {
            lock.unlock();
        }
    }

    private void endOf(Ending ending) {
        boolean ended = end(ending);
        locked(() -> {
            if (ended) {
                turns.ended(ending);
                traces.ended(ending.number());
            } else {
                turns.notEnded(MonotonicClock.millis());
            }
        });
    }

    private boolean end(Ending ending) {
        try {
            Gtid transaction = new Gtid(server, ending.number());
            Committing.end(connection(), transaction, ending.session());
            complaint = null;
            stats.ended(ending.cause());
            switch (ending.cause()) {
                case LOST ->
                    log.info(
                            "session {} was ended: its transaction {} lost, quorate conflicts says against which",
                            ending.session(),
                            transaction);
                case UNDECIDED ->
                    log.warn(
                            "session {} was ended: the order has not decided on its transaction {} in time, quorate"
                                    + " outcome will say what became of it",
                            ending.session(),
                            transaction);
            }
            return true;
        } catch (SQLException e) {
            // It is tried again ten times a second.
            if (!e.getMessage().equals(complaint)) {
                log.warn("session {} can't be ended, its client keeps waiting: {}", ending.session(), e.getMessage());
                complaint = e.getMessage();
            }
            closeConnection();
            return false;
        }
    }

    private void closeConnection() {
        if (connection != null) {
            try {
                connection.close();
            } catch (SQLException e) {
                log.debug("while a connection is closed: {}", e.toString());
            }
            connection = null;
        }
    }

    @Override
    public void close() {
        thread.expectEnd();
        locked(() -> {
            closed = true;
            work.signalAll();
            settled.signalAll();
        });
        thread.close();
        closeConnection();
    }
}
