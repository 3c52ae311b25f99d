// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * A {@link Ballot} as bytes, little-endian: {@code "QRB1" | u8 kind | u8 bytes of the name | u64 u64 server | i64 seqno
 * | i64 micros | name in UTF-8}.
 */
public final class BallotCodec {
    private static final int MAGIC = 'Q' | 'R' << 8 | 'B' << 16 | '1' << 24;
    private static final int FIXED_BYTES = 4 + 1 + 1 + 16 + 8 + 8;
    private static final int NAME_BYTES_MAX = 255;
    private static final Ballot.Kind[] KINDS = Ballot.Kind.values();

    private BallotCodec() {}

    public static byte[] encode(Ballot ballot) {
        byte[] name = ballot.node().getBytes(StandardCharsets.UTF_8);
        if (name.length > NAME_BYTES_MAX) {
            throw new IllegalArgumentException("node name of " + name.length + " bytes");
        }
        ByteBuffer out = ByteBuffer.allocate(FIXED_BYTES + name.length).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(MAGIC).put((byte) ballot.kind().ordinal()).put((byte) name.length);
        out.putLong(ballot.server().getMostSignificantBits());
        out.putLong(ballot.server().getLeastSignificantBits());
        out.putLong(ballot.seqno()).putLong(ballot.micros()).put(name);
        return out.array();
    }

    /** Whether an entry of the order is a ballot. */
    public static boolean isBallot(ByteBuffer entry) {
        return entry.remaining() >= 4
                && entry.duplicate().order(ByteOrder.LITTLE_ENDIAN).getInt() == MAGIC;
    }

    /**
     * Reads the whole of {@code entry}.
     *
     * @throws QuorateException MALFORMED_MESSAGE for anything that can't have been written by {@link #encode}
     */
    public static Ballot decode(ByteBuffer entry) {
        ByteBuffer in = entry.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        WriteSetCodec.require(in.remaining() >= FIXED_BYTES && in.getInt() == MAGIC, "ballot cut short");
        int kind = in.get();
        int nameBytes = in.get() & 0xff;
        UUID server = new UUID(in.getLong(), in.getLong());
        long seqno = in.getLong();
        long micros = in.getLong();
        WriteSetCodec.require(
                kind >= 0 && kind < KINDS.length && in.remaining() == nameBytes && seqno >= 0, "impossible ballot");
        byte[] name = new byte[nameBytes];
        in.get(name);
        return new Ballot(KINDS[kind], new String(name, StandardCharsets.UTF_8), server, seqno, micros);
    }
}
