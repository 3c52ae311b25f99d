// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.applier.Sessions;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.node.config.NodeProperties;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/**
 * Lets one service at a time work with a server: two would close and open it against one another, and the one's
 * acknowledgements would give OK to commits that the other has to have ordered. It is a lock of the server's by name,
 * which ends with the connection that has it. A connection that this node had before, and that the server takes for
 * alive, is ended.
 */
final class ServiceLock implements AutoCloseable {
    private static final String NAME = "'quorate.service'";
    /** A connection attribute: the id of the data directory whose service it is. */
    static final String ATTRIBUTE = "quorate_directory";

    private static final String HOLDER = "SELECT t.PROCESSLIST_ID, CONCAT(t.PROCESSLIST_USER, '@', t.PROCESSLIST_HOST),"
            + " (SELECT ATTR_VALUE FROM performance_schema.session_connect_attrs a"
            + " WHERE a.PROCESSLIST_ID = t.PROCESSLIST_ID AND ATTR_NAME = '" + ATTRIBUTE + "')"
            + " FROM performance_schema.threads t WHERE t.PROCESSLIST_ID = IS_USED_LOCK(" + NAME + ")";

    private final NodeProperties properties;
    private final ServerAccess access;
    private @Nullable Connection holder;

    ServiceLock(NodeProperties properties, ServerAccess access) {
        this.properties = properties;
        this.access = access;
    }

    /** @throws QuorateException SERVER_TAKEN while another service has it */
    synchronized void require() throws SQLException {
        if (isHeld()) {
            return;
        }
        close();
        String directory = directory();
        Connection next = access.connectWith(ATTRIBUTE, directory);
        try {
            if (!take(next, 0)) {
                endOwn(next, directory);
            }
            holder = next;
        } finally {
            if (holder != next) {
                next.close();
            }
        }
    }

    private boolean isHeld() {
        try {
            return holder != null
                    && ServerAccess.ask(holder, "SELECT COALESCE(IS_USED_LOCK(" + NAME + ") = CONNECTION_ID(), 0)")
                            .equals("1");
        } catch (SQLException e) {
            return false;
        }
    }

    private static boolean take(Connection connection, int seconds) throws SQLException {
        return "1".equals(ServerAccess.ask(connection, "SELECT GET_LOCK(" + NAME + ", " + seconds + ")"));
    }

    private void endOwn(Connection connection, String directory) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(HOLDER)) {
            if (row.next()) {
                if (!directory.equals(row.getString(3))) {
                    throw taken("connection " + row.getLong(1) + " of " + row.getString(2));
                }
                Sessions.kill(connection, row.getLong(1));
            }
        }
        if (!take(connection, 5)) {
            throw taken("a connection that is being ended");
        }
    }

    private QuorateException taken(String by) {
        return new QuorateException(
                ErrorCode.SERVER_TAKEN,
                "another service works with the MySQL server at "
                        + properties.mysql().host() + ":" + properties.mysql().port() + " (" + by + ")");
    }

    private String directory() {
        try {
            return NodeIdentity.directoryId(properties.dataDir()).toString();
        } catch (IOException e) {
            throw new QuorateException(ErrorCode.DISK, e.toString(), e);
        }
    }

    @Override
    public synchronized void close() {
        if (holder != null) {
            try {
                holder.close();
            } catch (SQLException e) {
                // It is gone either way.
            }
            holder = null;
        }
    }
}
