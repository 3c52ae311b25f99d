// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Table {@code quorate.position}: the position of this server's rows in the order. It has a row for each worker, so
 * that workers don't wait for one another's; the highest seqno counts. A row is updated in the same database
 * transaction as the rows it describes, and as the first thing in it, which also marks the applier's own transactions
 * in the server's binlog.
 */
public final class PositionTable {
    private static final String CREATE = """
            CREATE TABLE IF NOT EXISTS quorate.position (
              worker INT UNSIGNED PRIMARY KEY,
              seqno BIGINT UNSIGNED NOT NULL,
              log_term BIGINT NOT NULL,
              log_index BIGINT NOT NULL,
              incarnation CHAR(36) CHARACTER SET ascii NOT NULL,
              updated TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)
            ) ENGINE=InnoDB DEFAULT CHARSET=ascii""";

    /**
     * What the table says.
     *
     * @param seqno everything up to it is in the database; 0 when nothing was ever applied
     * @param log the order's position that came with it
     * @param incarnation of the cluster that the seqno belongs to; empty when nothing was ever applied
     */
    public record Position(long seqno, LogPosition log, String incarnation) {
        public static final Position NONE = new Position(0, LogPosition.START, "");
    }

    private PositionTable() {}

    /**
     * Creates the schema and its tables if they are missing, unlogged: each server has its own. Whatever exists is not
     * touched, not even by IF NOT EXISTS, which would wait for every prepared transaction that wrote to it.
     */
    public static void create(Connection connection) throws SQLException {
        if (isComplete(connection)) {
            return;
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION sql_log_bin = 0");
            try {
                statement.execute("CREATE DATABASE IF NOT EXISTS quorate");
                statement.execute(CREATE);
                statement.execute(UndoneTable.CREATE);
                statement.execute(MarkTable.CREATE);
            } finally {
                statement.execute("SET SESSION sql_log_bin = 1");
            }
        }
    }

    private static boolean isComplete(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT COUNT(*) FROM information_schema.tables"
                        + " WHERE table_schema = 'quorate' AND table_name IN ('position', 'undone', 'certified')")) {
            row.next();
            return row.getInt(1) == 3;
        }
    }

    /** The highest seqno over all rows. The table must exist. */
    public static Position read(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row =
                        statement.executeQuery("SELECT seqno, log_term, log_index, incarnation FROM quorate.position"
                                + " ORDER BY seqno DESC LIMIT 1")) {
            if (!row.next() || row.getLong(1) == 0) {
                return Position.NONE;
            }
            return new Position(row.getLong(1), new LogPosition(row.getLong(2), row.getLong(3)), row.getString(4));
        }
    }

    /**
     * Says that the database holds everything up to a position, whatever the table said before: after a full copy.
     * Unlogged.
     */
    public static void reset(Connection connection, Position position) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION sql_log_bin = 0");
            try {
                statement.execute("DELETE FROM quorate.position");
                statement.execute(insert(0, position));
                if (!connection.getAutoCommit()) {
                    connection.commit();
                }
            } finally {
                statement.execute("SET SESSION sql_log_bin = 1");
            }
        }
    }

    /**
     * Has the binlog say how far the database is: what clients commit from here on has seen that. After a full copy the
     * binlog says nothing of it otherwise, until something else is applied.
     */
    public static void log(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("UPDATE quorate.position SET updated = CURRENT_TIMESTAMP(6) ORDER BY seqno DESC LIMIT 1");
        }
    }

    /**
     * Creates the workers' rows, which their transactions then update. Unlogged; the connection is in autocommit mode.
     */
    static void addWorkers(Connection connection, int workers, String incarnation) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION sql_log_bin = 0");
            try {
                for (int worker = 0; worker < workers; worker++) {
                    statement.execute(insert(worker, new Position(0, LogPosition.START, incarnation))
                            .replace("INSERT", "INSERT IGNORE"));
                }
            } finally {
                statement.execute("SET SESSION sql_log_bin = 1");
            }
        }
    }

    private static String insert(int worker, Position p) {
        return "INSERT INTO quorate.position (worker, seqno, log_term, log_index, incarnation) VALUES (" + worker + ", "
                + p.seqno + ", " + p.log.term() + ", " + p.log.index() + ", '" + p.incarnation + "')";
    }

    /** Refuses a database that belongs to another cluster or another life of this one. */
    static void requireIncarnation(Position position, String incarnation) {
        if (position.seqno() > 0 && !position.incarnation().equals(incarnation)) {
            throw new QuorateException(
                    ErrorCode.WRONG_SERVER,
                    "the rows of this server are at seqno " + position.seqno() + " of incarnation "
                            + position.incarnation() + ", the cluster's incarnation is " + incarnation);
        }
    }
}
