// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.TableName;
import java.util.LinkedHashSet;
import java.util.Set;

/** Tables that have no rows as far as the binlog has been read: made or emptied lately, and not written to since. */
final class EmptyTables {
    private static final int TABLES_MAX = 100;

    private final boolean lowerCaseNames;
    private final Set<TableName> names = new LinkedHashSet<>();

    /** @param lowerCaseNames whether names that differ only in case are the same */
    EmptyTables(boolean lowerCaseNames) {
        this.lowerCaseNames = lowerCaseNames;
    }

    /** Whether none is known, so that nobody needs to tell of tables that are written to. */
    boolean isNone() {
        return names.isEmpty();
    }

    boolean contains(TableName name) {
        return names.contains(key(name));
    }

    void written(TableName name) {
        names.remove(key(name));
    }

    /** A definition that is in the binlog, and changed something. */
    void defined(Statement statement) {
        if (statement.tables() == null) {
            if (statement.scope() == Statement.Scope.EVERYTHING) {
                names.clear();
            }
            return;
        }
        if (statement.bringsRows()) {
            // One of them may have the rows of another now.
            statement.tables().forEach(this::written);
        }
        if (statement.leavesEmpty()) {
            if (names.size() == TABLES_MAX) {
                names.remove(names.iterator().next());
            }
            names.add(key(statement.tables().get(0)));
        }
    }

    private TableName key(TableName name) {
        return lowerCaseNames ? name.inLowerCase() : name;
    }
}
