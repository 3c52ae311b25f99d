// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.audit;

import io.quorate.core.Identifiers;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Set;

/**
 * A column as an audit reads it: every value is text or hexadecimal digits, from which a literal of the same value can
 * be made again, on this server or another one.
 *
 * @param type of {@code information_schema.COLUMNS.DATA_TYPE}
 * @param charset of character columns, else empty
 * @param keyPart place in the primary key from 1 on, 0 outside of it
 * @param wholeKeyPart false if only the first characters of the column are in the key
 * @param expression from which it is computed, else empty
 * @param stored whether what is computed is stored with the row
 */
public record TableColumn(
        String name,
        String type,
        String charset,
        int keyPart,
        boolean wholeKeyPart,
        String expression,
        boolean stored) {
    private static final Set<String> NUMBERS =
            Set.of("tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "year");
    private static final Set<String> TIMES = Set.of("date", "time", "datetime", "timestamp");
    private static final Set<String> BYTES =
            Set.of("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob");
    private static final Set<String> SPACES = Set.of(
            "geometry",
            "point",
            "linestring",
            "polygon",
            "multipoint",
            "multilinestring",
            "multipolygon",
            "geomcollection",
            "geometrycollection");

    /** How values of a type are written. */
    public enum Form {
        /** As they are. */
        NUMBER,
        /** As text in quotes. */
        TEXT,
        /** Of a character set, as hexadecimal digits. */
        CHARACTERS,
        /** As hexadecimal digits. */
        BYTES,
        /** By number: members of ENUM and SET, bits. */
        ORDINAL,
        /** With all its digits, which its own text form doesn't have. */
        FLOAT,
        JSON
    }

    public TableColumn {
        type = type.toLowerCase(Locale.ROOT);
    }

    /** Whether it is computed from other columns. */
    boolean generated() {
        return !expression.isEmpty();
    }

    public Form form() {
        if (NUMBERS.contains(type)) {
            return Form.NUMBER;
        }
        return switch (type) {
            case "float", "double" -> Form.FLOAT;
            case "bit", "enum", "set" -> Form.ORDINAL;
            case "json" -> Form.JSON;
            default ->
                TIMES.contains(type)
                        ? Form.TEXT
                        : BYTES.contains(type) || SPACES.contains(type) ? Form.BYTES : Form.CHARACTERS;
        };
    }

    /** Whether values of this column can bound a stretch of the table, in the order of an index. */
    boolean canBound() {
        return wholeKeyPart
                && switch (form()) {
                    case NUMBER, TEXT, CHARACTERS -> true;
                    case BYTES -> BYTES.contains(type);
                    case ORDINAL, FLOAT, JSON -> false;
                };
    }

    boolean isLarge() {
        return form() == Form.JSON || SPACES.contains(type) || type.endsWith("blob") || type.endsWith("text");
    }

    public String quoted() {
        return Identifiers.quoted(name);
    }

    /** All 64 bits of it; the sum of a SET and a number is floating point, and doesn't have them all. */
    public String ordinal() {
        return "CAST(" + quoted() + " AS UNSIGNED)";
    }

    /** An expression for the value's bytes, for a checksum. */
    String bytes() {
        return switch (form()) {
            case ORDINAL -> "CAST(" + ordinal() + " AS BINARY)";
            case FLOAT -> "CAST(CAST(" + quoted() + " AS DOUBLE) AS BINARY)";
            case JSON -> "CAST(CAST(" + quoted() + " AS CHAR CHARACTER SET utf8mb4) AS BINARY)";
            case NUMBER, TEXT, CHARACTERS, BYTES -> "CAST(" + quoted() + " AS BINARY)";
        };
    }

    /** What {@link #bytes} gives of a value; null for NULL. */
    byte[] bytesOf(String written) {
        if (written == null) {
            return null;
        }
        return switch (form()) {
            case NUMBER, TEXT, ORDINAL, FLOAT -> written.getBytes(StandardCharsets.UTF_8);
            case CHARACTERS, BYTES, JSON -> HexFormat.of().parseHex(written);
        };
    }

    /** An expression for the value in the form that {@link #literal} takes. */
    String written() {
        return switch (form()) {
            case NUMBER, TEXT -> "CAST(" + quoted() + " AS CHAR)";
            case ORDINAL -> "CAST(" + ordinal() + " AS CHAR)";
            case FLOAT -> "CAST(CAST(" + quoted() + " AS DOUBLE) AS CHAR)";
            case CHARACTERS, BYTES, JSON -> "HEX(" + bytes() + ")";
        };
    }

    /** An expression for the value in a form for people. */
    String shown() {
        return switch (form()) {
            case BYTES -> "CONCAT('0x', HEX(" + bytes() + "))";
            case FLOAT -> written();
            case ORDINAL -> type.equals("bit") ? written() : "CAST(" + quoted() + " AS CHAR CHARACTER SET utf8mb4)";
            default -> "CAST(" + quoted() + " AS CHAR CHARACTER SET utf8mb4)";
        };
    }

    /** @param written null for NULL */
    String literal(String written) {
        if (written == null) {
            return "NULL";
        }
        return switch (form()) {
            case NUMBER, ORDINAL -> number(written);
            case FLOAT -> number(written.contains("e") ? written : written + "e0");
            case TEXT -> "'" + written.replace("'", "''").replace("\\", "\\\\") + "'";
            case CHARACTERS -> "_" + charset + " X'" + digits(written) + "'";
            case BYTES -> "X'" + digits(written) + "'";
            case JSON -> "CAST(CONVERT(X'" + digits(written) + "' USING utf8mb4) AS JSON)";
        };
    }

    /** Checked, because it comes from another node and becomes part of a statement. */
    private static String number(String written) {
        if (!written.matches("-?[0-9.]+(e[+-]?[0-9]+)?")) {
            throw new IllegalArgumentException("not a number: " + written);
        }
        return written;
    }

    private static String digits(String written) {
        if (!written.matches("[0-9A-F]*")) {
            throw new IllegalArgumentException("not hexadecimal digits: " + written);
        }
        return written;
    }
}
