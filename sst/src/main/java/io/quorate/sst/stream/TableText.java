// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.sst.stream.Catalog.Clause;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A table's definition taken apart: secondary keys are made faster from existing rows than with every row, and a
 * foreign key needs the other table's keys.
 *
 * <p>The text is that of {@code SHOW CREATE TABLE}, in a session where backticks quote identifiers and backslashes
 * escape in texts: its structure is in the commas and parentheses outside of both. It is not in the line breaks,
 * because a name may have some.
 */
record TableText(String create, List<Clause> indexes, List<Clause> foreignKeys) {
    private static final List<String> SECONDARY = List.of("UNIQUE KEY `", "KEY `", "FULLTEXT KEY `", "SPATIAL KEY `");

    private static final int SHOWN_MAX = 200;

    /** One without anything but names. */
    private static final Pattern PLAIN = Pattern.compile("KEY `(?:[^`]|``)+` \\(`(?:[^`]|``)+`(?:,`(?:[^`]|``)+`)*\\)");

    /** InnoDB uses this one for FULLTEXT, or makes a hidden column. */
    private static final String FULLTEXT_ROWS = "FTS_DOC_ID_INDEX";

    /** Says which keys a server has generated for foreign keys. */
    interface Generated {
        /**
         * @param plain those that it may have generated
         * @return the names of those that it has
         */
        Set<String> among(List<Clause> plain) throws SQLException;
    }

    /** @throws QuorateException COPY_NOT_BY_STREAM for what this version can't read */
    static TableText of(String text, String engine, Generated generated) throws SQLException {
        try {
            return read(text, engine, generated);
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            String shown = text.substring(0, Math.min(SHOWN_MAX, text.length()));
            throw new QuorateException(ErrorCode.COPY_NOT_BY_STREAM, "a table's definition can't be read: " + shown, e);
        }
    }

    private static TableText read(String text, String engine, Generated generated) throws SQLException {
        int open = text.indexOf('(', endOfQuoted(text, text.indexOf('`')));
        List<String> parts = new ArrayList<>();
        int close = split(text, open, parts);
        List<String> secondary = parts.stream().filter(TableText::isSecondary).toList();
        String counted = parts.stream()
                .filter(TableText::isAutoIncrement)
                .map(TableText::name)
                .findFirst()
                .orElse(null);
        int staying = staying(parts, secondary, counted, engine);
        Set<String> names = generated.among(clauses(
                secondary.stream().filter(key -> PLAIN.matcher(key).matches()).toList()));
        List<String> made = secondary.stream()
                .filter(key -> names.contains(name(key)) && !isOf(counted, key))
                .toList();
        List<String> deferred = new ArrayList<>(secondary.subList(staying, secondary.size()));
        deferred.removeAll(made);
        List<String> foreign = parts.stream().filter(TableText::isForeignKey).toList();
        List<String> kept = parts.stream()
                .filter(part -> !deferred.contains(part) && !made.contains(part) && !foreign.contains(part))
                .map(TableText::withoutTablesCollation)
                .toList();
        return new TableText(
                text.substring(0, open + 1) + "\n  " + String.join(",\n  ", kept) + "\n" + text.substring(close),
                Stream.concat(clauses(deferred).stream(), clauses(made).stream().map(GeneratedKeys::clause))
                        .toList(),
                clauses(foreign));
    }

