// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.nio.ByteBuffer;
import java.util.List;

/** The bytes of an entry for the {@link TotalOrder}, in parts, of which large ones may be files. */
public final class Entry {
    private final List<ByteBuffer> parts;
    private final int size;

    /** @throws ArithmeticException for more than 2 GiB */
    public Entry(List<ByteBuffer> parts) {
        this.parts = List.copyOf(parts);
        int bytes = 0;
        for (ByteBuffer part : parts) {
            bytes = Math.addExact(bytes, part.remaining());
        }
        size = bytes;
    }

    public static Entry of(byte[] bytes) {
        return new Entry(List.of(ByteBuffer.wrap(bytes)));
    }

    public int size() {
        return size;
    }

    /** Writes the bytes from {@code from} on to a buffer, at its position, so many. */
    public void copy(int from, int length, ByteBuffer into) {
        int start = from;
        int left = length;
        for (ByteBuffer part : parts) {
            int bytes = part.remaining();
            if (start < bytes && left > 0) {
                int now = Math.min(left, bytes - start);
                into.put(part.slice(part.position() + start, now));
                left -= now;
                start = 0;
            } else {
                start -= Math.min(start, bytes);
            }
        }
        if (left > 0) {
            throw new IndexOutOfBoundsException(from + " and " + length + " more of " + size);
        }
    }

    /** All bytes in an array. */
    public byte[] toArray() {
        ByteBuffer all = ByteBuffer.allocate(size);
        copy(0, size, all);
        return all.array();
    }
}
