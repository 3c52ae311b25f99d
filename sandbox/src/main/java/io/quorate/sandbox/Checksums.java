// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import io.quorate.core.Identifiers;
import io.quorate.core.ShownTable;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Compares the content of servers: the definition, the number of rows and the checksum of every table that isn't the
 * server's own or Quorate's. Meaningful only while nothing writes.
 */
public final class Checksums {
    private static final String TABLES = "SELECT table_schema, table_name FROM information_schema.tables"
            + " WHERE table_type = 'BASE TABLE' AND table_schema NOT IN"
            + " ('mysql', 'sys', 'performance_schema', 'information_schema', 'quorate') ORDER BY 1, 2";

    /**
     * @param rows number of rows
     * @param checksum as printed by CHECKSUM TABLE
     * @param definition as printed by SHOW CREATE TABLE, but {@link ShownTable#comparable}
     */
    record Content(long rows, String checksum, String definition) {}

    /**
     * @param tables tables compared
     * @param rows rows of all tables on the first server
     * @param differences one sentence for every table that differs, naming the servers; empty when all agree
     */
    public record Comparison(int tables, long rows, List<String> differences) {
        public boolean equal() {
            return differences.isEmpty();
        }
    }

    private Checksums() {}

    /** Compares servers, each under the name that messages use for it. */
    public static Comparison compare(Map<String, MySqlServer> servers) {
        Map<String, Map<String, Content>> contents = new LinkedHashMap<>();
        servers.forEach((name, server) -> contents.put(name, contents(server)));
        return compareContents(contents);
    }

    /** On one connection: there may be hundreds of tables. */
    static Map<String, Content> contents(MySqlServer server) {
        Map<String, Content> contents = new TreeMap<>();
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            // Name to read -> name in a statement.
            Map<String, String> tables = new LinkedHashMap<>();
            try (ResultSet rows = statement.executeQuery(TABLES)) {
                while (rows.next()) {
                    tables.put(
                            rows.getString(1) + "." + rows.getString(2),
                            Identifiers.quoted(rows.getString(1), rows.getString(2)));
                }
            }
            Map<String, String> defaults = defaultCollations(statement);
            for (Map.Entry<String, String> each : tables.entrySet()) {
                contents.put(each.getKey(), content(statement, each.getValue(), defaults));
            }
        } catch (SQLException e) {
            throw new SandboxException("mysqld on port " + server.port() + ": " + e.getMessage(), e);
        }
        return contents;
    }

    private static Map<String, String> defaultCollations(Statement statement) throws SQLException {
        Map<String, String> defaults = new HashMap<>();
        try (ResultSet rows = statement.executeQuery(ShownTable.DEFAULT_COLLATIONS)) {
            while (rows.next()) {
                defaults.put(rows.getString(1), rows.getString(2));
            }
        }
        return defaults;
    }

    /** A table may be there and can't be read: a MERGE table without its tables, one that was damaged. */
    private static Content content(Statement statement, String table, Map<String, String> defaults) {
        try {
            return new Content(
                    Long.parseLong(value(statement, "SELECT COUNT(*) FROM " + table, 1)),
                    checksum(statement, table),
                    ShownTable.comparable(value(statement, "SHOW CREATE TABLE " + table, 2), defaults));
        } catch (SQLException e) {
            return new Content(0, "can't be read: " + e.getMessage(), "");
        }
    }

    /**
     * The result of CHECKSUM TABLE. For a table with a multi-valued index that is another number in every session, so
     * its columns are summed up by a query instead.
     */
    private static String checksum(Statement statement, String table) throws SQLException {
        String definition = value(statement, "SHOW CREATE TABLE " + table, 2);
        if (!definition.contains(" array)")) {
            return value(statement, "CHECKSUM TABLE " + table, 2);
        }
        List<String> columns = new ArrayList<>();
        try (ResultSet rows = statement.executeQuery("SHOW COLUMNS FROM " + table)) {
            while (rows.next()) {
                columns.add("COALESCE(HEX(CAST(" + Identifiers.quoted(rows.getString(1)) + " AS BINARY)), 'NULL')");
            }
        }
        return value(
                statement,
                "SELECT COALESCE(SUM(CRC32(CONCAT_WS(',', " + String.join(", ", columns) + "))), 0) FROM " + table,
                1);
    }

    private static String value(Statement statement, String sql, int column) throws SQLException {
        try (ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(column);
        }
    }

    static Comparison compareContents(Map<String, Map<String, Content>> contents) {
        TreeSet<String> tables = new TreeSet<>();
        contents.values().forEach(content -> tables.addAll(content.keySet()));
        List<String> differences = new ArrayList<>();
        for (String table : tables) {
            Map<String, Content> each = new LinkedHashMap<>();
            contents.forEach((node, content) -> each.put(node, content.get(table)));
            if (each.values().stream().distinct().count() > 1) {
                differences.add(describe(table, each));
            }
        }
        Map<String, Content> first = contents.values().iterator().next();
        return new Comparison(
                tables.size(), first.values().stream().mapToLong(Content::rows).sum(), List.copyOf(differences));
    }

    private static String describe(String table, Map<String, Content> each) {
        Map<String, String> definitions = new LinkedHashMap<>();
        each.forEach((node, content) -> definitions.put(node, content == null ? "" : content.definition()));
        List<String> parts = new ArrayList<>();
        each.forEach((node, content) -> parts.add(
                node + (content == null ? " lacks it" : " has " + content.rows() + " rows, " + content.checksum())));
        return "table " + table + " differs: " + String.join("; ", parts)
                + (definitions.values().stream().distinct().count() > 1
                        ? "; the definitions differ too" + firstDifference(definitions)
                        : "");
    }

    /** The first line in which they aren't all the same, as each server has it. */
    private static String firstDifference(Map<String, String> definitions) {
        long lines = definitions.values().stream()
                .mapToLong(text -> text.lines().count())
                .max()
                .orElse(0);
        for (int i = 0; i < lines; i++) {
            Map<String, String> each = new LinkedHashMap<>();
            for (Map.Entry<String, String> definition : definitions.entrySet()) {
                each.put(definition.getKey(), line(definition.getValue(), i));
            }
            if (each.values().stream().distinct().count() > 1) {
                return ": "
                        + each.entrySet().stream()
                                .map(line -> line.getKey() + " " + line.getValue())
                                .collect(Collectors.joining("; "));
            }
        }
        return "";
    }

    private static String line(String text, int number) {
        return text.lines().skip(number).findFirst().orElse("-").strip();
    }
}
