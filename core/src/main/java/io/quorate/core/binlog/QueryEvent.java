// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.binlog;

import io.quorate.core.BinlogEvents;
import io.quorate.core.CarriedSetting;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * A QUERY event: a statement's text, with the session settings it depends on. Layout and codes of the status variables:
 * {@code Query_event} in the server's {@code libbinlogevents/include/statement_events.h}.
 */
public final class QueryEvent {
    public static final long ANSI_QUOTES = 1L << 2;
    public static final long NO_BACKSLASH_ESCAPES = 1L << 20;

    private static final byte[] BEGIN = {'B', 'E', 'G', 'I', 'N'};
    /** Collation id of utf8mb4_general_ci. */
    private static final short UTF8MB4 = 45;

    static final int SQL_MODE = 1;
    static final int CLIENT_CHARSET = 4;
    static final int TIME_ZONE = 5;
    static final int LOCALE = 7;
    static final int UTF8_COLLATION = 18;
    private static final int DDL_XID = 17;

    /** The code of what this product adds; servers count theirs from 0, and MariaDB's from 128. */
    public static final int CARRIED = 254;

    /** Lengths of the status variables by code; {@link #OTHER} for texts and for those of other versions. */
    private static final int[] BYTES = {4, 8, -1, 4, 6, -1, -1, 2, 2, 8, 4, -1, -1, 3, -1, -1, 1, 8, 2, 1, 1};

    private static final int OTHER = -1;

    /** What is compared by itself; what says when and by which session, and what an ALTER TABLE has done inside. */
    private static final Set<Integer> INCIDENTAL = Set.of(3, 13, DDL_XID, TIME_ZONE);

    private final byte[] bytes;
    private final int statusFrom;
    private final int statusEnd;
    private final int textFrom;
    private final int end;

    public final String database;
    public final long sqlMode;

    /** Collation id of {@code character_set_client}, -1 when the event doesn't say. */
    public final int clientCollation;

    /** Collation id of {@code collation_connection}, -1 when the event doesn't say. */
    final int connectionCollation;

    /** Null when the event doesn't say: then nothing had used it by the time the event was made. */
    final String timeZone;

    /** The number of {@code lc_time_names}; 0, en_US, is what the event doesn't say. */
    final int locale;

    /** Collation id of {@code default_collation_for_utf8mb4}, -1 when the event doesn't say. */
    final int utf8Collation;

    /** What servers don't write. */
    final Map<CarriedSetting, String> carried;

    /**
     * Whether the server logged the definition without a transaction of its data dictionary ({@code
     * Q_DDL_LOGGED_WITH_XID}). Then the statement changed nothing; or what it changed isn't in the dictionary alone, as
     * a table of another engine than InnoDB.
     */
    public final boolean outsideDictionary;

    /** Code of the first status variable that this version doesn't know, -1 for none. What follows it is unread. */
    public final int unknownCode;

    private QueryEvent(byte[] bytes, int offset, int length) {
        this.bytes = bytes;
        this.end = offset + length;
        EventReader in = new EventReader(bytes, offset + BinlogEvents.HEADER_BYTES, end);
        in.skip(8);
        int databaseBytes = in.u8();
        in.skip(2);
        int statusBytes = in.u16();
        EventReader status = new EventReader(bytes, in.at, in.at + statusBytes);
        statusFrom = status.at;
        statusEnd = status.end;
        in.skip(statusBytes);
        database = in.text(databaseBytes, StandardCharsets.UTF_8);
        in.skip(1);
        textFrom = in.at;
        long mode = 0;
        int collation = -1;
        int connection = -1;
        String zone = null;
        int times = 0;
        int utf8 = -1;
        Map<CarriedSetting, String> added = Map.of();
        int unknown = -1;
        boolean xid = false;
        while (unknown < 0 && status.remaining() > 0) {
            int code = status.u8();
            switch (code) {
                case SQL_MODE -> mode = status.i64();
                case CLIENT_CHARSET -> {
                    collation = status.u16();
                    connection = status.u16();
                    status.skip(2);
                }
                case TIME_ZONE -> zone = status.text(status.u8(), StandardCharsets.ISO_8859_1);
                case LOCALE -> times = status.u16();
                case CARRIED -> added = readCarried(status.text(status.u16(), StandardCharsets.UTF_8));
                case UTF8_COLLATION -> utf8 = status.u16();
                case DDL_XID -> {
                    xid = true;
                    status.skip(8);
                }
                default -> unknown = skip(code, status) ? -1 : code;
            }
        }
        sqlMode = mode;
        clientCollation = collation;
        connectionCollation = connection;
        timeZone = zone;
        locale = times;
        utf8Collation = utf8;
        carried = added;
        outsideDictionary = unknown < 0 && !xid;
        unknownCode = unknown;
    }

    private static Map<CarriedSetting, String> readCarried(String text) {
        Map<CarriedSetting, String> carried = new EnumMap<>(CarriedSetting.class);
        String[] pairs = text.split("\0", -1);
        for (int i = 0; i + 1 < pairs.length; i += 2) {
            CarriedSetting setting = CarriedSetting.of(pairs[i]);
            if (setting != null) {
                carried.put(setting, pairs[i + 1]);
            }
        }
        return carried;
    }

