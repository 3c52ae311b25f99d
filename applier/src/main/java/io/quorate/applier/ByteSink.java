// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.util.Arrays;

/** Bytes that are appended to, kept for the next use unless they grew large. */
final class ByteSink {
    private static final int KEEP_BYTES = 4 << 20;

    private byte[] bytes;
    private int size;

    ByteSink(int capacity) {
        bytes = new byte[capacity];
    }

    int size() {
        return size;
    }

    byte[] array() {
        return bytes;
    }

    /** Makes room for this many bytes at once. */
    void reserve(int length) {
        if (length > bytes.length - size) {
            bytes = Arrays.copyOf(bytes, Math.max(Math.addExact(size, length), (int) Math.min(2L * size, 1 << 30)));
        }
    }

    /** Appends a range and answers where it begins. */
    int append(byte[] from, int offset, int length) {
        reserve(length);
        System.arraycopy(from, offset, bytes, size, length);
        size += length;
        return size - length;
    }

    void append(ByteSink that) {
        append(that.bytes, 0, that.size);
    }

    void clear() {
        size = 0;
        if (bytes.length > KEEP_BYTES) {
            bytes = new byte[KEEP_BYTES];
        }
    }

    /** A copy; the array itself when it is full and large, which the next {@link #clear} then lets go. */
    byte[] toArray() {
        return size == bytes.length && size > KEEP_BYTES ? bytes : Arrays.copyOf(bytes, size);
    }
}
