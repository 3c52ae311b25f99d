// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/**
 * Connections that take statements of any size. Events travel as Base64 in the text of one statement, and a row of a
 * client may be nearly as large as the client's own packets, or several times that where the row has several large
 * columns, or was updated. A session can't change its {@code max_allowed_packet}; it keeps what was the global value
 * when it connected. So the global value is raised for the moment of connecting. Should this process die in that
 * moment, it stays raised until mysqld is restarted, and clients can send larger statements, which does no other harm.
 */
final class LargePackets {
    /** The most that MySQL allows. */
    static final long BYTES_MAX = 1L << 30;

    /** The most events of one statement: Base64 takes 4/3 of them, the rest is for the keyword and the protocol. */
    static final int EVENTS_BYTES_MAX = (int) (0.7 * BYTES_MAX);

    private LargePackets() {}

    /** How large a statement with these events is at most. */
    static long forEvents(long bytes) {
        return Math.min(bytes / 2 * 3 + (64 << 10), BYTES_MAX);
    }

    /** Connects in a way that statements of that size are taken. */
    static Connection connect(DataSource source, long bytes) throws SQLException {
        Connection connection = source.getConnection();
        try {
            if (takes(connection, bytes)) {
                return connection;
            }
        } catch (SQLException | RuntimeException e) {
            connection.close();
            throw e;
        }
        try (connection) {
            return connectRaised(connection, source);
        }
    }

    /** Whether the server takes statements of that size from this connection. */
    static boolean takes(Connection connection, long bytes) throws SQLException {
        return value(connection, "SESSION") >= bytes;
    }

    /** One at a time, or the second would take what the first has raised for the value to go back to. */
    private static synchronized Connection connectRaised(Connection connection, DataSource source) throws SQLException {
        long before = value(connection, "GLOBAL");
        Connection raised = null;
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET GLOBAL max_allowed_packet = " + BYTES_MAX);
            try {
                raised = source.getConnection();
            } finally {
                // Unless somebody else has set it meanwhile.
                statement.execute("SET GLOBAL max_allowed_packet = CAST(IF(@@GLOBAL.max_allowed_packet = " + BYTES_MAX
                        + ", " + before + ", @@GLOBAL.max_allowed_packet) AS UNSIGNED)");
            }
            return raised;
        } catch (SQLException | RuntimeException e) {
            if (raised != null) {
                raised.close();
            }
            throw e;
        }
    }

    private static long value(Connection connection, String scope) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT @@" + scope + ".max_allowed_packet")) {
            row.next();
            return row.getLong(1);
        }
    }
}
