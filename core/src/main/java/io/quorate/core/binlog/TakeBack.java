// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.binlog;

import io.quorate.core.BinlogEvents;
import io.quorate.core.Payload;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Sets rows back to what they were at a position of the order, when it isn't known which of the own transactions after
 * that position a server still has. Each row that one of them wrote goes to the before image of the first of them,
 * whatever it holds now: first all such rows are deleted, then those that existed are inserted. So no unique key gets
 * in the way. If an own transaction wrote a row only after it had seen another node's change of that row, and the
 * server lost that change, the row is left alone: the own transaction was lost with the change.
 *
 * <p>Takes transactions in the order's sequence. Rows are told apart by their primary keys.
 */
public final class TakeBack {
    private static final int NO_FOREIGN_KEY_CHECKS = 2;
    private static final int EVENT_BYTES = 128 << 10;

    /** A row for which transactions can't be taken back. */
    public static final class Impossible extends Exception {
        private static final long serialVersionUID = 1;

        Impossible(String why) {
            super(why);
        }
    }

    /** A table's map, and what to do with its rows. */
    private static final class Table {
        private final byte[] mapEvent;
        private final TableMap map;
        private final List<byte[]> deleted = new ArrayList<>();
        private final List<byte[]> inserted = new ArrayList<>();
        /** The {@link RowSettings} under which its rows were written last; null for none. */
        private byte[] settings;

        Table(byte[] mapEvent, TableMap map) {
            this.mapEvent = mapEvent;
            this.map = map;
        }
    }

    private final long bytesMax;
    private final Map<ByteBuffer, Table> tables = new LinkedHashMap<>();
    /** Rows of own transactions; true for those that are left alone. */
    private final Map<ByteBuffer, Boolean> own = new HashMap<>();
    /** Rows that other nodes' transactions wrote, with the first seqno that did. */
    private final Map<ByteBuffer, Long> others = new HashMap<>();

    /** Rows of own transactions that commit at their place in the order and have a mark of their own. */
    private final Set<ByteBuffer> prepared = new HashSet<>();

    private long bytes;

    /** @param bytesMax of images and keys held */
    public TakeBack(long bytesMax) {
        this.bytesMax = bytesMax;
    }

    /** A transaction of another node, which this server lost or never had. */
    public void other(Payload payload, long seqno) throws Impossible {
        walk(payload, (table, rows) -> {
            if (table.map.primaryKey.length > 0) {
                if (rows.hasBefore()) {
                    others.putIfAbsent(held(key(rows, rows.before())), seqno);
                }
                if (rows.hasAfter()) {
                    others.putIfAbsent(held(key(rows, keyImage(rows))), seqno);
                }
            }
        });
    }

    /** An own transaction that commits at its place; whether it has done so is known, and its rows are to stay. */
    public void prepared(Payload payload) throws Impossible {
        walk(payload, (table, rows) -> {
            if (rows.hasBefore()) {
                prepared.add(held(apart(key(rows, rows.before()), own.keySet())));
            }
            if (rows.hasAfter()) {
                prepared.add(held(apart(key(rows, keyImage(rows)), own.keySet())));
            }
        });
    }

    private static ByteBuffer apart(ByteBuffer key, Set<ByteBuffer> from) throws Impossible {
        if (from.contains(key)) {
            throw new Impossible(
                    "one row was written by a transaction that was prepared first and by one that was not");
        }
        return key;
    }

    /**
     * An own transaction that the server may have.
     *
     * @param lastSeen what of the order it had seen
     */
    public void own(Payload payload, long lastSeen) throws Impossible {
        walk(payload, (table, rows) -> {
            String name = table.map.schema + "." + table.map.table;
            if (table.map.primaryKey.length == 0) {
                throw new Impossible("table " + name + " has no primary key");
            }
            if (rows.hasBefore() ? !rows.beforeIsWhole() : !rows.afterIsWhole()) {
                throw new Impossible("row images of " + name + " lack columns");
            }
            ByteBuffer after = rows.hasAfter() ? key(rows, keyImage(rows)) : null;
            if (rows.hasBefore()) {
                ByteBuffer before = key(rows, rows.before());
                byte[] image = Arrays.copyOfRange(rows.bytes(), rows.beforeFrom(), rows.beforeTo());
                put(before, table, image, true, lastSeen);
                if (after == null || after.equals(before)) {
                    return;
                }
                if (!rows.afterIsWhole()) {
                    throw new Impossible("row images of " + name + " lack columns");
                }
            }
            put(after, table, Arrays.copyOfRange(rows.bytes(), rows.afterFrom(), rows.afterTo()), false, lastSeen);
        });
    }

