// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import com.github.luben.zstd.Zstd;
import io.quorate.core.BinlogEvents;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.binlog.EventReader;
import java.util.Arrays;

/**
 * A TRANSACTION_PAYLOAD event ({@code binlog_transaction_compression}): fields of type, length and value, then all
 * events of a transaction except its GTID, compressed. {@code Transaction_payload_event} in the server's {@code
 * libbinlogevents/include/control_events.h}.
 */
final class CompressedEvents {
    private static final int END = 0;
    private static final int PAYLOAD_BYTES = 1;
    private static final int COMPRESSION = 2;
    private static final int PLAIN_BYTES = 3;
    private static final long ZSTD = 0;
    private static final long NOT_COMPRESSED = 255;

    private CompressedEvents() {}

    /** The events inside, back to back, without checksums. */
    static byte[] unpack(byte[] b, int offset, int length, long bytesMax) {
        EventReader in = new EventReader(b, offset + BinlogEvents.HEADER_BYTES, offset + length);
        long payloadBytes = -1;
        long compression = ZSTD;
        long plainBytes = -1;
        for (long field; (field = in.packed()) != END; ) {
            int fieldBytes = in.packedInt();
            EventReader value = new EventReader(b, in.at, in.at + fieldBytes);
            in.skip(fieldBytes);
            if (field == PAYLOAD_BYTES) {
                payloadBytes = value.packed();
            } else if (field == COMPRESSION) {
                compression = value.packed();
            } else if (field == PLAIN_BYTES) {
                plainBytes = value.packed();
            }
        }
        if (payloadBytes != in.remaining()) {
            throw new IndexOutOfBoundsException(
                    "compressed payload of " + payloadBytes + " bytes in " + in.remaining());
        }
        if (compression == NOT_COMPRESSED) {
            return Arrays.copyOfRange(b, in.at, in.end);
        }
        if (compression != ZSTD) {
            throw new QuorateException(ErrorCode.UNSUPPORTED_EVENT, "compression of type " + compression);
        }
        // The allowance beyond the limit is for what is dropped from the events: BEGIN, XID, the texts of statements.
        if (plainBytes < 0 || plainBytes > Math.min(2 * bytesMax + (1 << 20), Integer.MAX_VALUE - 16)) {
            throw new QuorateException(
                    ErrorCode.TRANSACTION_TOO_LARGE, "a compressed transaction of " + plainBytes + " bytes");
        }
        byte[] plain = new byte[(int) plainBytes];
        long done = Zstd.decompressByteArray(plain, 0, plain.length, b, in.at, in.remaining());
        if (done != plainBytes) {
            throw new QuorateException(
                    ErrorCode.CORRUPT_EVENT,
                    "a compressed transaction can't be unpacked: "
                            + (Zstd.isError(done) ? Zstd.getErrorName(done) : done + " of " + plainBytes + " bytes"));
        }
        return plain;
    }
}
