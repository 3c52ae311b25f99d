// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Recognises definitions that do nothing but drop indexes of a table, or its CHECKs. What isn't known for certain is
 * another.
 */
final class Droppings {
    private final SqlTokens tokens;

    /** @param tokens what follows the table's name; they are read without being taken */
    Droppings(SqlTokens tokens) {
        this.tokens = tokens.rest();
    }

    /** The indexes that the clauses of an ALTER TABLE drop; empty if that is not all that they do. */
    List<String> indexes() {
        List<String> names = new ArrayList<>();
        return clauses(() -> {
                    boolean drops = tokens.take("DROP") && (tokens.take("INDEX") || tokens.take("KEY"));
                    SqlTokens.Token name = drops ? tokens.take() : tokens.peek();
                    names.add(name.text());
                    return drops && name.isName();
                })
                ? List.copyOf(names)
                : List.of();
    }

    /** The index of a DROP INDEX, which nothing follows but how it is dropped; otherwise empty. */
    List<String> alone(SqlTokens.Token index) {
        while (tokens.takeWay()) {
            tokens.takeSign(',');
        }
        return index.isName() && tokens.atEnd() ? List.of(index.text()) : List.of();
    }

    /** Whether the clauses of an ALTER TABLE drop CHECKs, or have them enforced no more, and do nothing else. */
    boolean areChecks() {
        return clauses(() -> {
            if (tokens.take("DROP")) {
                return tokens.take("CHECK") && tokens.take().isName();
            }
            return tokens.take("ALTER")
                    && (tokens.take("CHECK") || tokens.take("CONSTRAINT"))
                    && tokens.take().isName()
                    && tokens.take("NOT")
                    && tokens.take("ENFORCED");
        });
    }

    private boolean clauses(BooleanSupplier clause) {
        boolean any = false;
        do {
            if (!tokens.takeWay()) {
                any = true;
                if (!clause.getAsBoolean()) {
                    return false;
                }
            }
        } while (tokens.takeSign(','));
        return any && tokens.atEnd();
    }
}
