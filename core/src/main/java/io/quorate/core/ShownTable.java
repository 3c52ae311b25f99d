// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.Arrays;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The text of SHOW CREATE TABLE, where it is compared between servers. */
public final class ShownTable {
    /** A query for the character sets and their default collations, for {@link #comparable}. */
    public static final String DEFAULT_COLLATIONS =
            "SELECT character_set_name, default_collate_name FROM information_schema.character_sets";

    private static final Pattern NEXT_NUMBER = Pattern.compile(" AUTO_INCREMENT=\\d+");
    private static final Pattern CHARACTER_SET = Pattern.compile(" CHARACTER SET (\\w++)(?: COLLATE (\\w++))?+");

    /** Lines of keys that aren't unique; the last one has no comma if nothing follows. */
    private static final Pattern KEYS = Pattern.compile("(?m)^  KEY `.*(?:\\n  KEY `.*)+$");

    /** In an expression. */
    private static final Pattern NEGATIVE = Pattern.compile("-\\((\\d++(?:\\.\\d++)?)\\)");

    private ShownTable() {}

    /**
     * The same text for the same table. Left out is the next AUTO_INCREMENT value, which each server counts for itself.
     * Of a column's character set and collation only the collation remains, which says both: servers show one of them
     * or both, depending on whether the statement that made the column named them, and that isn't always the same
     * statement (a copy is made from what is shown, and so is what the binlog has of CREATE TABLE ... SELECT). A
     * negative number in a CHECK is shown as {@code -(1)}, or as {@code -1} by a server that has simplified it. Keys
     * that aren't unique are in the sequence in which they were made, which decides nothing; a copy makes those last
     * that the server generates for foreign keys.
     *
     * @param defaultCollations by character set
     */
    public static String comparable(String shown, Map<String, String> defaultCollations) {
        String plain =
                NEGATIVE.matcher(NEXT_NUMBER.matcher(shown).replaceAll("")).replaceAll("-$1");
        Matcher matcher = CHARACTER_SET.matcher(withSortedKeys(plain));
        return matcher.replaceAll(set -> {
            String collation = set.group(2) == null ? defaultCollations.get(set.group(1)) : set.group(2);
            return Matcher.quoteReplacement(collation == null ? set.group() : " COLLATE " + collation);
        });
    }

    private static String withSortedKeys(String shown) {
        return KEYS.matcher(shown).replaceAll(keys -> {
            String end = keys.group().endsWith(",") ? "," : "";
            return Matcher.quoteReplacement(Arrays.stream(keys.group().split("\n"))
                    .map(key -> key.replaceFirst(",$", ""))
                    .sorted()
                    .collect(Collectors.joining(",\n", "", end)));
        });
    }
}
