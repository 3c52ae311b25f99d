// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.Arrays;

/**
 * How far the total order has taken one origin's binlog.
 *
 * @param last highest GTID number covered; the origin resumes after it
 * @param lastSeen the origin's lastSeen at that point
 * @param undecided GTID numbers of XA PREPAREs at or below {@code last} that are still neither committed nor rolled
 *     back, ascending
 */
public record OriginPosition(long last, long lastSeen, long[] undecided) {
    /** The position of an origin that the order has never heard of. */
    public static final OriginPosition NONE = new OriginPosition(0, 0, new long[0]);

    /** Whether the order has what the transaction with this number changed, if it changed anything. */
    public boolean hasDecided(long number) {
        return number <= last && Arrays.binarySearch(undecided, number) < 0;
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof OriginPosition that
                && last == that.last
                && lastSeen == that.lastSeen
                && Arrays.equals(undecided, that.undecided);
    }

    @Override
    public int hashCode() {
        return 31 * Long.hashCode(last) + Long.hashCode(lastSeen) + Arrays.hashCode(undecided);
    }

    @Override
    public String toString() {
        return last + " (lastSeen " + lastSeen
                + (undecided.length == 0 ? "" : ", undecided " + Arrays.toString(undecided)) + ")";
    }
}
