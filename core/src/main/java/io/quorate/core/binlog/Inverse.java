// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.binlog;

import io.quorate.core.BinlogEvents;
import io.quorate.core.ErrorCode;
import io.quorate.core.Payload;
import io.quorate.core.PayloadBuilder;
import io.quorate.core.QuorateException;
import io.quorate.core.Spool;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The row changes that reverse those of a payload: an insert for each delete, the images of each update exchanged, in
 * reverse order. The idea is that of the "flashback" patches of mysqlbinlog (Peng Lixun, 2012).
 */
public final class Inverse {
    private static final int FLAGS = BinlogEvents.HEADER_BYTES + 6;

    private Inverse() {}

    /**
     * A payload that undoes {@code payload} where nothing came after it.
     *
     * @throws QuorateException {@link ErrorCode#UNDO_IMPOSSIBLE} when it holds a definition, or row images that lack
     *     what was there before
     */
    public static Payload of(Payload payload, Spool spool) {
        Map<Long, byte[]> maps = new HashMap<>();
        byte[] settings = null;
        Payload.Events event = payload.events();
        int[] rows = new int[64];
        int count = 0;
        while (event.next()) {
            if (event.type() == BinlogEvents.TABLE_MAP) {
                maps.put(event.tableId(), event.copy());
            } else if (event.isRows()) {
                rows = count == rows.length ? Arrays.copyOf(rows, 2 * count) : rows;
                rows[count++] = event.position();
            } else if (event.type() == BinlogEvents.QUERY && RowSettings.are(event)) {
                settings = event.copy();
            } else {
                throw impossible("it is a statement, not row changes");
            }
        }
        PayloadBuilder out = new PayloadBuilder(spool);
        if (settings != null) {
            out.append(settings);
        }
        while (count > 0) {
            event.go(rows[--count]);
            byte[] map = maps.get(event.tableId());
            out.append(map);
            out.append(of(map, event.bytes(), event.offset()));
        }
        return out.take();
    }

    /** The inverse of one event, as a statement of its own. */
    private static byte[] of(byte[] mapEvent, byte[] payload, int at) {
        TableMap map = TableMap.read(mapEvent, 0, mapEvent.length);
        RowsEvent rows = new RowsEvent(map, payload, at);
        List<byte[]> images = new ArrayList<>();
        boolean byKey = false;
        while (rows.next()) {
            if (rows.hasBefore() && !rows.beforeIsWhole()) {
                throw impossible("the binlog's images of " + map.schema + "." + map.table
                        + " lack columns (binlog_row_image of its session was not FULL)");
            }
            byKey = rows.isUpdate() && !rows.afterIsWhole();
            images.add(image(rows, byKey));
        }
        int inverse =
                switch (rows.type()) {
                    case BinlogEvents.WRITE_ROWS -> BinlogEvents.DELETE_ROWS;
                    case BinlogEvents.DELETE_ROWS -> BinlogEvents.WRITE_ROWS;
                    default -> BinlogEvents.UPDATE_ROWS;
                };
        byte[] head = head(rows, byKey);
        int length = head.length + images.stream().mapToInt(i -> i.length).sum();
        ByteBuffer out =
                ByteBuffer.allocate(BinlogEvents.HEADER_BYTES + 10 + length).order(ByteOrder.LITTLE_ENDIAN);
        out.put(payload, at, 4).put((byte) inverse).put(payload, at + 5, 4);
        out.putInt(BinlogEvents.HEADER_BYTES + 10 + length).putInt(0).putShort((short) 0);
        out.put(payload, at + BinlogEvents.HEADER_BYTES, 6);
        out.putShort((short) (Bytes.u16(payload, at + FLAGS) | BinlogEvents.STMT_END));
        out.putShort((short) 2);
        out.put(head);
        for (int i = images.size() - 1; i >= 0; i--) {
            out.put(images.get(i));
        }
        return out.array();
    }

