// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.binlog;

import io.quorate.core.BinlogEvents;
import io.quorate.core.ErrorCode;
import io.quorate.core.Payload;
import io.quorate.core.PayloadBuilder;
import io.quorate.core.QuorateException;
import io.quorate.core.Spool;
import io.quorate.core.TableName;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * Row events as they would be of tables that lack some of their columns, as in the projection of relational algebra.
 * What other nodes write to a table fits so where its column has been dropped.
 */
public final class Projection {
    private static final int ROWS_FLAGS_END = BinlogEvents.HEADER_BYTES + 8;

    private final PayloadBuilder out;
    /** What has the event that is looked at. */
    private byte[] payload;

    /** By table id; those whose rows change. */
    private final Map<Long, Table> tables = new HashMap<>();

    /**
     * A table and which of its columns are left.
     *
     * @param columns their indexes, in order
     */
    private record Table(TableMap map, int[] columns) {}

    private Projection(Spool spool) {
        this.out = new PayloadBuilder(spool);
    }

    /**
     * A payload of row events without the columns that are gone.
     *
     * @param left the names of the columns that a table has. Its rows stay as they are where one of these isn't among
     *     theirs, since then it can't be told which column became which, and where the binlog has no names; and so they
     *     do where it is null
     * @throws QuorateException {@link ErrorCode#SCHEMA_MISMATCH} for an update with JSON in part
     */
    public static Payload of(Payload payload, Function<TableName, Set<String>> left, Spool spool) {
        Projection projection = new Projection(spool);
        for (Payload.Events event = payload.events(); event.next(); ) {
            projection.payload = event.bytes();
            projection.event(event.offset(), event.length(), left);
        }
        return projection.out.take();
    }

    private void event(int at, int length, Function<TableName, Set<String>> left) {
        int type = BinlogEvents.type(payload, at);
        if (type == BinlogEvents.TABLE_MAP) {
            TableMap map = TableMap.read(payload, at, length);
            int[] columns = columns(map, left.apply(new TableName(map.schema, map.table)));
            if (columns != null) {
                tables.put(map.id, new Table(map, columns));
                map(at, length, tables.get(map.id));
                return;
            }
            tables.remove(map.id);
        } else if (BinlogEvents.isRows(type)) {
            Table table = tables.get(BinlogEvents.tableId(payload, at));
            if (table != null) {
                rows(at, table);
                return;
            }
        }
        out.append(payload, at, length);
    }

    /** Null where all are left, or nobody can tell. */
    private static int[] columns(TableMap map, Set<String> left) {
        if (left == null || map.names == null || left.size() >= map.columns()) {
            return null;
        }
        int[] columns = IntStream.range(0, map.columns())
                .filter(i -> left.contains(map.names[i]))
                .toArray();
        return columns.length == left.size() ? columns : null;
    }

    // TABLE_MAP

    private void map(int at, int length, Table table) {
        TableMap map = table.map;
        EventReader in = new EventReader(payload, at + BinlogEvents.HEADER_BYTES, at + length);
        ByteArrayOutputStream body = new ByteArrayOutputStream(length);
        in.skip(8);
        in.name();
        in.name();
        body.write(payload, at + BinlogEvents.HEADER_BYTES, in.at - at - BinlogEvents.HEADER_BYTES);
        int count = in.packedInt();
        int types = in.skip(count);
        byte[] metadata = metadata(in, types, table);
        int nullable = in.skip((count + 7) / 8);
        packed(body, table.columns.length);
        for (int column : table.columns) {
            body.write(payload[types + column]);
        }
        packed(body, metadata.length);
        body.writeBytes(metadata);
        body.writeBytes(bits(table.columns, i -> bit(nullable, i)));
        field(body, TableMap.SIGNEDNESS, signs(table));
        field(body, TableMap.COLUMN_CHARSET, collations(table, ColumnType::isCharacter));
        field(body, TableMap.ENUM_AND_SET_CHARSET, collations(table, ColumnType::isEnumOrSet));
        field(body, TableMap.COLUMN_NAME, names(table));
        field(body, TableMap.SET_LABELS, labels(table, ColumnType.SET));
        field(body, TableMap.ENUM_LABELS, labels(table, ColumnType.ENUM));
        int[] key = Arrays.stream(map.primaryKey)
                .map(column -> Arrays.binarySearch(table.columns, column))
                .toArray();
        if (Arrays.stream(key).allMatch(column -> column >= 0)) {
            ByteArrayOutputStream indexes = new ByteArrayOutputStream();
            Arrays.stream(key).forEach(column -> packed(indexes, column));
            field(body, TableMap.SIMPLE_PRIMARY_KEY, indexes.toByteArray());
        }
        event(at, body.toByteArray());
    }

    private byte[] metadata(EventReader in, int types, Table table) {
        ByteArrayOutputStream left = new ByteArrayOutputStream();
        int bytes = in.packedInt();
        EventReader each = new EventReader(payload, in.skip(bytes), in.at);
        for (int i = 0; i < table.map.columns(); i++) {
            int from = each.at;
            TableMap.skipMetadata(each, Bytes.u8(payload, types + i));
            if (Arrays.binarySearch(table.columns, i) >= 0) {
                left.write(payload, from, each.at - from);
            }
        }
        return left.toByteArray();
    }

