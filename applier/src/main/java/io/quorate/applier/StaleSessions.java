// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sessions that an earlier applier has left at the server. A server notices late that a session's client is gone, hours
 * later if the network between them was cut. Until then the session keeps its locks, and one that waits within its
 * COMMIT (for a backup's lock, for a full disk) commits after all, in addition to what is applied anew. So all of them
 * are ended, and are gone, before anything reads how far the server is.
 */
public final class StaleSessions {
    private static final Logger log = LoggerFactory.getLogger(StaleSessions.class);

    /** A connection attribute by which connections of {@link ApplierDataSource} are recognized. */
    public static final String ATTRIBUTE = "quorate_role";

    public static final String ROLE = "applier";

    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final Duration LOOK = Duration.ofMillis(50);
    private static final String OTHERS = "SELECT t.PROCESSLIST_ID, t.PROCESSLIST_HOST,"
            + " CONCAT_WS(' ', t.PROCESSLIST_COMMAND, t.PROCESSLIST_STATE, CONCAT('for ', t.PROCESSLIST_TIME, ' s'))"
            + " FROM performance_schema.session_connect_attrs a"
            + " JOIN performance_schema.threads t ON t.PROCESSLIST_ID = a.PROCESSLIST_ID"
            + " WHERE a.ATTR_NAME = ? AND a.ATTR_VALUE = ? AND a.PROCESSLIST_ID <> CONNECTION_ID()";

    /** @param doing what it does, and for how long */
    private record Session(long id, String host, String doing) {}

    private StaleSessions() {}

    /**
     * Ends every session of an applier at the server; the caller has none there.
     *
     * @param source of connections as {@link ApplierDataSource} makes them
     * @throws SQLException also when one of them isn't gone after 10 s, because it is committing; try again later
     */
    public static void end(DataSource source) throws SQLException {
        try (Connection connection = source.getConnection()) {
            long deadline = System.nanoTime() + LIMIT.toNanos();
            List<Session> others = others(connection);
            for (Session other : others) {
                log.info("ending session {} from {}, which an applier has left: {}", other.id, other.host, other.doing);
                Sessions.kill(connection, other.id);
            }
            while (!others.isEmpty()) {
                if (System.nanoTime() > deadline) {
                    Session first = others.get(0);
                    throw new SQLException("session " + first.id
                            + " of an applier before this one doesn't end, it is in " + first.doing
                            + "; what it commits must not be applied twice. End what it waits for");
                }
                pause();
                others = others(connection);
            }
        }
    }

    private static List<Session> others(Connection connection) throws SQLException {
        List<Session> others = new ArrayList<>();
        try (PreparedStatement select = connection.prepareStatement(OTHERS)) {
            select.setString(1, ATTRIBUTE);
            select.setString(2, ROLE);
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    others.add(new Session(row.getLong(1), row.getString(2), row.getString(3)));
                }
            }
        }
        return others;
    }

    private static void pause() throws SQLException {
        try {
            Thread.sleep(LOOK.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLException("interrupted", e);
        }
    }
}
