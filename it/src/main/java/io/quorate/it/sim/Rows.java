// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** What the tables hold, with their constraints and no transactions. */
final class Rows {
    /** A change that doesn't fit: the row is missing or there already, a unique value is taken, a parent is missing. */
    static final class Misfit extends Exception {
        private static final long serialVersionUID = 1L;

        Misfit(String what) {
            super(what);
        }
    }

    private final Map<Table, TreeMap<Long, Row>> keyed = new EnumMap<>(Table.class);
    private final Map<Row, Integer> scrap = new HashMap<>();
    private final Map<Long, Long> unique = new HashMap<>();
    /** Whether the tags have their index, and so must differ. */
    private boolean tagsDiffer;

    Rows() {
        for (Table t : Table.ALL) {
            keyed.put(t, new TreeMap<>());
        }
    }

    Rows copy() {
        Rows copy = new Rows();
        keyed.forEach((table, rows) -> copy.keyed.get(table).putAll(rows));
        copy.scrap.putAll(scrap);
        copy.unique.putAll(unique);
        copy.tagsDiffer = tagsDiffer;
        return copy;
    }

    /** Columns with a unique index of their own, as the table is defined here. */
    List<Integer> unique(Table table) {
        return table.unique(tagsDiffer ? 1 : 0);
    }

    boolean isTagIndexed() {
        return tagsDiffer;
    }

    /** Whether two rows have one tag. */
    boolean hasEqualTags() {
        Map<Long, Row> tags = keyed.get(Table.TAG);
        return tags.values().stream().map(row -> row.get(1)).distinct().count() < tags.size();
    }

    /** Adds the index of the tags, which must differ, or drops it. */
    void indexTags(boolean value) {
        tagsDiffer = value;
        for (Row row : keyed.get(Table.TAG).values()) {
            long tag = Table.TAG.key(1, row.get(1));
            if (value) {
                unique.put(tag, row.get(0));
            } else {
                unique.remove(tag);
            }
        }
    }

    /** An insert that takes the place of what is there. */
    Change overwriting(Change insert) {
        return new Change(
                insert.table(),
                insert.version(),
                get(insert.table(), insert.after().get(0)),
                insert.after());
    }

    /** Without a look at any constraint, and without any trace but the row: null for none. */
    void tamper(Table table, long id, Row row) {
        Row old = row == null ? keyed.get(table).remove(id) : keyed.get(table).put(id, row);
        if (old != null && table == Table.TAG && tagsDiffer) {
            unique.remove(table.key(1, old.get(1)));
        }
    }

    Row get(Table table, long id) {
        return keyed.get(table).get(id);
    }

    List<Row> all(Table table) {
        return table.keyed ? new ArrayList<>(keyed.get(table).values()) : new ArrayList<>(scrap.keySet());
    }

    /** How often each row without a key is there. */
    Map<Row, Integer> counts() {
        return Map.copyOf(scrap);
    }

    boolean holds(Row scrapRow) {
        return scrap.containsKey(scrapRow);
    }

    void apply(Change c) throws Misfit {
        if (!c.table().keyed) {
            if (c.before() != null) {
                Integer count = scrap.get(c.before());
                if (count == null) {
                    throw new Misfit("no row " + c.before() + " in " + c.table());
                }
                put(c.before(), count - 1);
            }
            if (c.after() != null) {
                put(c.after(), scrap.getOrDefault(c.after(), 0) + 1);
            }
            return;
        }
        TreeMap<Long, Row> rows = keyed.get(c.table());
        Row old = null;
        if (c.before() != null) {
            old = rows.get(c.before().get(0));
            if (old == null) {
                throw new Misfit("no row " + c.before() + " in " + c.table());
            }
        }
        check(c, rows, old);
        if (old != null) {
            rows.remove(old.get(0));
            for (int column : unique(c.table())) {
                if (old.get(column) != null) {
                    unique.remove(c.table().key(column, old.get(column)));
                }
            }
        }
        if (c.after() != null) {
            rows.put(c.after().get(0), c.after());
            for (int column : unique(c.table())) {
                if (c.after().get(column) != null) {
                    unique.put(
                            c.table().key(column, c.after().get(column)),
                            c.after().get(0));
                }
            }
        }
    }