    /** Number of columns and bitmaps of those present. */
    private static byte[] head(RowsEvent rows, boolean byKey) {
        TableMap map = rows.map();
        int bitmapBytes = (map.columns() + 7) / 8;
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        writeCount(map, head);
        if (byKey) {
            writeBits(map.columns(), map.primaryKey, head);
        } else {
            head.write(rows.bytes(), rows.presentAfter(), bitmapBytes);
        }
        if (rows.isUpdate()) {
            head.write(rows.bytes(), rows.presentBefore(), bitmapBytes);
        }
        return head.toByteArray();
    }

    private static byte[] image(RowsEvent rows, boolean byKey) {
        byte[] b = rows.bytes();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        if (byKey) {
            writeKey(rows, out);
        } else {
            out.write(b, rows.afterFrom(), rows.afterTo() - rows.afterFrom());
        }
        if (rows.isUpdate()) {
            out.write(b, rows.beforeFrom(), rows.beforeTo() - rows.beforeFrom());
        }
        return out.toByteArray();
    }

    /**
     * An update that gives a row the values of some columns as its after image has them, and looks it up by its primary
     * key. As the first row of an event, the server takes these values even of stored generated columns, where they
     * aren't indexed. It computes those that are, and all of which a column that they are made of is among those given.
     *
     * @param rows standing at the row of the event that is at {@code at}
     * @param columns in order
     */
    public static byte[] valuesOf(RowsEvent rows, int at, int[] columns) {
        TableMap map = rows.map();
        byte[] source = rows.bytes();
        ByteArrayOutputStream images = new ByteArrayOutputStream();
        writeCount(map, images);
        writeBits(map.columns(), map.primaryKey, images);
        writeBits(map.columns(), columns, images);
        writeKey(rows, images);
        int[] nulls = IntStream.range(0, columns.length)
                .filter(i -> rows.after().length(columns[i]) == RowImage.NULL)
                .toArray();
        writeBits(columns.length, nulls, images);
        for (int column : columns) {
            if (rows.after().length(column) >= 0) {
                int prefix = ColumnType.prefixBytes(map.types[column], map.metadata[column]);
                images.write(
                        source,
                        rows.after().start(column) - prefix,
                        prefix + rows.after().length(column));
            }
        }
        int length = BinlogEvents.HEADER_BYTES + 10 + images.size();
        ByteBuffer out = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        out.put(source, at, 4).put((byte) BinlogEvents.UPDATE_ROWS).put(source, at + 5, 4);
        out.putInt(length).putInt(0).putShort((short) 0);
        out.put(source, at + BinlogEvents.HEADER_BYTES, 8).putShort((short) 2);
        return out.put(images.toByteArray()).array();
    }

    private static void writeCount(TableMap map, ByteArrayOutputStream out) {
        if (map.columns() < 251) {
            out.write(map.columns());
        } else {
            out.write(252);
            out.write(map.columns());
            out.write(map.columns() >>> 8);
        }
    }

    private static void writeBits(int count, int[] set, ByteArrayOutputStream out) {
        byte[] bits = new byte[(count + 7) / 8];
        for (int bit : set) {
            bits[bit / 8] |= (byte) (1 << (bit % 8));
        }
        out.writeBytes(bits);
    }

    /** An image of the primary key alone, because the server looks a row up by nothing else. */
    private static void writeKey(RowsEvent rows, ByteArrayOutputStream out) {
        TableMap map = rows.map();
        if (map.primaryKey.length == 0) {
            throw impossible("an image of " + map.schema + "." + map.table
                    + ", which has no primary key, lacks columns or holds JSON in part");
        }
        out.writeBytes(new byte[(map.primaryKey.length + 7) / 8]);
        int[] inTableOrder = map.primaryKey.clone();
        Arrays.sort(inTableOrder);
        for (int column : inTableOrder) {
            // A column of the key that the update did not change may be missing in the after image.
            RowImage image = rows.after().length(column) >= 0 ? rows.after() : rows.before();
            int prefix = ColumnType.prefixBytes(map.types[column], map.metadata[column]);
            out.write(rows.bytes(), image.start(column) - prefix, prefix + image.length(column));
        }
    }

    private static QuorateException impossible(String why) {
        return new QuorateException(ErrorCode.UNDO_IMPOSSIBLE, "a transaction that lost can't be undone: " + why);
    }
}
