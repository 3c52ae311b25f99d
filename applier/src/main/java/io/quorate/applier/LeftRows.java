// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.BinlogEvents;
import io.quorate.core.ColumnMask;
import io.quorate.core.Identifiers;
import io.quorate.core.Payload;
import io.quorate.core.WriteSet;
import io.quorate.core.binlog.Bytes;
import io.quorate.core.binlog.ColumnType;
import io.quorate.core.binlog.RowImage;
import io.quorate.core.binlog.RowsEvent;
import io.quorate.core.binlog.TableMap;
import io.quorate.core.binlog.ValueText;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks that rows are as the transactions that are about to be undone left them. The server finds a row by its primary
 * key and ignores the rest of it, so a change made without the binlog would be silently overwritten. The rows are
 * locked and compared first; a difference is an error that shows both, never a guess.
 *
 * <p>Not compared: tables without a primary key (the server compares whole rows itself) or with one of an unusual type,
 * columns of JSON and geometry, and TIME with fractions.
 */
final class LeftRows {
    private static final Logger log = LoggerFactory.getLogger(LeftRows.class);
    private static final int ROWS_PER_QUERY = 32;
    private static final int QUERY_CHARACTERS = 256 << 10;
    private static final int BINARY_COLLATION = 63;
    private static final int ROW_NOT_FOUND = 1032;

    private final Connection connection;
    private final ColumnMask mask;
    private final Map<Integer, String> charsets = new HashMap<>();
    private final Set<String> told = new HashSet<>();

    LeftRows(Connection connection, ColumnMask mask) {
        this.connection = connection;
        this.mask = mask;
    }

    /**
     * A row to check: where it is, and the predicate that it is as it was left.
     *
     * @param event where the event with it is
     * @param index its place in that event
     */
    record Left(TableMap map, String where, String same, Map<String, String> values, int event, int index) {}

    /** Which columns of a table are compared; null for none, and for a table that isn't. */
    interface Columns {
        List<Integer> of(TableMap map);
    }

    /**
     * Locks and compares the rows.
     *
     * @param losers the latest first
     * @throws SQLException with the code of a row not found when one isn't as it was left
     */
    void require(List<WriteSet> losers) throws SQLException {
        Set<String> seen = new HashSet<>();
        Batch batch = new Batch(true);
        for (WriteSet loser : losers) {
            rows(loser.payload(), LeftRows::all, seen, batch);
            if (!batch.odd.isEmpty()) {
                break;
            }
        }
        batch.compare();
        if (!batch.odd.isEmpty()) {
            Left left = batch.odd.get(0);
            throw new SQLException(
                    "somebody wrote without the binlog: " + left.map.schema + "." + left.map.table + " was left with "
                            + masked(left.map, left.values) + " and holds " + present(left),
                    "HY000",
                    ROW_NOT_FOUND);
        }
    }

    private static List<Integer> all(TableMap map) {
        return IntStream.range(0, map.columns()).boxed().toList();
    }

    /** The rows that are there and don't hold in some columns what the events have left in them. */
    List<Left> odd(Payload events, Columns columns) throws SQLException {
        Batch batch = new Batch(false);
        rows(events, columns, new HashSet<>(), batch);
        batch.compare();
        return batch.odd;
    }

    /** Those of some rows that still don't hold what they were left with. */
    List<Left> stillOdd(List<Left> rows) throws SQLException {
        Batch batch = new Batch(false);
        for (Left row : rows) {
            batch.add(row);
        }
        batch.compare();
        return batch.odd;
    }

    /** Rows that are compared with one query. */
    private final class Batch {
        private final List<Left> rows = new ArrayList<>();
        private final List<Left> odd = new ArrayList<>();
        private final boolean withMissing;
        private int characters;

        /** @param withMissing whether rows that aren't there are odd, too */
        Batch(boolean withMissing) {
            this.withMissing = withMissing;
        }

        void add(Left left) throws SQLException {
            rows.add(left);
            characters += left.where.length() + left.same.length();
            if (rows.size() == ROWS_PER_QUERY || characters > QUERY_CHARACTERS) {
                compare();
            }
        }

