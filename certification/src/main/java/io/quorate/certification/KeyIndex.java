// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.Matrix;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.function.LongPredicate;

/**
 * Which passed writesets touched a key last. Entries of 16 bytes, the key's hash and {@link Entry}, are kept in many
 * small open-addressing tables, chosen by the upper bits of the mixed hash. A table that fills up is rebuilt alone, a
 * thousand entries or so, which takes microseconds; so neither growing nor purging causes a pause. Entries at or below
 * the cut are dead: no look-up sees them, the next key of their chain takes their place, and a rebuild leaves them out.
 *
 * <p>A key may have several entries, of different types and origins. The index keeps exactly those that can still
 * decide something. An entry no longer decides anything once, for every origin that may ask, a later entry at least as
 * strong replaces it: either one of its own origin, or two of two different origins (of which at least one is foreign
 * to whichever origin asks). That leaves one entry for a row that one node writes, and at most two for each type. So
 * what is kept depends only on the passed writesets above the cut, and no conflict is hidden by a later entry of the
 * asking origin.
 */
final class KeyIndex {
    private static final int TABLE_ENTRIES = 1024;
    private static final int SLOTS_MIN = 8;
    private static final int ARRAY_BYTES = 16 + 4 + 4;
    private static final long SPREAD = 0x9E3779B97F4A7C15L;
    /** Fills a slot of a chain and means nothing. */
    private static final long DEAD = 1;

    private static final int ENTRIES_PER_KEY_MAX = 2 * KeyType.values().length;

    private final Generations generations;
    private final long entriesMax;
    private final int tableBits;
    private final long[][] tables;
    private final int[] used;
    private final int[] met = new int[ENTRIES_PER_KEY_MAX];
    private long slots;

    private long conflictsWith;
    private long dependsOn;
    private long unseen;

    KeyIndex(Generations generations, long keysMax) {
        this.generations = generations;
        this.entriesMax = keysMax;
        this.tableBits = Math.max(1, 64 - Long.numberOfLeadingZeros((keysMax - 1) / TABLE_ENTRIES));
        this.tables = new long[1 << tableBits][];
        this.used = new int[1 << tableBits];
        for (int i = 0; i < tables.length; i++) {
            tables[i] = new long[2 * SLOTS_MIN];
        }
        this.slots = (long) SLOTS_MIN * tables.length;
    }

    /**
     * Compares keys with the index, together with the key of everything, which every writeset shares. The result is in
     * {@link #conflictsWith()}, {@link #dependsOn()} and {@link #unseen()}.
     */
    void meet(Keys keys, int origin, long lastSeen) {
        conflictsWith = 0;
        dependsOn = 0;
        unseen = 0;
        boolean strict = keys.contains(Keys.NO_ROWS_BEFORE);
        meet(Keys.EVERYTHING, KeyType.SHARED.ordinal(), origin, lastSeen, false);
        for (int i = 0; i < keys.size(); i++) {
            meet(keys.hash(i), keys.typeOrdinal(i), origin, lastSeen, strict);
        }
    }

    /** @param strict whether everything that orders the two is a conflict */
    private void meet(long hash, int type, int origin, long lastSeen, boolean strict) {
        long mixed = hash * SPREAD;
        long[] table = tables[(int) (mixed >>> -tableBits)];
        long cut = generations.cut();
        int slot = home(mixed, table);
        for (long entry; (entry = table[slot + 1]) != 0; slot = next(slot, table)) {
            if (table[slot] == hash && Entry.seqno(entry) > cut && Matrix.orders(Entry.type(entry), type)) {
                long seqno = Entry.seqno(entry);
                dependsOn = Math.max(dependsOn, seqno);
                if (seqno > lastSeen && Entry.origin(entry) != origin) {
                    unseen = Math.max(unseen, seqno);
                    if (strict || Matrix.conflicts(Entry.type(entry), type)) {
                        conflictsWith = Math.max(conflictsWith, seqno);
                    }
                }
            }
        }
    }

