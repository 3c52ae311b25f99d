// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.binlog;

import io.quorate.core.BinlogEvents;
import java.util.Arrays;

/**
 * A ROWS event being walked row by row: for each row, where its images begin and end. The layout is at {@code
 * Rows_event} in the server's {@code libbinlogevents/include/rows_event.h}. One object, one walk; not thread-safe.
 */
public final class RowsEvent {
    private static final int PARTIAL_JSON = 1;

    private final TableMap map;
    private final byte[] bytes;
    private final int type;
    private final EventReader in;
    private final int columns;
    private final int presentBefore;
    private final int presentAfter;
    private final int countBefore;
    private final int countAfter;
    private final RowImage before;
    private final RowImage after;
    private int beforeFrom;
    private int beforeTo;
    private int afterFrom;
    private int afterTo;
    private boolean partialJson;

    /**
     * Reads the head of the event that starts at {@code offset}.
     *
     * @throws IndexOutOfBoundsException when it can't be an event of that table
     */
    public RowsEvent(TableMap map, byte[] bytes, int offset) {
        this(map, bytes, offset, new RowImage(), new RowImage());
    }

    /** The same, but walks in images that were used before. */
    public RowsEvent(TableMap map, byte[] bytes, int offset, RowImage before, RowImage after) {
        this.before = before;
        this.after = after;
        this.map = map;
        this.bytes = bytes;
        this.type = BinlogEvents.type(bytes, offset);
        this.in = new EventReader(
                bytes, offset + BinlogEvents.HEADER_BYTES + 8, offset + BinlogEvents.length(bytes, offset));
        in.skip(in.u16() - 2);
        this.columns = in.packedInt();
        if (columns != map.columns()) {
            throw new IndexOutOfBoundsException(
                    columns + " columns in rows of " + map.table + ", " + map.columns() + " in its TABLE_MAP");
        }
        int bitmapBytes = (columns + 7) / 8;
        int first = in.skip(bitmapBytes);
        int second = isUpdate() ? in.skip(bitmapBytes) : first;
        presentBefore = first;
        presentAfter = second;
        countBefore = ones(first);
        countAfter = ones(second);
    }

    private int ones(int bitmap) {
        int count = 0;
        for (int i = 0; i < columns; i++) {
            count += (bytes[bitmap + (i >>> 3)] >>> (i & 7)) & 1;
        }
        return count;
    }

    /** Whether the after images have a column. */
    public boolean afterHas(int column) {
        return (bytes[presentAfter + (column >>> 3)] >>> (column & 7) & 1) != 0;
    }

    /** The row as an event of its own. */
    public byte[] alone(int offset) {
        int head = presentAfter + (columns + 7) / 8 - offset;
        byte[] event = Arrays.copyOfRange(bytes, offset, offset + head + afterTo - beforeFrom);
        System.arraycopy(bytes, beforeFrom, event, head, afterTo - beforeFrom);
        BinlogEvents.length(event, 0, event.length);
        return event;
    }

    /** Moves to the next row; false when there is none. */
    public boolean next() {
        if (in.remaining() <= 0 || isEmpty()) {
            return false;
        }
        boolean inserts = type == BinlogEvents.WRITE_ROWS;
        int from = in.at;
        in.at = (inserts ? after : before).read(map, bytes, from, presentBefore, countBefore);
        beforeFrom = from;
        beforeTo = in.at;
        afterFrom = from;
        afterTo = in.at;
        if (isUpdate()) {
            partialJson = type == BinlogEvents.PARTIAL_UPDATE_ROWS && skipPartialBits();
            afterFrom = in.at;
            in.at = after.read(map, bytes, afterFrom, presentAfter, countAfter);
            afterTo = in.at;
        }
        if (in.at > in.end) {
            throw new IndexOutOfBoundsException("rows of " + map.table + " run over their event");
        }
        return true;
    }

    /** What precedes an after image with partial JSON: options, and a bit for each JSON column. */
    private boolean skipPartialBits() {
        boolean partial = (in.packed() & PARTIAL_JSON) != 0;
        if (partial) {
            int json = 0;
            for (int column : map.types) {
                json += column == ColumnType.JSON ? 1 : 0;
            }
            in.skip((json + 7) / 8);
        }
        return partial;
    }

    public TableMap map() {
        return map;
    }

    public int type() {
        return type;
    }

    public boolean isUpdate() {
        return type == BinlogEvents.UPDATE_ROWS || type == BinlogEvents.PARTIAL_UPDATE_ROWS;
    }

    public boolean hasBefore() {
        return type != BinlogEvents.WRITE_ROWS;
    }

    public boolean hasAfter() {
        return type != BinlogEvents.DELETE_ROWS;
    }

    /** Whether the images have no column at all, and so no bytes: then the number of rows is unknown. */
    public boolean isEmpty() {
        return countBefore == 0;
    }

    /** Whether the before images have every column. */
    public boolean beforeIsWhole() {
        return countBefore == columns;
    }

    /** Whether the after image of this row has every column, in full. */
    public boolean afterIsWhole() {
        return countAfter == columns && !partialJson;
    }

    /** The columns of this row before the change; meaningless for an insert. */
    public RowImage before() {
        return before;
    }

    /** The columns of this row after the change; meaningless for a delete. */
    public RowImage after() {
        return after;
    }

    /** Where the bitmap of columns in the before images is; for an insert, in the after images. */
    public int presentBefore() {
        return presentBefore;
    }

    public int presentAfter() {
        return presentAfter;
    }

    public int beforeFrom() {
        return beforeFrom;
    }

    public int beforeTo() {
        return beforeTo;
    }

    public int afterFrom() {
        return afterFrom;
    }

    public int afterTo() {
        return afterTo;
    }

    public byte[] bytes() {
        return bytes;
    }
}
