// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tables of engines without transactions, whose losers can't be undone, and which are empty after a restart of one
 * server if they are in memory. And tables of which other servers may compute something else. They are looked for when
 * a session begins and now and then later; the log warns of each once, and names the first few.
 */
public final class UnsafeTables {
    private static final Logger log = LoggerFactory.getLogger(UnsafeTables.class);
    private static final int SHOWN = 5;

    private static final Map<String, String> LOOKED_FOR = Map.of(
            SchemaAdvice.WITHOUT_TRANSACTIONS,
            "tables of engines without transactions: {}. A server that loses a conflict on such a table needs a copy of"
                    + " it, and tables in MEMORY are empty on a server that was restarted. ALTER TABLE ... ENGINE ="
                    + " InnoDB",
            SchemaAdvice.BOUND,
            "tables whose expressions depend on lc_time_names, div_precision_increment, block_encryption_mode or"
                    + " default_week_format: {}. Stored columns are the same everywhere if there is a primary key, but"
                    + " servers may index and check otherwise. Give all sessions the same settings",
            SchemaAdvice.ZONED_INDEXES,
            "indexes over what depends on the time zone: {}. A session with another one than the one that wrote a row"
                    + " doesn't find its entry when it changes the row. Give all sessions the same time zone, or use"
                    + " DATETIME, or a stored column");

    private final Set<String> warned = new HashSet<>();

    void look(Connection connection) throws SQLException {
        for (Map.Entry<String, String> each : LOOKED_FOR.entrySet()) {
            List<String> found;
            try (Statement statement = connection.createStatement()) {
                found = SchemaAdvice.names(statement, each.getKey());
            }
            found.removeIf(name -> !warned.add(each.getValue() + name));
            if (!found.isEmpty()) {
                log.warn(
                        each.getValue(),
                        found.stream().limit(SHOWN).collect(Collectors.joining(", "))
                                + (found.size() > SHOWN ? ", ..." : ""));
            }
        }
    }
}