        /** Locks the rows, and keeps those that aren't as they were left. */
        void compare() throws SQLException {
            if (rows.isEmpty()) {
                return;
            }
            List<String> selects = new ArrayList<>();
            for (int i = 0; i < rows.size(); i++) {
                Left left = rows.get(i);
                selects.add("(SELECT " + i + ", (" + left.same + ") FROM " + name(left.map) + " WHERE " + left.where
                        + " FOR UPDATE)");
            }
            boolean[] isOdd = new boolean[rows.size()];
            Arrays.fill(isOdd, withMissing);
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(String.join(" UNION ALL ", selects))) {
                while (row.next()) {
                    isOdd[row.getInt(1)] = !row.getBoolean(2);
                }
            }
            for (int i = 0; i < isOdd.length; i++) {
                if (isOdd[i]) {
                    odd.add(rows.get(i));
                }
            }
            rows.clear();
            characters = 0;
        }
    }

    /**
     * The rows that events were the last to write, as they left them; event by event, the last one first, because the
     * whole of it may be large.
     */
    private void rows(Payload events, Columns columns, Set<String> seen, Batch batch) throws SQLException {
        Map<Long, TableMap> maps = new HashMap<>();
        List<Integer> places = new ArrayList<>();
        Payload.Events event = events.events();
        while (event.next()) {
            if (event.type() == BinlogEvents.TABLE_MAP) {
                TableMap map = TableMap.read(event);
                maps.put(event.tableId(), columns.of(map) != null && isComparable(map) ? map : null);
            } else if (event.isRows() && maps.get(event.tableId()) != null) {
                places.add(event.position());
            }
        }
        for (int i = places.size() - 1; i >= 0; i--) {
            event.go(places.get(i));
            Map<String, Left> rows = new LinkedHashMap<>();
            TableMap map = maps.get(event.tableId());
            addRows(new RowsEvent(map, event.bytes(), event.offset()), places.get(i), columns.of(map), rows);
            for (Map.Entry<String, Left> row : rows.entrySet()) {
                if (seen.add(row.getKey()) && row.getValue() != null) {
                    batch.add(row.getValue());
                }
            }
        }
    }

    /**
     * A later change of a row in the same event replaces an earlier one; a deleted row has nothing to compare.
     */
    private void addRows(RowsEvent rows, int event, List<Integer> columns, Map<String, Left> into) throws SQLException {
        for (int index = 0; rows.next(); index++) {
            if (rows.hasBefore()) {
                into.put(place(rows, rows.before()), null);
            }
            if (rows.hasAfter()) {
                RowImage key = rows.after();
                for (int column : rows.map().primaryKey) {
                    // A column of the key that the update did not change may be missing in the after image.
                    key = rows.after().length(column) == RowImage.ABSENT ? rows.before() : key;
                }
                into.put(place(rows, key), left(rows, key, columns, event, index));
            }
        }
    }

    private String place(RowsEvent rows, RowImage key) throws SQLException {
        return name(rows.map()) + " WHERE " + where(rows, key);
    }

    private String where(RowsEvent rows, RowImage key) throws SQLException {
        List<String> parts = new ArrayList<>();
        for (int column : rows.map().primaryKey) {
            parts.add(quoted(rows.map().names[column]) + " = " + keyLiteral(rows.map(), column, rows.bytes(), key));
        }
        return String.join(" AND ", parts);
    }

    private Left left(RowsEvent rows, RowImage key, List<Integer> columns, int event, int index) throws SQLException {
        TableMap map = rows.map();
        List<String> same = new ArrayList<>();
        Map<String, String> values = new LinkedHashMap<>();
        for (int i : columns) {
            int length = rows.after().length(i);
            if (length == RowImage.ABSENT) {
                continue;
            }
            values.put(map.names[i], ValueText.of(map, i, rows.bytes(), rows.after()));
            String column = quoted(map.names[i]);
            String predicate = length == RowImage.NULL
                    ? column + " IS NULL"
                    : predicate(map, i, column, rows.bytes(), rows.after().start(i), length, values.get(map.names[i]));
            if (predicate != null) {
                same.add(predicate);
            }
        }
        String whole = same.isEmpty() ? "1" : String.join(" AND ", same);
        return new Left(map, where(rows, key), whole, values, event, index);
    }

    private boolean isComparable(TableMap map) {
        boolean comparable = map.names != null && map.primaryKey.length > 0;
        for (int column : map.primaryKey) {
            comparable &= switch (map.types[column]) {
                case ColumnType.TINY, ColumnType.SHORT, ColumnType.INT24, ColumnType.LONG, ColumnType.LONGLONG -> true;
                case ColumnType.NEWDECIMAL, ColumnType.DATE, ColumnType.YEAR, ColumnType.DATETIME2 -> true;
                case ColumnType.VARCHAR, ColumnType.VAR_STRING, ColumnType.STRING -> true;
                default -> false;
            };
        }
        if (!comparable && map.primaryKey.length > 0 && told.add(name(map))) {
            log.info(
                    "rows of {}.{} can't be compared before they are undone, nor what is computed of them: its primary"
                            + " key is of an unusual type",
                    map.schema,
                    map.table);
        }
        return comparable;
    }

    /** A literal with which the index is used, because other rows must not be locked. */
    private String keyLiteral(TableMap map, int column, byte[] b, RowImage image) throws SQLException {
        String text = ValueText.of(map, column, b, image);
        return switch (map.types[column]) {
            case ColumnType.DATE, ColumnType.DATETIME2 -> "'" + cutFraction(text, map.metadata[column]) + "'";
            case ColumnType.VARCHAR, ColumnType.VAR_STRING, ColumnType.STRING -> {
                String hex = hex(b, image.start(column), image.length(column));
                yield map.collations[column] == BINARY_COLLATION
                        ? padded(map, column, hex)
                        : "_" + charset(map.collations[column]) + hex;
            }
            default -> text;
        };
    }

    /** In the binlog BINARY lacks the zeros at its end. */
    private static String padded(TableMap map, int column, String hex) {
        return map.types[column] == ColumnType.STRING ? "RPAD(" + hex + ", " + map.metadata[column] + ", x'00')" : hex;
    }

    /** The predicate that a column holds exactly this value; null when there is no such predicate. */
    private static String predicate(TableMap map, int i, String column, byte[] b, int at, int length, String text) {
        return switch (map.types[i]) {
            case ColumnType.TINY,
                    ColumnType.SHORT,
                    ColumnType.INT24,
                    ColumnType.LONG,
                    ColumnType.LONGLONG,
                    ColumnType.NEWDECIMAL,
                    ColumnType.YEAR -> column + " <=> " + text;
            case ColumnType.FLOAT ->
                "CAST(" + column + " AS DOUBLE) <=> " + (double) Float.intBitsToFloat(Bytes.i32(b, at));
            case ColumnType.DOUBLE -> column + " <=> " + text;
            case ColumnType.ENUM, ColumnType.SET ->
                "CAST(" + column + " AS UNSIGNED) <=> " + Long.toUnsignedString(Bytes.little(b, at, length));
            case ColumnType.BIT ->
                "CAST(" + column + " AS UNSIGNED) <=> " + Long.toUnsignedString(Bytes.big(b, at, length));
            case ColumnType.DATE, ColumnType.DATETIME2 ->
                "CAST(" + column + " AS CHAR) <=> '" + cutFraction(text, map.metadata[i]) + "'";
            case ColumnType.TIMESTAMP2 ->
                "UNIX_TIMESTAMP(" + column + ") <=> " + Bytes.big(b, at, 4)
                        + cutFraction(text, map.metadata[i]).substring("yyyy-mm-dd hh:mm:ss".length());
            case ColumnType.TIME2 -> map.metadata[i] > 0 ? null : "CAST(" + column + " AS CHAR) <=> '" + text + "'";
            case ColumnType.VARCHAR,
                    ColumnType.VAR_STRING,
                    ColumnType.STRING,
                    ColumnType.TINY_BLOB,
                    ColumnType.MEDIUM_BLOB,
                    ColumnType.LONG_BLOB,
                    ColumnType.BLOB ->
                "CAST(" + column + " AS BINARY) <=> "
                        + (map.collations[i] == BINARY_COLLATION
                                ? padded(map, i, hex(b, at, length))
                                : hex(b, at, length));
            default -> null;
        };
    }

    /** An image's fraction has an even number of digits; the column may have one less. */
    private static String cutFraction(String text, int digits) {
        int point = text.indexOf('.');
        return point < 0 ? text : text.substring(0, digits == 0 ? point : point + 1 + digits);
    }

    private static String hex(byte[] b, int at, int length) {
        return " x'" + HexFormat.of().formatHex(b, at, at + length) + "'";
    }

    private String charset(int collation) throws SQLException {
        String known = charsets.get(collation);
        if (known == null) {
            known = SchemaCheck.charset(connection, collation);
            charsets.put(collation, known);
        }
        return known;
    }

    private String present(Left left) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT * FROM " + name(left.map) + " WHERE " + left.where)) {
            if (!row.next()) {
                return "no such row";
            }
            Map<String, String> values = new LinkedHashMap<>();
            for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
                String text = row.getString(i);
                values.put(
                        row.getMetaData().getColumnName(i),
                        text == null || text.length() <= 200 ? text : text.substring(0, 200) + "...");
            }
            return masked(left.map, values).toString();
        }
    }

    private Map<String, String> masked(TableMap map, Map<String, String> values) {
        values.replaceAll((column, value) ->
                value != null && mask.hides(map.schema, map.table, column) ? ColumnMask.MASKED : value);
        return values;
    }

    static String name(TableMap map) {
        return quoted(map.schema) + "." + quoted(map.table);
    }

    private static String quoted(String name) {
        return Identifiers.quoted(Names.bytes(name));
    }
}
