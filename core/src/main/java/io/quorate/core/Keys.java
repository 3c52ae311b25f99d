// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.Arrays;
import java.util.UUID;

/**
 * The keys a writeset touches: 64-bit hashes of (schema, table, index, values in the index's comparison form), each
 * with its {@link KeyType}. Each hash occurs once, with the strongest type met. The arrays are not copied; they belong
 * to this object once handed in.
 */
public final class Keys {
    /** The key of everything: a DDL statement whose objects are not known takes it exclusively. */
    public static final long EVERYTHING = 0L;

    /**
     * The key of everything that is defined and has no rows: accounts, views, routines, databases. A definition of one
     * of them refers to it; one of which it isn't known what it names takes it exclusively.
     */
    public static final long OBJECTS = 1L;

    /**
     * Taken beside the tables that a statement takes exclusively, it says that rows which others wrote to these tables,
     * unseen where the statement ran, are a conflict too. A TRUNCATE that runs before such rows there, and after them
     * elsewhere, leaves other rows. Rows take it, too, while a definition of their table is on its way ({@link
     * OwnDefinitions}), and where nothing tells which of their table's rows they are.
     */
    public static final long NO_ROWS_BEFORE = 2L;

    /**
     * Taken by a definition that leaves a table's columns as they were (an index, a constraint): rows that are written
     * under it fit the former definition too. So no row is built on it, and what becomes of it makes no difference to
     * them.
     */
    public static final long KEEPS_COLUMNS = 3L;

    /**
     * Taken by a definition that gives every server something else: it is ordered only to fail everywhere ({@link
     * Verdict#NOT_REPEATABLE}), together with what was built on it.
     */
    public static final long NOT_REPEATABLE = 4L;

    /** Taken by what says that one server's tables are right ({@link OrderedFirst#isTrust}). */
    public static final long TRUSTED = 5L;

    /**
     * Taken by a transaction that deleted rows, or changed keys, of a table from which foreign keys cascade: it may
     * have changed rows that the binlog doesn't have. Whoever undoes it can't tell that from foreign keys that are gone
     * by then. The keys of the tables that it may have reached are among the keys, but for {@link #CASCADES_ANYWHERE}.
     */
    public static final long CASCADES = 6L;

    /**
     * How tables are defined, all of them. What changes columns refers to it, and so does a view. Taken exclusively by
     * a view of all columns, which are those that its tables have when it is made.
     */
    public static final long DEFINED_TABLES = 7L;

    /**
     * Taken beside {@link #CASCADES} where nothing tells which tables foreign keys reached, or whether there were any:
     * the server had other foreign keys already when the transaction was read. Otherwise the keys of these tables are
     * among the keys. A transaction that the binlog has as several statements takes it, too: it may have changed any.
     */
    public static final long CASCADES_ANYWHERE = 8L;

    /** Up to here hashes have a meaning of their own. */
    public static final long RESERVED_LAST = CASCADES_ANYWHERE;

    /** From this many keys on, those of a transaction are sorted by their hashes. */
    static final int SORTED_FROM = 4096;

    public static final Keys NONE = new Keys(new long[0], new byte[0]);

    private final long[] hashes;
    private final byte[] types;
    /** Whether they are many, and sorted by their hashes. */
    private final boolean sorted;

    public Keys(long[] hashes, byte[] types) {
        if (hashes.length != types.length) {
            throw new IllegalArgumentException(hashes.length + " hashes, " + types.length + " types");
        }
        this.hashes = hashes;
        this.types = types;
        this.sorted = hashes.length >= SORTED_FROM && isSorted(hashes);
    }

    private static boolean isSorted(long[] hashes) {
        for (int i = 1; i < hashes.length; i++) {
            if (hashes[i] < hashes[i - 1]) {
                return false;
            }
        }
        return true;
    }

    /**
     * Taken beside the table's key by rows of a table that was defined anew, if they fit the former definition as well:
     * they aren't built on the later one.
     */
    public static long fitsFormer(long table) {
        return marked(table, 0x5DEECE66DL);
    }

    /** Taken beside the table's key by rows that take that as {@link KeyType#UPDATE} ({@link OwnDefinitions}). */
    public static long guarded(long table) {
        return marked(table, 0x2545F4914F6CDD1DL);
    }

    /** Names the server whose tables are right, beside {@link #TRUSTED}. */
    static long trusted(UUID server) {
        return marked(server.getMostSignificantBits() ^ Long.rotateLeft(server.getLeastSignificantBits(), 17), TRUSTED);
    }

    private static long marked(long table, long mark) {
        long mixed = (table ^ mark) * 0x9E3779B97F4A7C15L;
        return isReserved(mixed) ? ~mixed : mixed;
    }

    /** Whether a hash has a meaning of its own. */
    public static boolean isReserved(long hash) {
        return hash >= EVERYTHING && hash <= RESERVED_LAST;
    }

    public int size() {
        return hashes.length;
    }

    public long hash(int i) {
        return hashes[i];
    }

    public KeyType type(int i) {
        return KeyType.of(types[i]);
    }

    /** The ordinal of the i-th {@link KeyType}, for loops that must not branch on objects. */
    public int typeOrdinal(int i) {
        return types[i];
    }

    /** The same without one of them. */
    public Keys without(long hash) {
        int left = 0;
        long[] hashesLeft = new long[hashes.length];
        byte[] typesLeft = new byte[hashes.length];
        for (int i = 0; i < hashes.length; i++) {
            if (hashes[i] != hash) {
                hashesLeft[left] = hashes[i];
                typesLeft[left++] = types[i];
            }
        }
        return new Keys(Arrays.copyOf(hashesLeft, left), Arrays.copyOf(typesLeft, left));
    }

    /** Whether {@link #EVERYTHING} is among them, EXCLUSIVE. */
    public boolean touchEverything() {
        for (int i = 0; i < hashes.length; i++) {
            if (hashes[i] == EVERYTHING && types[i] == KeyType.EXCLUSIVE.ordinal()) {
                return true;
            }
        }
        return false;
    }

    /** The same keys; sorted by their hashes if they are many. */
    Keys sortedIfMany() {
        if (sorted || hashes.length < SORTED_FROM) {
            return this;
        }
        KeysBuilder builder = new KeysBuilder();
        for (int i = 0; i < hashes.length; i++) {
            builder.add(hashes[i], type(i));
        }
        return builder.build();
    }

    /** The ordinal of this key's type if it is among these; otherwise -1. */
    public int typeOrdinalOf(long hash) {
        if (sorted) {
            int at = Arrays.binarySearch(hashes, hash);
            return at < 0 ? -1 : types[at];
        }
        for (int i = 0; i < hashes.length; i++) {
            if (hashes[i] == hash) {
                return types[i];
            }
        }
        return -1;
    }

    public boolean contains(long hash) {
        return typeOrdinalOf(hash) >= 0;
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof Keys that && Arrays.equals(hashes, that.hashes) && Arrays.equals(types, that.types);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(hashes) + Arrays.hashCode(types);
    }

    @Override
    public String toString() {
        StringBuilder s = new StringBuilder("[");
        for (int i = 0; i < hashes.length; i++) {
            s.append(i == 0 ? "" : " ").append(type(i)).append(':').append(Long.toHexString(hashes[i]));
        }
        return s.append(']').toString();
    }
}
