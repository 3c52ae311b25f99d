// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import com.github.shyiko.mysql.binlog.event.Event;
import com.github.shyiko.mysql.binlog.event.EventHeaderV4;
import com.github.shyiko.mysql.binlog.event.deserialization.ChecksumType;
import com.github.shyiko.mysql.binlog.event.deserialization.EventDeserializer;
import com.github.shyiko.mysql.binlog.io.ByteArrayInputStream;
import io.quorate.core.BinlogEvents;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.binlog.Bytes;
import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;
import java.util.zip.CRC32;

/**
 * Takes each event from the connection as bytes, verifies and drops its checksum, and shows Debezium only those events
 * that concern the connection: ROTATE, FORMAT_DESCRIPTION, HEARTBEAT. Every event of a transaction looks to Debezium
 * like one that it ignores. So nothing in a transaction (statements it can't parse, row images it doesn't expect, XA)
 * can stop it, and it doesn't decode rows that nobody uses.
 */
final class RawEventDeserializer extends EventDeserializer {
    private static final int CHECKSUM_BYTES = 4;
    private static final int CRC32_ALGORITHM = 1;
    private static final int FORMER_WRITE_ROWS = 23;
    private static final int FORMER_DELETE_ROWS = 25;
    /** The table's number, and flags. */
    private static final int FORMER_ROWS_HEADER_BYTES = 8;

    private static final int EVENT_BYTES_MAX = 0x7fff_0000;

    private static final EventHeaderV4 PASSED_OVER = passedOver();

    private final Tap tap;
    private final byte[] header = new byte[BinlogEvents.HEADER_BYTES];
    private final CRC32 crc = new CRC32();
    private boolean checksums;

    RawEventDeserializer(Tap tap) {
        this.tap = tap;
    }

    @Override
    @Deprecated
    public void setChecksumType(ChecksumType type) {
        super.setChecksumType(type);
        checksums = type == ChecksumType.CRC32;
        try {
            tap.agreeing();
        } catch (IOException e) {
            tap.failed(new QuorateException(
                    ErrorCode.SERVER_UNREACHABLE,
                    "the server doesn't take this connection for a semi-sync replica's",
                    e));
        }
    }

    @Override
    public Event nextEvent(ByteArrayInputStream in) throws IOException {
        tap.requireOpen();
        byte[] event;
        try {
            boolean endsGroup = tap.isSemiSync() && SemiSyncChannel.readPrefix(in);
            in.fill(header, 0, header.length);
            int length = BinlogEvents.length(header, 0);
            if (length < header.length || length > EVENT_BYTES_MAX) {
                throw new QuorateException(ErrorCode.CORRUPT_EVENT, "an event of " + length + " bytes");
            }
            event = new byte[length];
            System.arraycopy(header, 0, event, 0, header.length);
            in.fill(event, header.length, length - header.length);
            return seen(event, endsGroup);
        } catch (QuorateException e) {
            tap.failed(e);
            // After any other exception the client goes on, and no longer knows where the next event begins.
            throw new EOFException(e.getMessage());
        }
    }

    private RawEvent seen(byte[] event, boolean endsGroup) throws IOException {
        int type = BinlogEvents.type(event, 0);
        if (type == EventType.FORMAT_DESCRIPTION) {
            // This event always has a checksum; the algorithm before it says whether the others have one.
            checksums = event[event.length - CHECKSUM_BYTES - 1] == CRC32_ALGORITHM;
        }
        if (checksums) {
            verify(event);
        }
        boolean hasChecksum = checksums || type == EventType.FORMAT_DESCRIPTION;
        Event control =
                switch (type) {
                    case EventType.ROTATE, EventType.FORMAT_DESCRIPTION, EventType.HEARTBEAT ->
                        super.nextEvent(new ByteArrayInputStream(event));
                    default -> null;
                };
        byte[] bytes = inPresentForm(hasChecksum ? withoutChecksum(event) : event);
        return control == null
                ? new RawEvent(PASSED_OVER, null, bytes, endsGroup)
                : new RawEvent(control.getHeader(), control.getData(), bytes, endsGroup);
    }

    private void verify(byte[] event) {
        int covered = event.length - CHECKSUM_BYTES;
        crc.reset();
        crc.update(event, 0, covered);
        if (covered < BinlogEvents.HEADER_BYTES || (int) crc.getValue() != Bytes.i32(event, covered)) {
            throw new QuorateException(
                    ErrorCode.CORRUPT_EVENT,
                    "the event that ends at position " + Bytes.u32(event, 13) + " of " + tap.file());
        }
    }

    private static byte[] withoutChecksum(byte[] event) {
        byte[] bytes = Arrays.copyOf(event, event.length - CHECKSUM_BYTES);
        BinlogEvents.length(bytes, 0, bytes.length);
        return bytes;
    }

    /**
     * Rows as servers before 5.6 wrote them, and those of 8.0 do with {@code log_bin_use_v1_row_events}: they lack the
     * length of what later ones have more, which is nothing.
     */
    private static byte[] inPresentForm(byte[] event) {
        int type = BinlogEvents.type(event, 0);
        if (type < FORMER_WRITE_ROWS || type > FORMER_DELETE_ROWS) {
            return event;
        }
        int at = Math.min(BinlogEvents.HEADER_BYTES + FORMER_ROWS_HEADER_BYTES, event.length);
        byte[] bytes = new byte[event.length + 2];
        System.arraycopy(event, 0, bytes, 0, at);
        bytes[at] = 2; // It counts itself.
        System.arraycopy(event, at, bytes, at + 2, event.length - at);
        bytes[4] = (byte) (type - FORMER_WRITE_ROWS + BinlogEvents.WRITE_ROWS);
        BinlogEvents.length(bytes, 0, bytes.length);
        return bytes;
    }

    private static EventHeaderV4 passedOver() {
        EventHeaderV4 header = new EventHeaderV4();
        header.setEventType(com.github.shyiko.mysql.binlog.event.EventType.IGNORABLE);
        return header;
    }
}
