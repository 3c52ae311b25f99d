// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import java.util.Set;

/**
 * Recognises statements that change a table's columns, indexes or constraints and leave it and its rows where they are,
 * with the values that they have. Any word that may be about something else counts as if it were.
 */
final class AlteredInPlace {
    /** Partitions, tablespaces, and other tables. */
    private static final Set<String> MOVE_OR_EMPTY =
            Set.of("TRUNCATE", "EXCHANGE", "PARTITION", "PARTITIONS", "PARTITIONING", "TABLESPACE", "UNION", "ENGINE");

    /** A row event's NULL is stored as another value where the column is NOT NULL, as a primary key's always is. */
    private static final Set<String> CONVERT = Set.of("MODIFY", "CHANGE", "CONVERT", "PRIMARY");

    private final SqlTokens tokens;

    AlteredInPlace(SqlTokens tokens) {
        this.tokens = tokens;
    }

    /** Whether the statement does nothing else. */
    boolean isAll() {
        return switch (tokens.take().upper()) {
            case "ALTER" -> tokens.take("TABLE") && keepsTable();
            case "CREATE" -> isOfIndex();
            case "DROP" -> tokens.take("INDEX");
            default -> false;
        };
    }

    private boolean isOfIndex() {
        while (tokens.take("UNIQUE") || tokens.take("FULLTEXT") || tokens.take("SPATIAL")) {
            // A kind of index.
        }
        return tokens.take("INDEX");
    }

    private boolean keepsTable() {
        while (!tokens.atEnd()) {
            SqlTokens.Token token = tokens.take();
            boolean renamesTable = token.is("RENAME")
                    && !tokens.peek().is("COLUMN")
                    && !tokens.peek().is("INDEX")
                    && !tokens.peek().is("KEY");
            if (renamesTable || MOVE_OR_EMPTY.contains(token.upper()) || CONVERT.contains(token.upper())) {
                return false;
            }
        }
        return true;
    }
}
