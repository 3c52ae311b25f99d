// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.core.BinlogEvents;
import io.quorate.core.CertifiedXid;
import io.quorate.core.KeyType;
import io.quorate.core.KeysBuilder;
import io.quorate.core.binlog.Bytes;
import io.quorate.core.binlog.RowImage;
import io.quorate.core.binlog.RowsEvent;
import io.quorate.core.binlog.TableMap;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * A change of one row, to and from real binlog events, so that the code that reads and inverts these runs in the
 * simulation too.
 *
 * @param version of the table's definition; it travels as the schema's name
 * @param before null for an insert
 * @param after null for a delete
 */
record Change(Table table, int version, Row before, Row after) {
    private static final int LONGLONG = 8;
    private static final int SIMPLE_PRIMARY_KEY = 8;

    /** What takes it back. */
    Change inverse() {
        Row was = before;
        Row became = after;
        return new Change(table, version, became, was);
    }

    void addKeys(KeysBuilder keys, Set<Bug> bugs) {
        keys.add(table.key(), KeyType.SHARED);
        if (table.keyed) {
            addKey(keys, 0);
            for (int column : bugs.contains(Bug.UNIQUE_KEY_DROPPED) ? List.<Integer>of() : table.unique(version)) {
                addKey(keys, column);
            }
        } else {
            addWhole(keys, before);
            addWhole(keys, after);
        }
        if (table.parent != null && !bugs.contains(Bug.REFERENCE_DROPPED)) {
            addReference(keys, before);
            addReference(keys, after);
        }
    }

    private void addKey(KeysBuilder keys, int column) {
        Long old = before == null ? null : before.get(column);
        Long changed = after == null ? null : after.get(column);
        if (before != null && after != null && Objects.equals(old, changed)) {
            if (old != null) {
                keys.add(table.key(column, old), KeyType.UPDATE);
            }
            return;
        }
        if (old != null) {
            keys.add(table.key(column, old), KeyType.EXCLUSIVE);
        }
        if (changed != null) {
            keys.add(table.key(column, changed), KeyType.EXCLUSIVE);
        }
    }

    private void addWhole(KeysBuilder keys, Row row) {
        if (row != null) {
            keys.add(table.key(row), KeyType.EXCLUSIVE);
        }
    }

    private void addReference(KeysBuilder keys, Row row) {
        if (row != null) {
            keys.add(table.parent.key(0, row.get(1)), KeyType.REFERENCE);
        }
    }

    static byte[] encode(List<Change> changes) {
        ByteBuffer out = ByteBuffer.allocate(changes.size() * 256).order(ByteOrder.LITTLE_ENDIAN);
        changes.forEach(change -> change.encode(out));
        return Arrays.copyOf(out.array(), out.position());
    }

    private void encode(ByteBuffer out) {
        int start = begin(out, BinlogEvents.TABLE_MAP);
        out.putShort((short) 1);
        putName(out, "v" + version);
        putName(out, table.name());
        out.put((byte) table.columns);
        for (int i = 0; i < table.columns; i++) {
            out.put((byte) LONGLONG);
        }
        out.put((byte) 0).put((byte) 0xff);
        if (table.keyed) {
            out.put((byte) SIMPLE_PRIMARY_KEY).put((byte) 1).put((byte) 0);
        }
        end(out, start);
        boolean update = before != null && after != null;
        start = begin(
                out,
                update ? BinlogEvents.UPDATE_ROWS : after != null ? BinlogEvents.WRITE_ROWS : BinlogEvents.DELETE_ROWS);
        out.putShort((short) BinlogEvents.STMT_END).putShort((short) 2);
        out.put((byte) table.columns).put((byte) 0xff);
        if (update) {
            out.put((byte) 0xff);
        }
        putImage(out, before);
        putImage(out, after);
        end(out, start);
    }

    /** What ends the payload of a prepared transaction. */
    static byte[] prepared(byte[] changes, CertifiedXid xid) {
        byte[] global = (xid.slot() + "." + xid.count() + "." + xid.secret()).getBytes(StandardCharsets.US_ASCII);
        byte[] branch = Long.toString(xid.snapshot()).getBytes(StandardCharsets.US_ASCII);
        int length = BinlogEvents.HEADER_BYTES + 13 + global.length + branch.length;
        ByteBuffer out = ByteBuffer.allocate(changes.length + length).order(ByteOrder.LITTLE_ENDIAN);
        out.put(changes);
        out.putInt(0)
                .put((byte) BinlogEvents.XA_PREPARE)
                .putInt(1)
                .putInt(length)
                .putInt(0)
                .putShort((short) 0);
        out.put((byte) 0)
                .putInt((int) CertifiedXid.FORMAT)
                .putInt(global.length)
                .putInt(branch.length);
        return out.put(global).put(branch).array();
    }

    private int begin(ByteBuffer out, int type) {
        int start = out.position();
        out.putInt(0).put((byte) type).putInt(1).putInt(0).putInt(0).putShort((short) 0);
        out.putInt(table.ordinal() + 1).putShort((short) 0);
        return start;
    }

    private static void end(ByteBuffer out, int start) {
        out.putInt(start + 9, out.position() - start);
    }

    private static void putName(ByteBuffer out, String name) {
        out.put((byte) name.length())
                .put(name.getBytes(StandardCharsets.US_ASCII))
                .put((byte) 0);
    }

    private void putImage(ByteBuffer out, Row row) {
        if (row == null) {
            return;
        }
        int nulls = 0;
        for (int i = 0; i < table.columns; i++) {
            nulls |= row.get(i) == null ? 1 << i : 0;
        }
        out.put((byte) nulls);
        for (int i = 0; i < table.columns; i++) {
            if (row.get(i) != null) {
                out.putLong(row.get(i));
            }
        }
    }

    static List<Change> decode(byte[] payload) {
        List<Change> changes = new ArrayList<>();
        TableMap map = null;
        for (int at = 0; at < payload.length; at += BinlogEvents.length(payload, at)) {
            if (BinlogEvents.type(payload, at) == BinlogEvents.TABLE_MAP) {
                map = TableMap.read(payload, at, BinlogEvents.length(payload, at));
                continue;
            }
            if (BinlogEvents.type(payload, at) == BinlogEvents.XA_PREPARE) {
                continue;
            }
            RowsEvent rows = new RowsEvent(map, payload, at);
            while (rows.next()) {
                changes.add(new Change(
                        Table.valueOf(map.table),
                        Integer.parseInt(map.schema.substring(1)),
                        rows.hasBefore() ? row(rows.before(), rows) : null,
                        rows.hasAfter() ? row(rows.after(), rows) : null));
            }
        }
        return changes;
    }

    private static Row row(RowImage image, RowsEvent rows) {
        Long[] values = new Long[rows.map().columns()];
        for (int i = 0; i < values.length; i++) {
            values[i] = image.length(i) == RowImage.NULL ? null : Bytes.i64(rows.bytes(), image.start(i));
        }
        return Row.of(values);
    }
}
