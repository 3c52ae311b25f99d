// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The definitions that clients of this server have run, as long as rows that come before them in the order may be on
 * their way to it; a part of {@link OwnWrites}. Not thread-safe.
 *
 * <p>Rows that clients write here meanwhile were checked by an index, or a foreign key, that the late rows weren't
 * checked by, and may hold the same value. Nothing in the keys of the late rows tells. So rows that are written under
 * such a definition take its table's key as {@link KeyType#UPDATE}, together with {@link Keys#NO_ROWS_BEFORE}: they
 * lose against whatever others have written to the table and this server had not seen. Rows of a table to which it has
 * a foreign key take both tables' keys: whoever deletes a parent must have seen its children. They are also built on
 * the rows of the table that were written here before the definition and are still open, because an undo of these
 * brings back values that the index took for free.
 */
final class OwnDefinitions {
    private static final int BUILT_ON_MAX = 64;

    private static final class Open {
        final long number;
        /** The one that it changes comes first, then those to which its foreign keys refer. */
        final List<Long> tables = new ArrayList<>();
        /** Its place in the order, 0 while it has none. */
        long seqno;

        Open(WriteSet definition, long seqno) {
            this.seqno = seqno;
            number = definition.gtid().number();
            for (int i = 0; i < definition.keys().size(); i++) {
                if (definition.keys().type(i) == KeyType.EXCLUSIVE
                        && !Keys.isReserved(definition.keys().hash(i))) {
                    tables.add(definition.keys().hash(i));
                }
            }
        }

        /** Adds the tables that rows are to have seen: theirs, and the one whose rows may refer to them by now. */
        void addGuarded(Keys rows, Set<Long> guarded) {
            for (long table : tables) {
                if (rows.contains(table)) {
                    guarded.add(table);
                    guarded.add(tables.get(0));
                }
            }
        }

        /** Whether both wrote to a table of it. */
        boolean isOf(Keys some, Keys others) {
            return tables.stream().anyMatch(table -> some.contains(table) && others.contains(table));
        }
    }

    private final List<Open> open = new ArrayList<>();

    /** Takes note of a definition, unless it loses against late rows itself. */
    void captured(WriteSet definition) {
        note(definition, 0);
    }

    private void note(WriteSet definition, long seqno) {
        Open next = new Open(definition, seqno);
        if (!next.tables.isEmpty() && !definition.keys().contains(Keys.NO_ROWS_BEFORE)) {
            open.add(next);
        }
    }

    /**
     * The order has one of this server's definitions. One that was captured in a session before this is heard of here
     * for the first time.
     *
     * @param here whether the server still has what it ran
     */
    void ordered(Certified c, boolean here) {
        long number = c.writeSet().gtid().number();
        boolean known = open.removeIf(each -> each.number == number);
        if (c.passed() && (known || here)) {
            note(c.writeSet(), c.seqno());
        }
    }

    /**
     * Rows with the keys that they need under the definitions that are open; the same if they need no others.
     *
     * <p>A definition is open until the binlog says that its place is applied. The applier writes the position as soon
     * as it has come to the place of one of this server's definitions, so that it is said soon. What is guarded depends
     * on the binlog and the order alone, and never on when it is read: rows that are captured again, by another session
     * or another process, get the same keys. So rows that were undone because their keys lost will lose.
     */
    WriteSet guarded(WriteSet rows) {
        open.removeIf(each -> each.seqno > 0 && each.seqno <= rows.lastSeen());
        if (open.isEmpty()) {
            return rows;
        }
        Set<Long> tables = new LinkedHashSet<>();
        open.forEach(each -> each.addGuarded(rows.keys(), tables));
        if (tables.isEmpty()) {
            return rows;
        }
        KeysBuilder keys = new KeysBuilder();
        for (int i = 0; i < rows.keys().size(); i++) {
            keys.add(rows.keys().hash(i), rows.keys().type(i));
        }
        for (long table : tables) {
            keys.add(table, KeyType.UPDATE);
            keys.add(Keys.guarded(table), KeyType.SHARED);
        }
        keys.add(Keys.NO_ROWS_BEFORE, KeyType.SHARED);
        return rows.withKeys(keys.build());
    }

    /** The keys of rows as they were before they were guarded: what they touched. */
    static Keys unguarded(Keys certified) {
        KeysBuilder keys = new KeysBuilder();
        for (int i = 0; i < certified.size(); i++) {
            long hash = certified.hash(i);
            boolean guarded = certified.contains(Keys.guarded(hash)) && certified.type(i) == KeyType.UPDATE;
            keys.add(hash, guarded ? KeyType.SHARED : certified.type(i));
        }
        return keys.build();
    }

    /**
     * What guarded rows were built on.
     *
     * @param known what their keys tell
     * @param others the open transactions of this server
     */
    long[] builtOn(WriteSet guarded, long[] known, Collection<OwnTransaction> others) {
        if (known.length > 0 && known[0] == 0) {
            return known;
        }
        Set<Long> numbers = new TreeSet<>();
        Arrays.stream(known).forEach(numbers::add);
        for (Open each : open) {
            for (OwnTransaction own : others) {
                if (own.number < each.number
                        && !own.definition
                        && !own.isUndoneFor(guarded.lastSeen())
                        && each.isOf(own.keys, guarded.keys())) {
                    numbers.add(own.number);
                }
            }
        }
        return numbers.size() > BUILT_ON_MAX
                ? WriteSet.builtOnAll()
                : numbers.stream().mapToLong(n -> n).toArray();
    }
}
