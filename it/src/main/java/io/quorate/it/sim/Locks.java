// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The locks of a {@link Database}, in two phases: of each row by its keys, and of the rows that foreign keys refer to.
 * Whoever holds one holds it until {@link #release}.
 */
final class Locks {
    private final Rows rows;
    private final Map<Long, Lock> held = new HashMap<>();

    private static final class Lock {
        private final Set<Transaction> holders = new LinkedHashSet<>();
        private boolean exclusive;
    }

    /** What has to be locked, by key. */
    record Needed(List<Long> exclusive, List<Long> shared) {}

    Locks(Rows rows) {
        this.rows = rows;
    }

    /** What these changes need together. */
    Needed neededBy(Change... changes) {
        Needed needed = new Needed(new ArrayList<>(), new ArrayList<>());
        for (Change c : changes) {
            add(c, needed);
        }
        return needed;
    }

    private void add(Change c, Needed needed) {
        Table table = c.table();
        if (!table.keyed) {
            // Two may insert the same.
            addWhole(c, c.before(), needed.exclusive);
            addWhole(c, c.after(), needed.shared);
            return;
        }
        for (Row row : new Row[] {c.before(), c.after()}) {
            if (row == null) {
                continue;
            }
            needed.exclusive.add(table.key(0, row.get(0)));
            for (int column : rows.unique(table)) {
                if (row.get(column) != null) {
                    needed.exclusive.add(table.key(column, row.get(column)));
                }
            }
            if (table.parent != null) {
                needed.shared.add(table.parent.key(0, row.get(1)));
            }
        }
    }

    private static void addWhole(Change c, Row row, List<Long> keys) {
        if (row != null) {
            keys.add(c.table().key(row));
        }
    }

    /** The others that hold what a transaction needs. */
    Set<Transaction> holders(Needed needed, Transaction t) {
        Set<Transaction> holders = new LinkedHashSet<>();
        for (long key : needed.exclusive) {
            addHolders(t, key, true, holders);
        }
        for (long key : needed.shared) {
            addHolders(t, key, false, holders);
        }
        return holders;
    }

    private void addHolders(Transaction t, long key, boolean exclusive, Set<Transaction> holders) {
        Lock lock = held.get(key);
        if (lock != null && (exclusive || lock.exclusive)) {
            lock.holders.stream().filter(h -> h != t).forEach(holders::add);
        }
    }

    /** Gives a transaction what it needs, which no other one holds. */
    void take(Needed needed, Transaction t) {
        needed.exclusive.forEach(key -> hold(t, key, true));
        needed.shared.forEach(key -> hold(t, key, false));
    }

    private void hold(Transaction t, long key, boolean exclusive) {
        Lock lock = held.computeIfAbsent(key, k -> new Lock());
        lock.holders.add(t);
        lock.exclusive |= exclusive;
        t.locks.add(key);
    }

    boolean isHeld(long key) {
        return held.containsKey(key);
    }

    void release(Transaction t) {
        for (long key : t.locks) {
            Lock lock = held.get(key);
            lock.holders.remove(t);
            if (lock.holders.isEmpty()) {
                held.remove(key);
            }
        }
    }
}
