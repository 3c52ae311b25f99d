// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tables without any unique key. Their rows are told apart by all their values: equal rows conflict, and each change
 * reads the whole table on every node. Looked for when a session begins and now and then; each is warned of once.
 */
final class KeylessTables {
    private static final Logger log = LoggerFactory.getLogger(KeylessTables.class);
    private static final int SHOWN_MAX = 100;
    private static final String FIND = """
            SELECT t.TABLE_SCHEMA, t.TABLE_NAME FROM information_schema.TABLES t
            LEFT JOIN information_schema.TABLE_CONSTRAINTS c ON c.TABLE_SCHEMA = t.TABLE_SCHEMA
              AND c.TABLE_NAME = t.TABLE_NAME AND c.CONSTRAINT_TYPE IN ('PRIMARY KEY', 'UNIQUE')
            WHERE t.TABLE_TYPE = 'BASE TABLE' AND c.CONSTRAINT_NAME IS NULL
              AND t.TABLE_SCHEMA NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema', 'quorate')
            ORDER BY 1, 2 LIMIT\s""" + SHOWN_MAX;

    private final Set<String> warned = new HashSet<>();
    private volatile List<String> names = List.of();

    void look(Connection connection) throws SQLException {
        List<String> found = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(FIND)) {
            while (row.next()) {
                found.add(row.getString(1) + "." + row.getString(2));
            }
        }
        names = List.copyOf(found);
        found.removeIf(name -> !warned.add(name));
        if (!found.isEmpty()) {
            log.warn(
                    "without any unique key: {}; equal rows conflict, and changes read the whole table on every node."
                            + " Add a primary key",
                    found);
        }
    }

    /** As of the last look, at most a hundred. */
    List<String> names() {
        return names;
    }
}
