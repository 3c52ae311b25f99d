// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * All that a server's SHOW statements and information_schema say, by what it is about: to be compared. Not made of what
 * is tested.
 */
final class Definitions {
    private static final String USERS =
            "(SCHEMA_NAME NOT IN ('mysql','sys','performance_schema','information_schema','quorate'))";

    private final Statement statement;
    private final Map<String, String> all = new TreeMap<>();

    private Definitions(Statement statement) {
        this.statement = statement;
    }

    static Map<String, String> of(Connection root) throws SQLException {
        try (Statement statement = root.createStatement()) {
            statement.setEscapeProcessing(false);
            statement.execute(
                    "SET NAMES utf8mb4, time_zone = '+00:00', sql_mode = '', print_identified_with_as_hex = ON,"
                            + " show_gipk_in_create_table_and_information_schema = ON");
            Definitions definitions = new Definitions(statement);
            definitions.read();
            return definitions.all;
        }
    }

    private void read() throws SQLException {
        show("SELECT 'DATABASE', CONCAT('`', REPLACE(SCHEMA_NAME, '`', '``'), '`') FROM"
                + " information_schema.SCHEMATA WHERE "
                + USERS);
        show("SELECT IF(TABLE_TYPE = 'VIEW', 'VIEW', 'TABLE'), " + name("TABLE")
                + " FROM information_schema.TABLES WHERE " + of("TABLE"));
        show("SELECT ROUTINE_TYPE, " + name("ROUTINE") + " FROM information_schema.ROUTINES WHERE " + of("ROUTINE"));
        show("SELECT 'TRIGGER', " + name("TRIGGER") + " FROM information_schema.TRIGGERS WHERE " + of("TRIGGER"));
        show("SELECT 'EVENT', " + name("EVENT") + " FROM information_schema.EVENTS WHERE " + of("EVENT"));
        put("trigger order", "SELECT TRIGGER_NAME, ACTION_ORDER FROM information_schema.TRIGGERS ORDER BY 1, 2");
        put("event status", "SELECT EVENT_NAME, STATUS FROM information_schema.EVENTS ORDER BY 1");
        put(
                "parameters",
                "SELECT SPECIFIC_NAME, PARAMETER_NAME, CHARACTER_SET_NAME, COLLATION_NAME FROM"
                        + " information_schema.PARAMETERS"
                        + " WHERE SPECIFIC_SCHEMA <> 'sys' ORDER BY 1, ORDINAL_POSITION");
        put(
                "tablespaces",
                "SELECT NAME, ROW_FORMAT, ZIP_PAGE_SIZE, AUTOEXTEND_SIZE FROM information_schema.INNODB_TABLESPACES"
                        + " WHERE SPACE_TYPE = 'General' ORDER BY 1");
        put("servers", "SELECT * FROM mysql.servers ORDER BY 1");
        put(
                "own reference systems",
                "SELECT * FROM information_schema.ST_SPATIAL_REFERENCE_SYSTEMS"
                        + " WHERE SRS_ID BETWEEN 32768 AND 59999999 ORDER BY SRS_ID");
        put("role edges", "SELECT * FROM mysql.role_edges ORDER BY 1, 2, 3, 4");
        put("default roles", "SELECT * FROM mysql.default_roles ORDER BY 1, 2, 3, 4");
        for (List<String> user : rows("SELECT CONCAT(QUOTE(User), '@', QUOTE(Host)) FROM mysql.user")) {
            put("account " + user.get(0), "SHOW CREATE USER " + user.get(0));
            put("grants " + user.get(0), "SHOW GRANTS FOR " + user.get(0));
        }
    }

    private static String of(String kind) {
        return USERS.replace("SCHEMA_NAME", kind + "_SCHEMA");
    }

    private static String name(String kind) {
        return "CONCAT('`', REPLACE(" + kind + "_SCHEMA, '`', '``'), '`.`', REPLACE(" + kind
                + "_NAME, '`', '``'), '`')";
    }

    private void show(String query) throws SQLException {
        for (List<String> row : rows(query)) {
            put(row.get(0) + " " + row.get(1), "SHOW CREATE " + row.get(0) + " " + row.get(1));
        }
    }

    private void put(String what, String query) throws SQLException {
        all.put(what, rows(query).toString());
    }

    private List<List<String>> rows(String query) throws SQLException {
        List<List<String>> rows = new ArrayList<>();
        try (ResultSet row = statement.executeQuery(query)) {
            while (row.next()) {
                List<String> values = new ArrayList<>();
                for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
                    if (!row.getMetaData().getColumnLabel(i).equals("Created")) {
                        values.add(row.getString(i));
                    }
                }
                rows.add(values);
            }
        }
        return rows;
    }
}
