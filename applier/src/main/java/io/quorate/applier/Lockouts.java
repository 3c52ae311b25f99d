// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells whether a session keeps everybody else from writing to a table or to the whole server: a backup by FLUSH TABLES
 * WITH READ LOCK or LOCK INSTANCE FOR BACKUP, LOCK TABLES, or an ALTER TABLE that runs for long. Such a session isn't
 * in anybody's way by mistake, and only whoever runs it knows for how long.
 */
final class Lockouts {
    private static final Logger log = LoggerFactory.getLogger(Lockouts.class);

    /** Which of the metadata locks {@code granted} are meant. */
    static final String CONDITION = "granted.LOCK_STATUS = 'GRANTED'"
            + " AND ((granted.OBJECT_TYPE IN ('GLOBAL', 'COMMIT', 'BACKUP LOCK') AND granted.LOCK_TYPE = 'SHARED')"
            + " OR (granted.OBJECT_TYPE = 'TABLE' AND granted.LOCK_TYPE IN"
            + " ('SHARED_READ_ONLY', 'SHARED_NO_WRITE', 'SHARED_NO_READ_WRITE', 'EXCLUSIVE')))";

    private static final String HELD = "SELECT COUNT(*) FROM performance_schema.metadata_locks granted"
            + " JOIN performance_schema.threads t ON t.THREAD_ID = granted.OWNER_THREAD_ID WHERE " + CONDITION
            + " AND t.PROCESSLIST_ID <> ";

    private final AuxiliaryConnection auxiliary;

    Lockouts(AuxiliaryConnection auxiliary) {
        this.auxiliary = auxiliary;
    }

    /** @param session the one that is kept from writing */
    boolean areHeldAgainst(long session) {
        boolean[] held = {false};
        try {
            auxiliary.run(connection -> {
                try (Statement statement = connection.createStatement();
                        ResultSet row = statement.executeQuery(HELD + session)) {
                    row.next();
                    held[0] = row.getLong(1) > 0;
                }
            });
        } catch (SQLException e) {
            log.warn("can't look up who keeps others from writing: {}", e.getMessage());
        }
        return held[0];
    }
}
