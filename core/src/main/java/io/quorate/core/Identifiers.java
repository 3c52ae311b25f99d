// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/** Identifiers in the text of statements. */
public final class Identifiers {
    private Identifiers() {}

    /** In backticks, whatever it contains (MySQL manual, "Schema Object Names"). */
    public static String quoted(String identifier) {
        return "`" + identifier.replace("`", "``") + "`";
    }

    /** The full name of a table, a view or a routine. */
    public static String quoted(String schema, String name) {
        return quoted(schema) + "." + quoted(name);
    }

    /** The name that stands in backticks. */
    public static String unquoted(String inBackticks) {
        return inBackticks.replace("``", "`");
    }
}
