// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds the clauses {@code ALGORITHM} and {@code LOCK} of statements that alter tables. They say how a server is to do
 * it, not what; and not every server can do it like the origin. A table that was copied has no versions of rows, for
 * example, and takes more columns by INSTANT.
 */
final class AlterManner {
    private static final Pattern ALTERS = Invoker.pattern(
            Invoker.BETWEEN + "*+(?:ALTER" + Invoker.BETWEEN + "++TABLE|(?:CREATE|DROP)\\b.*?\\bINDEX)\\b");

    /** Strings, quoted names and comments first, so that nothing is found within them. */
    private static final Pattern CLAUSE = Invoker.pattern(Invoker.QUOTED + "|" + Invoker.COMMENT
            + "|\\b(?:(ALGORITHM)\\s*+=?\\s*+(?:INSTANT|INPLACE|COPY)|(LOCK)\\s*+=?\\s*+(?:NONE|SHARED|EXCLUSIVE))\\b");

    private AlterManner() {}

    /** The statement in whatever manner the server chooses; the statement itself where it names none. */
    static String any(String statement) {
        if (!ALTERS.matcher(statement).lookingAt()) {
            return statement;
        }
        return CLAUSE.matcher(statement)
                .replaceAll(found -> found.group(1) != null
                        ? found.group(1) + " = DEFAULT"
                        : found.group(2) != null
                                ? found.group(2) + " = DEFAULT"
                                : Matcher.quoteReplacement(found.group()));
    }
}
