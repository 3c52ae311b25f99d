// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import java.util.Set;

/**
 * Recognises definitions that leave a table's columns as they are: indexes and constraints come, defaults and comments
 * change. Rows that are written under such a definition fit the former one too, so none is lost with it. Where an index
 * or a constraint goes, rows may not fit without that: they may be what it would have refused. Doubt means that the
 * columns may change.
 */
final class KeptColumns {
    /** What ADD may be followed by where it adds no column, after the name of a constraint. */
    private static final Set<String> ADDED =
            Set.of("INDEX", "KEY", "UNIQUE", "FULLTEXT", "SPATIAL", "FOREIGN", "CHECK");

    private static final Set<String> OTHERS = Set.of("COMMENT", "ALGORITHM", "LOCK", "WITH", "WITHOUT");

    private final SqlTokens tokens;

    /** @param tokens what follows the table's name; they are read without being taken */
    KeptColumns(SqlTokens tokens) {
        this.tokens = tokens.rest();
    }

    /** Whether no clause of an ALTER TABLE may change a column. */
    boolean clauses() {
        do {
            if (!clause()) {
                return false;
            }
            passOver();
        } while (tokens.takeSign(','));
        return tokens.atEnd();
    }

    private boolean clause() {
        String word = tokens.take().upper();
        return switch (word) {
            case "ADD" -> adds();
            case "ALTER" -> !tokens.peek().is("CHECK") && !tokens.peek().is("CONSTRAINT");
            case "RENAME" -> tokens.peek().is("INDEX") || tokens.peek().is("KEY");
            default -> OTHERS.contains(word);
        };
    }

    private boolean adds() {
        if (tokens.take("CONSTRAINT") && !ADDED.contains(tokens.peek().upper())) {
            tokens.take();
        }
        // An index over an expression has a column of its own, if a hidden one.
        return ADDED.contains(tokens.peek().upper()) && (tokens.peek().is("CHECK") || !isOverExpression());
    }

    /** Whether there is an index over an expression in the rest of the statement. */
    boolean isOverExpression() {
        for (int i = 0; tokens.peek(i).kind() != SqlTokens.Kind.END; i++) {
            boolean begins = tokens.peek(i).isSign('(') || tokens.peek(i).isSign(',');
            if (begins && tokens.peek(i + 1).isSign('(')) {
                return true;
            }
        }
        return false;
    }

    private void passOver() {
        int depth = 0;
        while (!tokens.atEnd() && (depth > 0 || !tokens.peek().isSign(','))) {
            SqlTokens.Token token = tokens.take();
            depth += token.isSign('(') ? 1 : token.isSign(')') ? -1 : 0;
        }
    }
}
