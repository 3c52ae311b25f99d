// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.binlog;

import io.quorate.core.CarriedSetting;
import io.quorate.core.Payload;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * The settings of the session that wrote rows, as far as they decide what a server computes of a row: generated
 * columns, indexes over expressions, CHECKs. Every server computes these anew when it applies the row, whatever value
 * the row brings. In a writeset they are a QUERY event, as the binlog has them, before the TABLE_MAP of the first table
 * that has such expressions.
 *
 * <p>Strictness isn't among them. It makes errors of warnings, and where the origin had none, both compute the same.
 *
 * @param sqlMode those of its bits that change values
 * @param collation id of {@code collation_connection}; -1 when unknown, or no server takes BINLOG under it
 * @param timeZone null when unknown
 * @param locale number of {@code lc_time_names}
 * @param utf8Collation id of {@code default_collation_for_utf8mb4}, -1 when unknown
 * @param divPrecision {@code div_precision_increment}, -1 when unknown; no event of MySQL's has it
 * @param blockEncryption {@code block_encryption_mode}, null when unknown; no event of MySQL's has it
 */
public record RowSettings(
        long sqlMode,
        int collation,
        String timeZone,
        int locale,
        int utf8Collation,
        int divPrecision,
        String blockEncryption) {
    /**
     * NO_UNSIGNED_SUBTRACTION, NO_ZERO_IN_DATE, NO_ZERO_DATE, ALLOW_INVALID_DATES, ERROR_FOR_DIVISION_BY_ZERO,
     * PAD_CHAR_TO_FULL_LENGTH, TIME_TRUNCATE_FRACTIONAL.
     */
    private static final long MODES = 1L << 6 | 0xfL << 23 | 1L << 31 | 1L << 32;

    /** Those of a server by default, none, and each that changes values alone. */
    static final List<Long> USUAL_MODES =
            List.of(1L << 23 | 1L << 24 | 1L << 26, 0L, 1L << 23 | 1L << 24, 1L << 25, 1L << 6, 1L << 31, 1L << 32);

    private static final long PAD_CHAR_TO_FULL_LENGTH = 1L << 31;

    /** When nothing is known of the session. */
    public static final RowSettings UNKNOWN = new RowSettings(USUAL_MODES.get(0), -1, null, 0, -1, -1, null);

    /** Assignments that give a session of the applier the settings with which it began. */
    public static final String SERVERS = "sql_mode = DEFAULT, collation_connection = latin1_swedish_ci,"
            + " time_zone = DEFAULT, lc_time_names = DEFAULT, default_collation_for_utf8mb4 = DEFAULT,"
            + " div_precision_increment = DEFAULT, block_encryption_mode = DEFAULT";

    private static final Pattern DIV_PRECISION = Pattern.compile("[0-9]{1,2}");
    private static final Pattern BLOCK_ENCRYPTION = Pattern.compile("[a-z0-9-]{1,20}");
    private static final int NAME_BYTES_MAX = 255;
    private static final BitSet WIDE = new BitSet();

    static {
        IntStream.of(35, 54, 55, 56, 60, 61, 62, 90, 159).forEach(WIDE::set);
        WIDE.set(101, 125);
        WIDE.set(128, 152);
        WIDE.set(160, 184);
    }

    /** Of a transaction's first QUERY event, or of what {@link #event} has made. */
    public static RowSettings of(QueryEvent query) {
        int collation = query.connectionCollation;
        return new RowSettings(
                query.sqlMode & MODES,
                isOfWideCharacters(collation) ? -1 : collation,
                query.timeZone,
                query.locale,
                query.utf8Collation,
                divPrecision(query.carried),
                blockEncryption(query.carried));
    }

    /** Those of a writeset's event. */
    public static RowSettings read(Payload.Events event) {
        return of(QueryEvent.read(event.bytes(), event.offset(), event.length()));
    }

    /** Whether a QUERY event is one of these, and no definition. */
    public static boolean are(Payload.Events event) {
        return QueryEvent.isBegin(event.bytes(), event.offset(), event.length());
    }

    /** With what BEGIN doesn't say, as far as it is known; {@code zone} may be null. */
    public RowSettings with(String zone, Map<CarriedSetting, String> unlogged) {
        return new RowSettings(
                sqlMode,
                collation,
                timeZone == null ? zone : timeZone,
                locale,
                utf8Collation,
                divPrecision(unlogged),
                blockEncryption(unlogged));
    }

    private static int divPrecision(Map<CarriedSetting, String> unlogged) {
        String value = unlogged.getOrDefault(CarriedSetting.DIV_PRECISION_INCREMENT, "");
        return DIV_PRECISION.matcher(value).matches() ? Integer.parseInt(value) : -1;
    }

    private static String blockEncryption(Map<CarriedSetting, String> unlogged) {
        String value = unlogged.getOrDefault(CarriedSetting.BLOCK_ENCRYPTION_MODE, "");
        return BLOCK_ENCRYPTION.matcher(value).matches() ? value : null;
    }

    /** The QUERY event that stands for them in a writeset. */
    public byte[] event() {
        ByteBuffer status = ByteBuffer.allocate(32 + NAME_BYTES_MAX).order(ByteOrder.LITTLE_ENDIAN);
        status.put((byte) QueryEvent.SQL_MODE).putLong(sqlMode);
        if (collation >= 0) {
            status.put((byte) QueryEvent.CLIENT_CHARSET).putShort((short) collation);
            status.putShort((short) collation).putShort((short) collation);
        }
        if (timeZone != null) {
            byte[] zone = timeZone.getBytes(StandardCharsets.ISO_8859_1);
            status.put((byte) QueryEvent.TIME_ZONE).put((byte) zone.length).put(zone);
        }
        if (locale != 0) {
            status.put((byte) QueryEvent.LOCALE).putShort((short) locale);
        }
        if (utf8Collation >= 0) {
            status.put((byte) QueryEvent.UTF8_COLLATION).putShort((short) utf8Collation);
        }
        Map<CarriedSetting, String> unlogged = new EnumMap<>(CarriedSetting.class);
        if (divPrecision >= 0) {
            unlogged.put(CarriedSetting.DIV_PRECISION_INCREMENT, Integer.toString(divPrecision));
        }
        if (blockEncryption != null) {
            unlogged.put(CarriedSetting.BLOCK_ENCRYPTION_MODE, blockEncryption);
        }
        byte[] event = QueryEvent.of(status.flip(), "BEGIN");
        return unlogged.isEmpty() ? event : QueryEvent.carrying(event, 0, event.length, unlogged);
    }

    /** Assignments for SET SESSION; what isn't known gets the server's default. */
    public String assignments() {
        List<String> all = new ArrayList<>();
        all.add("sql_mode = " + sqlMode);
        all.add("collation_connection = " + (collation < 0 ? "latin1_swedish_ci" : collation));
        all.add("time_zone = " + (timeZone == null ? "DEFAULT" : "'" + timeZone.replaceAll("['\\\\]", "") + "'"));
        all.add("lc_time_names = " + locale);
        all.add("default_collation_for_utf8mb4 = " + (utf8Collation < 0 ? "DEFAULT" : utf8Collation));
        all.add("div_precision_increment = " + (divPrecision < 0 ? "DEFAULT" : divPrecision));
        all.add("block_encryption_mode = " + (blockEncryption == null ? "DEFAULT" : "'" + blockEncryption + "'"));
        return String.join(", ", all);
    }

    /** Whether a session reads CHAR columns otherwise under these than by default. */
    public boolean padChars() {
        return (sqlMode & PAD_CHAR_TO_FULL_LENGTH) != 0;
    }

    /** Of ucs2, utf16, utf16le or utf32, into which a server would convert the literal of BINLOG. */
    private static boolean isOfWideCharacters(int id) {
        return id >= 0 && WIDE.get(id);
    }
}
