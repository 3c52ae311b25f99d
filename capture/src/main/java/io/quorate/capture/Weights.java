// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.binlog.Bytes;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The weights that a collation gives to single characters, and to pairs that it treats as one letter: the server's own
 * weights, first level only. All characters that aren't here have one common weight.
 */
final class Weights {
    private static final byte[] NOTHING = {};
    private static final int CODE_BYTES_MAX = 4;

    private final byte[][] characters;
    private final Map<Long, byte[]> codes = new HashMap<>();
    private final Map<Long, byte[]> pairs = new HashMap<>();
    private byte[] unknown = NOTHING;

    /** @param characters how many there may be */
    Weights(int characters) {
        this.characters = new byte[characters][];
    }

    void add(int character, byte[] weight) {
        // Many have the same weight as a neighbour: other case, or characters of no weight.
        byte[] before = character == 0 ? NOTHING : characters[character - 1];
        characters[character] = weight.length == 0 ? NOTHING : Arrays.equals(weight, before) ? before : weight;
    }

    /** Adds a character, by its one to four bytes, of a charset that is neither Unicode nor single-byte. */
    void addCode(byte[] code, byte[] weight) {
        codes.put(codeOf(code, 0, code.length), weight);
    }

    /**
     * The number of bytes of the character at {@code at} in a text of such a charset; no character's bytes are the
     * beginning of another's.
     *
     * @return 0 when no character is known there
     */
    int codeBytes(byte[] text, int at, int end) {
        for (int n = 1; n <= CODE_BYTES_MAX && at + n <= end; n++) {
            if (codes.containsKey(codeOf(text, at, n))) {
                return n;
            }
        }
        return 0;
    }

    /** The weight of such a character. */
    byte[] ofCode(byte[] text, int at, int bytes) {
        return bytes == 0 ? unknown : codes.get(codeOf(text, at, bytes));
    }

    private static long codeOf(byte[] code, int at, int bytes) {
        return ((long) bytes << 32) | Bytes.big(code, at, bytes);
    }

    /** Sets the weight of characters that were not added. */
    void unknown(byte[] weight) {
        unknown = weight;
    }

    /** Adds a pair, unless its weight is just that of its characters. Call it after these were added. */
    void addPair(int first, int second, byte[] weight) {
        byte[] one = of(first);
        byte[] other = of(second);
        boolean same = one.length + other.length == weight.length
                && Arrays.equals(one, 0, one.length, weight, 0, one.length)
                && Arrays.equals(other, 0, other.length, weight, one.length, weight.length);
        if (!same) {
            pairs.put(pairOf(first, second), weight);
        }
    }

    /**
     * Removes letters, and everything that has the same weight or contains it, from the comparison. Weights have two
     * bytes.
     */
    void drop(String letters) {
        Set<Integer> dropped = new HashSet<>();
        letters.chars().forEach(letter -> dropped.add(unit(of(letter), 0)));
        pairs.keySet().removeIf(pair -> {
            byte[] first = of((int) (pair >>> 32));
            return first.length > 0 && dropped.contains(unit(first, 0));
        });
        for (int c = 0; c < characters.length; c++) {
            byte[] weight = characters[c];
            if (weight == null) {
                continue;
            }
            byte[] rest = new byte[weight.length];
            int n = 0;
            for (int i = 0; i + 1 < weight.length; i += 2) {
                if (!dropped.contains(unit(weight, i))) {
                    rest[n++] = weight[i];
                    rest[n++] = weight[i + 1];
                }
            }
            characters[c] = n == weight.length ? weight : Arrays.copyOf(rest, n);
        }
    }

    private static int unit(byte[] weight, int at) {
        return (int) Bytes.big(weight, at, 2);
    }

    boolean hasPairs() {
        return !pairs.isEmpty();
    }

    /** The weight of a pair that is one letter, null for any other. */
    byte[] pair(int first, int second) {
        return pairs.get(pairOf(first, second));
    }

    byte[] of(int character) {
        byte[] weight = character < characters.length ? characters[character] : null;
        return weight == null ? unknown : weight;
    }

    /** Whether it doesn't matter at the end of a text: a space, or a character that weighs the same or nothing. */
    boolean isPadding(int character) {
        byte[] weight = of(character);
        return weight.length == 0 || Arrays.equals(weight, of(' '));
    }

    private static long pairOf(int first, int second) {
        return ((long) first << 32) | second;
    }
}