    /** Skips the value of a status variable; false for one that this version doesn't know. */
    private static boolean skip(int code, EventReader status) {
        int bytes = code < BYTES.length ? BYTES[code] : OTHER;
        if (bytes != OTHER) {
            status.skip(bytes);
            return true;
        }
        switch (code) {
            case 2 -> status.skip(status.u8() + 1);
            case 6 -> status.skip(status.u8());
            case 11 -> {
                status.skip(status.u8());
                status.skip(status.u8());
            }
            case 12 -> skipSchemas(status);
            default -> {
                return false;
            }
        }
        return true;
    }

    /** The names of the schemas that a statement changed, each with a zero behind it; 254 for too many to be listed. */
    private static void skipSchemas(EventReader status) {
        int count = status.u8();
        if (count == 254) {
            return;
        }
        for (int ends = 0; ends < count; ) {
            ends += status.u8() == 0 ? 1 : 0;
        }
    }

    /** An event with a text of utf8mb4, and nothing else. */
    public static byte[] of(String text) {
        ByteBuffer status =
                ByteBuffer.allocate(7).order(ByteOrder.LITTLE_ENDIAN).put((byte) CLIENT_CHARSET);
        status.putShort(UTF8MB4).putShort(UTF8MB4).putShort(UTF8MB4);
        return of(status.flip(), text);
    }

    static byte[] of(ByteBuffer status, String statement) {
        byte[] text = statement.getBytes(StandardCharsets.UTF_8);
        int length = BinlogEvents.HEADER_BYTES + 13 + status.remaining() + 1 + text.length;
        ByteBuffer out = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(0).put((byte) BinlogEvents.QUERY).putInt(0);
        out.putInt(length).putInt(0).putShort((short) 0);
        out.putInt(0).putInt(0).put((byte) 0).putShort((short) 0).putShort((short) status.remaining());
        return out.put(status).put((byte) 0).put(text).array();
    }

    /** @throws IndexOutOfBoundsException when it is cut short */
    public static QueryEvent read(byte[] bytes, int offset, int length) {
        return new QueryEvent(bytes, offset, length);
    }

    /**
     * The event with settings that servers don't write, as one more status variable: names and values, each ended by a
     * zero.
     */
    public static byte[] carrying(byte[] bytes, int offset, int length, Map<CarriedSetting, String> settings) {
        StringBuilder pairs = new StringBuilder();
        settings.forEach((setting, value) ->
                pairs.append(setting.variable()).append('\0').append(value).append('\0'));
        byte[] added = pairs.toString().getBytes(StandardCharsets.UTF_8);
        int statusBytesAt = BinlogEvents.HEADER_BYTES + 11;
        int statusBytes = Bytes.u16(bytes, offset + statusBytesAt);
        int before = statusBytesAt + 2 + statusBytes;
        ByteBuffer out = ByteBuffer.allocate(length + 3 + added.length).order(ByteOrder.LITTLE_ENDIAN);
        out.put(bytes, offset, before).put((byte) CARRIED).putShort((short) added.length);
        out.put(added).put(bytes, offset + before, length - before);
        out.putShort(statusBytesAt, (short) (statusBytes + 3 + added.length));
        BinlogEvents.length(out.array(), 0, out.capacity());
        return out.array();
    }

    /** Whether it is the BEGIN that opens nearly every transaction; decided without reading the rest. */
    public static boolean isBegin(byte[] bytes, int offset, int length) {
        int end = offset + length;
        int from = end - BEGIN.length;
        return from > offset + BinlogEvents.HEADER_BYTES + 13
                && bytes[from - 1] == 0
                && Arrays.equals(bytes, from, end, BEGIN, 0, BEGIN.length);
    }

    /**
     * Whether both are the same statement in sessions with the same settings, but for the time and their numbers. A
     * time zone that one of them doesn't say wasn't used there, so it doesn't matter to what the statement does; a
     * server may say it all the same.
     */
    public boolean isLike(QueryEvent other) {
        return unknownCode < 0
                && other.unknownCode < 0
                && database.equals(other.database)
                && (timeZone == null || other.timeZone == null || timeZone.equals(other.timeZone))
                && Arrays.equals(bytes, textFrom, end, other.bytes, other.textFrom, other.end)
                && status().equals(other.status());
    }

    /** The status variables by code. */
    private Map<Integer, ByteBuffer> status() {
        Map<Integer, ByteBuffer> variables = new HashMap<>();
        EventReader status = new EventReader(bytes, statusFrom, statusEnd);
        while (status.remaining() > 0) {
            int code = status.u8();
            int from = status.at;
            if (code == TIME_ZONE) {
                status.skip(status.u8());
            } else if (code == CARRIED) {
                status.skip(status.u16());
            } else {
                skip(code, status);
            }
            if (!INCIDENTAL.contains(code)) {
                variables.put(code, ByteBuffer.wrap(bytes, from, status.at - from));
            }
        }
        return variables;
    }

    public String text(Charset charset) {
        return new String(bytes, textFrom, end - textFrom, charset);
    }
}
