// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import java.util.Arrays;

/** The bytes of one key in comparison form, before they are hashed. Reused; not thread-safe. */
final class KeyBytes {
    private byte[] bytes = new byte[256];
    private int size;

    void clear() {
        size = 0;
    }

    int size() {
        return size;
    }

    void truncate(int newSize) {
        size = newSize;
    }

    int at(int index) {
        return bytes[index] & 0xff;
    }

    void put(int b) {
        room(1);
        bytes[size++] = (byte) b;
    }

    void putInt(int value) {
        room(4);
        for (int shift = 0; shift < 32; shift += 8) {
            bytes[size++] = (byte) (value >>> shift);
        }
    }

    void putLong(long value) {
        room(8);
        for (int shift = 0; shift < 64; shift += 8) {
            bytes[size++] = (byte) (value >>> shift);
        }
    }

    void put(byte[] source, int offset, int length) {
        room(length);
        System.arraycopy(source, offset, bytes, size, length);
        size += length;
    }

    long hash(long seed) {
        return Hash64.hash(bytes, 0, size, seed);
    }

    private void room(int more) {
        if (size + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + more));
        }
    }
}
