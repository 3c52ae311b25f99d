// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.KeysBuilder;
import io.quorate.core.binlog.RowImage;
import io.quorate.core.binlog.RowsEvent;
import java.util.Arrays;

/** Adds the keys of ROWS events. Reused; the reader's thread only. */
final class RowKeys {
    static final long NULL = 0;

    private final KeyBytes form = new KeyBytes();
    private final RowImage before = new RowImage();
    private final RowImage after = new RowImage();

    /** Whether the last event's rows had everything that its table's keys need. */
    private boolean complete;

    /** Whether a unique key without NULL was found in the last update's before and after image. */
    private boolean keyedBefore;

    private boolean keyedAfter;

    /**
     * Adds the keys of the rows of the event at {@code offset}.
     *
     * @return whether all rows had everything that the table's keys need; otherwise they stand for the whole table
     */
    boolean add(byte[] b, int offset, TablePlan plan, KeysBuilder keys) {
        RowsEvent rows = new RowsEvent(plan.map, b, offset, before, after);
        if (rows.isEmpty()) {
            return false;
        }
        complete = true;
        while (rows.next()) {
            if (!rows.isUpdate()) {
                boolean keyed = addRow(b, rows.hasBefore() ? before : after, plan, keys) || plan.identified;
                if (!keyed) {
                    addWhole(b, rows.beforeFrom(), rows.beforeTo(), rows.beforeIsWhole(), plan, keys);
                    if (rows.hasBefore()) {
                        keys.add(plan.wholeRowsKey, KeyType.SHARED);
                    }
                }
            } else {
                addUpdate(b, plan, keys);
                if (!plan.identified && !keyedBefore) {
                    addWhole(b, rows.beforeFrom(), rows.beforeTo(), rows.beforeIsWhole(), plan, keys);
                    keys.add(plan.wholeRowsKey, KeyType.SHARED);
                }
                if (!plan.identified && !keyedAfter) {
                    addWhole(b, rows.afterFrom(), rows.afterTo(), rows.afterIsWhole(), plan, keys);
                }
            }
            if (!rows.hasAfter()) {
                addCascades(plan, keys);
            }
        }
        return complete;
    }

    private boolean addRow(byte[] b, RowImage row, TablePlan plan, KeysBuilder keys) {
        boolean keyed = false;
        for (TablePlan.RowKey key : plan.keys) {
            long hash = hash(b, row, key);
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

    static void addCascades(TablePlan plan, KeysBuilder keys) {
        if (plan.children.length > 0) {
            keys.add(Keys.CASCADES, KeyType.SHARED);
        }
        for (long table : plan.children) {
            keys.add(table, KeyType.SHARED);
        }
        for (long table : plan.cascades) {
            keys.add(table, KeyType.EXCLUSIVE);
        }
    }

    private void addWhole(byte[] b, int from, int to, boolean whole, TablePlan plan, KeysBuilder keys) {
        complete &= whole;
        keys.add(wholeHash(b, from, to, plan), KeyType.EXCLUSIVE);
    }

    static long wholeHash(byte[] b, int from, int to, TablePlan plan) {
        return KeyNames.notEverything(Hash64.hash(b, from, to - from, plan.tableKey));
    }

    /**
     * The hash of a key's values in a row; {@link #NULL} when one is NULL, because no unique index holds NULL equal to
     * anything.
     */
    long hash(byte[] b, RowImage row, TablePlan.RowKey key) {
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

    /** Whether an update left the bytes of a key's columns as they were. */
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
}