    /** A bit for each numeric column, the first one on top. */
    private static byte[] signs(Table table) {
        int[] numeric = those(table, ColumnType::isNumeric);
        byte[] bits = new byte[(numeric.length + 7) / 8];
        for (int n = 0; n < numeric.length; n++) {
            bits[n / 8] |= (byte) (table.map.unsigned[numeric[n]] ? 0x80 >>> (n % 8) : 0);
        }
        return bits;
    }

    private static byte[] collations(Table table, IntPredicate counts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int column : those(table, counts)) {
            if (table.map.collations[column] < 0) {
                return new byte[0];
            }
            packed(all, table.map.collations[column]);
        }
        return all.toByteArray();
    }

    private static byte[] names(Table table) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int column : table.columns) {
            text(all, table.map.names[column].getBytes(StandardCharsets.UTF_8));
        }
        return all.toByteArray();
    }

    private static byte[] labels(Table table, int type) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int column : those(table, each -> each == type)) {
            List<byte[]> labels = table.map.labels.get(column);
            if (labels == null) {
                return new byte[0];
            }
            packed(all, labels.size());
            labels.forEach(label -> text(all, label));
        }
        return all.toByteArray();
    }

    private static int[] those(Table table, IntPredicate type) {
        return Arrays.stream(table.columns)
                .filter(column -> type.test(table.map.types[column]))
                .toArray();
    }

    // ROWS

    private void rows(int at, Table table) {
        RowsEvent rows = new RowsEvent(table.map, payload, at);
        ByteArrayOutputStream body = new ByteArrayOutputStream(BinlogEvents.length(payload, at));
        body.write(payload, at + BinlogEvents.HEADER_BYTES, ROWS_FLAGS_END - BinlogEvents.HEADER_BYTES);
        // No extra data: the length of that, itself included.
        body.write(2);
        body.write(0);
        packed(body, table.columns.length);
        body.writeBytes(bits(table.columns, i -> bit(rows.presentBefore(), i)));
        if (rows.isUpdate()) {
            body.writeBytes(bits(table.columns, i -> bit(rows.presentAfter(), i)));
        }
        while (rows.next()) {
            if (rows.hasBefore()) {
                image(body, table, rows.before());
            }
            if (rows.hasAfter()) {
                image(body, table, rows.after());
            }
            if (rows.type() == BinlogEvents.PARTIAL_UPDATE_ROWS) {
                throw new QuorateException(
                        ErrorCode.SCHEMA_MISMATCH,
                        "an update of " + table.map.schema + "." + table.map.table
                                + " has JSON in part, and the table here has fewer columns");
            }
        }
        event(at, body.toByteArray());
    }

    private void image(ByteArrayOutputStream body, Table table, RowImage image) {
        int[] present = Arrays.stream(table.columns)
                .filter(column -> image.length(column) != RowImage.ABSENT)
                .toArray();
        body.writeBytes(bits(present, column -> image.length(column) == RowImage.NULL));
        for (int column : present) {
            if (image.length(column) >= 0) {
                int prefix = ColumnType.prefixBytes(table.map.types[column], table.map.metadata[column]);
                body.write(payload, image.start(column) - prefix, prefix + image.length(column));
            }
        }
    }

    // Parts of events

    /** An event with the header of the one at {@code at}, and another body. */
    private void event(int at, byte[] body) {
        byte[] event = Arrays.copyOfRange(payload, at, at + BinlogEvents.HEADER_BYTES + body.length);
        BinlogEvents.length(event, 0, event.length);
        System.arraycopy(body, 0, event, BinlogEvents.HEADER_BYTES, body.length);
        out.append(event);
    }

    private boolean bit(int bitmap, int i) {
        return (payload[bitmap + (i >>> 3)] & (1 << (i & 7))) != 0;
    }

    private static byte[] bits(int[] columns, IntPredicate isSet) {
        byte[] bits = new byte[(columns.length + 7) / 8];
        for (int n = 0; n < columns.length; n++) {
            bits[n >>> 3] |= (byte) (isSet.test(columns[n]) ? 1 << (n & 7) : 0);
        }
        return bits;
    }

    private static void field(ByteArrayOutputStream body, int field, byte[] value) {
        if (value.length > 0) {
            body.write(field);
            text(body, value);
        }
    }

    private static void text(ByteArrayOutputStream body, byte[] bytes) {
        packed(body, bytes.length);
        body.writeBytes(bytes);
    }

    /** MySQL's length-encoded integer. */
    private static void packed(ByteArrayOutputStream body, int value) {
        if (value < 251) {
            body.write(value);
            return;
        }
        int bytes = value < 1 << 16 ? 2 : 3;
        body.write(250 + bytes);
        for (int i = 0; i < bytes; i++) {
            body.write(value >>> (8 * i));
        }
    }
}