    /** A change of a keyed row without a look at foreign keys; unique values must be free. */
    Change put(Change c) {
        Map<Long, Row> rows = keyed.get(c.table());
        Row row = c.before() == null ? c.after() : c.before();
        for (int column : unique(c.table())) {
            if (row.get(column) != null) {
                long value = c.table().key(column, row.get(column));
                Long owner = c.before() == null ? unique.put(value, row.get(0)) : unique.remove(value);
                World.require((owner == null) == (c.before() == null), () -> "duplicate value of " + c);
            }
        }
        Row old = c.before() == null ? rows.put(row.get(0), row) : rows.remove(row.get(0));
        World.require((old == null) == (c.before() == null), () -> "duplicate row of " + c);
        return c;
    }

    /** A change as a server makes it that goes back to what was on its disk: whatever foreign keys say on the way. */
    void restore(Change c) {
        if (!c.table().keyed) {
            try {
                apply(c);
            } catch (Misfit e) {
                throw new IllegalStateException(e);
            }
            return;
        }
        if (c.before() != null) {
            put(new Change(c.table(), c.version(), c.before(), null));
        }
        if (c.after() != null) {
            put(new Change(c.table(), c.version(), null, c.after()));
        }
    }

    private void check(Change c, Map<Long, Row> rows, Row old) throws Misfit {
        Row after = c.after();
        if (after != null) {
            boolean moves = old == null || !old.get(0).equals(after.get(0));
            if (moves && rows.containsKey(after.get(0))) {
                throw new Misfit("duplicate " + after + " in " + c.table());
            }
            for (int column : unique(c.table())) {
                Long owner =
                        after.get(column) == null ? null : unique.get(c.table().key(column, after.get(column)));
                if (owner != null && (old == null || !owner.equals(old.get(0)))) {
                    throw new Misfit("duplicate value of " + after + " in " + c.table());
                }
            }
            if (c.table().parent != null && !keyed.get(c.table().parent).containsKey(after.get(1))) {
                throw new Misfit("no parent of " + after + " in " + c.table());
            }
        }
        boolean leaves = old != null && (after == null || !after.get(0).equals(old.get(0)));
        if (leaves && c.table() == Table.PARENT) {
            for (Row child : keyed.get(Table.CHILD).values()) {
                if (child.get(1).equals(old.get(0))) {
                    throw new Misfit("child " + child + " of " + old);
                }
            }
        }
    }

    private void put(Row row, int count) {
        if (count == 0) {
            scrap.remove(row);
        } else {
            scrap.put(row, count);
        }
    }

    long total() {
        return keyed.get(Table.ACCOUNT).values().stream()
                .mapToLong(row -> row.get(1))
                .sum();
    }

    /** The change as it happens here: with what the row holds now, which a server looks up by its key alone. */
    Change actual(Change c) {
        if (!c.table().keyed || c.before() == null) {
            return c;
        }
        Row old = keyed.get(c.table()).get(c.before().get(0));
        return old == null ? c : new Change(c.table(), c.version(), old, c.after());
    }

    /** What differs, in words; null when nothing does. */
    String difference(Rows that) {
        for (Table t : Table.ALL) {
            if (!keyed.get(t).equals(that.keyed.get(t))) {
                Map<Long, Row> here = new TreeMap<>(keyed.get(t));
                Map<Long, Row> there = new TreeMap<>(that.keyed.get(t));
                here.entrySet().removeIf(e -> Objects.equals(that.keyed.get(t).get(e.getKey()), e.getValue()));
                there.entrySet().removeIf(e -> Objects.equals(keyed.get(t).get(e.getKey()), e.getValue()));
                return t + ": " + here.values() + " instead of " + there.values();
            }
        }
        return scrap.equals(that.scrap) ? null : Table.SCRAP + ": " + scrap + " instead of " + that.scrap;
    }
}
