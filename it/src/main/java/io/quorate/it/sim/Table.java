// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import java.util.List;

/** The tables that clients write. The first column is the primary key, where there is one. */
enum Table {
    /** id, balance, token: money moves, tokens are unique and churn. */
    ACCOUNT(3, true, null),
    /** id, n: rows that children reference. */
    PARENT(2, true, null),
    /** id, parent. */
    CHILD(2, true, PARENT),
    /** id, length, digest of all that was appended: every lost or doubled append shows. */
    LIST(3, true, null),
    /** a, b: no key at all. */
    SCRAP(2, false, null),
    /** id, tag: definitions add and drop its unique index of tags. Empty unless a run has a {@link Dispute}. */
    TAG(2, true, null);

    static final Table[] ALL = values();

    final int columns;
    final boolean keyed;
    /** What column 1 references. */
    final Table parent;

    Table(int columns, boolean keyed, Table parent) {
        this.columns = columns;
        this.keyed = keyed;
        this.parent = parent;
    }

    /**
     * Columns with a unique index of their own.
     *
     * @param version of the definition; of {@link #TAG} 1 with its index, 0 without
     */
    List<Integer> unique(int version) {
        return this == ACCOUNT ? List.of(2) : this == TAG && version == 1 ? List.of(1) : List.of();
    }

    /**
     * Whether rows of one version of the definition can be applied to another. A definition of a table with keys adds a
     * column, which earlier rows may lack.
     */
    boolean fits(int rows, int definition) {
        return rows == definition || (keyed && rows < definition) || this == TAG;
    }

    long key() {
        return hash(ordinal(), 99, 0);
    }

    /** Of a value in an index, which its first column names. */
    long key(int column, long value) {
        return hash(ordinal(), column, value);
    }

    /** Of a whole row. */
    long key(Row row) {
        return hash(ordinal(), 98, row.hashCode());
    }

    private static long hash(long table, long column, long value) {
        long h = (table + 1) * 0x9E3779B97F4A7C15L + column;
        h = (h ^ h >>> 30) * 0xBF58476D1CE4E5B9L + value;
        h = (h ^ h >>> 27) * 0x94D049BB133111EBL;
        h ^= h >>> 31;
        return h == 0 ? 1 : h;
    }
}
