// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * XXH64 (xxHash specification, version 0.1.1): the hash of keys. Nodes exchange it, so it must never change; its test
 * checks it against the published vectors.
 */
final class Hash64 {
    private static final long P1 = 0x9E3779B185EBCA87L;
    private static final long P2 = 0xC2B2AE3D27D4EB4FL;
    private static final long P3 = 0x165667B19E3779F9L;
    private static final long P4 = 0x85EBCA77C2B2AE63L;
    private static final long P5 = 0x27D4EB2F165667C5L;

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private Hash64() {}

    static long hash(byte[] bytes, int offset, int length, long seed) {
        int at = offset;
        int end = offset + length;
        long h;
        if (length >= 32) {
            long a = seed + P1 + P2;
            long b = seed + P2;
            long c = seed;
            long d = seed - P1;
            for (int last = end - 32; at <= last; at += 32) {
                a = round(a, (long) LONGS.get(bytes, at));
                b = round(b, (long) LONGS.get(bytes, at + 8));
                c = round(c, (long) LONGS.get(bytes, at + 16));
                d = round(d, (long) LONGS.get(bytes, at + 24));
            }
            h = Long.rotateLeft(a, 1) + Long.rotateLeft(b, 7) + Long.rotateLeft(c, 12) + Long.rotateLeft(d, 18);
            h = merge(merge(merge(merge(h, a), b), c), d);
        } else {
            h = seed + P5;
        }
        return tail(bytes, at, end, h + length);
    }

    private static long tail(byte[] bytes, int from, int end, long start) {
        long h = start;
        int at = from;
        for (; at + 8 <= end; at += 8) {
            h = Long.rotateLeft(h ^ round(0, (long) LONGS.get(bytes, at)), 27) * P1 + P4;
        }
        if (at + 4 <= end) {
            h = Long.rotateLeft(h ^ ((int) INTS.get(bytes, at) & 0xffff_ffffL) * P1, 23) * P2 + P3;
            at += 4;
        }
        for (; at < end; at++) {
            h = Long.rotateLeft(h ^ (bytes[at] & 0xff) * P5, 11) * P1;
        }
        h = (h ^ (h >>> 33)) * P2;
        h = (h ^ (h >>> 29)) * P3;
        return h ^ (h >>> 32);
    }

    private static long round(long accumulator, long input) {
        return Long.rotateLeft(accumulator + input * P2, 31) * P1;
    }

    private static long merge(long h, long accumulator) {
        return (h ^ round(0, accumulator)) * P1 + P4;
    }
}
