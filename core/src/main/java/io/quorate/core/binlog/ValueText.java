// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.binlog;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Values of row images in a form for people: numbers and times as MySQL prints them (TIMESTAMP in UTC), text where it
 * is UTF-8, anything else as hexadecimal. Long values are cut. Not for machines: two different values may have the same
 * text.
 */
public final class ValueText {
    private static final int LENGTH_MAX = 200;
    private static final int BINARY_COLLATION = 63;
    private static final int DIGITS_PER_WORD = 9;
    private static final int[] DIGIT_BYTES = {0, 1, 1, 2, 2, 3, 3, 4, 4, 4};

    private ValueText() {}

    /** The value of a column in an image; null for NULL. */
    public static String of(TableMap map, int column, byte[] bytes, RowImage image) {
        int length = image.length(column);
        if (length == RowImage.NULL) {
            return null;
        }
        if (length == RowImage.ABSENT) {
            return "(not in the binlog)";
        }
        int at = image.start(column);
        int metadata = map.metadata[column];
        return switch (map.types[column]) {
            case ColumnType.TINY, ColumnType.SHORT, ColumnType.INT24, ColumnType.LONG, ColumnType.LONGLONG ->
                integer(bytes, at, length, map.unsigned[column]);
            case ColumnType.FLOAT -> Float.toString(Float.intBitsToFloat(Bytes.i32(bytes, at)));
            case ColumnType.DOUBLE -> Double.toString(Double.longBitsToDouble(Bytes.i64(bytes, at)));
            case ColumnType.NEWDECIMAL -> decimal(bytes, at, metadata & 0xff, metadata >>> 8);
            case ColumnType.YEAR -> Bytes.u8(bytes, at) == 0 ? "0000" : String.valueOf(1900 + Bytes.u8(bytes, at));
            case ColumnType.ENUM, ColumnType.SET -> "#" + Bytes.little(bytes, at, length);
            case ColumnType.BIT -> "0b" + Long.toBinaryString(Bytes.big(bytes, at, length));
            case ColumnType.DATE -> date(Bytes.little(bytes, at, 3));
            case ColumnType.DATETIME2 -> dateTime(bytes, at, length);
            case ColumnType.TIMESTAMP2 -> timestamp(bytes, at, length);
            case ColumnType.TIME2 -> time(bytes, at, length);
            case ColumnType.VARCHAR,
                    ColumnType.VAR_STRING,
                    ColumnType.STRING,
                    ColumnType.TINY_BLOB,
                    ColumnType.MEDIUM_BLOB,
                    ColumnType.LONG_BLOB,
                    ColumnType.BLOB -> text(bytes, at, length, map.collations[column]);
            default -> hex(bytes, at, length);
        };
    }

    private static String integer(byte[] bytes, int at, int length, boolean unsigned) {
        long value = Bytes.little(bytes, at, length);
        if (unsigned) {
            return Long.toUnsignedString(value);
        }
        int unused = 64 - 8 * length;
        return Long.toString((value << unused) >> unused);
    }

    /**
     * Groups of nine digits in four bytes each, fewer digits in fewer; the sign bit inverted, all inverted when
     * negative.
     */
    static String decimal(byte[] bytes, int at, int precision, int scale) {
        int whole = precision - scale;
        int length = whole / DIGITS_PER_WORD * 4
                + DIGIT_BYTES[whole % DIGITS_PER_WORD]
                + scale / DIGITS_PER_WORD * 4
                + DIGIT_BYTES[scale % DIGITS_PER_WORD];
        byte[] b = Arrays.copyOfRange(bytes, at, at + length);
        boolean negative = (b[0] & 0x80) == 0;
        b[0] ^= (byte) 0x80;
        if (negative) {
            for (int i = 0; i < length; i++) {
                b[i] = (byte) ~b[i];
            }
        }
        StringBuilder digits = new StringBuilder();
        int from = digits(b, 0, whole % DIGITS_PER_WORD, digits);
        for (int i = 0; i < whole / DIGITS_PER_WORD; i++) {
            from = digits(b, from, DIGITS_PER_WORD, digits);
        }
        for (int i = 0; i < scale / DIGITS_PER_WORD; i++) {
            from = digits(b, from, DIGITS_PER_WORD, digits);
        }
        digits(b, from, scale % DIGITS_PER_WORD, digits);
        BigDecimal value = new BigDecimal(new BigInteger(digits.isEmpty() ? "0" : digits.toString()), scale);
        return (negative ? value.negate() : value).toPlainString();
    }

    private static int digits(byte[] b, int from, int count, StringBuilder digits) {
        if (count == 0) {
            return from;
        }
        int bytes = DIGIT_BYTES[count];
        digits.append(("%0" + count + "d").formatted(Bytes.big(b, from, bytes)));
        return from + bytes;
    }

    private static String date(long packed) {
        return "%04d-%02d-%02d".formatted(packed >> 9, packed >> 5 & 15, packed & 31);
    }

    private static String dateTime(byte[] bytes, int at, int length) {
        long packed = Bytes.big(bytes, at, 5) - 0x80_0000_0000L;
        long months = packed >> 22;
        return "%04d-%02d-%02d %02d:%02d:%02d%s"
                .formatted(
                        months / 13,
                        months % 13,
                        packed >> 17 & 31,
                        packed >> 12 & 31,
                        packed >> 6 & 63,
                        packed & 63,
                        fraction(bytes, at + 5, length - 5));
    }

    private static String timestamp(byte[] bytes, int at, int length) {
        String seconds = Instant.ofEpochSecond(Bytes.big(bytes, at, 4)).toString();
        return seconds.replace('T', ' ').replace("Z", "") + fraction(bytes, at + 4, length - 4);
    }

    /** Without the fraction's effect on the seconds of a negative time: near enough to read. */
    private static String time(byte[] bytes, int at, int length) {
        long packed = Bytes.big(bytes, at, 3) - 0x80_0000L;
        long absolute = Math.abs(packed);
        return "%s%02d:%02d:%02d%s"
                .formatted(
                        packed < 0 ? "-" : "",
                        absolute >> 12 & 1023,
                        absolute >> 6 & 63,
                        absolute & 63,
                        packed < 0 ? "" : fraction(bytes, at + 3, length - 3));
    }

    private static String fraction(byte[] bytes, int at, int length) {
        return length == 0 ? "" : ("." + "%0" + 2 * length + "d").formatted(Bytes.big(bytes, at, length));
    }

    private static String text(byte[] bytes, int at, int length, int collation) {
        if (collation == BINARY_COLLATION) {
            return hex(bytes, at, length);
        }
        try {
            return cut(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes, at, length))
                    .toString());
        } catch (CharacterCodingException e) {
            return hex(bytes, at, length);
        }
    }

    private static String hex(byte[] bytes, int at, int length) {
        int shown = Math.min(length, LENGTH_MAX / 2);
        return "0x" + HexFormat.of().formatHex(bytes, at, at + shown)
                + (shown < length ? "... (" + length + " bytes)" : "");
    }

    private static String cut(String text) {
        return text.length() <= LENGTH_MAX
                ? text
                : text.substring(0, LENGTH_MAX) + "... (" + text.length() + " characters)";
    }
}
