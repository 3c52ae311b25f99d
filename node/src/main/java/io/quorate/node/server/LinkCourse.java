// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.node.server.LinkSignals.Task;
import java.io.IOException;
import java.sql.SQLException;

/**
 * The course of the link to the server, turn by turn: one session after the other, for as long as the task is one that
 * serves. A session works on the server as {@link SessionCourse} says, or it only has the order get what clients have
 * committed; while the server is to get another one's data, there is none. Before any of this, no commit may wait on
 * the server any more: it would come there after the server was asked what it holds.
 *
 * <p>A session ends when the task is another one than it was begun for, and when any step of it fails; whoever carries
 * this out closes it then and says so ({@link #ended}). The next one begins after a pause.
 *
 * <p>This class only decides: what is done is behind a port. For one thread, but for {@link #handOver} and {@link
 * #hasHandedOver}.
 */
public final class LinkCourse {
    /** Nothing is to be done before the task is another one. */
    public static final long FOR_EVER = Long.MAX_VALUE / 1_000_000;

    private static final long LOOK_MILLIS = 1000;

    /** What is done with the server. */
    public interface Work {
        /** Forgets why the last session was lost; what the task is then. */
        Task begin();

        /** From now on no commit waits on the server, and no connection of an earlier session works on it. */
        void settleCommits() throws SQLException;

        /** Whether the server is to get another one's data, or is getting them. */
        boolean isCopyPending();

        /** Goes on with that until it is done or the task is another one. */
        void copy() throws SQLException, IOException, InterruptedException;

        /** Begins a session that works on the server. */
        void open() throws SQLException, IOException, InterruptedException;

        /** Goes on with it. */
        void look(Task task) throws SQLException, IOException, InterruptedException;

        /** Whether the session is past its beginning, so that a look at it now and then is enough. */
        boolean isUp();

        /** Begins a session that only has the order get what clients have committed, and keeps them from more. */
        void openToHandOver() throws SQLException, IOException, InterruptedException;

        /** Goes on with it; whether the order has everything. */
        boolean handsOver() throws SQLException, IOException, InterruptedException;

        /** Ends the session. */
        void close();
    }

    private enum At {
        NOTHING,
        WORKING,
        HANDING_OVER;

        boolean fits(Task task) {
            return task.serves() && (this == HANDING_OVER) == (task == Task.HAND_OVER);
        }
    }

    private final long retryMillis;
    private At at = At.NOTHING;
    private volatile boolean handedOver;

    /** @param retryMillis the pause between two sessions */
    public LinkCourse(long retryMillis) {
        this.retryMillis = retryMillis;
    }

    /**
     * Does what is next.
     *
     * @param task what the link is to do now, one for which there is a session or was one
     * @return after how many milliseconds the next turn is due; at once when the task is another one
     */
    public long turn(Work work, Task task) throws SQLException, IOException, InterruptedException {
        if (at == At.NOTHING) {
            return begin(work);
        }
        if (!at.fits(task)) {
            return end(work, task);
        }
        if (at == At.HANDING_OVER) {
            return handOver(work);
        }
        work.look(task);
        return pause(work.isUp());
    }

    private long begin(Work work) throws SQLException, IOException, InterruptedException {
        Task task = work.begin();
        if (!task.serves()) {
            return 0;
        }
        if (task == Task.HAND_OVER && handedOver) {
            return FOR_EVER;
        }
        work.settleCommits();
        if (task == Task.HAND_OVER) {
            at = At.HANDING_OVER;
            work.openToHandOver();
        } else if (work.isCopyPending()) {
            work.copy();
            return retryMillis;
        } else {
            at = At.WORKING;
            work.open();
        }
        return 0;
    }

    private long handOver(Work work) throws SQLException, IOException, InterruptedException {
        if (!work.handsOver()) {
            return pause(false);
        }
        handedOver = true;
        end(work, Task.HAND_OVER);
        return FOR_EVER;
    }

    private long end(Work work, Task task) {
        ended();
        work.close();
        return task == Task.RECONNECT ? retryMillis : 0;
    }

    private static long pause(boolean up) {
        return up ? LOOK_MILLIS : LOOK_MILLIS / 20;
    }

    /** The session is no more. */
    public void ended() {
        at = At.NOTHING;
    }

    /** Everything has to be handed over once more. Any thread. */
    public void handOver() {
        handedOver = false;
    }

    /** Whether the order has everything that clients had committed at the last {@link #handOver()}. Any thread. */
    public boolean hasHandedOver() {
        return handedOver;
    }
}
