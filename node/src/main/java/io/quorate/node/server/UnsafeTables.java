// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tables of engines without transactions. Their losers can't be undone, and tables in memory are empty after a restart
 * of one server. They are looked for when a session begins and now and then later; the log warns of each once, and
 * names the first few.
 */
public final class UnsafeTables {
    private static final Logger log = LoggerFactory.getLogger(UnsafeTables.class);
    private static final int SHOWN = 5;
    private final Set<String> warned = new HashSet<>();

    void look(Connection connection) throws SQLException {
        List<String> found;
        try (Statement statement = connection.createStatement()) {
            found = SchemaAdvice.names(statement, SchemaAdvice.WITHOUT_TRANSACTIONS);
        }
        found.removeIf(name -> !warned.add(name));
        if (!found.isEmpty()) {
            log.warn(
                    "{} of engines without transactions: {}{}. A server that loses a conflict on such a table"
                            + " needs a copy of it, and tables in MEMORY are empty on a server that was restarted."
                            + " ALTER TABLE ... ENGINE = InnoDB",
                    found.size() == 1 ? "a table" : found.size() + " tables",
                    found.stream().limit(SHOWN).collect(Collectors.joining(", ")),
                    found.size() > SHOWN ? ", ..." : "");
        }
    }
}
