// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.audit;

import io.quorate.core.Identifiers;
import io.quorate.core.ShownTable;
import io.quorate.core.TableName;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A table as an audit reads it: in stretches of its primary key if it has a usable one, otherwise as a bag of rows.
 * Every read is one statement, and so sees one moment of the server.
 *
 * <p>A row's identity is its primary key; that of a row in a bag is the row's own hash. Identities and ends of
 * stretches are texts that mean the same on every server.
 */
public final class AuditedTable {
    private static final Pattern SEES_TRIGGERS =
            Pattern.compile("GRANT [^`]*\\b(TRIGGER|ALL PRIVILEGES)\\b[^`]* ON \\*\\.\\* TO ");
    private static final int NO_SUCH_TABLE = 1146;
    /** ER_TABLESPACE_MISSING, ER_TABLESPACE_DISCARDED. */
    private static final Set<Integer> NO_TABLESPACE = Set.of(1812, 1814);
    /** Ten times what the largest stretch has. */
    private static final int KEYED_ROWS_MAX = 1_000_000;
    /** Half of what the answer may have, with the quotes around each. */
    private static final long ROWS_CHARACTERS_MAX = 16 << 20;

    private static final String ROW_TABLES = "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES"
            + " WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA NOT IN"
            + " ('mysql', 'sys', 'performance_schema', 'information_schema', 'quorate') ORDER BY 1, 2";
    private static final String COLUMNS = """
            SELECT c.COLUMN_NAME, c.DATA_TYPE, COALESCE(c.CHARACTER_SET_NAME, ''), COALESCE(s.SEQ_IN_INDEX, 0),
              s.SUB_PART IS NULL, c.GENERATION_EXPRESSION, c.EXTRA LIKE '%STORED GENERATED%'
            FROM information_schema.COLUMNS c
            LEFT JOIN information_schema.STATISTICS s ON s.TABLE_SCHEMA = c.TABLE_SCHEMA AND s.TABLE_NAME = c.TABLE_NAME
              AND s.COLUMN_NAME = c.COLUMN_NAME AND s.INDEX_NAME = 'PRIMARY'
            WHERE c.TABLE_SCHEMA = ? AND c.TABLE_NAME = ? ORDER BY c.ORDINAL_POSITION""";

    private final String schema;
    private final String name;
    private final List<TableColumn> columns;
    private final List<TableColumn> stored;
    private final List<TableColumn> key;

    /**
     * @param rows how many
     * @param hash of all of them
     */
    public record Sum(long rows, String hash) {}

    /**
     * The two ends of a stretch, the first exclusive, the second inclusive; null is the table's own end.
     *
     * @param from,to each a text as {@link #next} gives it
     */
    public record Stretch(String from, String to) {
        public static final Stretch ALL = new Stretch(null, null);
    }

    /**
     * A row's values.
     *
     * @param version its hash, as {@link #rows} has it; for a bag, how often the row occurs
     * @param written by column, in a form from which another server can make the value
     * @param shown by column, for people
     */
    public record Row(String version, Map<String, String> written, Map<String, String> shown) {}

    private AuditedTable(String schema, String name, List<TableColumn> columns) {
        this.schema = schema;
        this.name = name;
        this.columns = columns.stream().filter(c -> !c.generated()).toList();
        this.stored = columns.stream().filter(TableColumn::stored).toList();
        List<TableColumn> parts = columns.stream()
                .filter(c -> c.keyPart() > 0)
                .sorted(Comparator.comparingInt(TableColumn::keyPart))
                .toList();
        this.key = parts.stream().allMatch(TableColumn::canBound) ? parts : List.of();
    }

