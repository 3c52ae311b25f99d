// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.OwnWrites.Doomed;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * Table {@code quorate.undone}: which transactions of this server were undone, and at which position. It is written in
 * the database transaction that undoes them, so that after a crash no undo is forgotten or done twice. A row is deleted
 * when the order has passed the transaction for good, and the position its seqno: a crash may set the tables back to
 * there.
 */
final class UndoneTable {
    static final String CREATE = """
            CREATE TABLE IF NOT EXISTS quorate.undone (
              number BIGINT UNSIGNED PRIMARY KEY,
              seqno BIGINT UNSIGNED NOT NULL
            ) ENGINE=InnoDB DEFAULT CHARSET=ascii""";

    /** Fails in a table where it was run before; no transaction has that number. */
    static final String MARK_ONCE = "INSERT INTO quorate.undone (number, seqno) VALUES (0, 0)";

    private UndoneTable() {}

    /** A definition that changes nothing but what the table says of itself. */
    static String comment(String text) {
        return "ALTER TABLE quorate.undone COMMENT = '" + text + "'";
    }

    /** Positions by GTID number. The table must exist. */
    static Map<Long, Long> read(Connection connection) throws SQLException {
        Map<Long, Long> undone = new HashMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT number, seqno FROM quorate.undone")) {
            while (row.next()) {
                undone.put(row.getLong(1), row.getLong(2));
            }
        }
        return undone;
    }

    static String insert(Collection<Doomed> undone, long seqno) {
        return insert(undone, d -> seqno);
    }

    /** Each with the seqno at which it failed, which is still to come: until then nobody else may know of it. */
    static String insertAhead(Collection<Doomed> undone) {
        return insert(undone, Doomed::failedAt).replace("INSERT", "INSERT IGNORE");
    }

    private static String insert(Collection<Doomed> undone, ToLongFunction<Doomed> seqno) {
        return undone.stream()
                .map(d -> "(" + d.number() + "," + seqno.applyAsLong(d) + ")")
                .collect(Collectors.joining(",", "INSERT INTO quorate.undone (number, seqno) VALUES ", ""));
    }

    static String forget(long settledNumber, long position) {
        return "DELETE FROM quorate.undone WHERE number <= " + settledNumber + " AND seqno <= " + position;
    }
}
