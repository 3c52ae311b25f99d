// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Columns whose values are shown nowhere, neither in the conflict journal nor in messages. */
public final class ColumnMask {
    public static final ColumnMask NONE = new ColumnMask(List.of());
    /** Shown instead of a value. */
    public static final String MASKED = "(masked)";

    private final List<String[]> patterns = new ArrayList<>();

    /** @param columns {@code schema.table.column}, any of the three may be {@code *}; case doesn't matter */
    public ColumnMask(List<String> columns) {
        for (String column : columns) {
            String[] parts = column.toLowerCase(Locale.ROOT).split("\\.", 3);
            if (parts.length != 3) {
                throw new IllegalArgumentException(column + " is not schema.table.column");
            }
            patterns.add(parts);
        }
    }

    public boolean hides(String schema, String table, String column) {
        for (String[] p : patterns) {
            if (matches(p[0], schema) && matches(p[1], table) && matches(p[2], column)) {
                return true;
            }
        }
        return false;
    }

    private static boolean matches(String pattern, String name) {
        return pattern.equals("*") || pattern.equals(name.toLowerCase(Locale.ROOT));
    }
}
