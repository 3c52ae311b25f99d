// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.binlog;

/** MySQL's column types as TABLE_MAP names them, and how long their values are in a row image. */
public final class ColumnType {
    public static final int TINY = 1;
    public static final int SHORT = 2;
    public static final int LONG = 3;
    public static final int FLOAT = 4;
    public static final int DOUBLE = 5;
    public static final int NULL = 6;
    public static final int TIMESTAMP = 7;
    public static final int LONGLONG = 8;
    public static final int INT24 = 9;
    public static final int DATE = 10;
    public static final int TIME = 11;
    public static final int DATETIME = 12;
    public static final int YEAR = 13;
    public static final int NEWDATE = 14;
    public static final int VARCHAR = 15;
    public static final int BIT = 16;
    public static final int TIMESTAMP2 = 17;
    public static final int DATETIME2 = 18;
    public static final int TIME2 = 19;
    /** The type of a multi-valued index; its metadata is the type and the metadata of its elements. */
    public static final int TYPED_ARRAY = 20;

    public static final int VECTOR = 242;
    public static final int JSON = 245;
    public static final int NEWDECIMAL = 246;
    public static final int ENUM = 247;
    public static final int SET = 248;
    public static final int TINY_BLOB = 249;
    public static final int MEDIUM_BLOB = 250;
    public static final int LONG_BLOB = 251;
    public static final int BLOB = 252;
    public static final int VAR_STRING = 253;
    public static final int STRING = 254;
    public static final int GEOMETRY = 255;

    private static final int[] DECIMAL_BYTES = {0, 1, 1, 2, 2, 3, 3, 4, 4, 4};

    private ColumnType() {}

    /** Whether TABLE_MAP's optional metadata has a sign for this type. */
    public static boolean isNumeric(int type) {
        return switch (type) {
            case TINY, SHORT, INT24, LONG, LONGLONG, FLOAT, DOUBLE, NEWDECIMAL, YEAR -> true;
            default -> false;
        };
    }

    public static boolean isTimestamp(int type) {
        return type == TIMESTAMP || type == TIMESTAMP2;
    }

    /** Whether a value converts to a text, a number or JSON in one way, whatever a session has set. */
    public static boolean isPlain(int type) {
        return switch (type) {
            case TINY, SHORT, INT24, LONG, LONGLONG, FLOAT, DOUBLE, NEWDECIMAL, YEAR -> true;
            case VARCHAR, VAR_STRING, TINY_BLOB, MEDIUM_BLOB, LONG_BLOB, BLOB, JSON, ENUM, SET -> true;
            default -> false;
        };
    }

    /** Whether TABLE_MAP's optional metadata has a collation for this type among the character columns. */
    public static boolean isCharacter(int type) {
        return switch (type) {
            case STRING, VAR_STRING, VARCHAR, TINY_BLOB, MEDIUM_BLOB, LONG_BLOB, BLOB -> true;
            default -> false;
        };
    }

    public static boolean isEnumOrSet(int type) {
        return type == ENUM || type == SET;
    }

    /** How many bytes of a type's metadata TABLE_MAP holds. */
    public static int metadataBytes(int type) {
        return switch (type) {
            case FLOAT, DOUBLE, TINY_BLOB, MEDIUM_BLOB, LONG_BLOB, BLOB, JSON, GEOMETRY, VECTOR -> 1;
            case TIMESTAMP2, DATETIME2, TIME2 -> 1;
            case VARCHAR, BIT, NEWDECIMAL, VAR_STRING, STRING, ENUM, SET -> 2;
            default -> 0;
        };
    }

    /** Bytes of the length that precedes a value, 0 where the type has a fixed length. */
    public static int prefixBytes(int type, int metadata) {
        return switch (type) {
            case VARCHAR, VAR_STRING, STRING -> metadata > 255 ? 2 : 1;
            case TINY_BLOB, MEDIUM_BLOB, LONG_BLOB, BLOB, JSON, GEOMETRY, VECTOR -> metadata;
            default -> 0;
        };
    }

    /**
     * Bytes of a value whose type has no length in front of it.
     *
     * @throws UnsupportedOperationException for a type never seen in a row image
     */
    public static int fixedBytes(int type, int metadata) {
        return switch (type) {
            case NULL -> 0;
            case TINY, YEAR -> 1;
            case SHORT -> 2;
            case INT24, DATE, TIME, NEWDATE -> 3;
            case LONG, FLOAT, TIMESTAMP -> 4;
            case LONGLONG, DOUBLE, DATETIME -> 8;
            case TIMESTAMP2 -> 4 + (metadata + 1) / 2;
            case DATETIME2 -> 5 + (metadata + 1) / 2;
            case TIME2 -> 3 + (metadata + 1) / 2;
            case BIT -> (metadata >>> 8) + ((metadata & 0xff) == 0 ? 0 : 1);
            case ENUM, SET -> metadata;
            case NEWDECIMAL -> decimalBytes(metadata & 0xff, metadata >>> 8);
            default -> throw new UnsupportedOperationException("column type " + type);
        };
    }

    private static int decimalBytes(int precision, int scale) {
        int whole = precision - scale;
        return whole / 9 * 4 + DECIMAL_BYTES[whole % 9] + scale / 9 * 4 + DECIMAL_BYTES[scale % 9];
    }
}
