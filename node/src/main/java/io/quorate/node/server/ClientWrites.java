// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.core.SessionSettings;
import io.quorate.node.thread.MonotonicClock;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the server for clients' writes and closes it, by {@code read_only}. In commit mode {@code after-sync}, commits
 * wait for their verdict as long as it is open, and while it is closed if a capture is there.
 *
 * <p>{@code SET GLOBAL read_only = ON} waits for commits under way, and so for those that wait for their verdict; what
 * is done about them is up to the {@link ClosingCourse}.
 */
final class ClientWrites {
    private static final Logger log = LoggerFactory.getLogger(ClientWrites.class);

    private static final int LOCK_WAIT_TIMEOUT = 1205;
    private static final Duration GRACE = Duration.ofSeconds(3);

    /** Null in mode {@code async}. */
    private final SemiSyncSource semiSync;

    private final Duration commitTimeout;
    /** Whether clients are put out for the moment in which the server is closed. */
    private volatile boolean puttingOut;

    private @Nullable String restored;

    ClientWrites(SemiSyncSource semiSync, Duration commitTimeout) {
        this.semiSync = semiSync;
        this.commitTimeout = commitTimeout;
    }

    /** Null in mode {@code async}. */
    SemiSyncSource semiSync() {
        return semiSync;
    }

    /** From now on commits wait for their verdict, in mode {@code after-sync}; a capture is there. */
    void hold(Connection connection) throws SQLException {
        if (semiSync != null) {
            semiSync.enable(connection);
        }
    }

    /** Has commits wait again if somebody has changed that. Each change is told once. */
    void keepHolding(Connection connection) throws SQLException {
        String violation = semiSync == null ? null : semiSync.violation(connection);
        if (violation != null) {
            semiSync.restore(connection);
            if (!violation.equals(restored)) {
                log.warn("commits wait for their verdict again: {}", violation);
            }
        }
        restored = violation;
    }

    boolean isPuttingOut() {
        return puttingOut;
    }

    void puttingOut(boolean on) {
        puttingOut = on;
    }

    /** Lets clients write. */
    void open(Connection connection) throws SQLException {
        hold(connection);
        ServerAccess.set(connection, "read_only", "OFF");
        log.info("the server is writable for clients");
    }

    /**
     * Keeps clients from writing. Accounts with CONNECTION_ADMIN, such as the service's own, can write in any case.
     *
     * @param captured whether a capture is there that goes on acknowledging commits. If not, none waits any more.
     */
    void close(Connection connection, boolean captured) throws SQLException {
        boolean before = ServerAccess.isReadOnly(connection);
        if (semiSync == null || !SemiSyncSource.isEnabled(connection)) {
            shut(connection);
        } else {
            closeAmongWaiting(connection, captured);
        }
        if (!before) {
            log.info("the server is read-only for clients");
        }
    }

    /**
     * Closes the server if commits wait there for a verdict. To be called before this service does anything else there:
     * what it commits, and what an applier before it has left in a commit, would wait for ever. In mode {@code async},
     * what a service in mode {@code after-sync} has set is taken back.
     */
    void settle(Connection connection) throws SQLException {
        if (semiSync != null) {
            if (SemiSyncSource.isEnabled(connection)) {
                close(connection, false);
            }
        } else if (SemiSyncSource.isOurs(connection)) {
            closeAmongWaiting(connection, false);
            SemiSyncSource.forget(connection);
            log.info("commit-mode is async now: commits don't wait for their verdict any more");
        } else if (SemiSyncSource.isLeftBehind(connection)) {
            SemiSyncSource.forget(connection);
            log.info("commit-mode is async now: took back what was persisted for a plugin that isn't there any more");
        }
    }

    private void closeAmongWaiting(Connection connection, boolean captured) throws SQLException {
        ClosingCourse course = new ClosingCourse(captured, commitTimeout.plus(GRACE), MonotonicClock.millis());
        ClosingCourse.Server server = new ByConnection(this, connection);
        boolean closed = false;
        while (!closed) {
            closed = course.step(server, MonotonicClock.millis());
        }
    }

    /** Where it is closed, nothing is set, so that the server goes on saying by whom. */
    private static void shut(Connection connection) throws SQLException {
        if (!ServerAccess.isReadOnly(connection)) {
            ServerAccess.set(connection, "read_only", "ON");
        }
    }

    /** Closes the server; false when running statements and commits don't end within {@code limit}. */
    static boolean closeWithin(Connection connection, Duration limit) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION lock_wait_timeout = " + limit.toSeconds());
            try {
                shut(connection);
                return true;
            } catch (SQLException e) {
                if (e.getErrorCode() == LOCK_WAIT_TIMEOUT) {
                    return false;
                }
                throw e;
            } finally {
                statement.execute("SET SESSION lock_wait_timeout = " + SessionSettings.LOCK_WAIT_SECONDS);
            }
        }
    }

    private static final class ByConnection implements ClosingCourse.Server {
        private final ClientWrites owner;
        private final Connection connection;

        ByConnection(ClientWrites owner, Connection connection) {
            this.owner = owner;
            this.connection = connection;
        }

        @Override
        public boolean closeWithin(Duration limit) throws SQLException {
            return ClientWrites.closeWithin(connection, limit);
        }

        @Override
        public void close() throws SQLException {
            shut(connection);
        }

        @Override
        public boolean hasReplica() throws SQLException {
            return SemiSyncSource.hasReplica(connection);
        }

        @Override
        public boolean isAnyCommitting() throws SQLException {
            return Committing.isAny(connection);
        }

        @Override
        public boolean commitsEndWithin(Duration limit) throws SQLException {
            long end = System.nanoTime() + limit.toNanos();
            while (isAnyCommitting()) {
                if (System.nanoTime() > end) {
                    return false;
                }
                ServerAccess.ask(connection, "SELECT SLEEP(0.05)");
            }
            return true;
        }

        @Override
        public void endCommitting() throws SQLException {
            Committing.endAll(connection);
        }

        @Override
        public void waitNoMore() throws SQLException {
            SemiSyncSource.disable(connection);
        }

        @Override
        public boolean isOffline() throws SQLException {
            return ServerAccess.ask(connection, "SELECT @@GLOBAL.offline_mode").equals("1");
        }

        @Override
        public void offline(boolean on) throws SQLException {
            if (on && Committing.isAnyOfAccounts(connection)) {
                // Nobody can connect meanwhile, and offline_mode would wait for it.
                Committing.endClients(connection);
                return;
            }
            owner.puttingOut(true);
            ServerAccess.set(connection, "offline_mode", on ? "ON" : "OFF");
            owner.puttingOut(on);
        }
    }
}
