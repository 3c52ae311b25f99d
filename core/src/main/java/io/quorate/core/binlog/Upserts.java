// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.binlog;

import io.quorate.core.BinlogEvents;
import io.quorate.core.Payload;
import io.quorate.core.PayloadBuilder;
import io.quorate.core.Spool;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The row changes of a payload in a form that may be carried out over rows that may have them already, such as those of
 * a copy that was read while they changed. An update becomes an insert of its after image, preceded by a delete of its
 * before image if the primary key changes. The session's {@code rbr_exec_mode} must be IDEMPOTENT: an insert
 * overwrites, and a delete may find nothing. Whatever the rows were, afterwards each row that changed is what its last
 * change made of it.
 *
 * <p>IDEMPOTENT alone isn't enough: it passes over an update whose row isn't there. So it would lose a row that moved
 * from a key which is read late to a key which was read early.
 */
public final class Upserts {
    /** What becomes of the changes of a table. */
    public enum Rule {
        /** They are left out. */
        SKIP,
        /** They are applied as they are: the table is known to be in the state before them. */
        AS_IS,
        OVERWRITE
    }

    /** Says which rule a table has. */
    @FunctionalInterface
    public interface Rules {
        Rule of(String schema, String table);
    }

    /** An update whose images lack columns, and which gave its row another primary key. */
    public static final class Impossible extends Exception {
        private static final long serialVersionUID = 1L;

        Impossible(String what) {
            super(what);
        }
    }

    private record Mapped(TableMap map, Rule rule) {}

    private Upserts() {}

    /** The payload to be carried out instead; empty when nothing is left of it. */
    public static Payload of(Payload payload, Rules rules, Spool spool) throws Impossible {
        PayloadBuilder out = new PayloadBuilder(spool);
        Map<Long, Mapped> maps = new HashMap<>();
        byte[] settings = null;
        for (Payload.Events event = payload.events(); event.next(); ) {
            int type = event.type();
            Mapped mapped = null;
            if (type == BinlogEvents.QUERY) {
                settings = event.copy();
            } else if (type == BinlogEvents.TABLE_MAP) {
                TableMap map = TableMap.read(event);
                mapped = new Mapped(map, rules.of(map.schema, map.table));
                maps.put(map.id, mapped);
            } else if (event.isRows()) {
                mapped = maps.get(event.tableId());
            }
            if (mapped == null || mapped.rule == Rule.SKIP) {
                continue;
            }
            if (settings != null) {
                out.append(settings);
                settings = null;
            }
            if (mapped.rule == Rule.OVERWRITE
                    && (type == BinlogEvents.UPDATE_ROWS || type == BinlogEvents.PARTIAL_UPDATE_ROWS)) {
                overwrite(mapped.map, event, out);
            } else {
                out.append(event);
            }
        }
        return out.take();
    }

    private static void overwrite(TableMap map, Payload.Events event, PayloadBuilder out) throws Impossible {
        byte[] payload = event.bytes();
        int at = event.offset();
        RowsEvent rows = new RowsEvent(map, payload, at);
        List<byte[]> written = new ArrayList<>();
        while (rows.next()) {
            boolean moves = !sameKey(rows);
            if (!rows.afterIsWhole()) {
                if (moves) {
                    throw new Impossible("a row of " + map.schema + "." + map.table
                            + " got another primary key by an update whose images lack columns");
                }
                // Either the row is there, and it is changed; or a later image of it is here, and will come again.
                out.append(event);
                return;
            }
            if (moves) {
                flush(rows, at, written, out);
                byte[] before = Arrays.copyOfRange(payload, rows.beforeFrom(), rows.beforeTo());
                out.append(event(rows, at, BinlogEvents.DELETE_ROWS, rows.presentBefore(), List.of(before)));
            }
            written.add(Arrays.copyOfRange(payload, rows.afterFrom(), rows.afterTo()));
        }
        flush(rows, at, written, out);
    }

    private static void flush(RowsEvent rows, int at, List<byte[]> written, PayloadBuilder out) {
        if (!written.isEmpty()) {
            out.append(event(rows, at, BinlogEvents.WRITE_ROWS, rows.presentAfter(), written));
            written.clear();
        }
    }

    private static boolean sameKey(RowsEvent rows) {
        RowImage before = rows.before();
        RowImage after = rows.after();
        byte[] b = rows.bytes();
        for (int column : rows.map().primaryKey) {
            int length = after.length(column);
            if (length != RowImage.ABSENT
                    && !Arrays.equals(
                            b,
                            before.start(column),
                            before.start(column) + before.length(column),
                            b,
                            after.start(column),
                            after.start(column) + length)) {
                return false;
            }
        }
        return true;
    }

    /** An event of the same table, with the flags and the time of the one at {@code at}. */
    private static byte[] event(RowsEvent rows, int at, int type, int present, List<byte[]> images) {
        int columns = rows.map().columns();
        int bitmapBytes = (columns + 7) / 8;
        int countBytes = columns < 251 ? 1 : 3;
        int length = BinlogEvents.HEADER_BYTES
                + 10
                + countBytes
                + bitmapBytes
                + images.stream().mapToInt(i -> i.length).sum();
        byte[] source = rows.bytes();
        ByteBuffer out = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        out.put(source, at, 4).put((byte) type).put(source, at + 5, 4);
        out.putInt(length).putInt(0).putShort((short) 0);
        out.put(source, at + BinlogEvents.HEADER_BYTES, 8).putShort((short) 2);
        if (countBytes == 1) {
            out.put((byte) columns);
        } else {
            out.put((byte) 252).putShort((short) columns);
        }
        out.put(source, present, bitmapBytes);
        images.forEach(out::put);
        return out.array();
    }
}
