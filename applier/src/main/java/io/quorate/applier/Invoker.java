// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Identifiers;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Writes the account that ran a statement into it, where the statement only implies it. The binlog has such statements
 * as they were typed, with the account beside them ({@code Q_INVOKER}). A replica's own thread takes that account, but
 * no client can: run as they are, they would mean the applier's account.
 *
 * <ul>
 *   <li>ALTER EVENT without DEFINER makes its invoker the definer, with whose privileges the event's body runs;
 *   <li>REVOKE, and ALTER, RENAME and DROP USER, may name CURRENT_USER.
 * </ul>
 */
final class Invoker {
    static final String COMMENT = "/\\*(?!!).*?\\*/|#[^\\n]*+(?:\\n|$)|--\\s[^\\n]*+(?:\\n|$)";
    /** What may be between two words; a version comment counts as its content. */
    static final String BETWEEN = "(?:\\s|/\\*!\\d*|\\*/|" + COMMENT + ")";

    private static final Pattern ALTER_EVENT = pattern("(" + BETWEEN + "*+ALTER)(?=" + BETWEEN + "++EVENT\\b)");

    private static final Pattern OF_ACCOUNTS =
            pattern(BETWEEN + "*+(?:GRANT|REVOKE|(?:CREATE|ALTER|RENAME|DROP)" + BETWEEN + "++USER)\\b");

    static final String QUOTED = "(?:'(?:[^'\\\\]++|\\\\.|'')*+'|\"(?:[^\"\\\\]++|\\\\.|\"\")*+\"|`(?:[^`]++|``)*+`)";

    /** Strings, quoted names and comments first, so that nothing is found within them. */
    private static final Pattern CURRENT_USER =
            pattern(QUOTED + "|" + COMMENT + "|(\\bCURRENT_USER\\b(?:" + BETWEEN + "*+\\(" + BETWEEN + "*+\\))?)");

    private static final Pattern GRANT = pattern(BETWEEN + "*+GRANT\\b");

    private static final String ACCOUNT = QUOTED + "(?:\\s*+@\\s*+" + QUOTED + ")?";
    private static final String ACCOUNTS = ACCOUNT + "(?:\\s*+,\\s*+" + ACCOUNT + ")*+";

    /** At the end of a GRANT, as a server writes it into its binlog: the account, and its roles. */
    private static final Pattern GRANTOR = pattern("\\s++AS\\s++(" + ACCOUNT
            + ")\\s++WITH\\s++ROLE\\s++(NONE|DEFAULT|ALL(?:\\s++EXCEPT\\s++" + ACCOUNTS + ")?|" + ACCOUNTS + ")\\s*+$");

    /** Both parts of an account as literals that are the same in any character set. */
    private static final Pattern PLAIN_ACCOUNT = pattern("('[ -~&&[^'\\\\]]*+')@('[ -~&&[^'\\\\]]*+')");

    private Invoker() {}

    static Pattern pattern(String regex) {
        return Pattern.compile(regex, Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
    }

    /** Whether {@code statement} is of a kind that may imply its invoker. */
    static boolean mayBeImplied(String statement) {
        return ALTER_EVENT.matcher(statement).lookingAt()
                || OF_ACCOUNTS.matcher(statement).lookingAt();
    }

    /**
     * Names the invoker wherever such a statement implies it.
     *
     * @param user,host as bytes in the statement's character set, one char each
     */
    static String name(String statement, String user, String host) {
        String account = Identifiers.quoted(user) + "@" + Identifiers.quoted(host);
        Matcher event = ALTER_EVENT.matcher(statement);
        if (event.lookingAt()) {
            return event.group(1) + " DEFINER = " + account + statement.substring(event.end(1));
        }
        return CURRENT_USER
                .matcher(statement)
                .replaceAll(found -> Matcher.quoteReplacement(found.group(1) == null ? found.group() : account));
    }

    /**
     * A GRANT without the account as which it was granted ({@code AS ... WITH ROLE ...}), which a server adds in its
     * binlog. That account says which restrictions on schemas ({@code partial_revokes}) go with the privileges, and
     * the statement is run as if it had come from there: {@code read_only} refuses it, whoever runs it.
     *
     * @return the statement as it is, if it has no such part
     */
    static String withoutGrantor(String statement) {
        // A routine's body may be such a statement too, and is to stay as it is.
        return GRANT.matcher(statement).lookingAt() ? GRANTOR.matcher(statement).replaceFirst("") : statement;
    }

    /** Which accounts in {@code mysql.user} may bring restrictions into such a GRANT, as a condition. */
    static String grantors(String statement) {
        Matcher grantor = GRANTOR.matcher(statement);
        if (!grantor.find() || !grantor.group(2).equalsIgnoreCase("NONE")) {
            return "TRUE";
        }
        Matcher account = PLAIN_ACCOUNT.matcher(grantor.group(1));
        return account.matches() ? "User = " + account.group(1) + " AND Host = " + account.group(2) : "TRUE";
    }
}
