// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Cuts the order into ranges of seqnos and counts the index entries of each, so that the index can forget a whole range
 * by moving {@link #cut} alone: no scan, no pause, whatever its size. There are at most {@value #GENERATIONS_MAX}; when
 * one more is needed, the two neighbours with the fewest entries become one.
 *
 * <p>All of this follows from the log: which writesets passed, and how many keys each had.
 */
final class Generations {
    static final int GENERATIONS_MAX = 64;
    private static final long OPEN_END = Long.MAX_VALUE;

    private static final class Generation {
        /** Keys put while this was the newest generation, including those that replaced another entry. */
        private long touched;

        private long entries;
        /** Sum of the digests of its entries, so that the digest of the whole needs no scan either. */
        private long sum;

        private final Latest passed = new Latest();
    }

    private final long touchedMax;
    /** Oldest first; the last one is open. */
    private final List<Generation> list = new ArrayList<>();
    /** The last seqno of each generation in {@link #list}. */
    private final long[] ends = new long[GENERATIONS_MAX];

    private final Latest dropped = new Latest();
    private Generation open = new Generation();
    private long cut;
    private long entries;
    private long sum;

    Generations(long keysMax) {
        this.touchedMax = Math.max(1, Math.min(4096, keysMax / GENERATIONS_MAX));
        list.add(open);
        ends[0] = OPEN_END;
    }

    /** Entries of seqnos up to here are gone. */
    long cut() {
        return cut;
    }

    /** The number of entries above the cut. */
    long entries() {
        return entries;
    }

    int size() {
        return list.size();
    }

    /** The highest seqno at or below the cut that is foreign to {@code origin}, 0 when there is none. */
    long droppedForeignTo(int origin) {
        return dropped.foreignTo(origin);
    }

    /** An entry of the writeset being certified now. */
    void added(long digest) {
        open.entries++;
        open.sum += digest;
        entries++;
        sum += digest;
    }

    /** An entry above the cut was replaced by a later one. */
    void removed(long seqno, long digest) {
        Generation g = list.get(indexOf(seqno));
        g.entries--;
        g.sum -= digest;
        entries--;
        sum -= digest;
    }

    /** All keys of a passed writeset are in. */
    void passed(long seqno, int origin, int keys) {
        open.passed.add(seqno, origin);
        open.touched += keys;
        if (open.touched >= touchedMax) {
            if (list.size() == GENERATIONS_MAX) {
                mergeSmallestNeighbours();
            }
            ends[list.size() - 1] = seqno;
            open = new Generation();
            list.add(open);
            ends[list.size() - 1] = OPEN_END;
        }
    }

    /**
     * Whether every origin has seen everything in the oldest closed generation, judged by its lastSeen. An origin that
     * has already missed something forgotten isn't waited for: with that lastSeen it can't pass anyway.
     */
    boolean oldestIsSeen(long[] lastSeen, int origins) {
        if (list.size() == 1) {
            return false;
        }
        Latest passed = list.get(0).passed;
        for (int origin = 0; origin < origins; origin++) {
            boolean lost = dropped.foreignTo(origin) > lastSeen[origin];
            if (!lost && passed.foreignTo(origin) > lastSeen[origin]) {
                return false;
            }
        }
        return true;
    }

    /** Forgets the oldest generation; if the open one is the only one, forgets it up to {@code lastSeqno}. */
    void dropOldest(long lastSeqno) {
        Generation oldest = list.remove(0);
        cut = Math.min(ends[0], lastSeqno);
        System.arraycopy(ends, 1, ends, 0, list.size());
        dropped.addAll(oldest.passed);
        entries -= oldest.entries;
        sum -= oldest.sum;
        if (list.isEmpty()) {
            open = new Generation();
            list.add(open);
            ends[0] = OPEN_END;
        }
    }

    /** Forgets everything, including a writeset whose keys were never entered. */
    void dropAllAnd(long seqno, int origin) {
        open.passed.add(seqno, origin);
        while (entries > 0 || cut < seqno) {
            dropOldest(seqno);
        }
    }

    private void mergeSmallestNeighbours() {
        int at = 0;
        for (int i = 1; i + 1 < list.size(); i++) {
            if (list.get(i).entries + list.get(i + 1).entries < list.get(at).entries + list.get(at + 1).entries) {
                at = i;
            }
        }
        Generation older = list.get(at);
        Generation newer = list.remove(at + 1);
        older.touched += newer.touched;
        older.entries += newer.entries;
        older.sum += newer.sum;
        older.passed.addAll(newer.passed);
        System.arraycopy(ends, at + 1, ends, at, list.size() - at);
        open = list.get(list.size() - 1);
    }

    private int indexOf(long seqno) {
        int at = Arrays.binarySearch(ends, 0, list.size(), seqno);
        return at >= 0 ? at : -at - 1;
    }

    long digest(long seed) {
        long h = dropped.digest(Mix.of(Mix.of(seed, cut), sum));
        for (int i = 0; i < list.size(); i++) {
            Generation g = list.get(i);
            h = g.passed.digest(Mix.of(Mix.of(Mix.of(h, ends[i]), g.touched), g.entries));
        }
        return h;
    }

    /** Leaves out the counts and sums, which follow from the entries. */
    void writeTo(DataOutput out) throws IOException {
        out.writeLong(cut);
        dropped.writeTo(out);
        out.writeInt(list.size());
        for (int i = 0; i < list.size(); i++) {
            out.writeLong(ends[i]);
            out.writeLong(list.get(i).touched);
            list.get(i).passed.writeTo(out);
        }
    }

    void readFrom(DataInput in) throws IOException {
        cut = in.readLong();
        State.require(cut >= 0, "state that has forgotten up to " + cut);
        dropped.readFrom(in);
        int size = in.readInt();
        State.require(size > 0 && size <= GENERATIONS_MAX, "state with " + size + " generations");
        list.clear();
        for (int i = 0; i < size; i++) {
            ends[i] = in.readLong();
            State.require(ends[i] > (i == 0 ? cut : ends[i - 1]), "generations out of order");
            open = new Generation();
            open.touched = in.readLong();
            open.passed.readFrom(in);
            list.add(open);
        }
        State.require(ends[size - 1] == OPEN_END, "no open generation");
    }

    /** While a state is read: this entry is in the index again. */
    void restored(long seqno, long digest) {
        Generation g = list.get(indexOf(seqno));
        g.entries++;
        g.sum += digest;
        entries++;
        sum += digest;
    }
}
