// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

/** What is in rows, as a terminal may show it: rows are anybody's, and terminals obey what they print. */
final class Printable {
    private Printable() {}

    /**
     * The text with all characters that control a terminal, or how it shows others, as backslash sequences: as in
     * Java's literals, backslashes themselves unchanged.
     */
    static String of(String text) {
        if (text.codePoints().noneMatch(Printable::controls)) {
            return text;
        }
        StringBuilder shown = new StringBuilder(text.length() + 16);
        text.codePoints().forEach(c -> {
            if (!controls(c)) {
                shown.appendCodePoint(c);
                return;
            }
            switch (c) {
                case '\n' -> shown.append("\\n");
                case '\r' -> shown.append("\\r");
                case '\t' -> shown.append("\\t");
                default -> shown.append(String.format("\\u%04x", c));
            }
        });
        return shown.toString();
    }

    /** A column's value, null as SQL writes it. */
    static String value(String value) {
        return value == null ? "NULL" : of(value);
    }

    private static boolean controls(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> true;
            default -> false;
        };
    }
}
