// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.CarriedSetting;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What a session has set that has run a definition or written rows, as its server says. In mode {@code after-sync} it
 * waits for its OK meanwhile, so it has what it had. In mode {@code async} it may have set something else since, or be
 * gone. A statement of accounts that waits in its commit keeps all of them locked, so asking has a limit.
 *
 * @param values those that were asked for
 * @param isAssumed whether the session isn't there any more, so that these are the server's global ones
 */
record OriginSession(Map<CarriedSetting, String> values, boolean isAssumed) {
    private static final int TIMEOUT_SECONDS = 5;

    /**
     * Asks for a session.
     *
     * @param id the server's number of the connection; another one has it after a restart
     * @param second when the session committed the definition
     */
    static OriginSession of(Connection connection, long id, long second, Set<CarriedSetting> asked)
            throws SQLException {
        Map<CarriedSetting, String> values = read(
                connection,
                SchemaCatalog.LIMITED + "VARIABLE_NAME, VARIABLE_VALUE" + ofSession(id)
                        + " AND (SELECT UNIX_TIMESTAMP() - VARIABLE_VALUE"
                        + " FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Uptime') <= " + second
                        + " AND " + in(asked));
        if (values.size() == asked.size()) {
            return new OriginSession(values, false);
        }
        return global(connection, asked);
    }

    /** The time zone of a session; null if it isn't there any more. */
    static String timeZone(Connection connection, long id) throws SQLException {
        try (java.sql.Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(TIMEOUT_SECONDS);
            try (ResultSet row = statement.executeQuery(
                    SchemaCatalog.LIMITED + "VARIABLE_VALUE" + ofSession(id) + " AND VARIABLE_NAME = 'time_zone'")) {
                return row.next() ? row.getString(1) : null;
            }
        }
    }

    /** What a new session has. */
    static OriginSession global(Connection connection, Set<CarriedSetting> asked) throws SQLException {
        return new OriginSession(
                read(
                        connection,
                        SchemaCatalog.LIMITED
                                + "VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.global_variables WHERE "
                                + in(asked)),
                true);
    }

    private static String ofSession(long id) {
        return " FROM performance_schema.variables_by_thread WHERE THREAD_ID ="
                + " (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = " + id + ")";
    }

    private static String in(Set<CarriedSetting> asked) {
        return asked.stream()
                .map(setting -> "'" + setting.variable() + "'")
                .collect(Collectors.joining(", ", "VARIABLE_NAME IN (", ")"));
    }

    /** A session that is ending has an engine no more; one variable may be nothing while a session lasts. */
    static Map<CarriedSetting, String> read(Connection connection, String query) throws SQLException {
        Map<CarriedSetting, String> values = new EnumMap<>(CarriedSetting.class);
        try (java.sql.Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(TIMEOUT_SECONDS);
            try (ResultSet row = statement.executeQuery(query)) {
                while (row.next()) {
                    CarriedSetting setting = CarriedSetting.of(row.getString(1).toLowerCase(Locale.ROOT));
                    String value = row.getString(2);
                    if (value != null) {
                        values.put(setting, value);
                    } else if (setting == CarriedSetting.INNODB_FT_USER_STOPWORD_TABLE) {
                        values.put(setting, "");
                    }
                }
            }
        }
        return values;
    }
}
