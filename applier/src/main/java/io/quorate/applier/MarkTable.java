// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Table {@code quorate.certified}: for each session, the last transaction that it prepared first and that is committed.
 * It has a row for each slot ({@link io.quorate.core.CertifiedXid}), which the transaction itself writes.
 */
final class MarkTable {
    static final String CREATE = """
            CREATE TABLE IF NOT EXISTS quorate.certified (
              slot BIGINT UNSIGNED PRIMARY KEY,
              count BIGINT UNSIGNED NOT NULL
            ) ENGINE=InnoDB DEFAULT CHARSET=ascii""";

    private MarkTable() {}

    /** The count of a slot's latest commit, 0 when there was none. */
    static long count(Connection connection, long slot) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT count FROM quorate.certified WHERE slot = " + slot)) {
            return row.next() ? row.getLong(1) : 0;
        }
    }
}
