// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import java.sql.SQLException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The course of closing a server for clients' writes while their commits wait for a verdict. The server isn't closed
 * before commits under way have ended. While a capture is there, those are decided, or their sessions are ended after
 * the commit timeout. Where there is none, or that doesn't help, nobody would ever decide: all clients are put out,
 * which tells none of them OK, and then the server goes on with what they committed as in mode {@code async}.
 *
 * <p>{@code read_only} doesn't keep everybody from writing: not accounts with CONNECTION_ADMIN, and nobody who calls a
 * routine whose definer has it. As long as a capture is there, their commits go on waiting for the verdict.
 *
 * <p>This class only decides: statements are behind a port, and time comes in as an argument.
 */
public final class ClosingCourse {
    private static final Logger log = LoggerFactory.getLogger(ClosingCourse.class);
    private static final Duration TRY = Duration.ofSeconds(1);

    /** The server to be closed. */
    public interface Server {
        /** Keeps clients from writing; false when statements and commits under way don't end within that time. */
        boolean closeWithin(Duration limit) throws SQLException;

        /** Keeps clients from writing, once no commit waits any more. */
        void close() throws SQLException;

        /** Whether a capture, or any other replica, is there to acknowledge commits. */
        boolean hasReplica() throws SQLException;

        /** Whether a session waits within a commit. */
        boolean isAnyCommitting() throws SQLException;

        /** Whether, within that time, there is a moment in which none does. */
        boolean commitsEndWithin(Duration limit) throws SQLException;

        /** Ends all sessions that wait within a commit. */
        void endCommitting() throws SQLException;

        /** From now on commits don't wait for a verdict, and whoever waits gets OK. */
        void waitNoMore() throws SQLException;

        /** Whether clients are kept from connecting. */
        boolean isOffline() throws SQLException;

        /** Keeps clients from connecting, and disconnects those who wait for nothing; or lets them connect again. */
        void offline(boolean on) throws SQLException;
    }

    private final boolean captured;
    private final long deadlineMillis;

    /**
     * @param captured whether a capture goes on acknowledging commits afterwards, so that they go on waiting
     * @param limit how long those who wait may take to be decided or ended
     */
    public ClosingCourse(boolean captured, Duration limit, long nowMillis) {
        this.captured = captured;
        this.deadlineMillis = nowMillis + limit.toMillis();
    }

    /**
     * Tries it.
     *
     * @return whether the server is closed; otherwise it is to be tried again
     */
    public boolean step(Server server, long nowMillis) throws SQLException {
        boolean closed = server.closeWithin(TRY);
        if (closed && captured) {
            return true;
        }
        if (closed && server.commitsEndWithin(TRY)) {
            server.waitNoMore();
            return true;
        }
        boolean late = nowMillis > deadlineMillis;
        if ((late || !server.hasReplica()) && server.isAnyCommitting()) {
            putOut(server, closed);
            return true;
        }
        if (late) {
            throw new SQLException("the server can't be closed for clients' writes: a statement of theirs doesn't"
                    + " end; SHOW PROCESSLIST says which");
        }
        return false;
    }

    /**
     * Ends the sessions of all who wait for a verdict that nobody would give, then lets their commits through. If the
     * server isn't closed yet, nobody may begin to commit meanwhile, so all clients are put out.
     */
    private static void putOut(Server server, boolean closed) throws SQLException {
        log.warn("commits wait for a verdict that nobody can give now; their clients are disconnected, and don't know"
                + " whether they committed. The order decides about them when it can");
        boolean goesOffline = !closed && !server.isOffline();
        try {
            if (goesOffline) {
                server.offline(true);
            }
            server.endCommitting();
            server.waitNoMore();
            server.close();
        } finally {
            if (goesOffline) {
                server.offline(false);
            }
        }
    }
}
