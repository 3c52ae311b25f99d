// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.applier.TailCourse;
import io.quorate.node.server.LinkSignals.Task;
import java.io.IOException;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;

/**
 * The course of one session with the server, look by look. Clients are kept from writing until it is known what the
 * server has lost at its end, and that is repaired; for this, its binlog may have to be captured while nothing is
 * applied. Then the order is applied, clients are let in when the node's state allows it, and the capture begins as
 * soon as it is known where. From then on the server is up, until its binlog can't be read for long.
 *
 * <p>Or all that the session is for is to have the order get what clients have committed ({@link #hasHandedOver}).
 *
 * <p>This class only decides: what is done is behind a port, and time comes in as an argument. For one thread, but for
 * {@link #isClosed}.
 */
public final class SessionCourse {
    /** A capture whose connection breaks has another one long before. */
    private static final long CAPTURE_LOST_MILLIS = TimeUnit.SECONDS.toMillis(20);

    /** A definition's fence closes the server some milliseconds before this session is told to. */
    private static final long CLOSED_MILLIS = TimeUnit.SECONDS.toMillis(1);

    /** Who keeps clients from writing, as the server has it now. */
    public enum Closed {
        BY_NOBODY,
        /** This service, or whoever started mysqld. */
        BY_SERVICE,
        /** Somebody who has set {@code read_only} since. The server stays closed until he takes it back. */
        BY_SOMEBODY
    }

    /** What is done in the session, and asked of the server and the order. */
    public interface Work {
        // Clients.

        /** Whether a server that is open for clients may stay so for now, though it should be closed. */
        boolean staysOpen() throws SQLException;

        /** Notes up to where the server has committed by now: nobody waits for a verdict about that. */
        void noteAnswered() throws SQLException;

        /** From now on commits wait for their verdict, in mode {@code after-sync}. */
        void holdCommits() throws SQLException;

        /** Lets clients write. */
        void openForClients() throws SQLException;

        /** Keeps clients from writing. */
        void closeForClients() throws SQLException;

        /** Asks the server who keeps clients from writing. */
        Closed closed() throws SQLException;

        /** Has what else must be true of the server be so: drained, and in {@code after-sync} that commits wait. */
        void restoreRest() throws SQLException;

        // What the server has lost.

        /** Goes on finding that out; where that stands then ({@link TailCourse#step}). */
        TailCourse.Step recover() throws SQLException, IOException, InterruptedException;

        /** Whether this node knows how far the order is with the server ({@link TailCourse#isCurrent}). */
        boolean isCurrent();

        /** The last GTID number of the server's own transactions that the order has. */
        long ownOrdered();

        /** The last GTID number of the server's own transactions that it has executed. */
        long ownExecuted() throws SQLException;

        /** Whether the capture has met whatever is of no number of the server's own, and can't be ordered. */
        boolean hasPassedOver() throws SQLException;

        // Capturing and applying.

        /** Begins to capture while nothing is applied, through a register of its own. */
        void captureAlone() throws SQLException, IOException, InterruptedException;

        /** Ends {@link #captureAlone}, if it has begun, and begins to apply. */
        void apply() throws SQLException, IOException, InterruptedException;

        /** Whether it is known where to capture from. */
        boolean mayCapture() throws SQLException;

        /** Begins to capture. */
        void capture() throws SQLException, IOException;

        /** Whether the capture reads the binlog, and it is known how much of that the order has. */
        boolean isCaptureUp();

        // The rest.

        /** Looks whether the server is as it has to be; refuses it or loses the session if it isn't. */
        void check() throws SQLException, IOException;

        /** Says in the order what this server makes of definitions about which the nodes vote. */
        void vote(boolean synced);

        /** The server is applied to and captured from. */
        void up() throws SQLException;

        /** The session is lost. */
        void lost(String why);
    }

    private boolean captures;
    private boolean applies;
    private boolean up;
    private long capturedMillis;
    /** Since when the server is closed though it was opened; -1 while it isn't. */
    private long closedSinceMillis = -1;

    private volatile Task done;