    /**
     * Whether one of these keys was last touched by one of those that {@code those} tells, in a way that would conflict
     * if it hadn't been seen; or these are of rows, and that one defined their table. Rows that fit their table's
     * former definition aren't built on the present one.
     */
    boolean builtOn(Keys keys, LongPredicate those) {
        boolean built = builtOn(Keys.EVERYTHING, KeyType.SHARED.ordinal(), those);
        for (int i = 0; i < keys.size() && !built; i++) {
            built = builtOn(keys.hash(i), keys.typeOrdinal(i), those) && !keys.contains(Keys.fitsFormer(keys.hash(i)));
        }
        return built;
    }

    private boolean builtOn(long hash, int type, LongPredicate those) {
        long mixed = hash * SPREAD;
        long[] table = tables[(int) (mixed >>> -tableBits)];
        long cut = generations.cut();
        int slot = home(mixed, table);
        for (long entry; (entry = table[slot + 1]) != 0; slot = next(slot, table)) {
            if (table[slot] == hash
                    && Entry.seqno(entry) > cut
                    && Matrix.isBuiltOn(Entry.type(entry), type)
                    && those.test(Entry.seqno(entry))) {
                return true;
            }
        }
        return false;
    }

    /** The highest seqno that the keys met last conflict with, 0 when there is none. */
    long conflictsWith() {
        return conflictsWith;
    }

    /** The highest seqno that the keys met last must wait for, 0 when there is none. */
    long dependsOn() {
        return dependsOn;
    }

    /** The highest seqno among those that the keys met last must wait for and their origin had not seen, 0 for none. */
    long unseen() {
        return unseen;
    }

    /** Enters a writeset that passed; {@code seqno} is above all earlier ones. */
    void put(Keys keys, int origin, long seqno) {
        for (int i = 0; i < keys.size(); i++) {
            put(keys.hash(i), Entry.of(seqno, origin, keys.typeOrdinal(i)));
        }
    }

    private void put(long hash, long entry) {
        long mixed = hash * SPREAD;
        int t = (int) (mixed >>> -tableBits);
        long[] table = tables[t];
        long cut = generations.cut();
        int place = -1;
        int metCount = 0;
        int slot = home(mixed, table);
        for (long other; (other = table[slot + 1]) != 0; slot = next(slot, table)) {
            if (Entry.seqno(other) <= cut) {
                place = place < 0 ? slot : place;
            } else if (table[slot] == hash) {
                met[metCount++] = slot;
            }
        }
        if (metCount > 0) {
            int freed = replace(table, hash, entry, metCount);
            if (freed == ENTERED_ALREADY) {
                return;
            }
            place = freed >= 0 ? freed : place;
        }
        boolean fresh = place < 0;
        place = fresh ? slot : place;
        table[place] = hash;
        table[place + 1] = entry;
        generations.added(digest(hash, entry));
        if (fresh && ++used[t] * 8L > table.length * 3L) {
            rebuild(t);
        }
    }

    private static final int NONE_FREED = -1;
    private static final int ENTERED_ALREADY = -2;

    /** Removes the entries that {@code entry} makes superfluous; returns a slot that became free. */
    private int replace(long[] table, long hash, long entry, int metCount) {
        int freed = NONE_FREED;
        for (int i = 0; i < metCount; i++) {
            long other = table[met[i] + 1];
            if (Entry.type(other) > Entry.type(entry)) {
                if (Entry.seqno(other) == Entry.seqno(entry)) {
                    // A bug of a peer may put a hash twice into one writeset; the stronger one counts.
                    return ENTERED_ALREADY;
                }
            } else if (Entry.origin(other) == Entry.origin(entry) || hasStandIn(table, other, entry, metCount)) {
                generations.removed(Entry.seqno(other), digest(hash, other));
                table[met[i] + 1] = DEAD;
                freed = met[i];
            }
        }
        return freed;
    }

