// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.BinlogEvents;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A table as a TABLE_MAP event describes it with {@code binlog_row_metadata=FULL}. The layout is in MySQL's
 * {@code rows_event.h}, class Table_map_event, "optional metadata fields".
 *
 * @param columns in table order
 */
record TableDefinition(String schema, String table, List<Column> columns) {
    /**
     * @param name null when the event doesn't carry names
     * @param type MySQL's type code; for ENUM and SET 247 and 248
     * @param unsigned meaningful for numbers
     * @param collation id, 0 when unknown or without one
     * @param labels of ENUM and SET, in the column's character set; null when the event doesn't carry them
     */
    record Column(String name, int type, boolean unsigned, int collation, List<byte[]> labels) {
        boolean isNumber() {
            return TableDefinition.isNumber(type);
        }

        boolean isText() {
            return TableDefinition.isText(type);
        }

        boolean isEnumOrSet() {
            return type == ENUM || type == SET;
        }
    }

    static final int ENUM = 247;
    static final int SET = 248;

    private static final int FLOAT = 4;
    private static final int DOUBLE = 5;
    private static final int VARCHAR = 15;
    private static final int BIT = 16;
    private static final int TIMESTAMP2 = 17;
    private static final int DATETIME2 = 18;
    private static final int TIME2 = 19;
    private static final int TYPED_ARRAY = 20;
    private static final int JSON = 245;
    private static final int DECIMAL = 246;
    private static final int BLOB = 252;
    private static final int VAR_STRING = 253;
    private static final int STRING = 254;
    private static final int GEOMETRY = 255;

    private static final int SIGNEDNESS = 1;
    private static final int DEFAULT_COLLATION = 2;
    private static final int COLLATIONS = 3;
    private static final int NAMES = 4;
    private static final int SET_LABELS = 5;
    private static final int ENUM_LABELS = 6;
    private static final int LABELS_DEFAULT_COLLATION = 10;
    private static final int LABELS_COLLATIONS = 11;

    /** Reads an event without checksum. Fails with an unchecked exception when it is cut short. */
    static TableDefinition parse(byte[] event) {
        ByteBuffer in = BinlogEvents.littleEndian(event);
        in.position(BinlogEvents.HEADER_BYTES + 6 + 2);
        String schema = text(in, in.get() & 0xff);
        in.get();
        String table = text(in, in.get() & 0xff);
        in.get();
        int count = (int) lenenc(in);
        int[] types = new int[count];
        for (int i = 0; i < count; i++) {
            types[i] = in.get() & 0xff;
        }
        ByteBuffer metadata = slice(in, (int) lenenc(in));
        for (int i = 0; i < count; i++) {
            types[i] = realType(types[i], metadata);
        }
        in.position(in.position() + (count + 7) / 8);
        return new TableDefinition(schema, table, new Optional(types).read(in));
    }

    /** Moves past a type's metadata; ENUM and SET hide behind STRING there. */
    private static int realType(int type, ByteBuffer metadata) {
        switch (type) {
            case FLOAT, DOUBLE, BLOB, GEOMETRY, JSON, TIMESTAMP2, DATETIME2, TIME2 -> metadata.get();
            case VARCHAR, VAR_STRING, BIT, DECIMAL -> metadata.getShort();
            case STRING, ENUM, SET -> {
                int real = metadata.get() & 0xff;
                metadata.get();
                return isEnumOrSet(real) ? real : type;
            }
            case TYPED_ARRAY -> skipTypedArray(metadata);
            default -> {
                // No metadata.
            }
        }
        return type;
    }

    private static void skipTypedArray(ByteBuffer metadata) {
        int element = metadata.get() & 0xff;
        if (element == VARCHAR) {
            metadata.getShort();
            metadata.get();
        } else {
            realType(element, metadata);
        }
    }

    private static boolean isNumber(int type) {
        return (type >= 1 && type <= DOUBLE) || type == 8 || type == 9 || type == DECIMAL;
    }

    private static boolean isText(int type) {
        return type == STRING || type == VAR_STRING || type == VARCHAR || type == BLOB;
    }