    /**
     * The session begins.
     *
     * @param whole whether the server is known to have lost nothing
     */
    public void begin(Work work, Task task, boolean whole) throws SQLException, IOException, InterruptedException {
        carryOut(work, whole ? task : Task.READ_ONLY);
        if (whole) {
            apply(work);
        }
    }

    /** Now and then, and whenever the task is another one. */
    public void look(Work work, Task task, long nowMillis) throws SQLException, IOException, InterruptedException {
        carryOut(work, applies ? task : Task.READ_ONLY);
        compare(work, nowMillis);
        if (!applies) {
            recover(work);
        } else if (!captures && work.mayCapture()) {
            work.capture();
            captures = true;
        }
        work.check();
        if (applies) {
            work.vote(task == Task.WRITABLE);
        }
        lookAtCapture(work, nowMillis);
    }

    private void carryOut(Work work, Task task) throws SQLException {
        if (task == done || (task == Task.READ_ONLY && work.staysOpen())) {
            return;
        }
        if (task == Task.WRITABLE) {
            open(work);
        } else {
            work.closeForClients();
        }
        closedSinceMillis = -1;
        done = task;
    }

    private static void open(Work work) throws SQLException {
        work.noteAnswered();
        if (work.closed() == Closed.BY_SOMEBODY) {
            work.holdCommits(); // For when he opens it.
        } else {
            work.openForClients();
        }
    }

    /** What was done before may be undone by others, or be half done because a connection broke. */
    private void compare(Work work, long nowMillis) throws SQLException {
        work.restoreRest();
        if (done == null) {
            return; // The server stays as it was found.
        }
        Closed closed = work.closed();
        if (done != Task.WRITABLE) {
            if (closed == Closed.BY_NOBODY) {
                work.closeForClients();
            }
        } else if (closed != Closed.BY_SERVICE) {
            closedSinceMillis = -1;
        } else if (closedSinceMillis < 0) {
            closedSinceMillis = nowMillis;
        } else if (nowMillis - closedSinceMillis >= CLOSED_MILLIS) {
            closedSinceMillis = -1;
            open(work);
        }
    }

    /** What is captured for this goes through a register of its own, and the next capture begins anew. */
    private void recover(Work work) throws SQLException, IOException, InterruptedException {
        switch (work.recover()) {
            case PROBE, COMPARE, REPAIR -> {
                // Nothing to do but wait for the order.
            }
            case CAPTURE -> captureAlone(work);
            case DONE -> apply(work);
        }
    }

    private void captureAlone(Work work) throws SQLException, IOException, InterruptedException {
        if (!captures) {
            work.captureAlone();
            captures = true;
        }
    }

    private void apply(Work work) throws SQLException, IOException, InterruptedException {
        work.apply();
        applies = true;
        captures = false;
    }

    private void lookAtCapture(Work work, long nowMillis) throws SQLException {
        boolean captureUp = applies && work.isCaptureUp();
        if (captureUp && !up) {
            up = true;
            // Not first when clients are let in: whom read_only doesn't keep from writing may not hear OK before the
            // verdict either.
            work.noteAnswered();
            work.holdCommits();
            work.up();
        }
        if (captureUp || !up) {
            capturedMillis = nowMillis;
        } else if (nowMillis - capturedMillis > CAPTURE_LOST_MILLIS) {
            work.lost("the binlog can't be read, the log says why");
        }
    }

    /**
     * Goes on with having the order get what clients have committed, who are kept from writing by now; nothing is
     * applied.
     *
     * @return whether the order has everything
     */
    public boolean hasHandedOver(Work work) throws SQLException, IOException, InterruptedException {
        if (!work.isCurrent()) {
            return false;
        }
        if (work.ownOrdered() >= work.ownExecuted() && work.hasPassedOver()) {
            return true;
        }
        captureAlone(work);
        return false;
    }

    /** Whether the server is applied to and was captured from. */
    public boolean isUp() {
        return up;
    }

    /** Whether the order is applied. */
    public boolean applies() {
        return applies;
    }

    /** Whether this session has opened the server for clients. */
    public boolean isOpen() {
        return done == Task.WRITABLE;
    }

    /** Whether this session has closed the server for clients. Any thread. */
    public boolean isClosed() {
        return done != null && done != Task.WRITABLE;
    }
}
