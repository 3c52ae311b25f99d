// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.applier.GtidSets;
import io.quorate.applier.Sessions;
import io.quorate.core.Gtid;
import io.quorate.core.OwnedGtids;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sessions that wait within a commit, and how they are ended. One that is ended there gets no answer any more,
 * at once; its transaction goes on waiting, and is committed with its group.
 */
final class Committing {
    private static final Logger log = LoggerFactory.getLogger(Committing.class);

    private static final Set<String> SERVERS_OWN = Set.of("system user", "event_scheduler");

    private static final String BY_GTID = "SELECT t.PROCESSLIST_ID FROM"
            + " performance_schema.events_transactions_current e JOIN performance_schema.threads t USING (THREAD_ID)"
            + " WHERE e.GTID = ? AND e.STATE = 'ACTIVE' AND t.PROCESSLIST_ID IS NOT NULL";

    private record Session(long id, String user, String state, boolean isEnded) {}

    private Committing() {}

    /**
     * Ends the session whose transaction this is, so that its client can't hear OK. The session by which the binlog
     * names it may be another one: clients may set {@code pseudo_thread_id}, as mysqlbinlog has them do. If none can be
     * found, all are ended that it could be. Nothing is done when the transaction is committed: nobody waits for it any
     * more, as after a crash of mysqld, and the session's number may be another client's by now.
     *
     * @param session as the binlog names it
     */
    static void end(Connection connection, Gtid transaction, long session) throws SQLException {
        if (GtidSets.hasExecuted(connection, transaction)) {
            return;
        }
        if (!sessions(connection, s -> s.id == session && Sessions.COMMITTING.contains(s.state))
                .isEmpty()) {
            Sessions.kill(connection, session);
            return;
        }
        List<Long> byGtid = byGtid(connection, transaction);
        if (byGtid.isEmpty()) {
            String self = ServerAccess.user(connection);
            List<Long> all = sessions(connection, s -> Sessions.COMMITTING.contains(s.state) && !s.user.equals(self));
            log.warn(
                    "the session of {} isn't {}, as the binlog says; ending all that commit now: {}",
                    transaction,
                    session,
                    all);
            byGtid = all;
        }
        for (long each : byGtid) {
            Sessions.kill(connection, each);
        }
    }

    /** The transactions that are being committed, with their sessions. */
    static Map<Gtid, Long> owned(Connection connection) throws SQLException {
        return OwnedGtids.parse(ServerAccess.ask(connection, "SELECT @@GLOBAL.gtid_owned"))
                .sessions();
    }

    /**
     * Ends a session if it waits within a commit, isn't ended already, and isn't one of the service's.
     *
     * @return whether it was
     */
    static boolean endOverdue(Connection connection, long session) throws SQLException {
        String self = ServerAccess.user(connection);
        return !sessions(
                                connection,
                                s -> s.id == session
                                        && !s.isEnded
                                        && Sessions.COMMITTING.contains(s.state)
                                        && !s.user.equals(self))
                        .isEmpty()
                && Sessions.kill(connection, session);
    }

    /** Whether a session waits within a commit. */
    static boolean isAny(Connection connection) throws SQLException {
        return !sessions(connection, s -> Sessions.COMMITTING.contains(s.state)).isEmpty();
    }

    /** Ends all sessions that wait within a commit, also those of accounts with CONNECTION_ADMIN. */
    static void endAll(Connection connection) throws SQLException {
        for (long session : sessions(connection, s -> Sessions.COMMITTING.contains(s.state))) {
            Sessions.kill(connection, session);
        }
    }

    /**
     * Whether a statement of accounts is under way, which keeps the cache of accounts locked as long as its commit
     * waits. Until then nobody can connect, and whatever asks for a privilege waits, such as SHOW VARIABLES, queries of
     * information_schema, and SET GLOBAL offline_mode.
     */
    static boolean isAnyOfAccounts(Connection connection) throws SQLException {
        return !ServerAccess.ask(
                        connection,
                        "SELECT COUNT(*) FROM performance_schema.metadata_locks WHERE OBJECT_TYPE = 'ACL CACHE'"
                                + " AND LOCK_TYPE = 'EXCLUSIVE' AND LOCK_STATUS = 'GRANTED'")
                .equals("0");
    }

    /** Ends the sessions of all accounts but the service's. */
    static void endClients(Connection connection) throws SQLException {
        String self = ServerAccess.user(connection);
        for (long session : sessions(connection, s -> !s.user.equals(self) && !SERVERS_OWN.contains(s.user))) {
            Sessions.kill(connection, session);
        }
    }

    private static List<Long> byGtid(Connection connection, Gtid transaction) throws SQLException {
        List<Long> ids = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(BY_GTID)) {
            statement.setString(1, transaction.toString());
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    ids.add(rows.getLong(1));
                }
            }
        }
        return ids;
    }

    private static List<Long> sessions(Connection connection, Predicate<Session> which) throws SQLException {
        List<Long> ids = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SHOW PROCESSLIST")) {
            while (rows.next()) {
                Session session = new Session(
                        rows.getLong("Id"),
                        rows.getString("User"),
                        rows.getString("State"),
                        "Killed".equals(rows.getString("Command")));
                if (session.state != null && which.test(session)) {
                    ids.add(session.id);
                }
            }
        }
        return ids;
    }
}
