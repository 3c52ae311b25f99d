// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;

/**
 * A {@link WriteSet} as bytes, little-endian:
 *
 * <pre>
 * u8 version (2) | u8 kind | u16 built on, how many | i32 keys | i32 payload bytes | u64 u64 source uuid | i64 number
 * i64 lastSeen | i64 committedMicros | i64 session | built on, 8 bytes each | hashes, 8 bytes each | types, 1 byte each
 * payload
 * </pre>
 */
public final class WriteSetCodec {
    static final int VERSION = 2;
    static final int FIXED_BYTES = 4 + 4 + 4 + 16 + 8 + 8 + 8 + 8;
    private static final WriteSet.Kind[] KINDS = WriteSet.Kind.values();

    private WriteSetCodec() {}

    public static int encodedBytes(WriteSet w) {
        return Math.addExact(headBytes(w), w.payload().size());
    }

    /** The size of all but the payload. */
    public static int headBytes(WriteSet w) {
        return Math.addExact(
                FIXED_BYTES + 8 * w.builtOn().length,
                Math.multiplyExact(9, w.keys().size()));
    }

    /** Writes at the buffer's position and moves it. */
    public static void encode(WriteSet w, ByteBuffer out) {
        encodeHead(w, out);
        out.put(w.payload().buffer());
    }

    /** Writes all but the payload, which comes last. */
    public static void encodeHead(WriteSet w, ByteBuffer out) {
        ByteOrder order = out.order();
        out.order(ByteOrder.LITTLE_ENDIAN);
        Keys keys = w.keys();
        out.put((byte) VERSION).put((byte) w.kind().ordinal()).putShort((short) w.builtOn().length);
        out.putInt(keys.size()).putInt(w.payload().size());
        out.putLong(w.gtid().source().getMostSignificantBits());
        out.putLong(w.gtid().source().getLeastSignificantBits());
        out.putLong(w.gtid().number()).putLong(w.lastSeen()).putLong(w.committedMicros());
        out.putLong(w.session());
        for (long number : w.builtOn()) {
            out.putLong(number);
        }
        for (int i = 0; i < keys.size(); i++) {
            out.putLong(keys.hash(i));
        }
        for (int i = 0; i < keys.size(); i++) {
            out.put((byte) keys.typeOrdinal(i));
        }
        out.order(order);
    }

    /**
     * Reads at the buffer's position and moves it. If the buffer is direct, it must be a mapped file that never
     * changes: a large payload is a part of it ({@link Payload#inFile}). Otherwise the result shares nothing with the
     * buffer.
     *
     * @throws QuorateException {@link ErrorCode#INCOMPATIBLE_PEER} for another version, {@link
     *     ErrorCode#MALFORMED_MESSAGE} for anything that can't have been written by {@link #encode}
     */
    public static WriteSet decode(ByteBuffer in) {
        ByteOrder order = in.order();
        in.order(ByteOrder.LITTLE_ENDIAN);
        try {
            require(in.remaining() >= FIXED_BYTES, "writeset cut short");
            int version = in.get();
            if (version != VERSION) {
                throw new QuorateException(ErrorCode.INCOMPATIBLE_PEER, "writeset of version " + version);
            }
            int kind = in.get();
            int builtOnCount = in.getShort() & 0xffff;
            int keyCount = in.getInt();
            int payloadBytes = in.getInt();
            require(kind >= 0 && kind < KINDS.length, "writeset of kind " + kind);
            UUID source = new UUID(in.getLong(), in.getLong());
            long number = in.getLong();
            long lastSeen = in.getLong();
            long committedMicros = in.getLong();
            long session = in.getLong();
            require(
                    number > 0
                            && keyCount >= 0
                            && payloadBytes >= 0
                            && 8L * builtOnCount + 9L * keyCount + payloadBytes <= in.remaining(),
                    "writeset with lengths that don't fit");
            long[] builtOn = builtOnCount == 0 ? WriteSet.BUILT_ON_NONE : new long[builtOnCount];
            for (int i = 0; i < builtOnCount; i++) {
                builtOn[i] = in.getLong();
                require(i == 0 ? builtOn[0] >= 0 : builtOn[i] > builtOn[i - 1], "built on numbers out of order");
            }
            require(builtOnCount == 0 || builtOn[builtOnCount - 1] < number, "writeset built on a later one");
            long[] hashes = new long[keyCount];
            for (int i = 0; i < keyCount; i++) {
                hashes[i] = in.getLong();
            }
            byte[] types = new byte[keyCount];
            in.get(types);
            for (byte type : types) {
                require(type >= 0 && type <= KeyType.EXCLUSIVE.ordinal(), "key of type " + type);
            }
            Payload payload = payload(in, payloadBytes);
            return new WriteSet(
                    new Gtid(source, number),
                    lastSeen,
                    committedMicros,
                    KINDS[kind],
                    keyCount == 0 ? Keys.NONE : new Keys(hashes, types),
                    payload,
                    builtOn,
                    session);
        } finally {
            in.order(order);
        }
    }

    private static Payload payload(ByteBuffer in, int bytes) {
        if (in.isDirect() && bytes > Payload.HEAP_BYTES_MAX) {
            Payload payload = Payload.inFile(in.slice(in.position(), bytes));
            in.position(in.position() + bytes);
            return payload;
        }
        byte[] events = new byte[bytes];
        in.get(events);
        return Payload.of(events);
    }

    static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new QuorateException(ErrorCode.MALFORMED_MESSAGE, otherwise);
        }
    }
}
