// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

/**
 * What an index entry holds beside a key's hash, in one long: {@code seqno << 16 | origin << 4 | type}. Never 0, as
 * seqnos start at 1.
 */
final class Entry {
    private static final int ORIGIN_VALUES = 1 << 12;
    static final int ORIGINS_MAX = ORIGIN_VALUES - 1;
    /** Used as the origin of an entry that is foreign to every origin, even to its own. */
    static final int FOREIGN_TO_ALL = ORIGIN_VALUES - 1;
    /** An asking origin to which everything is foreign. */
    static final int NOBODY = -1;

    /** At 100,000 writesets a second, reached after 89 years. */
    static final long SEQNO_MAX = (1L << 48) - 1;

    private Entry() {}

    static long of(long seqno, int origin, int type) {
        return seqno << 16 | (long) origin << 4 | type;
    }

    static long seqno(long entry) {
        return entry >>> 16;
    }

    static int origin(long entry) {
        return (int) entry >>> 4 & ORIGIN_VALUES - 1;
    }

    /** The ordinal of the key's {@link io.quorate.core.KeyType}. */
    static int type(long entry) {
        return (int) entry & 3;
    }
}
