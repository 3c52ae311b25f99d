// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.BinlogEvents;
import io.quorate.core.ErrorCode;
import io.quorate.core.Payload;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSet;
import io.quorate.core.binlog.TableMap;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Set;

/**
 * Changes of tables whose engine has no transactions can't be undone in the transaction that applies the winner, and by
 * themselves not exactly once: after a crash nobody could tell whether it was done. This says so before anything is
 * changed.
 */
final class Engines {
    private static final String WITHOUT_TRANSACTIONS = """
            SELECT t.ENGINE FROM information_schema.TABLES t
            JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE AND e.TRANSACTIONS <> 'YES'
            WHERE t.TABLE_SCHEMA = CONVERT(UNHEX(?) USING utf8mb3)
              AND t.TABLE_NAME = CONVERT(UNHEX(?) USING utf8mb3)""";

    private final AuxiliaryConnection auxiliary;

    Engines(AuxiliaryConnection auxiliary) {
        this.auxiliary = auxiliary;
    }

    /** @throws QuorateException {@link ErrorCode#UNDO_IMPOSSIBLE} when it changed a table without transactions */
    void require(WriteSet w) throws SQLException {
        Set<String> known = new HashSet<>();
        for (Payload.Events event = w.payload().events(); event.next(); ) {
            if (event.type() == BinlogEvents.TABLE_MAP) {
                TableMap map = TableMap.read(event);
                if (known.add(map.schema + "." + map.table)) {
                    auxiliary.run(connection -> requireTransactions(connection, map));
                }
            }
        }
    }

    private static void requireTransactions(Connection connection, TableMap map) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(WITHOUT_TRANSACTIONS)) {
            statement.setString(1, SchemaCheck.hexOf(map.schema));
            statement.setString(2, SchemaCheck.hexOf(map.table));
            try (ResultSet row = statement.executeQuery()) {
                if (row.next()) {
                    throw new QuorateException(
                            ErrorCode.UNDO_IMPOSSIBLE,
                            "it changed " + map.schema + "." + map.table + ", whose engine " + row.getString(1)
                                    + " has no transactions (ALTER TABLE ... ENGINE = InnoDB on another node keeps this"
                                    + " from happening again; or write to that table on one node only)");
                }
            }
        }
    }
}
