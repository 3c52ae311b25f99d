// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/** For each origin the highest seqno of some writesets of its own; 0 where there is none. */
final class LastByOrigin {
    private static final long[] NONE = {};

    /** By the origin's number, as long as the highest that has one. */
    private long[] seqnos = NONE;

    /** Adds one that is above all before. */
    void add(long seqno, int origin) {
        if (origin >= seqnos.length) {
            seqnos = Arrays.copyOf(seqnos, origin + 1);
        }
        seqnos[origin] = seqno;
    }

    /** Adds those of {@code newer}, which all lie above these. */
    void addAll(LastByOrigin newer) {
        for (int origin = 0; origin < newer.seqnos.length; origin++) {
            if (newer.seqnos[origin] > 0) {
                add(newer.seqnos[origin], origin);
            }
        }
    }

    long of(int origin) {
        return origin < seqnos.length ? seqnos[origin] : 0;
    }

    long digest(long seed) {
        long h = Mix.of(seed, seqnos.length);
        for (long seqno : seqnos) {
            h = Mix.of(h, seqno);
        }
        return h;
    }

    void writeTo(DataOutput out) throws IOException {
        out.writeInt(seqnos.length);
        for (long seqno : seqnos) {
            out.writeLong(seqno);
        }
    }

    void readFrom(DataInput in) throws IOException {
        int length = in.readInt();
        State.require(length >= 0 && length <= Entry.ORIGINS_MAX, "state with seqnos of " + length + " origins");
        seqnos = new long[length];
        for (int origin = 0; origin < length; origin++) {
            seqnos[origin] = in.readLong();
        }
    }
}
