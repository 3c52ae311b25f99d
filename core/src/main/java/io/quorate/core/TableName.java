// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.Collection;
import java.util.Locale;
import java.util.stream.Collectors;

/** A table's full name. */
public record TableName(String schema, String table) {
    private static final int NAMED_MAX = 3;

    /** Some tables by name, for messages: a few of them, and how many more there are. */
    public static String some(Collection<TableName> tables) {
        String named = tables.stream()
                .map(TableName::toString)
                .sorted()
                .limit(NAMED_MAX)
                .collect(Collectors.joining(", "));
        int more = tables.size() - NAMED_MAX;
        return "table" + (tables.size() == 1 ? " " : "s ") + named + (more > 0 ? " and " + more + " more" : "");
    }

    /** As servers know it that keep names in lower case ({@code lower_case_table_names}). */
    public TableName inLowerCase() {
        return new TableName(schema.toLowerCase(Locale.ROOT), table.toLowerCase(Locale.ROOT));
    }

    @Override
    public String toString() {
        return schema + "." + table;
    }
}
