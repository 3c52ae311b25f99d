// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.BinlogEvents;
import io.quorate.core.KeyType;
import io.quorate.core.KeysBuilder;
import io.quorate.core.binlog.ColumnType;
import io.quorate.core.binlog.EventReader;
import io.quorate.core.binlog.RowImage;
import io.quorate.core.binlog.TableMap;
import java.util.Arrays;

/** Adds the keys of ROWS events. Reused; the reader's thread only. */
final class RowKeys {
    private static final long NULL = 0;
    private static final int PARTIAL_JSON = 1;

    private final KeyBytes form = new KeyBytes();
    private final RowImage before = new RowImage();
    private final RowImage after = new RowImage();

    /** Whether the last event's rows had all that its table's keys need. */
    private boolean complete;

    /** Whether a unique key without NULL was met in the last update's before and after image. */
    private boolean keyedBefore;

    private boolean keyedAfter;

    /**
     * Adds the keys of the rows of the event at {@code offset}.
     *
     * @return whether all rows had all that the table's keys need; otherwise the table's key is exclusive now
     */
    boolean add(byte[] b, int offset, int length, TablePlan plan, KeysBuilder keys) {
        int type = BinlogEvents.type(b, offset);
        TableMap map = plan.map;
        EventReader in = new EventReader(b, offset + BinlogEvents.HEADER_BYTES + 8, offset + length);
        in.skip(in.u16() - 2);
        int columns = in.packedInt();
        if (columns != map.columns()) {
            throw new IndexOutOfBoundsException(
                    columns + " columns in rows of " + map.table + ", " + map.columns() + " in its TABLE_MAP");
        }
        int bitmapBytes = (columns + 7) / 8;
        boolean update = type == BinlogEvents.UPDATE_ROWS || type == BinlogEvents.PARTIAL_UPDATE_ROWS;
        int present = in.skip(bitmapBytes);
        int presentAfter = update ? in.skip(bitmapBytes) : present;
        int count = ones(b, present, columns);
        int countAfter = update ? ones(b, presentAfter, columns) : count;
        if (count == 0) {
            // An image of no columns has no bytes either: how many rows there are can't be told.
            keys.add(plan.tableKey, KeyType.EXCLUSIVE);
            return false;
        }
        complete = true;
        while (in.remaining() > 0) {
            int from = in.at;
            in.at = before.read(map, b, from, present, count);
            if (!update) {
                boolean keyed = addRow(b, plan, keys) || plan.identified;
                if (!keyed) {
                    addWhole(b, from, in.at, count == columns, plan, keys);
                }
            } else {
                int to = in.at;
                boolean partial = type == BinlogEvents.PARTIAL_UPDATE_ROWS && skipPartialBits(in, map);
                int fromAfter = in.at;
                in.at = after.read(map, b, fromAfter, presentAfter, countAfter);
                addUpdate(b, plan, keys);
                if (!plan.identified && !keyedBefore) {
                    addWhole(b, from, to, count == columns, plan, keys);
                }
                if (!plan.identified && !keyedAfter) {
                    addWhole(b, fromAfter, in.at, !partial && countAfter == columns, plan, keys);
                }
            }
            if (type == BinlogEvents.DELETE_ROWS) {
                addCascades(plan, keys);
            }
            if (in.at > in.end) {
                throw new IndexOutOfBoundsException("rows of " + map.table + " run over their event");
            }
        }
        if (!complete) {
            keys.add(plan.tableKey, KeyType.EXCLUSIVE);
        }
        return complete;
    }

    private boolean addRow(byte[] b, TablePlan plan, KeysBuilder keys) {
        boolean keyed = false;
        for (TablePlan.RowKey key : plan.keys) {
            long hash = hash(b, before, key);
            if (hash != NULL) {
                keys.add(hash, key.reference() ? KeyType.REFERENCE : KeyType.EXCLUSIVE);
                keyed |= key.unique();
            }
        }
        return keyed;
    }

    private void addUpdate(byte[] b, TablePlan plan, KeysBuilder keys) {
        keyedBefore = false;
        keyedAfter = false;
        for (TablePlan.RowKey key : plan.keys) {
            long old = hash(b, before, key);
            if (old != NULL && key.unique()) {
                keyedBefore = true;
            }
            if (same(b, key)) {
                if (old != NULL) {
                    keys.add(old, key.reference() ? KeyType.REFERENCE : KeyType.UPDATE);
                    keyedAfter |= key.unique();
                }
                continue;
            }
            KeyType type = key.reference() ? KeyType.REFERENCE : KeyType.EXCLUSIVE;
            if (old != NULL) {
                keys.add(old, type);
            }
            long changed = hash(b, after, key);
            if (changed != NULL) {
                keys.add(changed, type);
                keyedAfter |= key.unique();
            }
            if (!key.reference()) {
                addCascades(plan, keys);
            }
        }
    }

    private static void addCascades(TablePlan plan, KeysBuilder keys) {
        for (long table : plan.cascades) {
            keys.add(table, KeyType.EXCLUSIVE);
        }
    }

    private void addWhole(byte[] b, int from, int to, boolean whole, TablePlan plan, KeysBuilder keys) {
        complete &= whole;
        keys.add(KeyNames.notEverything(Hash64.hash(b, from, to - from, plan.tableKey)), KeyType.EXCLUSIVE);
    }

    /** The hash of a key's values in a row; {@link #NULL} when one is NULL, which no unique index holds equal to another. */
    private long hash(byte[] b, RowImage row, TablePlan.RowKey key) {
        form.clear();
        for (int i = 0; i < key.columns().length; i++) {
            int column = key.columns()[i];
            int length = row.length(column);
            if (length < 0) {
                complete &= length == RowImage.NULL;
                return NULL;
            }
            int from = form.size();
            key.forms()[i].append(b, row.start(column), length, form);
            form.putInt(form.size() - from);
        }
        return KeyNames.notEverything(form.hash(key.seed()));
    }

    /** Whether an update left the very bytes of a key's columns as they were. */
    private boolean same(byte[] b, TablePlan.RowKey key) {
        for (int column : key.columns()) {
            int length = before.length(column);
            if (length != after.length(column)
                    || (length > 0
                            && !Arrays.equals(
                                    b,
                                    before.start(column),
                                    before.start(column) + length,
                                    b,
                                    after.start(column),
                                    after.start(column) + length))) {
                return false;
            }
        }
        return true;
    }

    /** What stands before an after image with partial JSON: options, and a bit for each JSON column. */
    private static boolean skipPartialBits(EventReader in, TableMap map) {
        boolean partial = (in.packed() & PARTIAL_JSON) != 0;
        if (partial) {
            int json = 0;
            for (int type : map.types) {
                json += type == ColumnType.JSON ? 1 : 0;
            }
            in.skip((json + 7) / 8);
        }
        return partial;
    }

    private static int ones(byte[] b, int bitmap, int bits) {
        int count = 0;
        for (int i = 0; i < bits; i++) {
            count += (b[bitmap + (i >>> 3)] >>> (i & 7)) & 1;
        }
        return count;
    }
}
