// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.capture.SemiSyncReplica;
import io.quorate.core.AckCourse;
import io.quorate.core.AckCourse.Ack;
import io.quorate.core.AckCourse.Ending;
import io.quorate.core.BinlogPosition;
import io.quorate.core.Gtid;
import io.quorate.core.GtidSet;
import io.quorate.core.OwnRegister;
import io.quorate.core.WriteSet;
import io.quorate.node.thread.FaultHandler;
import io.quorate.node.thread.OwnedThread;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out an {@link AckCourse}: the capture tells it what it has read, the order what has won and lost, and one
 * thread ends sessions and acknowledges positions. One lock, one clock.
 */
final class AckGate implements SemiSyncReplica, OwnRegister.Decisions, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(AckGate.class);

    private static final long LOOK_MILLIS = 1000;
    private static final long RETRY_MILLIS = 100;
    private static final Duration KILL_MAX = Duration.ofSeconds(5);

    private final ServerAccess access;
    private final UUID server;
    private final AckStats stats;
    private final AckCourse course;
    private final CommitStages stages;
    private final OwnedThread thread;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final Condition settled = lock.newCondition();
    private SemiSyncReplica.Acknowledger replica;
    private Ack acknowledged;
    private boolean closed;

    /** For ending sessions; the thread's own. */
    private Connection connection;

    /** Why a session couldn't be ended the last time; null when it could. The thread's own. */
    private String complaint;

    /**
     * @param server whose clients wait
     * @param answered the GTID number up to which nobody waits, because the server had committed before
     */
    AckGate(
            ServerAccess access,
            UUID server,
            Duration commitTimeout,
            long answered,
            AckStats stats,
            FaultHandler faults) {
        this.access = access;
        this.server = server;
        this.stats = stats;
        this.course = new AckCourse(commitTimeout.toMillis());
        course.answered(answered);
        this.stages = new CommitStages(stats);
        this.thread =
                OwnedThread.lasting("quorate-acknowledge", this::run, faults).start();
    }

    // For the capture.

    /** A client's transaction, about to be proposed. */
    void captured(WriteSet w) {
        if (w.isPrepared()) {
            return; // It has been prepared, not committed; the verdict comes before its commit.
        }
        lock.lock();
        try {
            course.captured(w.gtid().number(), w.session(), millis());
            stages.captured(w.gtid().number(), w.committedMicros(), System.nanoTime());
        } finally {
            lock.unlock();
        }
    }

    /** All up to that number are about to be handed to the order. */
    void proposed(long last) {
        lock.lock();
        try {
            stages.proposed(last, System.nanoTime());
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void awaitSettled() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            replica = null;
            while (!course.isSettled() && !closed) {
                settled.await();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void connected(SemiSyncReplica.Acknowledger next) {
        lock.lock();
        try {
            replica = next;
            acknowledged = null;
            work.signal();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void read(BinlogPosition end) {
        lock.lock();
        try {
            course.read(end);
            signalIfDue();
        } finally {
            lock.unlock();
        }
    }

    /** The server is about to be opened for clients, and has committed everything up to {@code number}. */
    void answered(long number) {
        lock.lock();
        try {
            course.answered(number);
            work.signal();
        } finally {
            lock.unlock();
        }
    }

    // For the order.

    @Override
    public void decided(Collection<Long> lost, long last) {
        lock.lock();
        try {
            course.decided(lost, last);
            stages.decided(last, System.nanoTime());
            if (lost.isEmpty()) {
                signalIfDue();
            } else {
                work.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    private void signalIfDue() {
        Ack may = course.acknowledged();
        if (may != null && !may.equals(acknowledged)) {
            work.signal();
        }
    }

    /** The clients that wait for their OK. */
    WaitingCommits waiting() {
        lock.lock();
        try {
            return new WaitingCommits(course.size(), course.waitedMillis(millis()));
        } finally {
            lock.unlock();
        }
    }

    /** The transactions whose clients wait for their OK. */
    GtidSet open() {
        GtidSet open = new GtidSet();
        lock.lock();
        try {
            course.open().forEach(number -> open.add(new Gtid(server, number)));
        } finally {
            lock.unlock();
        }
        return open;
    }

    // The thread.

    private void run() throws InterruptedException {
        while (true) {
            List<Ending> endings;
            Ack may;
            SemiSyncReplica.Acknowledger to;
            lock.lockInterruptibly();
            try {
                endings = course.endings(millis());
                may = course.acknowledged();
                to = replica;
                if (closed) {
                    return;
                }
                boolean due = to != null && may != null && !may.equals(acknowledged);
                if (endings.isEmpty() && !due) {
                    if (course.isSettled()) {
                        settled.signalAll();
                    }
                    work.await(course.waitMillis(millis(), LOOK_MILLIS), TimeUnit.MILLISECONDS);
                    continue;
                }
                may = due ? may : null;
            } finally {
                lock.unlock();
            }
            if (may != null) {
                acknowledge(to, may);
            }
            end(endings);
        }
    }

    private void acknowledge(SemiSyncReplica.Acknowledger to, Ack ack) {
        try {
            to.acknowledge(ack.end());
            lock.lock();
            try {
                if (replica == to) {
                    acknowledged = ack;
                    stages.acknowledged(ack.number(), System.nanoTime());
                }
            } finally {
                lock.unlock();
            }
        } catch (IOException e) {
            log.debug("{} can't be acknowledged on this connection: {}", ack.end(), e.toString());
            lock.lock();
            try {
                if (replica == to) {
                    replica = null; // The capture will connect anew.
                }
            } finally {
                lock.unlock();
            }
        }
    }

    private void end(List<Ending> endings) throws InterruptedException {
        boolean failed = false;
        for (Ending ending : endings) {
            boolean gone = !failed && end(ending);
            failed |= !gone;
            lock.lock();
            try {
                if (gone) {
                    course.ended(ending.number());
                } else {
                    course.notEnded(ending.number());
                }
            } finally {
                lock.unlock();
            }
        }
        if (failed) {
            Thread.sleep(RETRY_MILLIS);
        }
    }

    private boolean end(Ending ending) {
        try {
            if (connection == null) {
                connection = access.connectAlone(KILL_MAX);
            }
            Gtid transaction = new Gtid(server, ending.number());
            Committing.end(connection, transaction, ending.session());
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
        lock.lock();
        try {
            closed = true;
            replica = null;
            work.signalAll();
            settled.signalAll();
        } finally {
            lock.unlock();
        }
        thread.close();
        closeConnection();
    }

    private static long millis() {
        return System.nanoTime() / 1_000_000;
    }
}
