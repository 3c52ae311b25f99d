// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.BinlogEvents;
import io.quorate.core.LogPosition;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The update of a worker's row of {@link PositionTable} as binlog events. As part of the group's BINLOG statement it
 * costs the server a few microseconds, while an UPDATE statement costs a round trip.
 */
final class PositionRow {
    static final int TABLE_ID = 1;

    private final int worker;
    private final byte[] incarnation;
    private final byte[] tableMap;

    PositionRow(int worker, String incarnation) {
        this.worker = worker;
        this.incarnation = incarnation.getBytes(StandardCharsets.US_ASCII);
        if (this.incarnation.length > 36) {
            throw new IllegalArgumentException("incarnation of more than 36 characters: " + incarnation);
        }
        this.tableMap = event(BinlogEvents.TABLE_MAP, 0, tableMapBody());
    }

    /** TABLE_MAP of the table as {@link PositionTable} creates it. */
    byte[] tableMap() {
        return tableMap;
    }

    private static ByteBuffer tableMapBody() {
        ByteBuffer body = littleEndian(128);
        putTableId(body);
        body.putShort((short) 1);
        putName(body, "quorate");
        putName(body, "position");
        body.put((byte) 6);
        // LONG, LONGLONG, LONGLONG, LONGLONG, STRING, TIMESTAMP2
        body.put(new byte[] {3, 8, 8, 8, (byte) 254, 17});
        // STRING: real type 254, 36 bytes; TIMESTAMP2: 6 digits. Then: no column is nullable.
        body.put((byte) 3).put((byte) 254).put((byte) 36).put((byte) 6);
        body.put((byte) 0);
        return body;
    }

    /** UPDATE_ROWS that sets the row; STMT_END is not set. */
    byte[] update(long seqno, LogPosition position, long nowMicros) {
        ByteBuffer body = littleEndian(128);
        putTableId(body);
        body.putShort((short) 0).putShort((short) 2);
        body.put((byte) 6);
        // Columns present: before, only the primary key, because the server looks at nothing else; after, all.
        body.put((byte) 0b00_0001).put((byte) 0b11_1111);
        body.put((byte) 0).putInt(worker);
        body.put((byte) 0)
                .putInt(worker)
                .putLong(seqno)
                .putLong(position.term())
                .putLong(position.index());
        body.put((byte) incarnation.length).put(incarnation);
        body.order(ByteOrder.BIG_ENDIAN).putInt((int) (nowMicros / 1_000_000));
        int micros = (int) (nowMicros % 1_000_000);
        body.put((byte) (micros >> 16)).putShort((short) micros);
        return event(BinlogEvents.UPDATE_ROWS, (int) (nowMicros / 1_000_000), body);
    }

    private static byte[] event(int type, int timestamp, ByteBuffer body) {
        int length = BinlogEvents.HEADER_BYTES + body.position();
        byte[] event = new byte[length];
        ByteBuffer out = BinlogEvents.littleEndian(event);
        out.putInt(timestamp).put((byte) type).putInt(1);
        out.putInt(length).putInt(0).putShort((short) 0);
        out.put(body.flip());
        return event;
    }

    private static ByteBuffer littleEndian(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static void putTableId(ByteBuffer body) {
        body.putInt(TABLE_ID).putShort((short) 0);
    }

    private static void putName(ByteBuffer body, String name) {
        body.put((byte) name.length())
                .put(name.getBytes(StandardCharsets.US_ASCII))
                .put((byte) 0);
    }
}
