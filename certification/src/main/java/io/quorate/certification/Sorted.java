// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import java.io.DataOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Entries of one table in canonical order. They come almost sorted, so each is inserted from the end. */
final class Sorted {
    private long[] mixed = new long[64];
    private long[] hashes = new long[64];
    private long[] entries = new long[64];
    private int size;

    void clear() {
        size = 0;
    }

    void add(long newMixed, long hash, long entry) {
        if (size == mixed.length) {
            mixed = Arrays.copyOf(mixed, 2 * size);
            hashes = Arrays.copyOf(hashes, 2 * size);
            entries = Arrays.copyOf(entries, 2 * size);
        }
        int at = size++;
        for (; at > 0 && isAbove(at - 1, newMixed, entry); at--) {
            mixed[at] = mixed[at - 1];
            hashes[at] = hashes[at - 1];
            entries[at] = entries[at - 1];
        }
        mixed[at] = newMixed;
        hashes[at] = hash;
        entries[at] = entry;
    }

    private boolean isAbove(int at, long otherMixed, long otherEntry) {
        int order = Long.compareUnsigned(mixed[at], otherMixed);
        return order > 0 || (order == 0 && entries[at] > otherEntry);
    }

    void writeTo(DataOutput out) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(16 * size);
        for (int i = 0; i < size; i++) {
            bytes.putLong(hashes[i]).putLong(entries[i]);
        }
        out.write(bytes.array());
    }
}
