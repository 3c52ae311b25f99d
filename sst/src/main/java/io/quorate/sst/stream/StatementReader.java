// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import java.util.Locale;

/**
 * Takes a statement apart as MySQL does: into words, names, texts and signs. Comments are passed over, except for what
 * MySQL carries out all the same, {@code /*! ... *}{@code /}, which counts like the rest. It knows no grammar.
 */
final class StatementReader {
    enum Kind {
        /** Not in quotes: a keyword, a name, a number. In upper case. */
        WORD,
        /** A name in quotes. */
        NAME,
        TEXT,
        SIGN,
        END
    }

    /** @param depth how many parentheses are open before it */
    record Token(Kind kind, String value, int depth) {
        boolean isWord(String word) {
            return kind == Kind.WORD && value.equals(word);
        }

        boolean isSign(char sign) {
            return kind == Kind.SIGN && value.charAt(0) == sign;
        }
    }

    /** More than any name has; that of a host may have 255. */
    private static final int NAME_CHARACTERS_MAX = 320;

    private final String text;
    private final boolean quotesName;
    private final boolean backslashes;
    private int at;
    private int depth;
    private boolean comments;
    private Token ahead;

    /** @param sqlMode that of the session in which the statement is run */
    StatementReader(String text, String sqlMode) {
        this.text = text;
        this.quotesName = sqlMode.contains("ANSI");
        this.backslashes = !sqlMode.contains("NO_BACKSLASH_ESCAPES");
    }

    /** Whether there were comments so far. */
    boolean hadComments() {
        return comments;
    }

    Token peek() {
        if (ahead == null) {
            ahead = read();
        }
        return ahead;
    }

    /** @throws IllegalArgumentException where a quote, a comment or a parenthesis doesn't end, or ends too often */
    Token next() {
        Token token = peek();
        ahead = null;
        return token;
    }

    private Token read() {
        skip();
        if (at >= text.length()) {
            if (depth != 0) {
                throw new IllegalArgumentException("a parenthesis doesn't end");
            }
            return new Token(Kind.END, "", 0);
        }
        char c = text.charAt(at);
        if (c == '`' || (c == '"' && quotesName)) {
            String name = quoted(c, false);
            if (name.length() > NAME_CHARACTERS_MAX) {
                throw new IllegalArgumentException("a name has " + name.length() + " characters");
            }
            return new Token(Kind.NAME, name, depth);
        } else if (c == '\'' || c == '"') {
            return new Token(Kind.TEXT, quoted(c, backslashes), depth);
        } else if (isOfWord(c)) {
            int from = at;
            while (at < text.length() && isOfWord(text.charAt(at))) {
                at++;
            }
            return new Token(Kind.WORD, text.substring(from, at).toUpperCase(Locale.ROOT), depth);
        }
        at++;
        Token sign = new Token(Kind.SIGN, String.valueOf(c), depth);
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (depth < 0) {
            throw new IllegalArgumentException("a parenthesis ends that didn't begin");
        }
        return sign;
    }

    private static boolean isOfWord(char c) {
        return (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9')
                || c == '_'
                || c == '$'
                || c >= 0x80;
    }

    private void skip() {
        while (at < text.length()) {
            char c = text.charAt(at);
            if (c <= ' ') {
                at++;
            } else if (c == '#' || (text.startsWith("--", at) && endsWord(at + 2))) {
                comments = true;
                int end = text.indexOf('\n', at);
                at = end < 0 ? text.length() : end;
            } else if (text.startsWith("/*!", at)) {
                at += 3;
                while (at < text.length() && Character.isDigit(text.charAt(at))) {
                    at++;
                }
            } else if (text.startsWith("/*", at)) {
                comments = true;
                int end = text.indexOf("*/", at + 2);
                if (end < 0) {
                    throw new IllegalArgumentException("a comment doesn't end");
                }
                at = end + 2;
            } else if (text.startsWith("*/", at)) {
                at += 2;
            } else {
                return;
            }
        }
    }

    private boolean endsWord(int position) {
        return position >= text.length() || text.charAt(position) <= ' ';
    }

    private String quoted(char quote, boolean escapes) {
        StringBuilder value = new StringBuilder();
        for (int i = at + 1; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\' && escapes && i + 1 < text.length()) {
                value.append(text.charAt(++i));
            } else if (c == quote) {
                if (i + 1 == text.length() || text.charAt(i + 1) != quote) {
                    at = i + 1;
                    return value.toString();
                }
                value.append(text.charAt(++i));
            } else {
                value.append(c);
            }
        }
        throw new IllegalArgumentException("a quote doesn't end");
    }
}
