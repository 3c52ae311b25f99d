// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.core.Identifiers;
import io.quorate.core.SessionSettings;
import io.quorate.core.TableName;
import io.quorate.sst.stream.Catalog.Clause;
import io.quorate.sst.stream.Catalog.Table;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The indexes that a server has made for foreign keys by itself. It drops such an index when another one is made that
 * covers its columns, and goes on remembering which they are when the foreign key is gone or the table is made anew. No
 * statement shows it: {@code SHOW CREATE TABLE} has them like any other, and a table that is made from that text keeps
 * an index that the original loses.
 *
 * <p>So a temporary table like it, which has the same, is given an index of the same columns for each of them.
 */
final class GeneratedKeys {
    private static final Logger log = LoggerFactory.getLogger(GeneratedKeys.class);

    /** Of the indexes of a table. */
    private static final int KEYS_MAX = 64;

    /** For tables that this server wouldn't make, and without waiting for who has locked one. */
    private static final String AS_IT_IS = "SET SESSION sql_log_bin = 0, sql_require_primary_key = OFF,"
            + " innodb_strict_mode = OFF, lock_wait_timeout = 1";

    private static final String WAITING = "SET SESSION lock_wait_timeout = " + SessionSettings.LOCK_WAIT_SECONDS;

    private static final String LIKE_IT = "`quorate`.`like_it`";
    /** It isn't there, and needn't be while foreign keys aren't checked. */
    private static final String NO_TABLE = "`quorate`.`no_table`";

    /** How {@link Clause#definition} begins. */
    private static final String GENERATED = "FOREIGN KEY ";

    private GeneratedKeys() {}

    /**
     * Those of some keys that the server of a donor has generated.
     *
     * @param plain as for {@link TableText.Generated}
     */
    static Set<String> among(List<Clause> plain, Session donor, TableName table) throws SQLException {
        Set<String> generated = new HashSet<>();
        if (plain.isEmpty()) {
            return generated;
        }
        try {
            donor.execute(AS_IT_IS);
            for (int from = 0; from < plain.size(); ) {
                donor.execute("CREATE TEMPORARY TABLE " + LIKE_IT + " LIKE "
                        + Identifiers.quoted(table.schema(), table.table()));
                Set<String> before = keys(donor);
                int room = Math.max(1, KEYS_MAX - before.size());
                List<Clause> some = plain.subList(from, Math.min(plain.size(), from + room));
                StringJoiner covering = new StringJoiner(", ", "ALTER TABLE " + LIKE_IT + " ", "");
                for (Clause key : some) {
                    // The server would call it as the one that goes.
                    covering.add("ADD KEY quorate_" + from++ + " " + columns(key));
                }
                donor.execute(covering.toString());
                before.removeAll(keys(donor));
                generated.addAll(before);
                donor.execute("DROP TEMPORARY TABLE " + LIKE_IT);
            }
        } catch (SQLException e) {
            if (Session.isLost(e)) {
                throw e;
            }
            // There are no temporary tables with FULLTEXT indexes or partitions, say.
            log.info(
                    "which indexes of {} the server has generated can't be found out: {}. A copy has ordinary ones",
                    table,
                    e.getMessage());
            donor.execute("DROP TEMPORARY TABLE IF EXISTS " + LIKE_IT);
        }
        donor.execute(WAITING);
        return generated;
    }

    private static Set<String> keys(Session donor) throws SQLException {
        return donor.rows("SHOW KEYS FROM " + LIKE_IT).stream()
                .map(row -> row.get(2))
                .collect(Collectors.toSet());
    }

    /** What is behind its name. */
    private static String columns(Clause key) {
        String text = key.definition();
        return text.substring(TableText.endOfQuoted(text, text.indexOf('`')) + 1);
    }

    static Clause clause(Clause key) {
        return new Clause(key.name(), GENERATED + Identifiers.quoted(key.name()) + " " + columns(key));
    }

    static boolean isOne(Clause index) {
        return index.definition().startsWith(GENERATED);
    }

    /** What has a server generate it. Of two that it has generated for the same columns it keeps the later one. */
    static Clause byNoForeignKey(Clause generated) {
        return new Clause(
                generated.name(), generated.definition() + " REFERENCES " + NO_TABLE + " " + columns(generated));
    }

    /** Takes from a table the foreign keys of {@link #byNoForeignKey}, and leaves it the indexes. */
    static void leave(Session joiner, Table table) throws SQLException {
        List<List<String>> gone = joiner.rows(
                "SELECT CONSTRAINT_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = ?"
                        + " AND TABLE_NAME = ? AND UNIQUE_CONSTRAINT_SCHEMA = 'quorate'",
                table.schema(),
                table.name());
        if (!gone.isEmpty()) {
            String alter = "ALTER TABLE " + Identifiers.quoted(table.schema(), table.name()) + " ";
            joiner.make(
                    "generated indexes of " + table.fullName(),
                    gone.stream()
                            .map(row -> "DROP FOREIGN KEY " + Identifiers.quoted(row.get(0)))
                            .collect(Collectors.joining(", ", alter, "")));
        }
    }
}
