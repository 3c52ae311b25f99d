// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The shape of a writeset's payload: MySQL binlog events (v4) back to back, each with its 19-byte header, without
 * checksum (the length field says so), in the order in which the origin wrote them. Before a ROWS event, and after the
 * last STMT_END, there is always its TABLE_MAP; the last ROWS event carries STMT_END. An XA_PREPARE event ends a
 * prepared transaction. A QUERY event among row changes has the settings of the session that wrote what comes next
 * ({@link io.quorate.core.binlog.RowSettings}). A definition begins with what its statement is given of its session
 * ({@link #isGiven}), if it uses any of that, and then the QUERY event. What these fields mean is in MySQL's internals
 * manual, "Binary Log Event".
 */
public final class BinlogEvents {
    public static final int HEADER_BYTES = 19;

    public static final int QUERY = 2;

    /** What a statement is given of its session: LAST_INSERT_ID or INSERT_ID, the seeds of RAND(), a user variable. */
    public static final int INTVAR = 5;

    public static final int RAND = 13;
    public static final int USER_VAR = 14;
    public static final int TABLE_MAP = 19;
    public static final int WRITE_ROWS = 30;
    public static final int UPDATE_ROWS = 31;
    public static final int DELETE_ROWS = 32;
    public static final int XA_PREPARE = 38;
    public static final int PARTIAL_UPDATE_ROWS = 39;

    /** Bit of a ROWS event's flags: the statement ends here, table maps are forgotten. */
    public static final int STMT_END = 1;

    /**
     * Bit of a ROWS event's flags, from MySQL 9.6 on ({@code USE_SQL_FOREIGN_KEY_F}): whatever the event's rows changed
     * by cascade is in events of its own, and isn't to be repeated.
     */
    public static final int CASCADES_LOGGED = 1 << 4;

    private static final int TYPE_OFFSET = 4;
    static final int LENGTH_OFFSET = 9;
    private static final int TABLE_ID_OFFSET = HEADER_BYTES;
    static final int ROWS_FLAGS_OFFSET = HEADER_BYTES + 6;

    private BinlogEvents() {}

    public static ByteBuffer littleEndian(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The type byte of the event that starts at {@code offset}. */
    public static int type(byte[] events, int offset) {
        return events[offset + TYPE_OFFSET] & 0xff;
    }

    /** The length in bytes, header included, of the event that starts at {@code offset}. */
    public static int length(byte[] events, int offset) {
        return littleEndian(events).getInt(offset + LENGTH_OFFSET);
    }

    /** Rewrites the length of an event in place. */
    public static void length(byte[] events, int offset, int length) {
        littleEndian(events).putInt(offset + LENGTH_OFFSET, length);
    }

    public static boolean isRows(int type) {
        return type == WRITE_ROWS || type == UPDATE_ROWS || type == DELETE_ROWS || type == PARTIAL_UPDATE_ROWS;
    }

    /** Whether such an event gives the statement after it something of its session. */
    public static boolean isGiven(int type) {
        return type == INTVAR || type == RAND || type == USER_VAR;
    }

    /** The six-byte table id of a TABLE_MAP or ROWS event. */
    public static long tableId(byte[] events, int offset) {
        return littleEndian(events).getLong(offset + TABLE_ID_OFFSET) & 0xffff_ffff_ffffL;
    }

    /** Rewrites the table id of a TABLE_MAP or ROWS event in place. */
    public static void tableId(byte[] events, int offset, long id) {
        ByteBuffer buffer = littleEndian(events);
        long rest = buffer.getLong(offset + TABLE_ID_OFFSET) & 0xffff_0000_0000_0000L;
        buffer.putLong(offset + TABLE_ID_OFFSET, rest | (id & 0xffff_ffff_ffffL));
    }

    /** Whether {@link #CASCADES_LOGGED} is set in a ROWS event. */
    public static boolean cascadesAreLogged(byte[] events, int offset) {
        return (events[offset + ROWS_FLAGS_OFFSET] & CASCADES_LOGGED) != 0;
    }

    public static boolean endsStatement(byte[] events, int offset) {
        return (events[offset + ROWS_FLAGS_OFFSET] & STMT_END) != 0;
    }

    /** Sets or clears STMT_END of a ROWS event in place. */
    public static void endsStatement(byte[] events, int offset, boolean ends) {
        int flags = events[offset + ROWS_FLAGS_OFFSET];
        events[offset + ROWS_FLAGS_OFFSET] = (byte) (ends ? flags | STMT_END : flags & ~STMT_END);
    }
}
