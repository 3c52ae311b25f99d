// SPDX-License-Identifier: Apache-2.0
package io.quorate.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

/**
 * Tries a decoder with messages that somebody has tampered with, made from valid ones. It may take one, or refuse it
 * with an exception that it declares; anything else is a fault, and so is more memory than a message of that size can
 * need, because then a length was believed.
 *
 * <p>{@code -Dquorate.fuzz=N} has N messages for each decoder, {@code -Dquorate.fuzz.seed=S} the same ones again.
 */
public final class Fuzz {
    private static final int INPUTS = 4_000;
    private static final int SHOWN_BYTES_MAX = 2_000;
    /** What a decoder may need whatever the size of its input: a buffer, exceptions with stack traces. */
    private static final long BYTES = 2 << 20;

    private final long seed = Long.getLong("quorate.fuzz.seed", System.nanoTime());
    private final List<byte[]> valid;
    private final List<Class<? extends Throwable>> declared = new ArrayList<>();
    private long bytesPerByte = 100;
    private int share = 1;

    /** Decodes a message. */
    @FunctionalInterface
    public interface Decoder {
        void decode(byte[] message) throws Throwable;
    }

    private Fuzz(List<byte[]> valid) {
        this.valid = valid;
    }

    /** @param valid messages that the decoder takes */
    public static Fuzz of(List<byte[]> valid) {
        return new Fuzz(List.copyOf(valid));
    }

    /** This may come out. */
    public Fuzz refusing(Class<? extends Throwable> exception) {
        declared.add(exception);
        return this;
    }

    /** So many bytes may be allocated for each byte of a message. */
    public Fuzz allocating(long perByte) {
        bytesPerByte = perByte;
        return this;
    }

    /** For a decoder that is slow: takes only one of so many inputs. */
    public Fuzz slowly(int one) {
        share = one;
        return this;
    }

    public void run(Decoder decoder) {
        for (byte[] message : valid) {
            try {
                decoder.decode(message.clone());
            } catch (Throwable e) {
                throw new AssertionError("a valid message isn't taken: " + shown(message), e);
            }
        }
        Mutation mutation = new Mutation(new Random(seed), valid);
        int inputs = Math.max(1, Integer.getInteger("quorate.fuzz", INPUTS) / share);
        for (int i = 0; i < inputs; i++) {
            one(decoder, mutation.next(), i);
        }
    }

    private void one(Decoder decoder, byte[] message, int number) {
        String which = "seed " + seed + ", input " + number + " of " + message.length + " bytes: ";
        byte[] given = message.clone();
        long before = allocated();
        try {
            decoder.decode(given);
        } catch (Throwable e) {
            if (declared.stream().noneMatch(type -> type.isInstance(e))) {
                throw new AssertionError(which + e + "; " + shown(message), e);
            }
        }
        long took = allocated() - before;
        if (took > BYTES + bytesPerByte * message.length) {
            throw new AssertionError(which + took + " bytes were allocated; " + shown(message));
        }
    }

    /** By this thread so far; 0 where the JVM doesn't tell. */
    private static long allocated() {
        return ManagementFactory.getThreadMXBean() instanceof ThreadMXBean threads
                        && threads.isThreadAllocatedMemorySupported()
                ? threads.getThreadAllocatedBytes(Thread.currentThread().getId())
                : 0;
    }

    private static String shown(byte[] message) {
        int length = Math.min(message.length, SHOWN_BYTES_MAX);
        return HexFormat.of().formatHex(message, 0, length) + (length < message.length ? "..." : "");
    }
}
