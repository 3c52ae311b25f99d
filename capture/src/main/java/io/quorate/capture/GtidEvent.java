// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import com.github.shyiko.mysql.binlog.event.MySqlGtid;
import com.github.shyiko.mysql.binlog.event.deserialization.GtidTaggedEventDataDeserializer;
import com.github.shyiko.mysql.binlog.io.ByteArrayInputStream;
import io.quorate.core.BinlogEvents;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.binlog.Bytes;
import java.io.IOException;
import java.util.Arrays;
import java.util.UUID;

/** Reads a GTID event: {@code Gtid_event} in the server's {@code libbinlogevents/include/control_events.h}. */
final class GtidEvent {
    private static final int SOURCE = BinlogEvents.HEADER_BYTES + 1;
    private static final int NUMBER = SOURCE + 16;
    private static final int COMMITTED = NUMBER + 8 + 1 + 16;
    private static final long HAS_ORIGINAL = 1L << 55;

    private GtidEvent() {}

    static boolean isFrom(UUID server, byte[] b, int offset) {
        return Bytes.big(b, offset + SOURCE, 8) == server.getMostSignificantBits()
                && Bytes.big(b, offset + SOURCE + 8, 8) == server.getLeastSignificantBits();
    }

    static UUID source(byte[] b, int offset) {
        return new UUID(Bytes.big(b, offset + SOURCE, 8), Bytes.big(b, offset + SOURCE + 8, 8));
    }

    static long number(byte[] b, int offset) {
        return Bytes.i64(b, offset + NUMBER);
    }

    /** When this server committed it, microseconds since the epoch; 0 from servers that don't record it. */
    static long committedMicros(byte[] b, int offset, int length) {
        if (length < COMMITTED + 7) {
            return 0;
        }
        return Bytes.little(b, offset + COMMITTED, 7) & ~HAS_ORIGINAL;
    }

    /** The name in the event of a tagged GTID, {@code uuid:tag:number}; by the binlog client's own reader. */
    static String tagged(byte[] b, int offset, int length) {
        byte[] data = Arrays.copyOfRange(b, offset + BinlogEvents.HEADER_BYTES, offset + length);
        try (ByteArrayInputStream in = new ByteArrayInputStream(data)) {
            MySqlGtid gtid =
                    new GtidTaggedEventDataDeserializer().deserialize(in).getMySqlGtid();
            return gtid.getServerId() + ":" + gtid.getTag() + ":" + gtid.getTransactionId();
        } catch (IOException | RuntimeException e) {
            throw new QuorateException(ErrorCode.UNSUPPORTED_EVENT, "a tagged GTID that can't be read: " + e, e);
        }
    }
}
