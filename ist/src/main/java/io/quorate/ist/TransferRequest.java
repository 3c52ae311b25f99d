// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * What a joiner asks a donor for: {@code u8 kind | incarnation, 16 bytes | i64 from | i64 to}, big-endian.
 *
 * @param incarnation the life of the cluster that the seqnos belong to
 * @param from first seqno, of RECORDS
 * @param to last seqno, of RECORDS
 */
record TransferRequest(Kind kind, UUID incarnation, long from, long to) {
    enum Kind {
        /** The records of a range of seqnos, as a segment has them, in one zstd stream. */
        RECORDS,
        /** The newest checkpoint: {@code i64 term | i64 index | i64 seqno | content}, in one zstd stream. */
        CHECKPOINT
    }

    private static final int BYTES = 1 + 16 + 8 + 8;

    byte[] encode() {
        return ByteBuffer.allocate(BYTES)
                .put((byte) kind.ordinal())
                .putLong(incarnation.getMostSignificantBits())
                .putLong(incarnation.getLeastSignificantBits())
                .putLong(from)
                .putLong(to)
                .array();
    }

    static TransferRequest decode(byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        if (bytes.length != BYTES || !isOne(bytes)) {
            throw new QuorateException(ErrorCode.MALFORMED_MESSAGE, "a transfer was asked for in an unknown form");
        }
        Kind kind = Kind.values()[in.get()];
        return new TransferRequest(kind, new UUID(in.getLong(), in.getLong()), in.getLong(), in.getLong());
    }

    /** Whether bytes with this beginning are a request for a transfer. */
    static boolean isOne(byte[] bytes) {
        return bytes.length > 0 && bytes[0] >= 0 && bytes[0] < Kind.values().length;
    }
}