    private static boolean isEnumOrSet(int type) {
        return type == ENUM || type == SET;
    }

    /** The type-length-value fields at the end of the event. */
    private static final class Optional {
        private final int[] types;
        private final String[] names;
        private final boolean[] unsigned;
        private final int[] collations;
        private final List<List<byte[]>> labels = new ArrayList<>();

        Optional(int[] types) {
            this.types = types;
            this.names = new String[types.length];
            this.unsigned = new boolean[types.length];
            this.collations = new int[types.length];
            for (int i = 0; i < types.length; i++) {
                labels.add(null);
            }
        }

        List<Column> read(ByteBuffer in) {
            while (in.hasRemaining()) {
                int field = in.get() & 0xff;
                readField(field, slice(in, (int) lenenc(in)));
            }
            List<Column> columns = new ArrayList<>(types.length);
            for (int i = 0; i < types.length; i++) {
                columns.add(new Column(names[i], types[i], unsigned[i], collations[i], labels.get(i)));
            }
            return columns;
        }

        private void readField(int field, ByteBuffer value) {
            switch (field) {
                case SIGNEDNESS -> readSignedness(value);
                case DEFAULT_COLLATION -> readDefaultCollation(value, false);
                case COLLATIONS -> readCollations(value, false);
                case LABELS_DEFAULT_COLLATION -> readDefaultCollation(value, true);
                case LABELS_COLLATIONS -> readCollations(value, true);
                case NAMES -> readNames(value);
                case SET_LABELS -> readLabels(value, SET);
                case ENUM_LABELS -> readLabels(value, ENUM);
                default -> {
                    // Geometry types, primary key, visibility: nothing that changes how rows are read.
                }
            }
        }

        private void readNames(ByteBuffer value) {
            for (int i = 0; i < types.length; i++) {
                names[i] = text(value, (int) lenenc(value));
            }
        }

        private void readSignedness(ByteBuffer value) {
            int bit = 0;
            for (int i = 0; i < types.length; i++) {
                if (isNumber(types[i])) {
                    unsigned[i] = (value.get(bit >> 3) & (0x80 >> (bit & 7))) != 0;
                    bit++;
                }
            }
        }

        private boolean counts(int type, boolean forLabels) {
            return forLabels ? isEnumOrSet(type) : isText(type);
        }

        private void readDefaultCollation(ByteBuffer value, boolean forLabels) {
            int normal = (int) lenenc(value);
            List<Integer> at = new ArrayList<>();
            for (int i = 0; i < types.length; i++) {
                if (counts(types[i], forLabels)) {
                    collations[i] = normal;
                    at.add(i);
                }
            }
            while (value.hasRemaining()) {
                int index = (int) lenenc(value);
                collations[at.get(index)] = (int) lenenc(value);
            }
        }

        private void readCollations(ByteBuffer value, boolean forLabels) {
            for (int i = 0; i < types.length; i++) {
                if (counts(types[i], forLabels)) {
                    collations[i] = (int) lenenc(value);
                }
            }
        }

        private void readLabels(ByteBuffer value, int type) {
            for (int i = 0; i < types.length; i++) {
                if (types[i] == type) {
                    int count = (int) lenenc(value);
                    List<byte[]> list = new ArrayList<>(count);
                    for (int n = 0; n < count; n++) {
                        byte[] label = new byte[(int) lenenc(value)];
                        value.get(label);
                        list.add(label);
                    }
                    labels.set(i, list);
                }
            }
        }
    }

    private static ByteBuffer slice(ByteBuffer in, int length) {
        ByteBuffer slice = in.slice(in.position(), length).order(in.order());
        in.position(in.position() + length);
        return slice;
    }

    private static String text(ByteBuffer in, int length) {
        byte[] bytes = new byte[length];
        in.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** A length-encoded integer of MySQL's protocol. */
    private static long lenenc(ByteBuffer in) {
        int first = in.get() & 0xff;
        return switch (first) {
            case 252 -> in.getShort() & 0xffff;
            case 253 -> (in.getShort() & 0xffff) + ((in.get() & 0xffL) << 16);
            case 254 -> in.getLong();
            default -> first;
        };
    }
}
