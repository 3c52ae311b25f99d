// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.Arrays;

/**
 * Collects the keys of one writeset; a hash that is added twice keeps the strongest type. A small open-addressing
 * table, reused from one writeset to the next, so that building keys allocates only what the writeset keeps. Not
 * thread-safe.
 */
public final class KeysBuilder {
    private static final int CAPACITY_MIN = 64;

    private long[] hashes = new long[CAPACITY_MIN];
    private byte[] types = new byte[CAPACITY_MIN];
    private int[] slots = new int[CAPACITY_MIN * 2];
    private int size;

    /** Adds a key, or strengthens the type of one already there. */
    public void add(long hash, KeyType type) {
        int slot = slotOf(hash);
        int at = slots[slot];
        if (at != 0) {
            types[at - 1] = (byte) Math.max(types[at - 1], type.ordinal());
            return;
        }
        hashes[size] = hash;
        types[size] = (byte) type.ordinal();
        slots[slot] = ++size;
        if (size == hashes.length) {
            grow();
        }
    }

    public int size() {
        return size;
    }

    /**
     * The keys collected, in the order in which they were first met, or, if they are many, sorted by their hashes; the
     * builder is empty afterwards.
     */
    public Keys build() {
        if (size >= Keys.SORTED_FROM) {
            return buildSorted();
        }
        Keys keys = size == 0 ? Keys.NONE : new Keys(Arrays.copyOf(hashes, size), Arrays.copyOf(types, size));
        clear();
        return keys;
    }

    private Keys buildSorted() {
        long[] sorted = Arrays.copyOf(hashes, size);
        Arrays.sort(sorted);
        byte[] typesSorted = new byte[size];
        for (int i = 0; i < size; i++) {
            typesSorted[i] = types[slots[slotOf(sorted[i])] - 1];
        }
        clear();
        return new Keys(sorted, typesSorted);
    }

    /** The slot of a key, or the one where it belongs. */
    private int slotOf(long hash) {
        int mask = slots.length - 1;
        int slot = spread(hash) & mask;
        for (int at; (at = slots[slot]) != 0 && hashes[at - 1] != hash; ) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    public void clear() {
        if (hashes.length > 16 * CAPACITY_MIN) {
            hashes = new long[CAPACITY_MIN];
            types = new byte[CAPACITY_MIN];
            slots = new int[CAPACITY_MIN * 2];
        } else if (size > 0) {
            Arrays.fill(slots, 0);
        }
        size = 0;
    }

    private void grow() {
        hashes = Arrays.copyOf(hashes, size * 2);
        types = Arrays.copyOf(types, size * 2);
        slots = new int[size * 4];
        int mask = slots.length - 1;
        for (int i = 0; i < size; i++) {
            int slot = spread(hashes[i]) & mask;
            while (slots[slot] != 0) {
                slot = (slot + 1) & mask;
            }
            slots[slot] = i + 1;
        }
    }

    private static int spread(long hash) {
        long h = hash * 0x9E3779B97F4A7C15L;
        return (int) (h ^ (h >>> 32));
    }
}
