// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.binlog;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/** A cursor over the body of one binlog event. Reading past its end is an {@link IndexOutOfBoundsException}. */
public final class EventReader {
    public final byte[] bytes;
    public final int end;
    public int at;

    public EventReader(byte[] bytes, int from, int end) {
        this.bytes = bytes;
        this.at = from;
        this.end = end;
    }

    public int remaining() {
        return end - at;
    }

    public int u8() {
        return Bytes.u8(bytes, skip(1));
    }

    public int u16() {
        return Bytes.u16(bytes, skip(2));
    }

    public long u32() {
        return Bytes.u32(bytes, skip(4));
    }

    public long i64() {
        return Bytes.i64(bytes, skip(8));
    }

    public long little(int length) {
        return Bytes.little(bytes, skip(length), length);
    }

    /** MySQL's length-encoded integer. */
    public long packed() {
        int first = u8();
        return switch (first) {
            case 251 -> throw new IndexOutOfBoundsException("NULL where a length belongs");
            case 252 -> u16();
            case 253 -> little(3);
            case 254 -> i64();
            default -> first;
        };
    }

    public int packedInt() {
        long value = packed();
        if (value < 0 || value > Integer.MAX_VALUE) {
            throw new IndexOutOfBoundsException("length " + value);
        }
        return (int) value;
    }

    public String text(int length, Charset charset) {
        return new String(bytes, skip(length), length, charset);
    }

    /**
     * A name that is preceded by its length in one byte and followed by a zero; names are UTF-8 everywhere in the
     * binlog.
     */
    public String name() {
        int length = u8();
        String name = text(length, StandardCharsets.UTF_8);
        skip(1);
        return name;
    }

    /** Moves on and returns where it was before. */
    public int skip(int length) {
        int from = at;
        if (length < 0 || length > end - from) {
            throw new IndexOutOfBoundsException(length + " bytes at " + from + " of " + end);
        }
        at = from + length;
        return from;
    }
}
