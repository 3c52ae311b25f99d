// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.BinlogEvents;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The FORMAT_DESCRIPTION event every session needs before its first BINLOG: it tells the server how to read the events
 * that follow. Ours says "binlog version 4 as MySQL 8.0 writes it, no checksums", whatever the origin's file said.
 */
final class FormatDescription {
    private static final int TYPE = 15;
    private static final int VERSION_BYTES = 50;

    /**
     * Length of the fixed part after the header of each event type from 1 (START_V3) to 41, in MySQL 8.0.30 and later.
     */
    private static final byte[] POST_HEADER_BYTES = {
        0, 13, 0, 8, 0, 0, 0, 0, 4, 0, 4, 0, 0, 0, 98, 0, 4, 26, 8, 0, 0, 0, 8, 8, 8, 2, 0, 0, 0, 10, 10, 10, 42, 42, 0,
        18, 52, 0, 10, 40, 0
    };

    private FormatDescription() {}

    static byte[] event() {
        int length = BinlogEvents.HEADER_BYTES + 2 + VERSION_BYTES + 4 + 1 + POST_HEADER_BYTES.length + 1 + 4;
        ByteBuffer event = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        event.putInt(0).put((byte) TYPE).putInt(0).putInt(length).putInt(0).putShort((short) 0);
        event.putShort((short) 4);
        byte[] version = "8.0.30-quorate".getBytes(StandardCharsets.US_ASCII);
        event.put(version).position(event.position() + VERSION_BYTES - version.length);
        event.putInt(0).put((byte) BinlogEvents.HEADER_BYTES).put(POST_HEADER_BYTES);
        // Checksum algorithm: none. The four bytes of this event's own checksum are there even so.
        event.put((byte) 0).putInt(0);
        return event.array();
    }
}
