// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.BinlogEvents;
import io.quorate.core.Certified;
import io.quorate.core.Payload;
import io.quorate.core.PayloadBuilder;
import io.quorate.core.Spool;
import io.quorate.core.WriteSet;
import io.quorate.core.binlog.TableMap;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Another sequence for the rows of one statement: those of a child before those of its parent.
 *
 * <p>A trigger of the child may change the parent, and a foreign key with CASCADE or SET NULL then changes the very row
 * that the trigger was called for. The binlog has the parent's row first, and then the child's as it was before both,
 * which isn't there any more when the cascade has been repeated (error 1032; MySQL's own replicas stop, too). With the
 * child first every row is found, and the cascade has less to do. Only what a single statement did changes places, and
 * no trigger may write to the table that its statement writes to, so the rows of each table keep their sequence.
 */
final class ChildrenFirst {
    private static final String CHILDREN = """
            SELECT HEX(CONVERT(CONSTRAINT_SCHEMA USING utf8mb4)), HEX(CONVERT(TABLE_NAME USING utf8mb4))
            FROM information_schema.REFERENTIAL_CONSTRAINTS
            WHERE (DELETE_RULE IN ('CASCADE', 'SET NULL') OR UPDATE_RULE IN ('CASCADE', 'SET NULL'))
              AND UNIQUE_CONSTRAINT_SCHEMA = CONVERT(UNHEX(?) USING utf8mb3)
              AND REFERENCED_TABLE_NAME = CONVERT(UNHEX(?) USING utf8mb3)""";

    private final Payload payload;
    private final Spool spool;
    private final Map<Long, String> names = new HashMap<>();
    /** How many foreign keys lead from a table up to one that has no parent here. */
    private final Map<String, Integer> depths = new HashMap<>();

    private ChildrenFirst(Payload payload, Spool spool) {
        this.payload = payload;
        this.spool = spool;
    }

    /** Whether a writeset has a statement that changed several tables. */
    static boolean mayMatter(Certified writeSet) {
        Set<Long> tables = new HashSet<>();
        for (Payload.Events event = writeSet.writeSet().payload().events(); event.next(); ) {
            if (event.isRows()) {
                tables.add(event.tableId());
                if (tables.size() > 1) {
                    return true;
                }
                if (event.endsStatement()) {
                    tables.clear();
                }
            }
        }
        return false;
    }

    /** The writeset with its rows in that sequence. */
    static Certified of(Certified c, Connection connection, Spool spool) throws SQLException {
        WriteSet w = c.writeSet();
        return c.with(w.withPayload(new ChildrenFirst(w.payload(), spool).sorted(connection)));
    }

    private Payload sorted(Connection connection) throws SQLException {
        readNames();
        readDepths(connection);
        PayloadBuilder out = new PayloadBuilder(spool);
        List<Place> rows = new ArrayList<>();
        for (Payload.Events event = payload.events(); event.next(); ) {
            if (!event.isRows()) {
                // Maps come before the rows of their statement.
                out.append(event);
                continue;
            }
            rows.add(new Place(event.position(), -depths.get(names.get(event.tableId()))));
            if (event.endsStatement()) {
                append(rows, out);
                rows.clear();
            }
        }
        append(rows, out);
        return out.take();
    }

    /** Where an event is, and its rank. */
    private record Place(int position, int rank) {}

    private void append(List<Place> rows, PayloadBuilder out) {
        rows.sort(Comparator.comparingInt(Place::rank));
        Payload.Events event = payload.events();
        for (int i = 0; i < rows.size(); i++) {
            event.go(rows.get(i).position);
            out.append(event);
            out.endsStatement(i == rows.size() - 1);
        }
    }

    private void readNames() {
        for (Payload.Events event = payload.events(); event.next(); ) {
            if (event.type() == BinlogEvents.TABLE_MAP) {
                TableMap map = TableMap.read(event);
                names.put(event.tableId(), name(map.schema, map.table));
            }
        }
    }

    private static String name(String schema, String table) {
        return schema + "\n" + table;
    }

    private void readDepths(Connection connection) throws SQLException {
        Set<String> tables = new HashSet<>(names.values());
        tables.forEach(table -> depths.put(table, 0));
        Map<String, Set<String>> children = new HashMap<>();
        for (String table : tables) {
            Set<String> own = children(connection, table);
            own.retainAll(tables);
            own.remove(table);
            children.put(table, own);
        }
        // As often as there are tables: foreign keys in a circle end there.
        for (int i = 0; i < tables.size(); i++) {
            children.forEach(
                    (parent, own) -> own.forEach(child -> depths.merge(child, depths.get(parent) + 1, Math::max)));
        }
    }

    private static Set<String> children(Connection connection, String table) throws SQLException {
        Set<String> children = new HashSet<>();
        String[] parts = table.split("\n", 2);
        try (PreparedStatement statement = connection.prepareStatement(CHILDREN)) {
            statement.setString(1, SchemaCheck.hexOf(parts[0]));
            statement.setString(2, SchemaCheck.hexOf(parts[1]));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    children.add(name(SchemaCheck.unhex(row.getString(1)), SchemaCheck.unhex(row.getString(2))));
                }
            }
        }
        return children;
    }
}