    /**
     * All tables of users, {@code schema.table}, with a digest of their definitions, which leaves out each server's own
     * next AUTO_INCREMENT value.
     */
    public static Map<String, String> all(Connection connection) throws SQLException {
        List<String[]> names = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(ROW_TABLES)) {
            while (row.next()) {
                names.add(new String[] {row.getString(1), row.getString(2)});
            }
        }
        Map<String, String> all = new TreeMap<>();
        try (Statement statement = connection.createStatement()) {
            Map<String, String> defaults = new HashMap<>();
            try (ResultSet row = statement.executeQuery(ShownTable.DEFAULT_COLLATIONS)) {
                while (row.next()) {
                    defaults.put(row.getString(1), row.getString(2));
                }
            }
            for (String[] each : names) {
                try (ResultSet row =
                        statement.executeQuery("SHOW CREATE TABLE " + Identifiers.quoted(each[0], each[1]))) {
                    row.next();
                    all.put(each[0] + "." + each[1], ShownTable.comparable(row.getString(2), defaults));
                } catch (SQLException e) {
                    if (e.getErrorCode() != NO_SUCH_TABLE) {
                        throw e;
                    }
                }
            }
        }
        return all;
    }

    /** @return null when there is no such table, or it is none of users: what other nodes ask for is read by this */
    public static AuditedTable read(Connection connection, String schema, String name) throws SQLException {
        if (!TableName.isSchemaOfUsers(schema)) {
            return null;
        }
        List<TableColumn> columns = new ArrayList<>();
        try (PreparedStatement select = connection.prepareStatement(COLUMNS)) {
            select.setString(1, schema);
            select.setString(2, name);
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    columns.add(new TableColumn(
                            row.getString(1),
                            row.getString(2),
                            row.getString(3),
                            row.getInt(4),
                            row.getBoolean(5),
                            row.getString(6),
                            row.getBoolean(7)));
                }
            }
        }
        return columns.isEmpty() ? null : new AuditedTable(schema, name, columns);
    }

    /** Prepares a connection of its own for reading: the text of times must not depend on where the server is. */
    public static void prepare(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION time_zone = '+00:00', group_concat_max_len = 1048576,"
                    + " show_gipk_in_create_table_and_information_schema = ON,"
                    + " information_schema_stats_expiry = 0,"
                    + " sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES', transaction_isolation ="
                    + " 'REPEATABLE-READ'");
        }
    }

    /** Whether rows are found by a primary key; otherwise the table is a bag of rows, read as a whole. */
    public boolean hasKey() {
        return !key.isEmpty();
    }

    public String schema() {
        return schema;
    }

    public String name() {
        return name;
    }

    /** The columns whose values a statement has to write, because they are not generated from others. */
    public List<TableColumn> columns() {
        return columns;
    }

    /** The columns that are computed from others and stored with the row. */
    public List<TableColumn> stored() {
        return stored;
    }

    /** What a row has: its columns, and what is computed of them and stored. */
    private List<TableColumn> compared() {
        return Stream.concat(columns.stream(), stored.stream()).toList();
    }

    /** The part of a SELECT after its select list: the table, and which of its rows, in the order of the key. */
    public String fromWhere(Stretch stretch) {
        return from() + where(stretch) + (hasKey() ? order() : "");
    }

    /** The part of a SELECT after its select list, for one row. */
    public String fromRow(String identity) {
        return from() + whereRow(identity);
    }

    private String from() {
        return " FROM " + Identifiers.quoted(schema, name);
    }

    /**
     * An expression in which NULL differs from any value, and the ends of values matter. Values that may be large are
     * included by their own hash, because a packet limits the whole.
     */
    public String hash() {
        return hash(compared().stream()
                .map(c -> c.isLarge()
                        ? "COALESCE(" + hash(c.bytes()) + ", 'N')"
                        : "COALESCE(CONCAT(OCTET_LENGTH(" + c.bytes() + "), ':', " + c.bytes() + "), 'N')")
                .collect(Collectors.joining(", ", "CONCAT(", ")")));
    }

    /** An expression: the row's hash, and after it one of each stored column, with commas between them. */
    public String hashes() {
        return stored.stream()
                .map(c -> "COALESCE(" + hash(c.bytes()) + ", 'N')")
                .collect(Collectors.joining(", ", "CONCAT_WS(',', " + hash() + ", ", ")"));
    }

    /** What {@link #hashes} gives of another server's row. */
    public String hashes(Row row) {
        return stored.stream()
                .map(c -> hash(c.bytesOf(row.written.get(c.name()))))
                .collect(Collectors.joining(",", row.version + ",", ""));
    }

    private static String hash(byte[] bytes) {
        if (bytes == null) {
            return "N";
        }
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes), 0, 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** 128 bits of SHA-256: as many as MD5 has, which servers don't know any more from 9.6 on. */
    private static String hash(String bytes) {
        return "LEFT(SHA2(" + bytes + ", 256), 32)";
    }

    /** An expression for a row's identity. */
    public String identity() {
        return hasKey()
                ? key.stream().map(TableColumn::written).collect(Collectors.joining(", ", "CONCAT_WS(',', ", ")"))
                : hash();
    }

    private List<String> parts(String identity) {
        String[] parts = identity.split(",", -1);
        if (parts.length != key.size()) {
            throw new IllegalArgumentException("not a key of " + schema + "." + name + ": " + identity);
        }
        List<String> literals = new ArrayList<>();
        for (int i = 0; i < parts.length; i++) {
            literals.add(key.get(i).literal(parts[i]));
        }
        return literals;
    }

    private String where(Stretch stretch) {
        List<String> conditions = new ArrayList<>();
        if (stretch.from != null) {
            conditions.add(beyond(stretch.from, ">", ">"));
        }
        if (stretch.to != null) {
            conditions.add(beyond(stretch.to, "<", "<="));
        }
        return conditions.isEmpty() ? "" : " WHERE " + String.join(" AND ", conditions);
    }

    /**
     * Written out, because MySQL makes no range of a comparison of row values; the first part is repeated, because
     * MySQL makes a range of that.
     */
    private String beyond(String identity, String strict, String last) {
        List<String> literals = parts(identity);
        StringBuilder same = new StringBuilder();
        List<String> cases = new ArrayList<>();
        for (int i = 0; i < key.size(); i++) {
            String column = key.get(i).quoted();
            cases.add("(" + same + column + " " + (i == key.size() - 1 ? last : strict) + " " + literals.get(i) + ")");
            same.append(column).append(" = ").append(literals.get(i)).append(" AND ");
        }
        return key.get(0).quoted() + " " + strict + "= " + literals.get(0) + " AND (" + String.join(" OR ", cases)
                + ")";
    }

    private String whereRow(String identity) {
        return " WHERE " + isRow(identity);
    }

    /** A condition. */
    String isRow(String identity) {
        if (!hasKey()) {
            return hash() + " = '" + identity.replaceAll("[^0-9a-f]", "") + "'";
        }
        List<String> literals = parts(identity);
        List<String> equal = new ArrayList<>();
        for (int i = 0; i < key.size(); i++) {
            equal.add(key.get(i).quoted() + " = " + literals.get(i));
        }
        return String.join(" AND ", equal);
    }

    private String order() {
        return key.stream().map(TableColumn::quoted).collect(Collectors.joining(", ", " ORDER BY ", ""));
    }

    /** @return where a stretch of this many rows after {@code from} ends; null when it is the table's last */
    public String next(Connection connection, String from, long rows) throws SQLException {
        if (!hasKey()) {
            return null;
        }
        String sql = "SELECT " + identity() + from() + where(new Stretch(from, null)) + order() + " LIMIT 1 OFFSET "
                + (rows - 1);
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            return row.next() ? row.getString(1) : null;
        }
    }

    /** Whether nobody can read a table before somebody imports its tablespace. */
    public static boolean lacksTablespace(SQLException e) {
        return NO_TABLESPACE.contains(e.getErrorCode());
    }

    /** Why nobody can read its rows; null where they can be read. */
    public String unreadable(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet any = statement.executeQuery("SELECT 1" + from() + " LIMIT 1")) {
            any.next();
            return null;
        } catch (SQLException e) {
            if (lacksTablespace(e)) {
                return e.getMessage();
            }
            throw e;
        }
    }

    /** The server's own estimate. */
    public record Estimate(long rows, long bytesPerRow) {}

    public Estimate estimate(Connection connection) throws SQLException {
        try (PreparedStatement select =
                connection.prepareStatement("SELECT COALESCE(TABLE_ROWS, 0), COALESCE(AVG_ROW_LENGTH, 0)"
                        + " FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?")) {
            select.setString(1, schema);
            select.setString(2, name);
            try (ResultSet row = select.executeQuery()) {
                return row.next() ? new Estimate(row.getLong(1), row.getLong(2)) : new Estimate(0, 0);
            }
        }
    }

    /** For a bag the sum of the hashes, because there the same row may occur twice; otherwise XOR, which is faster. */
    public Sum sum(Connection connection, Stretch stretch) throws SQLException {
        String all = hasKey()
                ? "HEX(BIT_XOR(UNHEX(" + hash() + ")))"
                : "SUM(CAST(CONV(LEFT(" + hash() + ", 15), 16, 10) AS DECIMAL(20)))";
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT COUNT(*), COALESCE(" + all + ", '')" + from() + where(stretch))) {
            row.next();
            return new Sum(row.getLong(1), row.getString(2));
        }
    }

    /**
     * The content of a stretch: by identity the row's hash; for a bag, how often the row occurs.
     *
     * @throws IllegalArgumentException when a bag has more than {@code bagMax} different rows, or all of it would be
     *     more than an answer between nodes may have
     */
    public Map<String, String> rows(Connection connection, Stretch stretch, long bagMax) throws SQLException {
        String sql = hasKey()
                ? "SELECT " + identity() + ", " + hash() + from() + where(stretch) + order() + " LIMIT "
                        + KEYED_ROWS_MAX
                : "SELECT " + hash() + " AS h, COUNT(*)" + from() + " GROUP BY h LIMIT " + (bagMax + 1);
        Map<String, String> rows = new LinkedHashMap<>();
        long characters = 0;
        try (Statement statement =
                connection.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
            // Row by row, not all at once.
            statement.setFetchSize(Integer.MIN_VALUE);
            try (ResultSet row = statement.executeQuery(sql)) {
                while (row.next() && characters <= ROWS_CHARACTERS_MAX) {
                    characters += row.getString(1).length() + row.getString(2).length();
                    rows.put(row.getString(1), row.getString(2));
                }
            }
        }
        if (characters > ROWS_CHARACTERS_MAX || (hasKey() && rows.size() >= KEYED_ROWS_MAX)) {
            throw new IllegalArgumentException("has more rows in one stretch of " + schema + "." + name
                    + " than can be compared one by one; lower quorate.audit.stretch-rows on the node that audits");
        }
        if (!hasKey() && rows.size() > bagMax) {
            throw new IllegalArgumentException("has more than " + bagMax + " different rows in " + schema + "." + name
                    + ", which has no usable primary key");
        }
        return rows;
    }

    /**
     * One row.
     *
     * @param lock whether nobody may change or insert it before the transaction ends
     * @return null when it isn't there
     */
    public Row row(Connection connection, String identity, boolean lock) throws SQLException {
        List<TableColumn> compared = compared();
        String sql = compared.stream()
                .map(c -> c.written() + ", " + c.shown())
                .collect(Collectors.joining(", ", "SELECT " + hash() + ", ", from() + whereRow(identity)));
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql + " LIMIT 1" + (lock ? " FOR UPDATE" : ""))) {
            if (!row.next()) {
                return null;
            }
            Map<String, String> written = new LinkedHashMap<>();
            Map<String, String> shown = new LinkedHashMap<>();
            for (int i = 0; i < compared.size(); i++) {
                written.put(compared.get(i).name(), row.getString(2 + 2 * i));
                shown.put(compared.get(i).name(), row.getString(3 + 2 * i));
            }
            String version = row.getString(1);
            return new Row(hasKey() ? version : Long.toString(count(connection, identity)), written, shown);
        }
    }

    /**
     * One row for people.
     *
     * @param characters how many characters of a value are shown
     * @return without {@code written}; null when the row isn't there
     */
    public Row shown(Connection connection, String identity, int characters) throws SQLException {
        List<TableColumn> compared = compared();
        String sql = compared.stream()
                .map(c -> "IF(CHAR_LENGTH(" + c.shown() + ") > " + characters + ", CONCAT(LEFT(" + c.shown() + ", "
                        + characters + "), '...'), " + c.shown() + ")")
                .collect(Collectors.joining(", ", "SELECT ", from() + whereRow(identity)));
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql + " LIMIT 1")) {
            if (!row.next()) {
                return null;
            }
            Map<String, String> shown = new LinkedHashMap<>();
            for (int i = 0; i < compared.size(); i++) {
                shown.put(compared.get(i).name(), row.getString(1 + i));
            }
            return new Row("", Map.of(), shown);
        }
    }

    /** How often a row occurs. */
    public long count(Connection connection, String identity) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT COUNT(*)" + from() + whereRow(identity))) {
            row.next();
            return row.getLong(1);
        }
    }

    /** Deletes a row; from a bag, this many of the same row. */
    public void delete(Connection connection, String identity, long times) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("DELETE" + from() + whereRow(identity) + " LIMIT " + times);
        }
    }

    /** @param written by column, as {@link Row} has it of another server */
    public void insert(Connection connection, Map<String, String> written) throws SQLException {
        String names = columns.stream().map(TableColumn::quoted).collect(Collectors.joining(", "));
        String values =
                columns.stream().map(c -> c.literal(written.get(c.name()))).collect(Collectors.joining(", "));
        try (Statement statement = connection.createStatement()) {
            statement.setEscapeProcessing(false);
            statement.execute(
                    "INSERT INTO " + Identifiers.quoted(schema, name) + " (" + names + ") VALUES (" + values + ")");
        }
    }

    /** An account without privileges on a trigger can't see it. */
    private void requireSight(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            try (ResultSet row = statement.executeQuery("SHOW GRANTS")) {
                while (row.next()) {
                    if (SEES_TRIGGERS.matcher(row.getString(1)).lookingAt()) {
                        return;
                    }
                }
            }
            try (ResultSet row = statement.executeQuery("SELECT CURRENT_USER()")) {
                row.next();
                throw new IllegalArgumentException("can't see whether " + schema + "." + name
                        + " has triggers, which would run: GRANT TRIGGER ON *.* TO " + row.getString(1));
            }
        }
    }

    /**
     * The triggers that would run when rows are repaired by statements.
     *
     * @throws IllegalArgumentException when the account can't see them
     */
    public List<String> triggers(Connection connection) throws SQLException {
        List<String> triggers = new ArrayList<>();
        requireSight(connection);
        try (PreparedStatement select =
                connection.prepareStatement("SELECT TRIGGER_NAME FROM information_schema.TRIGGERS"
                        + " WHERE EVENT_OBJECT_SCHEMA = ? AND EVENT_OBJECT_TABLE = ?")) {
            select.setString(1, schema);
            select.setString(2, name);
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    triggers.add(row.getString(1));
                }
            }
        }
        return triggers;
    }
}
