// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.UUID;

/**
 * The start of a segment file, little-endian: {@code "QRWC" | u32 version | i64 first seqno | u64 u64 incarnation |
 * zeros up to 60 | u32 CRC32C of these 60 bytes}.
 */
record SegmentHeader(long firstSeqno, UUID incarnation) {
    static final int BYTES = 64;
    private static final int MAGIC = 'Q' | 'R' << 8 | 'W' << 16 | 'C' << 24;
    private static final int VERSION = 1;
    private static final int CRC_OFFSET = BYTES - 4;

    ByteBuffer encode() {
        ByteBuffer out = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(MAGIC).putInt(VERSION).putLong(firstSeqno);
        out.putLong(incarnation.getMostSignificantBits()).putLong(incarnation.getLeastSignificantBits());
        out.putInt(CRC_OFFSET, Checksum.of(out.array(), 0, CRC_OFFSET));
        return out.clear();
    }

    /** Null when the file starts with anything but a whole header. */
    static SegmentHeader read(FileChannel file) throws IOException {
        ByteBuffer in = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        while (in.hasRemaining() && file.read(in, in.position()) >= 0) {
            // Until it is full or the file ends.
        }
        if (in.hasRemaining()
                || in.getInt(0) != MAGIC
                || in.getInt(4) != VERSION
                || in.getInt(CRC_OFFSET) != Checksum.of(in.array(), 0, CRC_OFFSET)) {
            return null;
        }
        return new SegmentHeader(in.getLong(8), new UUID(in.getLong(16), in.getLong(24)));
    }
}
