// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * ALTER EVENT makes whoever runs it the event's definer, with whose privileges its body runs from then on. The binlog
 * has the statement as it was typed and names that account beside it; a replica's own thread takes that account, but no
 * client can. So the account is written into the statement.
 */
final class EventDefiner {
    /** What may be between two words; a version comment counts as its content. */
    private static final String BETWEEN =
            "(?:\\s|/\\*!\\d*|\\*/|/\\*(?!!).*?\\*/|#[^\\n]*(?:\\n|$)|--\\s[^\\n]*(?:\\n|$))";

    private static final Pattern ALTER_EVENT = Pattern.compile(
            "(" + BETWEEN + "*+ALTER)(?=" + BETWEEN + "++EVENT\\b)", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    private EventDefiner() {}

    /** Whether {@code statement} makes its invoker the definer of an event. */
    static boolean isImplied(String statement) {
        return ALTER_EVENT.matcher(statement).lookingAt();
    }

    /**
     * Names the definer in such a statement.
     *
     * @param user,host as bytes in the statement's character set, one char each
     */
    static String name(String statement, String user, String host) {
        Matcher matcher = ALTER_EVENT.matcher(statement);
        if (!matcher.lookingAt()) {
            throw new IllegalArgumentException("not an ALTER EVENT without definer");
        }
        return matcher.group(1) + " DEFINER = " + Names.quoted(user) + "@" + Names.quoted(host)
                + statement.substring(matcher.end(1));
    }
}
