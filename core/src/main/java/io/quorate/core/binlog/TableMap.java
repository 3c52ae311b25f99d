// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.binlog;

import io.quorate.core.BinlogEvents;
import io.quorate.core.Payload;
import io.quorate.core.PayloadBuilder;
import io.quorate.core.Spool;
import io.quorate.core.TableName;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * A TABLE_MAP event: how the row images of a table are laid out, and with {@code binlog_row_metadata=FULL} also the
 * names of its columns. The format is described at {@code Table_map_log_event} in the server's {@code
 * libbinlogevents/include/rows_event.h}.
 */
public final class TableMap {
    static final int SIGNEDNESS = 1;
    private static final int DEFAULT_CHARSET = 2;
    static final int COLUMN_CHARSET = 3;
    static final int COLUMN_NAME = 4;
    static final int SET_LABELS = 5;
    static final int ENUM_LABELS = 6;
    static final int SIMPLE_PRIMARY_KEY = 8;
    private static final int PRIMARY_KEY_WITH_PREFIX = 9;
    private static final int ENUM_AND_SET_DEFAULT_CHARSET = 10;
    static final int ENUM_AND_SET_CHARSET = 11;

    public final long id;
    public final String schema;
    public final String table;

    /** Column types; what TABLE_MAP calls STRING is resolved to STRING, ENUM or SET. */
    public final int[] types;

    /** VARCHAR, STRING: bytes at most; BLOB kinds: bytes of the length; others as in the event. */
    public final int[] metadata;

    public final boolean[] unsigned;

    /** Collation ids of character columns, ENUM and SET; -1 elsewhere or when the event doesn't say. */
    public final int[] collations;

    /** Null when the event doesn't say. */
    public final String[] names;

    /** The labels of ENUM and SET in the column's character set; null elsewhere or when the event doesn't say. */
    public final List<List<byte[]>> labels;

    /** Column indexes of the primary key; empty when there is none or the event doesn't say. */
    public final int[] primaryKey;

    /** The tables to which a payload of row events writes. */
    public static Set<TableName> tables(Payload payload) {
        Set<TableName> tables = new HashSet<>();
        for (Payload.Events event = payload.events(); event.next(); ) {
            if (event.type() == BinlogEvents.TABLE_MAP) {
                TableMap map = read(event);
                tables.add(new TableName(map.schema, map.table));
            }
        }
        return tables;
    }

    /**
     * A payload of row events without what it writes to some tables. The last of the remaining events may lack
     * STMT_END.
     */
    public static Payload without(Payload payload, Set<TableName> tables, Spool spool) {
        PayloadBuilder out = new PayloadBuilder(spool);
        Set<Long> cut = new HashSet<>();
        byte[] settings = null;
        for (Payload.Events event = payload.events(); event.next(); ) {
            boolean left = true;
            if (event.type() == BinlogEvents.QUERY) {
                settings = event.copy();
                left = false;
            } else if (event.type() == BinlogEvents.TABLE_MAP) {
                TableMap map = read(event);
                left = !tables.contains(new TableName(map.schema, map.table));
                if (left) {
                    cut.remove(map.id);
                } else {
                    cut.add(map.id);
                }
            } else if (event.isRows()) {
                left = !cut.contains(event.tableId());
            }
            if (left) {
                if (settings != null) {
                    out.append(settings);
                    settings = null;
                }
                out.append(event);
            }
        }
        return out.take();
    }

    private TableMap(EventReader in) {
        id = in.little(6);
        in.skip(2);
        schema = in.name();
        table = in.name();
        int columns = in.packedInt();
        int from = in.skip(columns);
        types = new int[columns];
        for (int i = 0; i < columns; i++) {
            types[i] = Bytes.u8(in.bytes, from + i);
        }
        metadata = new int[columns];
        int metadataBytes = in.packedInt();
        readMetadata(new EventReader(in.bytes, in.skip(metadataBytes), in.at));
        in.skip((columns + 7) / 8);
        unsigned = new boolean[columns];
        collations = new int[columns];
        Arrays.fill(collations, -1);
        labels = new ArrayList<>(Collections.nCopies(columns, null));
        String[] columnNames = null;
        int[] key = {};
        while (in.remaining() > 0) {
            int field = in.u8();
            int length = in.packedInt();
            EventReader value = new EventReader(in.bytes, in.at, in.at + length);
            in.skip(length);
            switch (field) {
                case SIGNEDNESS -> readSigns(value);
                case DEFAULT_CHARSET -> readDefaultCollation(value, ColumnType::isCharacter);
                case COLUMN_CHARSET -> readCollations(value, ColumnType::isCharacter);
                case ENUM_AND_SET_DEFAULT_CHARSET -> readDefaultCollation(value, ColumnType::isEnumOrSet);
                case ENUM_AND_SET_CHARSET -> readCollations(value, ColumnType::isEnumOrSet);
                case SET_LABELS -> readLabels(value, ColumnType.SET);
                case ENUM_LABELS -> readLabels(value, ColumnType.ENUM);
                case COLUMN_NAME -> columnNames = readNames(value);
                case SIMPLE_PRIMARY_KEY, PRIMARY_KEY_WITH_PREFIX ->
                    key = readPrimaryKey(value, field == PRIMARY_KEY_WITH_PREFIX);
                default -> {
                    // Geometry types and visibility are not needed.
                }
            }
        }
        names = columnNames;
        primaryKey = key;
    }

