// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * The highest seqno of a set of writesets, and the highest among those of any other origin than the first one's. These
 * two are enough to answer exactly, for every origin, "which is the highest that is foreign to it".
 */
final class Latest {
    private long seqno;
    private int origin = -1;
    private long other;

    /** Adds a writeset that is above all earlier ones. */
    void add(long newSeqno, int newOrigin) {
        if (newOrigin != origin) {
            other = seqno;
            origin = newOrigin;
        }
        seqno = newSeqno;
    }

    /** Adds those of {@code newer}, which are all above these. */
    void addAll(Latest newer) {
        if (newer.seqno > 0) {
            other = Math.max(newer.other, foreignTo(newer.origin));
            seqno = newer.seqno;
            origin = newer.origin;
        }
    }

    /** The highest seqno of another origin, 0 when there is none. */
    long foreignTo(int thatOrigin) {
        return thatOrigin == origin ? other : seqno;
    }

    long digest(long seed) {
        return Mix.of(Mix.of(Mix.of(seed, seqno), origin), other);
    }

    void writeTo(DataOutput out) throws IOException {
        out.writeLong(seqno);
        out.writeInt(origin);
        out.writeLong(other);
    }

    void readFrom(DataInput in) throws IOException {
        seqno = in.readLong();
        origin = in.readInt();
        other = in.readLong();
    }
}
