// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What the user leaves out of a copy.
 *
 * @param patterns {@code schema.table} each, where {@code *} stands for any characters. {@code schema.*} leaves out a
 *     whole schema, with its routines and events; a table is left out with its triggers; a view is matched like a table
 */
public record Omitted(
        List<String> patterns, boolean accounts, boolean routines, boolean events, boolean triggers, boolean views) {
    public static final Omitted NOTHING = new Omitted(List.of(), false, false, false, false, false);

    public Omitted {
        patterns = List.copyOf(patterns);
        for (String pattern : patterns) {
            if (pattern.indexOf('.') < 0) {
                throw new IllegalArgumentException("not schema.table or schema.*: " + pattern);
            }
        }
    }

    boolean hasSchema(String schema) {
        return patterns.stream()
                .filter(pattern -> pattern.endsWith(".*"))
                .anyMatch(pattern -> matches(pattern.substring(0, pattern.length() - 2), schema));
    }

    boolean hasTable(String schema, String name) {
        return patterns.stream().anyMatch(pattern -> matches(pattern, schema + "." + name));
    }

    /**
     * Whether a view or stored program is left out.
     *
     * @param kind as in {@code DROP kind name}
     * @param table to which a trigger belongs, a view's own name, or empty
     */
    boolean has(String kind, String schema, String table) {
        boolean all =
                switch (kind) {
                    case "VIEW" -> views;
                    case "TRIGGER" -> triggers;
                    case "EVENT" -> events;
                    default -> routines;
                };
        return all || hasSchema(schema) || (!table.isEmpty() && hasTable(schema, table));
    }

    /** Whether a copied view may lack something that it is defined on. */
    boolean mayBreakViews() {
        return routines || views || !patterns.isEmpty();
    }

    private static boolean matches(String pattern, String name) {
        String expression =
                Arrays.stream(pattern.split("\\*", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
        return Pattern.compile(expression, Pattern.DOTALL).matcher(name).matches();
    }
}
