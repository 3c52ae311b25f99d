// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Cuts a script into statements, as MySQL's own client does: at semicolons outside of strings, quoted names and
 * comments, or at what the last {@code DELIMITER} line says. Comments stay in the statements; a piece that has nothing
 * else is left out.
 */
final class StatementSplitter {
    private static final String DELIMITER = "delimiter ";

    private final String script;
    private final List<Piece> pieces = new ArrayList<>();
    private String delimiter = ";";
    private int at;
    private int from;
    private boolean hasText;

    /**
     * A statement.
     *
     * @param line in which it begins, from 1
     */
    record Piece(String text, int line) {}

    private StatementSplitter(String script) {
        this.script = script;
    }

    static List<Piece> split(String script) {
        StatementSplitter splitter = new StatementSplitter(script);
        splitter.run();
        return splitter.pieces;
    }

    private void run() {
        while (at < script.length()) {
            if (!hasText && isDelimiterLine()) {
                takeDelimiter();
            } else if (script.startsWith(delimiter, at)) {
                end(at);
                at += delimiter.length();
                from = at;
            } else {
                step();
            }
        }
        end(script.length());
    }

    private void step() {
        char c = script.charAt(at);
        if (c == '\'' || c == '"' || c == '`') {
            hasText = true;
            skipQuoted(c);
        } else if (c == '#' || isDashes()) {
            skipTo("\n");
        } else if (script.startsWith("/*", at)) {
            // The content of a version comment is a part of the statement.
            hasText |= script.startsWith("/*!", at);
            skipTo("*/");
        } else {
            hasText |= !Character.isWhitespace(c);
            at++;
        }
    }

    private boolean isDashes() {
        return script.startsWith("--", at) && (at + 2 == script.length() || script.charAt(at + 2) <= ' ');
    }

    private void skipTo(String end) {
        int found = script.indexOf(end, at + 1);
        at = found < 0 ? script.length() : found + end.length();
    }

    private void skipQuoted(char quote) {
        at++;
        while (at < script.length()) {
            char c = script.charAt(at++);
            if (c == '\\' && quote != '`') {
                at++;
            } else if (c == quote) {
                return;
            }
        }
    }

    private boolean isDelimiterLine() {
        boolean begins = at == 0 || script.charAt(at - 1) == '\n';
        return begins && script.regionMatches(true, at, DELIMITER, 0, DELIMITER.length());
    }

    private void takeDelimiter() {
        int end = script.indexOf('\n', at);
        end = end < 0 ? script.length() : end;
        String given = script.substring(at, end).toLowerCase(Locale.ROOT).startsWith(DELIMITER)
                ? script.substring(at + DELIMITER.length(), end).strip()
                : "";
        delimiter = given.isEmpty() ? ";" : given;
        at = end;
        from = at;
    }

    private void end(int to) {
        if (hasText) {
            String piece = script.substring(from, Math.min(to, script.length()));
            String text = piece.strip();
            int begins = from + piece.indexOf(text);
            int line = 1
                    + (int) script.substring(0, begins)
                            .chars()
                            .filter(c -> c == '\n')
                            .count();
            pieces.add(new Piece(text, line));
        }
        hasText = false;
    }
}
