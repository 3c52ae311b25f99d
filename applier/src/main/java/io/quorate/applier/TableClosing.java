// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.Payload;
import io.quorate.core.WriteSet;
import java.util.regex.Pattern;

/** Whether clients are kept from writing until a definition has been run. */
final class TableClosing {
    private static final int SHORTEST_STATEMENT_BYTES = 40;
    private static final Pattern CREATE_TABLE =
            Pattern.compile("\\s*CREATE\\s+TABLE\\b.*", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    private TableClosing() {}

    /** Whether rows that clients write to its tables right before it would lose. A table that it makes has none yet. */
    static boolean isDueTo(WriteSet w) {
        return w.isDefinition()
                && !w.keys().contains(Keys.OBJECTS)
                && conflictsWithRows(w.keys())
                && !createsTable(w.payload());
    }

    private static boolean conflictsWithRows(Keys keys) {
        for (int i = 0; i < keys.size(); i++) {
            boolean table = !Keys.isReserved(keys.hash(i)) || keys.hash(i) == Keys.EVERYTHING;
            if (table && keys.type(i) == KeyType.EXCLUSIVE) {
                return true;
            }
        }
        return false;
    }

    private static boolean createsTable(Payload payload) {
        Payload.Events statement = payload.size() > SHORTEST_STATEMENT_BYTES ? payload.statement() : null;
        return statement != null
                && CREATE_TABLE
                        .matcher(QueryEvent.parse(statement.bytes(), statement.offset())
                                .text())
                        .matches();
    }
}
