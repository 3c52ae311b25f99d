// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.binlog.QueryEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The words, names and signs of a statement, without comments and white space; the content of a version comment counts.
 * Strings are tokens without content.
 */
final class SqlTokens {
    /**
     * One token.
     *
     * @param text a word as written, a quoted name without its quotes, a sign; empty for strings
     * @param kind what it is
     * @param from where it begins in the statement
     */
    record Token(String text, Kind kind, int from) {
        boolean is(String keyword) {
            return kind == Kind.WORD && text.equalsIgnoreCase(keyword);
        }

        boolean isSign(char sign) {
            return kind == Kind.SIGN && text.charAt(0) == sign;
        }

        boolean isName() {
            return kind == Kind.WORD || kind == Kind.QUOTED;
        }

        boolean isString() {
            return kind == Kind.STRING;
        }

        /** Whether it begins like a number. */
        boolean isNumber() {
            return kind == Kind.WORD && text.charAt(0) >= '0' && text.charAt(0) <= '9';
        }

        String upper() {
            return kind == Kind.WORD ? text.toUpperCase(Locale.ROOT) : "";
        }
    }

    enum Kind {
        WORD,
        QUOTED,
        STRING,
        SIGN,
        END
    }

    private static final Token END = new Token("", Kind.END, -1);

    private final List<Token> tokens = new ArrayList<>();
    private final String sql;
    private final boolean ansiQuotes;
    private final boolean backslashes;
    private int at;
    private int next;

    private SqlTokens(String sql, long sqlMode) {
        this.sql = sql;
        this.ansiQuotes = (sqlMode & QueryEvent.ANSI_QUOTES) != 0;
        this.backslashes = (sqlMode & QueryEvent.NO_BACKSLASH_ESCAPES) == 0;
        while (at < sql.length()) {
            scan();
        }
    }

    static SqlTokens of(String sql, long sqlMode) {
        return new SqlTokens(sql, sqlMode);
    }

    /** What is still to come, to be read without taking it from here. */
    SqlTokens rest() {
        SqlTokens rest = new SqlTokens("", 0);
        rest.tokens.addAll(tokens.subList(Math.min(next, tokens.size()), tokens.size()));
        return rest;
    }

    /**
     * The token {@code ahead} places after the next one, without taking it; after the last there are only END tokens.
     */
    Token peek(int ahead) {
        int i = next + ahead;
        return i < tokens.size() ? tokens.get(i) : END;
    }

    Token peek() {
        return peek(0);
    }

    Token take() {
        Token token = peek();
        next++;
        return token;
    }

    /** Takes the next token if it is that word. */
    boolean take(String keyword) {
        boolean is = peek().is(keyword);
        if (is) {
            next++;
        }
        return is;
    }

    /** Whether one of these words is still to come. */
    boolean restHasAny(Set<String> words) {
        return tokens.subList(next, tokens.size()).stream().anyMatch(token -> words.contains(token.upper()));
    }

    boolean restHasSign(char sign) {
        return tokens.subList(next, tokens.size()).stream().anyMatch(token -> token.isSign(sign));
    }

    boolean takeSign(char sign) {
        boolean is = peek().isSign(sign);
        if (is) {
            next++;
        }
        return is;
    }

    /** Takes ALGORITHM or LOCK with its value, which say how a table is altered; false where there is none. */
    boolean takeWay() {
        if (!take("ALGORITHM") && !take("LOCK")) {
            return false;
        }
        takeSign('=');
        return take().isName();
    }

    boolean atEnd() {
        return next >= tokens.size();
    }

    private void scan() {
        char c = sql.charAt(at);
        if (Character.isWhitespace(c)) {
            at++;
        } else if (c == '#' || (starts("--") && (at + 2 == sql.length() || sql.charAt(at + 2) <= ' '))) {
            int end = sql.indexOf('\n', at);
            at = end < 0 ? sql.length() : end + 1;
        } else if (starts("/*!") || starts("/*M!")) {
            at = sql.indexOf('!', at) + 1;
            while (at < sql.length() && Character.isDigit(sql.charAt(at))) {
                at++;
            }
        } else if (starts("/*")) {
            int end = sql.indexOf("*/", at + 2);
            at = end < 0 ? sql.length() : end + 2;
        } else if (starts("*/")) {
            at += 2;
        } else if (c == '`' || (c == '"' && ansiQuotes)) {
            int from = at;
            tokens.add(new Token(quoted(c, false), Kind.QUOTED, from));
        } else if (c == '\'' || c == '"') {
            int from = at;
            quoted(c, backslashes);
            tokens.add(new Token("", Kind.STRING, from));
        } else if (isWordPart(c)) {
            int from = at;
            while (at < sql.length() && isWordPart(sql.charAt(at))) {
                at++;
            }
            tokens.add(new Token(sql.substring(from, at), Kind.WORD, from));
        } else {
            tokens.add(new Token(String.valueOf(c), Kind.SIGN, at));
            at++;
        }
    }

    private String quoted(char quote, boolean escapes) {
        StringBuilder content = new StringBuilder();
        at++;
        while (at < sql.length()) {
            char c = sql.charAt(at++);
            if (c == '\\' && escapes && at < sql.length()) {
                content.append(sql.charAt(at++));
            } else if (c != quote) {
                content.append(c);
            } else if (at < sql.length() && sql.charAt(at) == quote) {
                content.append(quote);
                at++;
            } else {
                break;
            }
        }
        return content.toString();
    }

    private boolean starts(String s) {
        return sql.startsWith(s, at);
    }

    private static boolean isWordPart(char c) {
        return c == '_' || c == '$' || c >= 0x80 || Character.isLetterOrDigit(c);
    }
}
