// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.BinlogEvents;
import io.quorate.core.ErrorCode;
import io.quorate.core.Keys;
import io.quorate.core.Payload;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSet;
import io.quorate.core.binlog.RowImage;
import io.quorate.core.binlog.RowsEvent;
import io.quorate.core.binlog.TableMap;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Where a foreign key says CASCADE or SET NULL, InnoDB changes child rows by itself, and the binlog doesn't have these
 * changes. A transaction that may have caused some can't be undone; this says so before anything is changed. From MySQL
 * 9.6 on the server itself changes the children, and says of its events that the binlog has these changes.
 */
final class Cascades {
    private final AuxiliaryConnection auxiliary;

    Cascades(AuxiliaryConnection auxiliary) {
        this.auxiliary = auxiliary;
    }

    /** Which changes of a table's rows change rows of its children. */
    private record Rules(boolean onDelete, Set<String> onUpdateOf) {
        boolean any() {
            return onDelete || !onUpdateOf.isEmpty();
        }
    }

    /** @throws QuorateException {@link ErrorCode#UNDO_IMPOSSIBLE} when rows of children may have changed with it */
    void require(WriteSet w) throws SQLException {
        Map<Long, TableMap> maps = new HashMap<>();
        Map<String, Rules> rules = new HashMap<>();
        boolean logged = false;
        boolean withoutRules = false;
        for (Payload.Events event = w.payload().events(); event.next(); ) {
            int type = event.type();
            if (type == BinlogEvents.TABLE_MAP) {
                maps.put(event.tableId(), TableMap.read(event));
            } else if (event.isRows() && event.cascadesAreLogged()) {
                logged = true;
            } else if (event.isRows() && type != BinlogEvents.WRITE_ROWS) {
                TableMap map = maps.get(event.tableId());
                String table = map.schema + "." + map.table;
                Rules r = rules.get(table);
                if (r == null) {
                    r = rules(map);
                    rules.put(table, r);
                }
                if (r.any() && mayCascade(r, new RowsEvent(map, event.bytes(), event.offset()))) {
                    throw new QuorateException(
                            ErrorCode.UNDO_IMPOSSIBLE,
                            "it deleted or renamed rows of " + table
                                    + ", whose foreign keys cascade to rows that the binlog doesn't have");
                }
                withoutRules |= !r.any();
            }
        }
        // Rows that aren't in the payload any more, because their tables were copied, may be those that cascaded.
        boolean mayBeGone = rules.isEmpty() && !logged;
        if (w.keys().contains(Keys.CASCADES) && (withoutRules || mayBeGone)) {
            throw new QuorateException(
                    ErrorCode.UNDO_IMPOSSIBLE,
                    "it deleted or renamed rows from which foreign keys may have cascaded that are gone since: to rows"
                            + " that the binlog doesn't have");
        }
    }

    private static boolean mayCascade(Rules rules, RowsEvent rows) {
        if (!rows.isUpdate()) {
            return rules.onDelete();
        }
        while (rows.next()) {
            for (int i = 0; i < rows.map().columns(); i++) {
                String[] names = rows.map().names;
                boolean referenced = names == null || rules.onUpdateOf().contains(names[i].toLowerCase(Locale.ROOT));
                if (referenced && changed(rows, i)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean changed(RowsEvent rows, int column) {
        RowImage before = rows.before();
        RowImage after = rows.after();
        int length = after.length(column);
        if (length == RowImage.ABSENT) {
            return false;
        }
        return length != before.length(column)
                || (length > 0
                        && !Arrays.equals(
                                rows.bytes(),
                                before.start(column),
                                before.start(column) + length,
                                rows.bytes(),
                                after.start(column),
                                after.start(column) + length));
    }

    private Rules rules(TableMap map) throws SQLException {
        Set<String> columns = new HashSet<>();
        boolean[] onDelete = {false};
        auxiliary.run(connection -> onDelete[0] = read(connection, map, columns));
        return new Rules(onDelete[0], columns);
    }

    private static boolean read(Connection connection, TableMap map, Set<String> onUpdateOf) throws SQLException {
        String sql = """
                SELECT r.DELETE_RULE IN ('CASCADE', 'SET NULL'), r.UPDATE_RULE IN ('CASCADE', 'SET NULL'),
                  HEX(CONVERT(k.REFERENCED_COLUMN_NAME USING utf8mb4))
                FROM information_schema.REFERENTIAL_CONSTRAINTS r
                JOIN information_schema.KEY_COLUMN_USAGE k
                  ON k.CONSTRAINT_SCHEMA = r.CONSTRAINT_SCHEMA AND k.CONSTRAINT_NAME = r.CONSTRAINT_NAME
                  AND k.TABLE_NAME = r.TABLE_NAME
                WHERE r.UNIQUE_CONSTRAINT_SCHEMA = CONVERT(UNHEX(?) USING utf8mb3)
                  AND r.REFERENCED_TABLE_NAME = CONVERT(UNHEX(?) USING utf8mb3)""";
        boolean onDelete = false;
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, SchemaCheck.hexOf(map.schema));
            statement.setString(2, SchemaCheck.hexOf(map.table));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    onDelete |= row.getBoolean(1);
                    if (row.getBoolean(2)) {
                        onUpdateOf.add(SchemaCheck.unhex(row.getString(3)).toLowerCase(Locale.ROOT));
                    }
                }
            }
        }
        return onDelete;
    }
}
