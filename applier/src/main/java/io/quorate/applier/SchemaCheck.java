// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.core.binlog.ColumnType;
import io.quorate.core.binlog.ExpressionSettings;
import io.quorate.core.binlog.TableMap;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares a table with the origin's before rows are applied to it. The server compares types and lengths itself. But
 * it silently accepts swapped columns of one type, another sign, a reordered ENUM, another character set or missing
 * columns, and stores something else.
 *
 * <p>Additional columns at the end of this table are accepted if they get a constant or NULL at any time: while a
 * column is being added, it is added here before the rows arrive that others wrote without it.
 */
final class SchemaCheck implements TableMaps.Check {
    private static final Logger log = LoggerFactory.getLogger(SchemaCheck.class);
    private static final int LABELS_PER_QUERY = 200;
    private static final int BINARY = 63;
    private static final int TOLD_MAX = 10_000;

    private final AuxiliaryConnection auxiliary;
    private final Set<String> told = ConcurrentHashMap.newKeySet();

    SchemaCheck(AuxiliaryConnection auxiliary) {
        this.auxiliary = auxiliary;
    }

    /** A column of this server's table. */
    private record Local(
            String name, String type, int collation, boolean constantDefault, String generated, boolean stored) {
        boolean unsigned() {
            return type.contains(" unsigned");
        }
    }

    @Override
    public TableMaps.Computed check(byte[] tableMapEvent) throws SQLException {
        TableMap origin = TableMap.read(tableMapEvent, 0, tableMapEvent.length);
        AtomicReference<TableMaps.Computed> computed = new AtomicReference<>();
        auxiliary.run(connection -> computed.set(computed(connection, origin, compare(connection, origin))));
        return computed.get();
    }

    private List<Local> compare(Connection connection, TableMap origin) throws SQLException {
        List<Local> here = columns(connection, origin);
        String table = origin.schema + "." + origin.table;
        if (here.isEmpty()) {
            throw new QuorateException(
                    ErrorCode.TABLE_MISSING,
                    "table " + table + " does not exist here. If no node dropped it, it was made without the binlog"
                            + " (SET sql_log_bin = 0, as dumps of servers with GTIDs have it): loading the same dump"
                            + " here in the same way mends that, too",
                    null,
                    in(origin));
        }
        if (here.size() < origin.columns()) {
            throw other(table, origin, here, "");
        }
        if (here.size() > origin.columns()) {
            requireConstant(table, origin, here);
        }
        for (int i = 0; i < origin.columns(); i++) {
            String difference = difference(connection, origin, i, here.get(i));
            if (difference != null) {
                throw new QuorateException(
                        ErrorCode.SCHEMA_MISMATCH,
                        "table " + table + ", column " + (i + 1) + ": " + difference,
                        null,
                        in(origin));
            }
        }
        return here;
    }

    /** What depends on settings; null when nothing does. */
    private static TableMaps.Computed computed(Connection connection, TableMap origin, List<Local> here)
            throws SQLException {
        Set<String> plain = new HashSet<>();
        List<String> expressions = new ArrayList<>();
        List<Integer> stored = new ArrayList<>();
        // Whatever a generated column is made of comes before it, or isn't generated.
        for (int pass = 0; pass < 2; pass++) {
            for (int i = 0; i < origin.columns(); i++) {
                Local column = here.get(i);
                if (column.generated().isEmpty() == (pass > 0)) {
                    continue;
                }
                if (!ExpressionSettings.isIndependent(column.generated(), plain::contains)) {
                    expressions.add(column.generated());
                    if (column.stored()) {
                        stored.add(i);
                    }
                } else if (ColumnType.isPlain(origin.types[i])) {
                    plain.add(column.name().toLowerCase(Locale.ROOT));
                }
            }
        }
        for (String text : indexesAndChecks(connection, origin)) {
            if (!ExpressionSettings.isIndependent(text, plain::contains)) {
                expressions.add(text);
            }
        }
        boolean timestamps = IntStream.of(origin.types).anyMatch(ColumnType::isTimestamp);
        if (expressions.isEmpty()) {
            return null;
        }
        Set<String> unique = Set.copyOf(texts(
                connection,
                "SELECT HEX(CONVERT(INDEX_NAME USING utf8mb4)) FROM information_schema.STATISTICS s" + of(origin)
                        + " AND NON_UNIQUE = 0 AND (EXPRESSION IS NOT NULL OR COLUMN_NAME IN (SELECT c.COLUMN_NAME FROM"
                        + " information_schema.COLUMNS c WHERE c.TABLE_SCHEMA = s.TABLE_SCHEMA"
                        + " AND c.TABLE_NAME = s.TABLE_NAME AND c.GENERATION_EXPRESSION <> ''))"));
        return new TableMaps.Computed(stored, unique, ExpressionSettings.of(expressions, timestamps));
    }

