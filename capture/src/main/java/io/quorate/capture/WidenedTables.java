// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.capture.Statement.Scope;
import io.quorate.core.TableName;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Tables that have got columns, as far as the binlog has been read. Rows that others write without those columns get
 * what the statement gave to the rows that were there. That is over once a later statement may have changed the
 * columns' defaults, as Django's migrations do right after each ADD COLUMN: such a statement can't change places with
 * rows that its server hadn't seen.
 */
final class WidenedTables {
    private static final int TABLES_MAX = 1000;

    private final Set<TableName> names = new LinkedHashSet<>();

    /** A table is made: there was none of this name, whatever was read of one before. */
    void made(TableName table) {
        names.remove(table);
    }

    /** What a definition of these tables conflicts with, after what was read before it. */
    Scope scope(Scope scope, List<TableName> tables) {
        switch (scope) {
            case ADDED_COLUMNS -> add(tables);
            case TABLES -> {
                return tables.stream().anyMatch(names::contains) ? Scope.ROWS : Scope.TABLES;
            }
            case EVERYTHING, ROWS, COPIED_DEFINITION, ADDED_INDEXES, DROPPED_CHECKS, OBJECTS, UPKEEP -> {
                // Conflicts with such rows anyway, or leaves columns as they are.
            }
        }
        return scope;
    }

    private void add(List<TableName> tables) {
        names.addAll(tables);
        while (names.size() > TABLES_MAX) {
            names.remove(names.iterator().next());
        }
    }
}
