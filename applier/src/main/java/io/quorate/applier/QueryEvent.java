// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.BinlogEvents;
import io.quorate.core.CarriedSetting;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A statement of the binlog with the session it ran in. The layout, status variables included, is in MySQL's {@code
 * statement_events.h}, class Query_event.
 *
 * @param schema the default schema, null when there was none. CREATE, ALTER and DROP DATABASE name their own, which
 *     need not exist. The header flag LOG_EVENT_SUPPRESS_USE_F, which they have, is for mysqlbinlog; a replica ignores
 *     it
 * @param errorCode the error with which the statement ended at the origin, 0 for none
 * @param text the statement, one char per byte
 * @param settings assignments for SET SESSION that restore the origin's session, in order
 * @param invoker the account that ran the statement; null when the event doesn't say, since it doesn't matter
 */
record QueryEvent(String schema, int errorCode, String text, List<String> settings, Account invoker) {
    static final String COLLATION_CONNECTION = "collation_connection";

    /** Name and host, without quotes. */
    record Account(String user, String host) {}

    /** Reads the event at {@code offset}, without checksum. Fails with an unchecked exception when it is cut short. */
    static QueryEvent parse(byte[] events, int offset) {
        int length = BinlogEvents.length(events, offset);
        ByteBuffer in = BinlogEvents.littleEndian(events);
        in.position(offset).limit(offset + length);
        int seconds = in.getInt();
        in.position(offset + BinlogEvents.HEADER_BYTES);
        long thread = in.getInt() & 0xffff_ffffL;
        in.position(offset + BinlogEvents.HEADER_BYTES + 8);
        int schemaBytes = in.get() & 0xff;
        int errorCode = in.getShort() & 0xffff;
        int statusBytes = in.getShort() & 0xffff;
        StatusVariables status = new StatusVariables(seconds, thread);
        status.read(in.slice(in.position(), statusBytes).order(in.order()));
        in.position(in.position() + statusBytes);
        String schema = text(in, schemaBytes, false);
        in.get();
        String statement = text(in, in.remaining(), true);
        return new QueryEvent(
                schemaBytes == 0 ? null : schema, errorCode, statement, status.assignments(), status.invoker);
    }

    private static String text(ByteBuffer in, int length, boolean asBytes) {
        byte[] bytes = new byte[length];
        in.get(bytes);
        return new String(bytes, asBytes ? StandardCharsets.ISO_8859_1 : StandardCharsets.UTF_8);
    }

    /** The part of the event that describes the session. */
    private static final class StatusVariables {
        private static final Pattern NUMBER = Pattern.compile("[0-9]+");
        private static final int NO_FOREIGN_KEY_CHECKS = 1 << 26;
        private static final int RELAXED_UNIQUE_CHECKS = 1 << 27;
        private static final int AUTO_IS_NULL = 1 << 14;

        /** First what a server leaves out, because it has these values. */
        private final List<String> assignments = new ArrayList<>(
                List.of("auto_increment_increment = 1", "auto_increment_offset = 1", "lc_time_names = 0"));

        private final long seconds;
        private final long thread;
        private int micros;
        private Account invoker;

        StatusVariables(int seconds, long thread) {
            this.seconds = seconds & 0xffff_ffffL;
            this.thread = thread;
        }

        List<String> assignments() {
            List<String> all = new ArrayList<>(assignments);
            all.add(String.format("timestamp = %d.%06d", seconds, micros));
            // What CONNECTION_ID() gives.
            all.add("pseudo_thread_id = " + thread);
            return all;
        }

        /** Stops at a variable it doesn't know, as a replica does: newer ones are appended. */
        void read(ByteBuffer in) {
            while (in.hasRemaining() && readOne(in.get() & 0xff, in)) {}
        }

        private boolean readOne(int code, ByteBuffer in) {
            switch (code) {
                case 0 -> readFlags(in.getInt());
                case 1 -> set("sql_mode", in.getLong());
                case 2 -> skipText(in, 1);
                case 3 -> {
                    set("auto_increment_increment", unsignedShort(in));
                    set("auto_increment_offset", unsignedShort(in));
                }
                case 4 -> {
                    set("character_set_client", unsignedShort(in));
                    set(COLLATION_CONNECTION, unsignedShort(in));
                    set("collation_server", unsignedShort(in));
                }
                case 5 -> assignments.add("time_zone = '" + text(in, in.get() & 0xff, true) + "'");
                case 6 -> skipText(in, 0);
                case 7 -> set("lc_time_names", unsignedShort(in));
                case 8 -> set("collation_database", unsignedShort(in));
                case 9, 17 -> in.getLong();
                case 10 -> in.getInt();
                case 11 -> invoker = new Account(text(in, in.get() & 0xff, false), text(in, in.get() & 0xff, false));
                case 12 -> skipSchemas(in);
                case 13 -> micros = unsignedShort(in) + ((in.get() & 0xff) << 16);
                case 16 -> set("explicit_defaults_for_timestamp", in.get());
                case 18 -> set("default_collation_for_utf8mb4", unsignedShort(in));
                case 19 -> set("sql_require_primary_key", in.get());
                case 20 -> set("default_table_encryption", in.get());
                case io.quorate.core.binlog.QueryEvent.CARRIED -> readCarried(in);
                default -> {
                    return false;
                }
            }
            return true;
        }

        private static int unsignedShort(ByteBuffer in) {
            return in.getShort() & 0xffff;
        }

        private static void skipText(ByteBuffer in, int terminatorBytes) {
            int length = in.get() & 0xff;
            in.position(in.position() + length + terminatorBytes);
        }

        private void readFlags(int flags) {
            set("foreign_key_checks", (flags & NO_FOREIGN_KEY_CHECKS) == 0 ? 1 : 0);
            set("unique_checks", (flags & RELAXED_UNIQUE_CHECKS) == 0 ? 1 : 0);
            set("sql_auto_is_null", (flags & AUTO_IS_NULL) == 0 ? 0 : 1);
        }

        /** What the origin's service has added. */
        private void readCarried(ByteBuffer in) {
            byte[] bytes = new byte[unsignedShort(in)];
            in.get(bytes);
            String[] pairs = new String(bytes, StandardCharsets.UTF_8).split("\0", -1);
            for (int i = 0; i + 1 < pairs.length; i += 2) {
                String value = pairs[i + 1];
                if (CarriedSetting.of(pairs[i]) != null) {
                    assignments.add(pairs[i] + " = " + (NUMBER.matcher(value).matches() ? value : literal(value)));
                }
            }
        }

        private static String literal(String value) {
            return value.isEmpty() ? "NULL" : "x'" + SchemaCheck.hexOf(value) + "'";
        }

        private static void skipSchemas(ByteBuffer in) {
            int count = in.get() & 0xff;
            if (count == 254) {
                return;
            }
            for (int ends = 0; ends < count; ) {
                ends += in.get() == 0 ? 1 : 0;
            }
        }

        private void set(String variable, long value) {
            assignments.add(variable + " = " + value);
        }
    }
}
