// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.BinlogEvents;
import io.quorate.core.binlog.EventReader;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A QUERY event: a statement's text, with the session settings it depends on. Layout and codes of the status variables:
 * {@code Query_event} in the server's {@code libbinlogevents/include/statement_events.h}.
 */
final class QueryEvent {
    static final long ANSI_QUOTES = 1L << 2;
    static final long NO_BACKSLASH_ESCAPES = 1L << 20;

    private static final byte[] BEGIN = {'B', 'E', 'G', 'I', 'N'};
    private static final int SQL_MODE = 1;
    private static final int CLIENT_CHARSET = 4;

    /** Lengths, by code, of the status variables that precede the client's charset. */
    private static final int[] FIXED_BYTES = {4, 8, -1, 4, 6};

    private final byte[] bytes;
    private final int textFrom;
    private final int end;

    final String database;
    final long sqlMode;

    /** Collation id of {@code character_set_client}, -1 when the event doesn't say. */
    final int clientCollation;

    private QueryEvent(byte[] bytes, int offset, int length) {
        this.bytes = bytes;
        this.end = offset + length;
        EventReader in = new EventReader(bytes, offset + BinlogEvents.HEADER_BYTES, end);
        in.skip(8);
        int databaseBytes = in.u8();
        in.skip(2);
        int statusBytes = in.u16();
        EventReader status = new EventReader(bytes, in.at, in.at + statusBytes);
        in.skip(statusBytes);
        database = in.text(databaseBytes, StandardCharsets.UTF_8);
        in.skip(1);
        textFrom = in.at;
        long mode = 0;
        int collation = -1;
        while (status.remaining() > 0) {
            int code = status.u8();
            if (code == SQL_MODE) {
                mode = status.i64();
            } else if (code == CLIENT_CHARSET) {
                collation = status.u16();
                break;
            } else if (code == 6) {
                status.skip(status.u8());
            } else if (code == 2) {
                status.skip(status.u8() + 1);
            } else if (code < FIXED_BYTES.length) {
                status.skip(FIXED_BYTES[code]);
            } else {
                break;
            }
        }
        sqlMode = mode;
        clientCollation = collation;
    }

    static QueryEvent read(byte[] bytes, int offset, int length) {
        return new QueryEvent(bytes, offset, length);
    }

    /** Whether it is the BEGIN that opens nearly every transaction; decided without reading the rest. */
    static boolean isBegin(byte[] bytes, int offset, int length) {
        int end = offset + length;
        int from = end - BEGIN.length;
        return from > offset + BinlogEvents.HEADER_BYTES + 13
                && bytes[from - 1] == 0
                && Arrays.equals(bytes, from, end, BEGIN, 0, BEGIN.length);
    }

    String text(Charset charset) {
        return new String(bytes, textFrom, end - textFrom, charset);
    }
}
