// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.core.ErrorCode;
import io.quorate.core.Identifiers;
import io.quorate.core.QuorateException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A connection whose session makes the server write and read definitions in the same form everywhere. */
final class Session implements AutoCloseable {
    static final String SYSTEM_SCHEMAS = "('mysql', 'sys', 'performance_schema', 'information_schema', 'quorate')";

    /** Identifiers in backticks, backslashes in texts, and any value that a definition may have. */
    static final String MODE = "NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES,NO_ENGINE_SUBSTITUTION";

    static final String COMMON = "SET NAMES utf8mb4, SESSION sql_mode = '" + MODE + "', time_zone = '+00:00',"
            + " sql_quote_show_create = ON, show_gipk_in_create_table_and_information_schema = ON,"
            + " information_schema_stats_expiry = 0, print_identified_with_as_hex = ON";

    /** The joiner's constraints and defaults must not change a definition. */
    private static final String JOINER = "SET SESSION sql_log_bin = 0, foreign_key_checks = 0,"
            + " sql_generate_invisible_primary_key = OFF, sql_require_primary_key = OFF, innodb_strict_mode = OFF,"
            + " explicit_defaults_for_timestamp = ON, default_storage_engine = InnoDB"
            // What an older server has, or a session that allowed it.
            + " /*!80400 , restrict_fk_on_non_standard_key = OFF */";

    /** Lock wait, deadlock, killed: it may succeed another time. */
    private static final Set<Integer> PASSING = Set.of(1205, 1213, 1317, 3024);

    private final Connection connection;
    private final Statement statement;

    private Session(Connection connection) throws SQLException {
        this.connection = connection;
        statement = connection.createStatement();
        // The body of a program may have braces.
        statement.setEscapeProcessing(false);
        statement.execute(COMMON);
    }

    /** In this session names are printed with their schema if it isn't the default one. */
    static Session ofDonor(Connection connection) throws SQLException {
        Session session = new Session(connection);
        session.statement.execute("USE information_schema");
        return session;
    }

    static Session ofJoiner(Connection connection) throws SQLException {
        Session session = new Session(connection);
        session.statement.execute(JOINER);
        return session;
    }

    @Override
    public void close() throws SQLException {
        statement.close();
    }

    /** All rows, every value as text or null. */
    List<List<String>> rows(String sql) throws SQLException {
        try (ResultSet row = statement.executeQuery(sql)) {
            return read(row);
        }
    }

    List<List<String>> rows(String sql, String... parameters) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                select.setString(i + 1, parameters[i]);
            }
            try (ResultSet row = select.executeQuery()) {
                return read(row);
            }
        }
    }

    private static List<List<String>> read(ResultSet row) throws SQLException {
        List<List<String>> rows = new ArrayList<>();
        while (row.next()) {
            List<String> values = new ArrayList<>();
            for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
                values.add(row.getString(i));
            }
            rows.add(values);
        }
        return rows;
    }

    String one(String sql) throws SQLException {
        return rows(sql).get(0).get(0);
    }

    /** Whether the last query was answered with warnings. */
    boolean hasWarnings() throws SQLException {
        return statement.getWarnings() != null;
    }

    void execute(String sql) throws SQLException {
        statement.execute(sql);
    }

    /**
     * Runs a statement.
     *
     * @param what it makes, for people
     * @throws QuorateException COPY_REFUSED when it fails for a reason that doesn't pass by itself
     */
    void make(String what, String sql) throws SQLException {
        try {
            statement.execute(sql);
        } catch (SQLException e) {
            throw failure(what, e);
        }
    }

    void setReadOnly(String schema, boolean value) throws SQLException {
        make(
                "schema " + schema + (value ? " read-only" : " writable"),
                "ALTER DATABASE " + Identifiers.quoted(schema) + " READ ONLY = " + (value ? 1 : 0));
    }

    static SQLException failure(String what, SQLException e) {
        if (passes(e)) {
            return e;
        }
        throw refused("can't make " + what + " here: MySQL says " + e.getErrorCode() + ", " + e.getMessage());
    }

    /** Whether the failure comes from the moment or the connection, and not from the statement. */
    static boolean passes(SQLException e) {
        return isLost(e) || PASSING.contains(e.getErrorCode());
    }

    /** Whether the connection is. */
    static boolean isLost(SQLException e) {
        return e.getSQLState() != null && e.getSQLState().startsWith("08");
    }

    static QuorateException refused(String why) {
        return new QuorateException(ErrorCode.COPY_REFUSED, why);
    }

    static String text(String value) {
        return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'";
    }

    static String account(String user, String host) {
        return text(user) + "@" + text(host);
    }
}