    private static List<String> indexesAndChecks(Connection connection, TableMap origin) throws SQLException {
        return texts(
                connection,
                "SELECT HEX(CONVERT(EXPRESSION USING utf8mb4)) FROM information_schema.STATISTICS" + of(origin)
                        + " AND EXPRESSION IS NOT NULL UNION ALL SELECT HEX(CONVERT(CHECK_CLAUSE USING utf8mb4))"
                        + " FROM information_schema.TABLE_CONSTRAINTS JOIN information_schema.CHECK_CONSTRAINTS"
                        + " USING (CONSTRAINT_SCHEMA, CONSTRAINT_NAME)" + of(origin) + " AND ENFORCED = 'YES'");
    }

    private static String of(TableMap origin) {
        return " WHERE TABLE_SCHEMA = CONVERT(%s USING utf8mb3) AND TABLE_NAME = CONVERT(%s USING utf8mb3)"
                .formatted(hex(origin.schema), hex(origin.table));
    }

    private static List<String> texts(Connection connection, String query) throws SQLException {
        List<String> texts = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            while (row.next()) {
                texts.add(unhex(row.getString(1)));
            }
        }
        return texts;
    }

    private static QuorateException other(String table, TableMap origin, List<Local> here, String more) {
        return new QuorateException(
                ErrorCode.SCHEMA_MISMATCH,
                "table " + table + " has " + origin.columns() + " columns at the origin, " + here.size() + " here"
                        + more,
                null,
                in(origin));
    }

    private static Difference in(TableMap origin) {
        return Difference.in(new TableName(origin.schema, origin.table));
    }

    private void requireConstant(String table, TableMap origin, List<Local> here) {
        if (origin.names == null) {
            throw other(table, origin, here, ", and their names are not in the binlog");
        }
        for (Local column : here.subList(origin.columns(), here.size())) {
            if (!column.constantDefault()) {
                throw other(table, origin, here, ", of which " + column.name() + " has no constant default");
            }
        }
        String what = table + " has " + origin.columns() + " columns at the origin, " + here.size() + " here";
        if (told.size() < TOLD_MAX && told.add(what)) {
            log.info("{}: rows get the defaults of those behind. After an ALTER TABLE that passes by itself", what);
        }
    }

    /** Describes the difference, null when there is none. */
    private static String difference(Connection connection, TableMap origin, int i, Local here) throws SQLException {
        if (origin.names != null && !origin.names[i].equalsIgnoreCase(here.name())) {
            return "named " + origin.names[i] + " at the origin, " + here.name() + " here";
        }
        String name = here.name() + " is ";
        int type = origin.types[i];
        // YEAR is a numeric type, and always unsigned.
        if (ColumnType.isNumeric(type) && type != ColumnType.YEAR && origin.unsigned[i] != here.unsigned()) {
            return name + (origin.unsigned[i] ? "unsigned" : "signed") + " at the origin, " + here.type() + " here";
        }
        if (ColumnType.isEnumOrSet(type)) {
            String kind = type == ColumnType.ENUM ? "enum" : "set";
            if (!here.type().startsWith(kind + "(")) {
                return name + "of type " + kind + " at the origin, " + here.type() + " here";
            }
        }
        int collation = origin.collations[i];
        if (collation > 0 && collation != here.collation()) {
            return name + "of collation " + collation(connection, collation) + " at the origin, "
                    + collation(connection, here.collation()) + " here";
        }
        if (origin.labels.get(i) != null) {
            List<String> labels = labels(connection, collation, origin.labels.get(i));
            if (!labels.equals(labels(here.type()))) {
                return name + "of labels " + labels + " at the origin, " + here.type() + " here";
            }
        }
        return null;
    }

    private static List<Local> columns(Connection connection, TableMap origin) throws SQLException {
        String sql = """
                SELECT HEX(CONVERT(c.COLUMN_NAME USING utf8mb4)), HEX(CONVERT(c.COLUMN_TYPE USING utf8mb4)),
                  COALESCE(k.ID, %d), c.EXTRA = '' AND (c.COLUMN_DEFAULT IS NOT NULL OR c.IS_NULLABLE = 'YES'),
                  HEX(CONVERT(c.GENERATION_EXPRESSION USING utf8mb4)), c.EXTRA LIKE '%%STORED GENERATED%%'
                FROM information_schema.COLUMNS c
                LEFT JOIN information_schema.COLLATIONS k ON k.COLLATION_NAME = c.COLLATION_NAME
                WHERE c.TABLE_SCHEMA = CONVERT(%s USING utf8mb3) AND c.TABLE_NAME = CONVERT(%s USING utf8mb3)
                ORDER BY c.ORDINAL_POSITION""".formatted(BINARY, hex(origin.schema), hex(origin.table));
        List<Local> columns = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            while (row.next()) {
                columns.add(new Local(
                        unhex(row.getString(1)),
                        unhex(row.getString(2)),
                        row.getInt(3),
                        row.getBoolean(4),
                        unhex(row.getString(5)),
                        row.getBoolean(6)));
            }
        }
        return columns;
    }

    /** Has the server convert the labels, which are in the column's character set. */
    private static List<String> labels(Connection connection, int collation, List<byte[]> labels) throws SQLException {
        String charset = charset(connection, collation);
        List<String> result = new ArrayList<>();
        for (int from = 0; from < labels.size(); from += LABELS_PER_QUERY) {
            StringBuilder sql = new StringBuilder("SELECT ");
            int to = Math.min(labels.size(), from + LABELS_PER_QUERY);
            for (int i = from; i < to; i++) {
                sql.append(i == from ? "" : ", ").append("HEX(CONVERT(_").append(charset);
                sql.append(" x'")
                        .append(HexFormat.of().formatHex(labels.get(i)))
                        .append("' USING utf8mb4))");
            }
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(sql.toString())) {
                row.next();
                for (int i = 1; i <= to - from; i++) {
                    result.add(unhex(row.getString(i)));
                }
            }
        }
        return result;
    }

    /** The labels in {@code enum('a','b''c')}. */
    static List<String> labels(String columnType) {
        List<String> labels = new ArrayList<>();
        StringBuilder label = null;
        for (int i = columnType.indexOf('('); i < columnType.length(); i++) {
            char c = columnType.charAt(i);
            if (label == null) {
                label = c == '\'' ? new StringBuilder() : null;
            } else if (c == '\\') {
                label.append(unescaped(columnType.charAt(++i)));
            } else if (c != '\'') {
                label.append(c);
            } else if (i + 1 < columnType.length() && columnType.charAt(i + 1) == '\'') {
                label.append(columnType.charAt(++i));
            } else {
                labels.add(label.toString());
                label = null;
            }
        }
        return labels;
    }

    private static char unescaped(char c) {
        return switch (c) {
            case '0' -> '\0';
            case 'n' -> '\n';
            case 'r' -> '\r';
            default -> c;
        };
    }

    private static String collation(Connection connection, int id) throws SQLException {
        String name = ofCollation(connection, "COLLATION_NAME", id);
        return name == null ? "number " + id : name;
    }

    static String charset(Connection connection, int collation) throws SQLException {
        String name = ofCollation(connection, "CHARACTER_SET_NAME", collation);
        return name == null ? "utf8mb4" : name.toLowerCase(Locale.ROOT);
    }

    private static String ofCollation(Connection connection, String column, int id) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT " + column + " FROM information_schema.COLLATIONS WHERE ID = " + id)) {
            return row.next() ? row.getString(1) : null;
        }
    }

    private static String hex(String text) {
        return "x'" + hexOf(text) + "'";
    }

    static String hexOf(String text) {
        return HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_8));
    }

    static String unhex(String hex) {
        return new String(HexFormat.of().parseHex(hex), StandardCharsets.UTF_8);
    }
}
