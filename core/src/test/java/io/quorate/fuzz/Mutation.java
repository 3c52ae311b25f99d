// SPDX-License-Identifier: Apache-2.0
package io.quorate.fuzz;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Tampers with valid messages: bits, lengths and counts, pieces of one in another, ends that are missing. */
final class Mutation {
    private static final int STEPS_MAX = 4;
    private static final int PIECE_MAX = 64;

    private final Random random;
    private final List<byte[]> valid;

    Mutation(Random random, List<byte[]> valid) {
        this.random = random;
        this.valid = valid;
    }

    byte[] next() {
        byte[] message = any().clone();
        for (int left = 1 + random.nextInt(STEPS_MAX); left > 0; left--) {
            message = changed(message);
        }
        return message;
    }

    private byte[] any() {
        return valid.get(random.nextInt(valid.size()));
    }

    private byte[] changed(byte[] message) {
        if (message.length == 0) {
            return new byte[] {(byte) random.nextInt()};
        }
        int at = place(message.length);
        switch (random.nextInt(9)) {
            case 0 -> message[at] ^= (byte) (1 << random.nextInt(8));
            case 1 -> message[at] = (byte) random.nextInt();
            case 2, 3 -> number(message, at);
            case 8 -> packed(message, at);
            case 4 -> {
                return Arrays.copyOf(message, at);
            }
            case 5 -> {
                return spliced(message, at, at, piece(any()));
            }
            case 6 -> {
                return spliced(message, at, Math.min(message.length, at + random.nextInt(PIECE_MAX)), new byte[0]);
            }
            default -> {
                byte[] piece = piece(any());
                return spliced(message, at, Math.min(message.length, at + piece.length), piece);
            }
        }
        return message;
    }

    /** Often near the beginning, where lengths are. */
    private int place(int length) {
        return random.nextInt(random.nextBoolean() ? length : Math.min(length, PIECE_MAX));
    }

    /** A number that a length or a count isn't expected to be. */
    private void number(byte[] message, int at) {
        int bytes = 1 << random.nextInt(4);
        if (at + bytes > message.length) {
            return;
        }
        long value =
                switch (random.nextInt(7)) {
                    case 0 -> 0;
                    case 1 -> -1;
                    case 2 -> Long.MAX_VALUE >>> (64 - 8 * bytes);
                    case 3 -> 1L << random.nextInt(8 * bytes);
                    case 4 -> message.length + random.nextInt(3) - 1;
                    case 5 -> Integer.MAX_VALUE - random.nextInt(20);
                    default -> random.nextLong();
                };
        ByteBuffer number = ByteBuffer.allocate(8);
        if (random.nextBoolean()) {
            number.order(ByteOrder.LITTLE_ENDIAN).putLong(0, value).get(0, message, at, bytes);
        } else {
            number.putLong(0, value).get(8 - bytes, message, at, bytes);
        }
    }

    /** A length as MySQL writes large ones: a mark of how many bytes it has, then these. */
    private void packed(byte[] message, int at) {
        int[] bytes = {2, 3, 8};
        int form = random.nextInt(bytes.length);
        if (at + 1 + bytes[form] <= message.length) {
            message[at] = (byte) (252 + form);
            long length = 1L << random.nextInt(Math.min(31, 8 * bytes[form]));
            for (int i = 0; i < bytes[form]; i++) {
                message[at + 1 + i] = (byte) (length >>> (8 * i));
            }
        }
    }

    private byte[] piece(byte[] of) {
        int from = of.length == 0 ? 0 : random.nextInt(of.length);
        return Arrays.copyOfRange(of, from, Math.min(of.length, from + random.nextInt(PIECE_MAX)));
    }

    private static byte[] spliced(byte[] message, int from, int to, byte[] piece) {
        byte[] result = new byte[from + piece.length + message.length - to];
        System.arraycopy(message, 0, result, 0, from);
        System.arraycopy(piece, 0, result, from, piece.length);
        System.arraycopy(message, to, result, from + piece.length, message.length - to);
        return result;
    }
}