    /** @return the index of the parenthesis that closes the one at {@code open} */
    private static int split(String text, int open, List<String> parts) {
        int depth = 0;
        int from = open + 1;
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '`' || c == '\'') {
                i = endOfQuoted(text, i) - 1;
            } else if (c == '(') {
                depth++;
            } else if (c == ')' && depth-- == 0) {
                parts.add(text.substring(from, i).strip());
                return i;
            } else if (c == ',' && depth == 0) {
                parts.add(text.substring(from, i).strip());
                from = i + 1;
            }
        }
        throw new IllegalArgumentException("not a table's definition: " + text);
    }

    /** @return the index after the quoted part that begins at {@code start} */
    static int endOfQuoted(String text, int start) {
        char quote = text.charAt(start);
        for (int i = start + 1; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\' && quote == '\'') {
                i++;
            } else if (c == quote) {
                if (i + 1 == text.length() || text.charAt(i + 1) != quote) {
                    return i + 1;
                }
                i++;
            }
        }
        throw new IllegalArgumentException("a quote doesn't end: " + text);
    }

    private static boolean isSecondary(String part) {
        return SECONDARY.stream().anyMatch(part::startsWith);
    }

    private static boolean isForeignKey(String part) {
        return part.startsWith("CONSTRAINT `") && part.startsWith(" FOREIGN KEY", endOfQuoted(part, part.indexOf('`')));
    }

    /**
     * How many of the secondary keys stay: all, if one of them may determine the order of the rows; otherwise those
     * that MySQL demands and those before them, because the order of the keys would change.
     *
     * @param counted as for {@link #isOf}
     */
    private static int staying(List<String> parts, List<String> secondary, String counted, String engine) {
        String primary = parts.stream()
                .filter(part -> part.startsWith("PRIMARY KEY"))
                .findFirst()
                .orElse(null);
        if (primary == null || !engine.equalsIgnoreCase("InnoDB")) {
            return secondary.size();
        }
        boolean lacksKey = counted != null && !counted.equals(firstColumn(primary, 0));
        int stay = 0;
        for (int i = 0; i < secondary.size(); i++) {
            String key = secondary.get(i);
            boolean counts = lacksKey && isOf(counted, key);
            if (counts || name(key).equalsIgnoreCase(FULLTEXT_ROWS)) {
                stay = i + 1;
            }
            lacksKey &= !counts;
        }
        return stay;
    }

    /**
     * Whether a key may be the one that MySQL demands of a column with AUTO_INCREMENT.
     *
     * @param counted that column; null for none
     */
    private static boolean isOf(String counted, String key) {
        return counted != null && counted.equals(firstColumn(key, endOfQuoted(key, key.indexOf('`'))));
    }

    private static boolean isAutoIncrement(String part) {
        return part.charAt(0) == '`' && outline(part).contains(" AUTO_INCREMENT");
    }

    /**
     * The server remembers whether a column's collation was named, and then prints it together with the character set.
     * A collation that it prints alone is the table's.
     */
    private static String withoutTablesCollation(String part) {
        String outline = outline(part);
        int at = outline.indexOf(" COLLATE ");
        if (part.charAt(0) != '`' || at < 0 || outline.lastIndexOf(" CHARACTER SET ", at) >= 0) {
            return part;
        }
        int end = outline.indexOf(' ', at + " COLLATE ".length());
        return part.substring(0, at) + (end < 0 ? "" : part.substring(end));
    }

    /** The same length, with question marks for what is in quotes or parentheses. */
    private static String outline(String part) {
        StringBuilder outline = new StringBuilder();
        int depth = 0;
        for (int i = 0; i < part.length(); i++) {
            char c = part.charAt(i);
            int end = c == '`' || c == '\'' ? endOfQuoted(part, i) : i + 1;
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            outline.append(end == i + 1 && depth == 0 ? String.valueOf(c) : "?".repeat(end - i));
            i = end - 1;
        }
        return outline.toString();
    }

    /** Null where the key begins with an expression. */
    private static String firstColumn(String key, int from) {
        int start = key.indexOf('(', from) + 1;
        return key.charAt(start) == '`' ? identifier(key, start) : null;
    }

    private static String name(String part) {
        return identifier(part, part.indexOf('`'));
    }

    private static String identifier(String text, int start) {
        return text.substring(start + 1, endOfQuoted(text, start) - 1).replace("``", "`");
    }

    private static List<Clause> clauses(List<String> parts) {
        return parts.stream().map(part -> new Clause(name(part), part)).toList();
    }
}
