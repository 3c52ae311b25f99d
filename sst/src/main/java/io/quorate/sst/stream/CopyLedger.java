// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.sst.audit.AuditedTable.Stretch;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Tables {@code quorate.copy} and {@code quorate.copied}: how far a copy is. The line of a piece commits with the rows
 * of the piece, so it is true after any crash. Every connection must have {@code sql_log_bin=0}.
 */
public final class CopyLedger {
    private final String copy;

    /** The stages of a copy, in their sequence. */
    public enum Stage {
        /** Schemas and tables are being made. */
        MAKING,
        /** Rows are being fetched. */
        FETCHING,
        /** They are being brought to one moment. */
        REPLAYING,
        /** Indexes, foreign keys, and everything that isn't rows. */
        FINISHING
    }

    /**
     * A piece that is here.
     *
     * @param upTo everything it has is ordered up to this seqno
     */
    public record Done(Moment moment, long upTo, long rows, long bytes) {}

    /** @param copy names the copy that this ledger belongs to; lines of another copy don't count */
    public CopyLedger(String copy) {
        this.copy = copy;
    }

    /** The stage of this copy; null when this server has nothing of it. */
    public Stage stage(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            try (ResultSet row = statement.executeQuery(
                    "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'quorate' AND"
                            + " TABLE_NAME = 'copy'")) {
                row.next();
                if (row.getInt(1) == 0) {
                    return null;
                }
            }
            try (ResultSet row = statement.executeQuery("SELECT stage FROM quorate.copy WHERE copy = '" + copy + "'")) {
                return row.next() ? Stage.valueOf(row.getString(1)) : null;
            }
        }
    }

    /** Begins this copy, and deletes the lines of others. */
    public void begin(Connection connection, long since) throws SQLException {
        execute(
                connection,
                "CREATE DATABASE IF NOT EXISTS quorate",
                "DROP TABLE IF EXISTS quorate.copy, quorate.copied",
                """
                CREATE TABLE quorate.copied (
                  unit INT, piece INT, from_key MEDIUMTEXT CHARACTER SET ascii, to_key MEDIUMTEXT CHARACTER SET ascii,
                  done BOOLEAN NOT NULL DEFAULT FALSE, applied BIGINT NOT NULL DEFAULT 0, own BIGINT NOT NULL DEFAULT 0,
                  server CHAR(36) CHARACTER SET ascii, up_to BIGINT NOT NULL DEFAULT 0,
                  rows_here BIGINT NOT NULL DEFAULT 0, bytes_here BIGINT NOT NULL DEFAULT 0,
                  PRIMARY KEY (unit, piece)
                ) ENGINE=InnoDB""",
                """
                CREATE TABLE quorate.copy (
                  copy CHAR(36) CHARACTER SET ascii PRIMARY KEY, stage VARCHAR(16) NOT NULL, replayed BIGINT NOT NULL
                ) ENGINE=InnoDB""",
                "INSERT INTO quorate.copy VALUES ('" + copy + "', '" + Stage.MAKING + "', " + since + ")");
    }

    public void stage(Connection connection, Stage stage) throws SQLException {
        execute(connection, "UPDATE quorate.copy SET stage = '" + stage + "'");
    }

    /** The statement that records up to which seqno the order was replayed. */
    public static String replayed(long seqno) {
        return "UPDATE quorate.copy SET replayed = " + seqno;
    }

    public long replayed(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT replayed FROM quorate.copy")) {
            row.next();
            return row.getLong(1);
        }
    }

    /**
     * Records where a piece begins and ends, before its rows are here.
     *
     * @return false when there is a line for it already
     */
    public boolean bounded(Connection connection, Piece piece) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(
                "INSERT IGNORE INTO quorate.copied (unit, piece, from_key, to_key) VALUES (?, ?, ?, ?)")) {
            insert.setInt(1, piece.unit().number());
            insert.setInt(2, piece.number());
            insert.setString(3, piece.stretch().from());
            insert.setString(4, piece.stretch().to());
            return insert.executeUpdate() == 1;
        }
    }

    /** Records that its rows are here, in their transaction. */
    public void done(Connection connection, Piece piece, Done done) throws SQLException {
        try (PreparedStatement replace = connection.prepareStatement(
                "REPLACE INTO quorate.copied (unit, piece, from_key, to_key, done, applied, own, server, up_to,"
                        + " rows_here, bytes_here) VALUES (?, ?, ?, ?, TRUE, ?, ?, ?, ?, ?, ?)")) {
            replace.setInt(1, piece.unit().number());
            replace.setInt(2, piece.number());
            replace.setString(3, piece.stretch().from());
            replace.setString(4, piece.stretch().to());
            replace.setLong(5, done.moment.applied());
            replace.setLong(6, done.moment.own());
            replace.setString(7, done.moment.server().toString());
            replace.setLong(8, done.upTo);
            replace.setLong(9, done.rows);
            replace.setLong(10, done.bytes);
            replace.executeUpdate();
        }
    }

    /** What is still to be fetched. */
    public List<Piece> missing(Connection connection, List<Unit> units) throws SQLException {
        Map<Integer, Piece> last = new HashMap<>();
        List<Piece> missing = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT unit, piece, from_key, to_key, done FROM quorate.copied ORDER BY unit, piece")) {
            while (row.next()) {
                Stretch stretch = new Stretch(row.getString(3), row.getString(4));
                Piece piece = new Piece(units.get(row.getInt(1)), row.getInt(2), stretch, true);
                last.put(piece.unit().number(), piece);
                if (!row.getBoolean(5)) {
                    missing.add(piece);
                }
            }
        }
        for (Unit unit : units) {
            Piece before = last.get(unit.number());
            Piece next = before == null ? Piece.first(unit) : before.next();
            if (next != null) {
                missing.add(next);
            }
        }
        return missing;
    }

    /** All pieces that are here, by unit; the moments of a unit's pieces differ. */
    public Map<Integer, List<Done>> done(Connection connection) throws SQLException {
        Map<Integer, List<Done>> done = new HashMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT unit, applied, own, server, up_to, rows_here, bytes_here"
                        + " FROM quorate.copied WHERE done")) {
            while (row.next()) {
                Moment moment =
                        new Moment(UUID.fromString(row.getString(4)), row.getLong(2), row.getLong(3), List.of());
                done.computeIfAbsent(row.getInt(1), u -> new ArrayList<>())
                        .add(new Done(moment, row.getLong(5), row.getLong(6), row.getLong(7)));
            }
        }
        return done;
    }

    /** Drops both tables. */
    public static void drop(Connection connection) throws SQLException {
        execute(connection, "DROP TABLE IF EXISTS quorate.copy, quorate.copied");
    }

    private static void execute(Connection connection, String... statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
    }
}
