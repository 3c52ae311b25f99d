// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import io.quorate.core.WriteSet;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/**
 * The writesets of one origin that failed and that it has not reported as seen: whatever it built on them fails too.
 * GTID numbers and seqnos both rise. At the bound the oldest is forgotten, and a writeset that may have been built on
 * that one is too old.
 */
final class Failures {
    static final int MAX = 1 << 16;

    private static final long[] NONE = {};

    private long[] numbers = NONE;
    private long[] seqnos = NONE;
    private int from;
    private int to;
    private long forgottenNumber;
    private long forgottenSeqno;

    void add(long number, long seqno) {
        if (to - from == MAX) {
            forgottenNumber = numbers[from];
            forgottenSeqno = seqnos[from++];
        }
        if (to == numbers.length) {
            int size = to - from;
            int room = Math.max(8, 2 * size);
            numbers = Arrays.copyOf(Arrays.copyOfRange(numbers, from, to), room);
            seqnos = Arrays.copyOf(Arrays.copyOfRange(seqnos, from, to), room);
            from = 0;
            to = size;
        }
        numbers[to] = number;
        seqnos[to++] = seqno;
    }

    /** The origin has undone what failed up to this seqno. */
    void seen(long lastSeen) {
        while (from < to && seqnos[from] <= lastSeen) {
            from++;
        }
        if (from == to) {
            numbers = NONE;
            seqnos = NONE;
            from = 0;
            to = 0;
        }
    }

    /** The seqno of the latest failed writeset that {@code w} was built on, 0 when there is none. */
    long under(WriteSet w) {
        if (w.isBuiltOnAll()) {
            return to > from && seqnos[to - 1] > w.lastSeen() ? seqnos[to - 1] : 0;
        }
        for (int i = w.builtOn().length - 1; i >= 0; i--) {
            int at = Arrays.binarySearch(numbers, from, to, w.builtOn()[i]);
            if (at >= 0 && seqnos[at] > w.lastSeen()) {
                return seqnos[at];
            }
        }
        return 0;
    }

    /** Whether {@code w} may have been built on a failed writeset that is forgotten. */
    boolean mayHide(WriteSet w) {
        return w.builtOn().length > 0 && w.builtOn()[0] <= forgottenNumber && forgottenSeqno > w.lastSeen();
    }

    long digest(long seed) {
        long h = Mix.of(Mix.of(Mix.of(seed, to - from), forgottenNumber), forgottenSeqno);
        for (int i = from; i < to; i++) {
            h = Mix.of(Mix.of(h, numbers[i]), seqnos[i]);
        }
        return h;
    }

    long[] seqnos() {
        return Arrays.copyOfRange(seqnos, from, to);
    }

    void writeTo(DataOutput out) throws IOException {
        out.writeLong(forgottenNumber);
        out.writeLong(forgottenSeqno);
        out.writeInt(to - from);
        for (int i = from; i < to; i++) {
            out.writeLong(numbers[i]);
            out.writeLong(seqnos[i]);
        }
    }

    void readFrom(DataInput in) throws IOException {
        forgottenNumber = in.readLong();
        forgottenSeqno = in.readLong();
        int count = in.readInt();
        State.require(count >= 0 && count <= MAX, "state with " + count + " failures of an origin");
        for (int i = 0; i < count; i++) {
            long number = in.readLong();
            long seqno = in.readLong();
            State.require(i == 0 || (number > numbers[to - 1] && seqno > seqnos[to - 1]), "failures out of order");
            add(number, seqno);
        }
    }
}
