// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayDeque;

/**
 * The definitions of one origin that passed, and that it has not reported as seen: its server may not have come to
 * their places yet. What its clients write meanwhile is guarded ({@code OwnDefinitions} in {@code core}), and a server
 * that is captured again from there has to know of them. Nothing is decided by them here. At the bound the oldest is
 * forgotten.
 */
final class UnseenDefinitions {
    static final int MAX = 1 << 12;

    private final ArrayDeque<Long> seqnos = new ArrayDeque<>(2);

    void add(long seqno) {
        if (seqnos.size() == MAX) {
            seqnos.removeFirst();
        }
        seqnos.addLast(seqno);
    }

    void seen(long lastSeen) {
        while (!seqnos.isEmpty() && seqnos.getFirst() <= lastSeen) {
            seqnos.removeFirst();
        }
    }

    /** In ascending order. */
    long[] seqnos() {
        return seqnos.stream().mapToLong(seqno -> seqno).toArray();
    }

    long digest(long seed) {
        long h = Mix.of(seed, seqnos.size());
        for (long seqno : seqnos) {
            h = Mix.of(h, seqno);
        }
        return h;
    }

    void writeTo(DataOutput out) throws IOException {
        out.writeInt(seqnos.size());
        for (long seqno : seqnos) {
            out.writeLong(seqno);
        }
    }

    void readFrom(DataInput in) throws IOException {
        int count = in.readInt();
        State.require(count >= 0 && count <= MAX, "state with " + count + " definitions of an origin");
        for (int i = 0; i < count; i++) {
            long seqno = in.readLong();
            State.require(i == 0 || seqno > seqnos.getLast(), "definitions out of order");
            add(seqno);
        }
    }
}
