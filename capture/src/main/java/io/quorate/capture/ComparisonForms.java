// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.binlog.Bytes;
import io.quorate.core.binlog.ColumnType;
import io.quorate.core.binlog.TableMap;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/**
 * The comparison form of each kind of column: numbers and times by value, so that a foreign key's column and the one it
 * references give the same bytes; binary without trailing zeros (BINARY is stored without them); text by its collation.
 */
final class ComparisonForms {
    private static final ComparisonForm RAW = (b, offset, length, out) -> out.put(b, offset, length);
    private static final ComparisonForm ALL_ONE = (b, offset, length, out) -> {};
    private static final ComparisonForm BINARY = ComparisonForms::binary;
    private static final ComparisonForm SIGNED = ComparisonForms::signed;
    private static final ComparisonForm UNSIGNED =
            (b, offset, length, out) -> out.putLong(Bytes.little(b, offset, length));
    private static final ComparisonForm BITS = (b, offset, length, out) -> out.putLong(Bytes.big(b, offset, length));

    private final Map<Integer, Collation> collations;
    private final ServerWeights weights;
    private final Connection connection;
    private final Map<Long, ComparisonForm> texts = new HashMap<>();

    /**
     * @param collations the server's collations by id
     * @param weights what is known of its weights
     * @param connection on which to ask for unknown ones
     */
    ComparisonForms(Map<Integer, Collation> collations, ServerWeights weights, Connection connection) {
        this.collations = collations;
        this.weights = weights;
        this.connection = connection;
    }

    /**
     * The form of a column.
     *
     * @param prefix the index's prefix length, characters of text and bytes of anything else; 0 for the whole value
     */
    ComparisonForm of(TableMap map, int column, int prefix) throws SQLException {
        int metadata = map.metadata[column];
        return switch (map.types[column]) {
            case ColumnType.TINY, ColumnType.SHORT, ColumnType.INT24, ColumnType.LONG, ColumnType.LONGLONG ->
                map.unsigned[column] ? UNSIGNED : SIGNED;
            case ColumnType.YEAR, ColumnType.ENUM, ColumnType.SET -> UNSIGNED;
            case ColumnType.BIT -> BITS;
            case ColumnType.FLOAT -> (b, offset, length, out) -> out.putInt(notMinusZero(Bytes.i32(b, offset)));
            case ColumnType.DOUBLE -> (b, offset, length, out) -> out.putLong(notMinusZero(Bytes.i64(b, offset)));
            case ColumnType.TIMESTAMP2 -> (b, offset, length, out) -> seconds(b, offset, 4, length, out);
            case ColumnType.DATETIME2 -> (b, offset, length, out) -> seconds(b, offset, 5, length, out);
            case ColumnType.TIME2 -> (b, offset, length, out) -> out.putLong(time(b, offset, metadata));
            case ColumnType.VARCHAR,
                    ColumnType.VAR_STRING,
                    ColumnType.STRING,
                    ColumnType.TINY_BLOB,
                    ColumnType.MEDIUM_BLOB,
                    ColumnType.LONG_BLOB,
                    ColumnType.BLOB -> character(map.collations[column], prefix);
            default -> RAW;
        };
    }

    private ComparisonForm character(int id, int prefix) throws SQLException {
        if (id == Collation.BINARY_ID) {
            return prefix == 0 ? BINARY : (b, offset, length, out) -> binary(b, offset, Math.min(length, prefix), out);
        }
        long key = ((long) id << 32) | prefix;
        ComparisonForm form = texts.get(key);
        if (form == null) {
            Collation collation = collations.get(id);
            form = collation == null
                    ? ALL_ONE
                    : new TextForm(collation, prefix, collation.exact() ? null : weights.of(collation, connection));
            texts.put(key, form);
        }
        return form;
    }

    private static void binary(byte[] b, int offset, int length, KeyBytes out) {
        int end = offset + length;
        while (end > offset && b[end - 1] == 0) {
            end--;
        }
        out.put(b, offset, end - offset);
    }

    private static void signed(byte[] b, int offset, int length, KeyBytes out) {
        int unused = 64 - 8 * length;
        out.putLong((Bytes.little(b, offset, length) << unused) >> unused);
    }

    private static int notMinusZero(int bits) {
        return bits == Integer.MIN_VALUE ? 0 : bits;
    }

    private static long notMinusZero(long bits) {
        return bits == Long.MIN_VALUE ? 0 : bits;
    }

    /** DATETIME2 and TIMESTAMP2: a big-endian number, then the fraction in 0 to 3 bytes. */
    private static void seconds(byte[] b, int offset, int whole, int length, KeyBytes out) {
        out.putLong(Bytes.big(b, offset, whole));
        out.putInt((int) (Bytes.big(b, offset + whole, length - whole) * unit(length - whole)));
    }

    /**
     * How many microseconds one unit of a fraction with this many bytes has: the units are hundredths, ten-thousandths,
     * millionths.
     */
    private static int unit(int fractionBytes) {
        return switch (fractionBytes) {
            case 1 -> 10_000;
            case 2 -> 100;
            default -> 1;
        };
    }

    /**
     * TIME2: offset binary, where a negative value's fraction counts up from the next lower second
     * ({@code my_time_packed_from_binary} in the server).
     */
    static long time(byte[] b, int offset, int decimals) {
        int fractionBytes = (decimals + 1) / 2;
        if (fractionBytes == 3) {
            return Bytes.big(b, offset, 6) - 0x8000_0000_0000L;
        }
        long whole = Bytes.big(b, offset, 3) - 0x80_0000;
        long fraction = Bytes.big(b, offset + 3, fractionBytes);
        if (whole < 0 && fraction != 0) {
            whole++;
            fraction -= 1L << (8 * fractionBytes);
        }
        return (whole << 24) + fraction * unit(fractionBytes);
    }
}
