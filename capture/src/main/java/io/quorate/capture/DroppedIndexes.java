// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Recognises definitions that drop indexes of a table and do nothing else. What isn't known for certain is another. */
final class DroppedIndexes {
    private static final Set<String> WAYS = Set.of("ALGORITHM", "LOCK");

    private final SqlTokens tokens;

    /** @param tokens what follows the table's name; they are read without being taken */
    DroppedIndexes(SqlTokens tokens) {
        this.tokens = tokens.rest();
    }

    /** The indexes that the clauses of an ALTER TABLE drop; empty if that is not all that they do. */
    List<String> clauses() {
        List<String> names = new ArrayList<>();
        do {
            if (!way() && !drop(names)) {
                return List.of();
            }
        } while (tokens.takeSign(','));
        return tokens.atEnd() ? List.copyOf(names) : List.of();
    }

    /** The index of a DROP INDEX, which nothing follows but how it is dropped; otherwise empty. */
    List<String> alone(SqlTokens.Token index) {
        while (way()) {
            tokens.takeSign(',');
        }
        return index.isName() && tokens.atEnd() ? List.of(index.text()) : List.of();
    }

    private boolean drop(List<String> names) {
        if (!tokens.take("DROP") || !(tokens.take("INDEX") || tokens.take("KEY"))) {
            return false;
        }
        SqlTokens.Token name = tokens.take();
        names.add(name.text());
        return name.isName();
    }

    private boolean way() {
        if (!WAYS.contains(tokens.peek().upper())) {
            return false;
        }
        tokens.take();
        tokens.takeSign('=');
        return tokens.take().isName();
    }
}
