// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.binlog.ColumnType;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/** Binlog events made by hand, without checksums. Tables have one column, {@code id INT}. */
final class Events {
    private Events() {}

    static byte[] event(int type, int flags, byte[]... body) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : body) {
            all.writeBytes(part);
        }
        return ByteBuffer.allocate(19 + all.size())
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(0)
                .put((byte) type)
                .putInt(1)
                .putInt(19 + all.size())
                .putInt(0)
                .putShort((short) flags)
                .put(all.toByteArray())
                .array();
    }

    static byte[] little(long value, int bytes) {
        byte[] b = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            b[i] = (byte) (value >>> (8 * i));
        }
        return b;
    }

    private static byte[] name(String name) {
        byte[] b = name.getBytes(StandardCharsets.UTF_8);
        byte[] all = new byte[b.length + 2];
        all[0] = (byte) b.length;
        System.arraycopy(b, 0, all, 1, b.length);
        return all;
    }

    static byte[] gtid(UUID source, long number) {
        byte[] sid = ByteBuffer.allocate(16)
                .putLong(source.getMostSignificantBits())
                .putLong(source.getLeastSignificantBits())
                .array();
        return event(EventType.GTID, 0, new byte[1], sid, little(number, 8), new byte[17], little(1_000_000, 7));
    }

    static byte[] query(String text) {
        byte[] database = "db\0".getBytes(StandardCharsets.UTF_8);
        return event(2, 0, new byte[8], new byte[] {2}, new byte[4], database, text.getBytes(StandardCharsets.UTF_8));
    }

    static byte[] tableMap(int id, String schema, String table) {
        byte[] columns = {1, ColumnType.LONG, 0, 0};
        byte[] names = {4, 3, 2, 'i', 'd', 8, 1, 0};
        return event(19, 0, little(id, 6), little(1, 2), name(schema), name(table), columns, names);
    }

    static byte[] insert(int tableId, boolean endsStatement, int... ids) {
        ByteArrayOutputStream rows = new ByteArrayOutputStream();
        for (int id : ids) {
            rows.write(0);
            rows.writeBytes(little(id, 4));
        }
        byte[] head = {(byte) (endsStatement ? 1 : 0), 0, 2, 0, 1, (byte) 0xff};
        return event(30, 0, little(tableId, 6), head, rows.toByteArray());
    }

    static byte[] xid() {
        return event(EventType.XID, 0, new byte[8]);
    }

    static byte[] xaPrepare(String global, boolean onePhase) {
        byte[] b = global.getBytes(StandardCharsets.UTF_8);
        return event(
                io.quorate.core.BinlogEvents.XA_PREPARE,
                0,
                new byte[] {(byte) (onePhase ? 1 : 0)},
                little(1, 4),
                little(b.length, 4),
                little(0, 4),
                b);
    }
}
