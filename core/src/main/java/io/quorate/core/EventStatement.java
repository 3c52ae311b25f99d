// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * CREATE EVENT and ALTER EVENT, as others than the server of the client run them. An event runs on the server where a
 * client has last switched it on. On all others it is there and doesn't run ({@code DISABLE ON SLAVE}), as on a replica
 * of MySQL's, whose thread does that by itself ("Replication of Invoked Features" in MySQL's manual). What the event
 * does comes to them as rows; otherwise each server would do it once more.
 *
 * <p>A statement may be bytes of any character set that has ASCII as its first half, one char each.
 */
public final class EventStatement {
    private static final String RUNS = "ENABLE";
    private static final String RUNS_ELSEWHERE = "DISABLE ON SLAVE";

    /** Comments, where a version comment counts as its content; then names and strings, words, and other signs. */
    private static final Pattern TOKEN = Pattern.compile(
            "/\\*(?!M?!).*?\\*/|#[^\\n]*+|--(?=\\s|$)[^\\n]*+|/\\*M?!\\d*+|\\*/|\\s++"
                    + "|('(?:[^'\\\\]++|\\\\.|'')*+'|\"(?:[^\"\\\\]++|\\\\.|\"\")*+\"|`(?:[^`]++|``)*+`"
                    + "|[\\w$\\x80-\\uffff]++|.)",
            Pattern.DOTALL);

    private record Token(String text, int from, int to) {
        boolean is(String word) {
            return text.equalsIgnoreCase(word);
        }
    }

    private final String statement;
    private final List<Token> tokens = new ArrayList<>();
    private int at;

    private EventStatement(String statement) {
        this.statement = statement;
        for (Matcher found = TOKEN.matcher(statement); found.find(); ) {
            if (found.group(1) != null) {
                tokens.add(new Token(found.group(1), found.start(1), found.end(1)));
            }
        }
        tokens.add(new Token("", statement.length(), statement.length()));
    }

    /**
     * Where the statement says whether the event runs, or would.
     *
     * @param said what it says; empty for nothing
     */
    private record Status(int from, int to, String said) {}

    /** A client's statement as other servers run it. Any other statement is returned as it is. */
    public static String elsewhere(String statement) {
        EventStatement event = new EventStatement(statement);
        Status status = event.status();
        boolean runs = status != null && (status.said.isEmpty() || status.said.equals(RUNS));
        return runs ? event.with(status, RUNS_ELSEWHERE) : statement;
    }

    /**
     * What another server's SHOW CREATE EVENT says, as a server runs it that gets a copy.
     *
     * @param ranHere whether an event of that name was switched on there
     */
    public static String copied(String create, boolean ranHere) {
        EventStatement event = new EventStatement(create);
        Status status = event.status();
        boolean ranThere = status == null || !status.said.equals(RUNS_ELSEWHERE);
        return ranHere && !ranThere ? event.with(status, RUNS) : elsewhere(create);
    }

    private String with(Status status, String text) {
        return statement.substring(0, status.from)
                + text
                + (status.said.isEmpty() ? " " : "")
                + statement.substring(status.to);
    }

    /** Null where it says nothing, and means by that that all stays as it is. */
    private Status status() {
        boolean creates = take("CREATE");
        if ((!creates && !take("ALTER")) || !takeEvent()) {
            return null;
        }
        for (int depth = 0; !atEnd(); ) {
            Token token = take();
            depth += token.is("(") ? 1 : token.is(")") ? -1 : 0;
            if (depth > 0) {
                continue;
            }
            if (token.is("RENAME")) {
                take("TO");
                takeName();
            } else if (token.is("ENABLE")) {
                return new Status(token.from, token.to, RUNS);
            } else if (token.is("DISABLE")) {
                boolean elsewhere = take("ON");
                return new Status(token.from, elsewhere ? take().to : token.to, elsewhere ? RUNS_ELSEWHERE : "DISABLE");
            } else if (token.is("COMMENT") || token.is("DO")) {
                return creates ? new Status(token.from, token.from, "") : null;
            }
        }
        return null;
    }

    /** Takes everything up to the end of the event's name; false for other objects. */
    private boolean takeEvent() {
        if (take("DEFINER")) {
            take("=");
            take();
            if (take("@")) {
                take();
            } else if (take("(")) {
                take(")");
            }
        }
        if (!take("EVENT")) {
            return false;
        }
        if (take("IF")) {
            take("NOT");
            take("EXISTS");
        }
        takeName();
        return true;
    }

    private void takeName() {
        take();
        if (take(".")) {
            take();
        }
    }

    private boolean atEnd() {
        return at == tokens.size() - 1;
    }

    private Token take() {
        return tokens.get(atEnd() ? at : at++);
    }

    private boolean take(String word) {
        boolean is = tokens.get(at).is(word);
        at += is && !atEnd() ? 1 : 0;
        return is;
    }
}