    /**
     * Whether, beside {@code entry}, there is one of a different origin that is later than {@code other} and as strong.
     */
    private boolean hasStandIn(long[] table, long other, long entry, int metCount) {
        for (int i = 0; i < metCount; i++) {
            long third = table[met[i] + 1];
            if (Entry.seqno(third) > Entry.seqno(other)
                    && Entry.type(third) >= Entry.type(other)
                    && Entry.origin(third) != Entry.origin(entry)) {
                return true;
            }
        }
        return false;
    }

    private void rebuild(int t) {
        long[] old = tables[t];
        long cut = generations.cut();
        int live = 0;
        for (int slot = 0; slot < old.length; slot += 2) {
            live += Entry.seqno(old[slot + 1]) > cut ? 1 : 0;
        }
        long[] table = new long[2 * Math.max(SLOTS_MIN, 2 * live)];
        for (int slot = 0; slot < old.length; slot += 2) {
            if (Entry.seqno(old[slot + 1]) > cut) {
                insert(table, old[slot], old[slot + 1]);
            }
        }
        slots += (table.length - old.length) / 2;
        tables[t] = table;
        used[t] = live;
    }

    private void insert(long[] table, long hash, long entry) {
        int slot = home(hash * SPREAD, table);
        while (table[slot + 1] != 0) {
            slot = next(slot, table);
        }
        table[slot] = hash;
        table[slot + 1] = entry;
    }

    /** Where a chain starts; it rises with the mixed hash, so that a table is almost in that order. */
    private int home(long mixed, long[] table) {
        return 2 * (int) ((((mixed << tableBits) >>> 32) * (table.length >> 1)) >>> 32);
    }

    private static int next(int slot, long[] table) {
        return slot + 2 == table.length ? 0 : slot + 2;
    }

    static long digest(long hash, long entry) {
        return Mix.of(Mix.of(0, hash), entry);
    }

    long bytes() {
        return slots * 16 + (long) tables.length * ARRAY_BYTES;
    }

    /**
     * Writes count and entries in the order of the mixed hash, unsigned, then of the entry: the same whatever the
     * history of the tables.
     */
    void writeTo(DataOutput out) throws IOException {
        out.writeLong(generations.entries());
        long cut = generations.cut();
        Sorted sorted = new Sorted();
        for (long[] table : tables) {
            sorted.clear();
            addByHome(sorted, table, cut);
            sorted.writeTo(out);
        }
    }

    /** In rising order of home slots, and at the end those that ran over the end of the table: almost sorted. */
    private void addByHome(Sorted sorted, long[] table, long cut) {
        int empty = 0;
        while (table[empty + 1] != 0) {
            empty += 2;
        }
        for (int pass = 0; pass < 2; pass++) {
            for (int slot = 0; slot < (pass == 0 ? table.length : empty); slot += 2) {
                boolean ranOver = slot < empty && home(table[slot] * SPREAD, table) > empty;
                if (Entry.seqno(table[slot + 1]) > cut && ranOver == (pass == 1)) {
                    sorted.add(table[slot] * SPREAD, table[slot], table[slot + 1]);
                }
            }
        }
    }

    void readFrom(DataInput in, int origins, long lastSeqno) throws IOException {
        long count = in.readLong();
        long cut = generations.cut();
        State.require(count >= 0 && count <= entriesMax, "state with " + count + " keys");
        for (long i = 0; i < count; i++) {
            long hash = in.readLong();
            long entry = in.readLong();
            State.require(
                    Entry.seqno(entry) > cut
                            && Entry.seqno(entry) <= lastSeqno
                            && (Entry.origin(entry) < origins || Entry.origin(entry) == Entry.FOREIGN_TO_ALL),
                    "index holds an impossible entry");
            int t = (int) ((hash * SPREAD) >>> -tableBits);
            insert(tables[t], hash, entry);
            generations.restored(Entry.seqno(entry), digest(hash, entry));
            if (++used[t] * 8L > tables[t].length * 3L) {
                rebuild(t);
            }
        }
    }
}