    private void put(ByteBuffer key, Table table, byte[] image, boolean wasThere, long lastSeen) throws Impossible {
        if (own.containsKey(key)) {
            return;
        }
        apart(key, prepared);
        Long seen = others.get(key);
        boolean left = seen != null && seen <= lastSeen;
        own.put(held(key), left);
        if (!left) {
            bytes += image.length;
            table.deleted.add(image);
            if (wasThere) {
                table.inserted.add(image);
            }
        }
    }

    /** Events that delete the rows that own transactions wrote; some of these rows may be missing. */
    public Payload deletes() {
        return events(BinlogEvents.DELETE_ROWS);
    }

    /** Events that insert what was there before. After {@link #deletes}. */
    public Payload inserts() {
        return events(BinlogEvents.WRITE_ROWS);
    }

    private Payload events(int type) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (Table table : tables.values()) {
            List<byte[]> images = type == BinlogEvents.DELETE_ROWS ? table.deleted : table.inserted;
            for (int from = 0, to; from < images.size(); from = to) {
                int size = 0;
                for (to = from;
                        to < images.size() && (to == from || size + images.get(to).length <= EVENT_BYTES);
                        to++) {
                    size += images.get(to).length;
                }
                if (table.settings != null) {
                    out.writeBytes(table.settings);
                }
                out.writeBytes(table.mapEvent);
                out.writeBytes(event(type, table, images.subList(from, to), size));
            }
        }
        return Payload.of(out.toByteArray());
    }

    private static byte[] event(int type, Table table, List<byte[]> images, int imageBytes) {
        int columns = table.map.columns();
        int bitmapBytes = (columns + 7) / 8;
        int countBytes = columns < 251 ? 1 : 3;
        int length = BinlogEvents.HEADER_BYTES + 10 + countBytes + bitmapBytes + imageBytes;
        ByteBuffer out = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        out.put(table.mapEvent, 0, 4).put((byte) type).put(table.mapEvent, 5, 4);
        out.putInt(length).putInt(0).putShort((short) 0);
        out.put(table.mapEvent, BinlogEvents.HEADER_BYTES, 6);
        out.putShort((short) (BinlogEvents.STMT_END | NO_FOREIGN_KEY_CHECKS)).putShort((short) 2);
        if (countBytes == 1) {
            out.put((byte) columns);
        } else {
            out.put((byte) 252).putShort((short) columns);
        }
        byte[] present = new byte[bitmapBytes];
        for (int i = 0; i < columns; i++) {
            present[i / 8] |= (byte) (1 << (i % 8));
        }
        out.put(present);
        images.forEach(out::put);
        return out.array();
    }

    private interface Visitor {
        void row(Table table, RowsEvent rows) throws Impossible;
    }

    private void walk(Payload payload, Visitor visitor) throws Impossible {
        Map<Long, Table> mapped = new HashMap<>();
        byte[] settings = null;
        for (Payload.Events event = payload.events(); event.next(); ) {
            if (event.type() == BinlogEvents.QUERY) {
                settings = event.copy();
            } else if (event.type() == BinlogEvents.TABLE_MAP) {
                Table table = table(event.bytes(), event.offset(), event.length());
                table.settings = settings == null ? table.settings : settings;
                mapped.put(event.tableId(), table);
            } else if (event.isRows()) {
                Table table = mapped.get(event.tableId());
                RowsEvent rows = new RowsEvent(table.map, event.bytes(), event.offset());
                while (rows.next()) {
                    visitor.row(table, rows);
                }
            }
        }
    }

    private Table table(byte[] b, int at, int length) {
        int content = at + BinlogEvents.HEADER_BYTES + 6;
        ByteBuffer key = ByteBuffer.wrap(Arrays.copyOfRange(b, content, at + length));
        return tables.computeIfAbsent(
                key, k -> new Table(Arrays.copyOfRange(b, at, at + length), TableMap.read(b, at, length)));
    }

    /**
     * The image of the row after the change; a column of the key that the update did not change may be missing there.
     */
    private static RowImage keyImage(RowsEvent rows) {
        for (int column : rows.map().primaryKey) {
            if (rows.after().length(column) == RowImage.ABSENT) {
                return rows.before();
            }
        }
        return rows.after();
    }

    private static ByteBuffer key(RowsEvent rows, RowImage image) {
        TableMap map = rows.map();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes((map.schema + "\0" + map.table + "\0").getBytes(StandardCharsets.UTF_8));
        for (int column : map.primaryKey) {
            int length = Math.max(0, image.length(column));
            out.writeBytes(ByteBuffer.allocate(4).putInt(length).array());
            out.write(rows.bytes(), image.start(column), length);
        }
        return ByteBuffer.wrap(out.toByteArray());
    }

    private ByteBuffer held(ByteBuffer key) throws Impossible {
        bytes += key.capacity();
        if (bytes > bytesMax) {
            throw new Impossible("they hold more than " + bytesMax + " bytes");
        }
        return key;
    }
}