    public static TableMap read(Payload.Events event) {
        return read(event.bytes(), event.offset(), event.length());
    }

    /** Reads the event that starts at {@code offset}, header included. */
    public static TableMap read(byte[] bytes, int offset, int length) {
        return new TableMap(new EventReader(bytes, offset + BinlogEvents.HEADER_BYTES, offset + length));
    }

    public int columns() {
        return types.length;
    }

    private void readMetadata(EventReader in) {
        for (int i = 0; i < types.length; i++) {
            if (types[i] == ColumnType.TYPED_ARRAY) {
                skipMetadata(in, types[i]);
                continue;
            }
            int bytes = ColumnType.metadataBytes(types[i]);
            if (bytes == 0) {
                continue;
            }
            int from = in.skip(bytes);
            int first = Bytes.u8(in.bytes, from);
            if (types[i] == ColumnType.STRING) {
                readStringType(i, first, Bytes.u8(in.bytes, from + 1));
            } else {
                metadata[i] = bytes == 1 ? first : Bytes.u16(in.bytes, from);
                if (types[i] == ColumnType.BIT) {
                    // The low byte has the remaining bits, the high one the whole bytes.
                    metadata[i] = (Bytes.u8(in.bytes, from + 1) << 8) | first;
                }
            }
        }
    }

    /** @param type as TABLE_MAP has it */
    static void skipMetadata(EventReader in, int type) {
        if (type == ColumnType.TYPED_ARRAY) {
            int element = in.u8();
            // The length of VARCHAR elements takes three bytes here.
            in.skip(element == ColumnType.VARCHAR ? 3 : ColumnType.metadataBytes(element));
        } else {
            in.skip(ColumnType.metadataBytes(type));
        }
    }

    /** STRING's metadata hides ENUM and SET, and two high bits of the length in inverted form (MySQL bug 37426). */
    private void readStringType(int i, int first, int second) {
        int length = second;
        int type = first;
        if ((first & 0x30) != 0x30) {
            length |= ((first & 0x30) ^ 0x30) << 4;
            type = first | 0x30;
        }
        types[i] = type;
        metadata[i] = length;
    }

    private void readSigns(EventReader in) {
        for (int i = 0, n = 0; i < types.length; i++) {
            if (ColumnType.isNumeric(types[i])) {
                unsigned[i] = (Bytes.u8(in.bytes, in.at + n / 8) & (0x80 >>> (n % 8))) != 0;
                n++;
            }
        }
    }

    private void readDefaultCollation(EventReader in, IntPredicate counts) {
        int byDefault = in.packedInt();
        int[] character = new int[types.length];
        int n = 0;
        for (int i = 0; i < types.length; i++) {
            if (counts.test(types[i])) {
                collations[i] = byDefault;
                character[n++] = i;
            }
        }
        while (in.remaining() > 0) {
            int column = in.packedInt();
            collations[character[column]] = in.packedInt();
        }
    }

    private void readCollations(EventReader in, IntPredicate counts) {
        for (int i = 0; i < types.length; i++) {
            if (counts.test(types[i])) {
                collations[i] = in.packedInt();
            }
        }
    }

    private void readLabels(EventReader in, int type) {
        for (int i = 0; i < types.length; i++) {
            if (types[i] == type) {
                List<byte[]> all = new ArrayList<>();
                for (int left = in.packedInt(); left > 0; left--) {
                    int length = in.packedInt();
                    int from = in.skip(length);
                    all.add(Arrays.copyOfRange(in.bytes, from, from + length));
                }
                labels.set(i, all);
            }
        }
    }

    private String[] readNames(EventReader in) {
        String[] columnNames = new String[types.length];
        for (int i = 0; i < columnNames.length; i++) {
            columnNames[i] = in.text(in.packedInt(), StandardCharsets.UTF_8);
        }
        return columnNames;
    }

    private static int[] readPrimaryKey(EventReader in, boolean withPrefix) {
        int[] key = new int[in.remaining()];
        int n = 0;
        while (in.remaining() > 0) {
            key[n++] = in.packedInt();
            if (withPrefix) {
                in.packedInt();
            }
        }
        return Arrays.copyOf(key, n);
    }
}
