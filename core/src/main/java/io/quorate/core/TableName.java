// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.Collection;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A table's full name. */
public record TableName(String schema, String table) {
    private static final int NAMED_MAX = 3;
    private static final String PART = "([^`.]+|`(?:[^`]|``)+`)";
    private static final Pattern WRITTEN = Pattern.compile(PART + "\\." + PART);
    private static final String OURS = "quorate";

    /** The tables of {@code mysql} in which accounts, roles and privileges are, and the servers of FEDERATED tables. */
    private static final Set<String> ACCOUNTS = Set.of(
            "user",
            "db",
            "tables_priv",
            "columns_priv",
            "procs_priv",
            "proxies_priv",
            "global_grants",
            "role_edges",
            "default_roles",
            "password_history",
            "servers");

    /** Those of the server's own, and this product's. */
    private static final Set<String> SYSTEM = Set.of("mysql", "sys", "performance_schema", "information_schema", OURS);

    /**
     * The table that somebody has named as {@code schema.table}. A part that has a dot or a comma in it is written in
     * backticks.
     *
     * @throws IllegalArgumentException with a sentence about what isn't such a name
     */
    public static TableName parse(String text) {
        Matcher parts = WRITTEN.matcher(text.strip());
        if (!parts.matches()) {
            throw new IllegalArgumentException("a table is named SCHEMA.TABLE, not " + text.strip()
                    + "; a name with a dot or a comma in it goes into backticks");
        }
        return new TableName(part(parts.group(1)), part(parts.group(2)));
    }

    /**
     * The tables that somebody has named, separated by commas. A part that has a comma in it is written in backticks.
     *
     * @throws IllegalArgumentException with a sentence about what isn't such a name
     */
    public static Set<TableName> parseAll(String text) {
        Set<TableName> tables = new HashSet<>();
        boolean quoted = false;
        int start = 0;
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            // A backtick within a name is written twice.
            quoted ^= c == '`';
            if (c == ',' && !quoted) {
                tables.add(parse(text.substring(start, at)));
                start = at + 1;
            }
        }
        tables.add(parse(text.substring(start)));
        return tables;
    }

    /**
     * Why this table can't be compared or copied: it is the server's own, or {@code quorate}'s. Null when it is one of
     * users.
     */
    public String refusal() {
        return isSchemaOfUsers(schema) ? null : this + " is none of users' tables, and isn't replicated";
    }

    /**
     * Whether each server has such a table for itself: logs, statistics, time zones, help and whatever else is in the
     * server's own schemas but accounts, roles and privileges. It is never ordered, voted on, copied or dropped.
     */
    public boolean isServersOwn() {
        String of = schema.toLowerCase(Locale.ROOT);
        return !of.equals(OURS)
                && SYSTEM.contains(of)
                && !(of.equals("mysql") && ACCOUNTS.contains(table.toLowerCase(Locale.ROOT)));
    }

    private static String part(String written) {
        return written.startsWith("`") ? Identifiers.unquoted(written.substring(1, written.length() - 1)) : written;
    }

    /** Whether a schema is one of users, and not the server's own or {@code quorate}. */
    public static boolean isSchemaOfUsers(String schema) {
        return !SYSTEM.contains(schema.toLowerCase(Locale.ROOT));
    }

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
