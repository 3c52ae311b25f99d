// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import io.quorate.core.BinlogEvents;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.binlog.EventReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * A TRANSACTION_PAYLOAD event ({@code binlog_transaction_compression}): fields of type, length and value, then all
 * events of a transaction except its GTID, compressed. They are unpacked one after the other. The format is that of
 * {@code Transaction_payload_event} in the server's {@code libbinlogevents/include/control_events.h}.
 */
final class CompressedEvents implements AutoCloseable {
    private static final int END = 0;
    private static final int PAYLOAD_BYTES = 1;
    private static final int COMPRESSION = 2;
    private static final long ZSTD = 0;
    private static final long NOT_COMPRESSED = 255;

    /** What tells of which table rows are. */
    private static final int KEPT_BYTES = 64;

    private final InputStream plain;
    private final CaptureSettings.Limits limits;
    private final byte[] header = new byte[BinlogEvents.HEADER_BYTES];

    private CompressedEvents(InputStream plain, CaptureSettings.Limits limits) {
        this.plain = plain;
        this.limits = limits;
    }

    /** @param limits say how large an event may be */
    static CompressedEvents read(byte[] b, int offset, int length, CaptureSettings.Limits limits) {
        EventReader in = new EventReader(b, offset + BinlogEvents.HEADER_BYTES, offset + length);
        long payloadBytes = -1;
        long compression = ZSTD;
        for (long field; (field = in.packed()) != END; ) {
            int fieldBytes = in.packedInt();
            EventReader value = new EventReader(b, in.at, in.at + fieldBytes);
            in.skip(fieldBytes);
            if (field == PAYLOAD_BYTES) {
                payloadBytes = value.packed();
            } else if (field == COMPRESSION) {
                compression = value.packed();
            }
        }
        if (payloadBytes != in.remaining()) {
            throw new IndexOutOfBoundsException(
                    "compressed payload of " + payloadBytes + " bytes in " + in.remaining());
        }
        InputStream packed = new ByteArrayInputStream(b, in.at, in.remaining());
        if (compression == NOT_COMPRESSED) {
            return new CompressedEvents(packed, limits);
        }
        if (compression != ZSTD) {
            throw new QuorateException(ErrorCode.UNSUPPORTED_EVENT, "compression of type " + compression);
        }
        try {
            return new CompressedEvents(new ZstdInputStreamNoFinalizer(packed), limits);
        } catch (IOException e) {
            throw corrupt(e);
        }
    }

    /**
     * The next event, without a checksum; null after the last. Of one that is too large, only the beginning is read.
     */
    byte[] next() {
        try {
            int read = plain.readNBytes(header, 0, header.length);
            if (read == 0) {
                return null;
            }
            int length = read < header.length ? read : BinlogEvents.length(header, 0);
            if (length < header.length) {
                throw new IndexOutOfBoundsException("event of " + length + " bytes in a compressed transaction");
            }
            // Nobody takes one that is larger.
            int kept = length <= limits.eventBytesMax() ? length : Math.min(length, KEPT_BYTES);
            byte[] event = Arrays.copyOf(header, kept);
            int rest = kept - header.length;
            if (plain.readNBytes(event, header.length, rest) < rest) {
                throw new IndexOutOfBoundsException("an event is cut short in a compressed transaction");
            }
            plain.skipNBytes(length - kept);
            return event;
        } catch (IOException e) {
            throw corrupt(e);
        }
    }

    @Override
    public void close() {
        try {
            plain.close();
        } catch (IOException e) {
            throw corrupt(e);
        }
    }

    private static QuorateException corrupt(IOException e) {
        return new QuorateException(
                ErrorCode.CORRUPT_EVENT, "a compressed transaction can't be unpacked: " + e.getMessage(), e);
    }
}
