// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.capture.Statement.Numbering;
import java.util.Set;

/** Finds in an ALTER TABLE whether it adds a column that numbers the rows there are. */
final class AddedColumns {
    private static final Set<String> NUMBERS = Set.of("AUTO_INCREMENT", "SERIAL");
    /** A key that was unique, but had NULL, sorted nothing before. */
    private static final Set<String> MAKE_UNIQUE = Set.of("UNIQUE", "SERIAL", "MODIFY", "CHANGE");
    /** The word after one of these is a name. */
    private static final Set<String> BEFORE_NAMES = Set.of("ADD", "COLUMN", "AFTER");

    private AddedColumns() {}

    /** @param tokens with the clauses still to be taken; null when they number nothing */
    static Numbering numbering(SqlTokens tokens) {
        boolean numbers = false;
        boolean hadPrimary = false;
        boolean primaryIsNew = tokens.restHasAny(Set.of("PRIMARY"));
        boolean adds = false;
        int depth = 0;
        for (int i = 0; tokens.peek(i).kind() != SqlTokens.Kind.END; i++) {
            SqlTokens.Token token = tokens.peek(i);
            boolean begins = depth == 0 && (i == 0 || tokens.peek(i - 1).isSign(','));
            adds = begins ? token.is("ADD") : adds;
            hadPrimary |= begins && token.is("DROP") && tokens.peek(i + 1).is("PRIMARY");
            if (token.isSign('(')) {
                depth++;
            } else if (token.isSign(')')) {
                depth--;
            } else if (adds && NUMBERS.contains(token.upper()) && !isName(tokens, i)) {
                numbers = true;
                primaryIsNew |= isInlineKey(tokens, i);
            }
        }
        return numbers ? new Numbering(hadPrimary, primaryIsNew, tokens.restHasAny(MAKE_UNIQUE)) : null;
    }

    private static boolean isName(SqlTokens tokens, int i) {
        SqlTokens.Token before = tokens.peek(i - 1);
        return BEFORE_NAMES.contains(before.upper()) || before.isSign('(') || before.isSign(',');
    }

    /** Behind or before the word, KEY alone stands for PRIMARY KEY. */
    private static boolean isInlineKey(SqlTokens tokens, int i) {
        boolean inline = false;
        for (int at = i; at > 0 && !tokens.peek(at).isSign(','); at--) {
            inline |= tokens.peek(at).is("KEY") && !tokens.peek(at - 1).is("UNIQUE");
        }
        for (int at = i; !tokens.peek(at).isSign(',') && tokens.peek(at).kind() != SqlTokens.Kind.END; at++) {
            inline |= tokens.peek(at).is("KEY") && !tokens.peek(at - 1).is("UNIQUE");
        }
        return inline;
    }
}
