// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/** A place in the total order's own log: Raft's term and index. Seqnos count writesets, indexes count log entries. */
public record LogPosition(long term, long index) implements Comparable<LogPosition> {
    /** Before the first entry. */
    public static final LogPosition START = new LogPosition(0, -1);

    @Override
    public int compareTo(LogPosition that) {
        return Long.compare(index, that.index);
    }

    @Override
    public String toString() {
        return term + ":" + index;
    }
}
