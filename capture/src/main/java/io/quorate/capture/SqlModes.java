// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.binlog.QueryEvent;
import java.util.Map;

/** The numbers of SQL modes in the binlog: {@code sql_mode}'s bits, see {@code sql/system_variables.h}. */
final class SqlModes {
    private static final Map<String, Long> BITS = Map.ofEntries(
            Map.entry("REAL_AS_FLOAT", 1L),
            Map.entry("PIPES_AS_CONCAT", 1L << 1),
            Map.entry("ANSI_QUOTES", QueryEvent.ANSI_QUOTES),
            Map.entry("IGNORE_SPACE", 1L << 3),
            Map.entry("ONLY_FULL_GROUP_BY", 1L << 5),
            Map.entry("NO_UNSIGNED_SUBTRACTION", 1L << 6),
            Map.entry("NO_DIR_IN_CREATE", 1L << 7),
            Map.entry("ANSI", 1L << 18),
            Map.entry("NO_AUTO_VALUE_ON_ZERO", 1L << 19),
            Map.entry("NO_BACKSLASH_ESCAPES", QueryEvent.NO_BACKSLASH_ESCAPES),
            Map.entry("STRICT_TRANS_TABLES", 1L << 21),
            Map.entry("STRICT_ALL_TABLES", 1L << 22),
            Map.entry("NO_ZERO_IN_DATE", 1L << 23),
            Map.entry("NO_ZERO_DATE", 1L << 24),
            Map.entry("ALLOW_INVALID_DATES", 1L << 25),
            Map.entry("ERROR_FOR_DIVISION_BY_ZERO", 1L << 26),
            Map.entry("TRADITIONAL", 1L << 27),
            Map.entry("HIGH_NOT_PRECEDENCE", 1L << 29),
            Map.entry("NO_ENGINE_SUBSTITUTION", 1L << 30),
            Map.entry("PAD_CHAR_TO_FULL_LENGTH", 1L << 31),
            Map.entry("TIME_TRUNCATE_FRACTIONAL", 1L << 32));

    private SqlModes() {}

    /** @param names as {@code @@sql_mode} has them; one that is unknown is left out */
    static long number(String names) {
        long number = 0;
        for (String name : names.split(",")) {
            number |= BITS.getOrDefault(name, 0L);
        }
        return number;
    }
}
