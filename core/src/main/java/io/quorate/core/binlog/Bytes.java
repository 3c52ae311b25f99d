// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.binlog;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Fixed-size integers in binlog events, little-endian unless it says otherwise. */
public final class Bytes {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private Bytes() {}

    public static int u8(byte[] b, int at) {
        return b[at] & 0xff;
    }

    public static int u16(byte[] b, int at) {
        return (b[at] & 0xff) | ((b[at + 1] & 0xff) << 8);
    }

    public static int i32(byte[] b, int at) {
        return (int) INTS.get(b, at);
    }

    public static void i32(byte[] b, int at, int value) {
        INTS.set(b, at, value);
    }

    public static long u32(byte[] b, int at) {
        return i32(b, at) & 0xffff_ffffL;
    }

    public static long i64(byte[] b, int at) {
        return (long) LONGS.get(b, at);
    }

    /** {@code length} bytes, 1 to 8, unsigned. */
    public static long little(byte[] b, int at, int length) {
        long value = 0;
        for (int i = length - 1; i >= 0; i--) {
            value = (value << 8) | (b[at + i] & 0xff);
        }
        return value;
    }

    /** {@code length} bytes, 1 to 8, most significant first, unsigned. */
    public static long big(byte[] b, int at, int length) {
        long value = 0;
        for (int i = 0; i < length; i++) {
            value = (value << 8) | (b[at + i] & 0xff);
        }
        return value;
    }
}
