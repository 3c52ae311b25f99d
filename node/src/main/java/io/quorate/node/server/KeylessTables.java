// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tables without any unique key. Their rows are told apart by all their values: equal rows conflict, and each change
 * reads the whole table on every node. Such tables are looked for when a session begins and now and then later; the log
 * warns of each once.
 */
public final class KeylessTables {
    private static final Logger log = LoggerFactory.getLogger(KeylessTables.class);
    private final Set<String> warned = new HashSet<>();
    private volatile List<String> names = List.of();

    void look(Connection connection) throws SQLException {
        List<String> found;
        try (Statement statement = connection.createStatement()) {
            found = SchemaAdvice.names(statement, SchemaAdvice.KEYLESS);
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

    /** The tables that were found at the last look, at most a hundred. */
    public List<String> names() {
        return names;
    }
}
