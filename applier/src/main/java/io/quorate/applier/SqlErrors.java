// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;

/** What a server's error means for the group that met it. */
enum SqlErrors {
    /** Somebody holds a lock; the group is tried again. */
    LOCK,
    /** The server takes no writes now; the group waits. */
    READ_ONLY,
    /** The connection or the server is gone. */
    CONNECTION,
    /** The transaction mixes engines with and without transactions, which GTIDs don't allow. */
    MIXED_ENGINES,
    /** The rows or keys here are not what the origin had. */
    MISMATCH,
    /** The table here is missing or can't hold the origin's rows. */
    SCHEMA,
    /** Anything else. */
    OTHER;

    static SqlErrors of(SQLException e) {
        return switch (e.getErrorCode()) {
            // Lock wait timeout (FLUSH TABLES WITH READ LOCK included), deadlock, KILL QUERY, this session's read lock,
            // NOWAIT, deadlock of metadata locks.
            case 1205, 1213, 1317, 1223, 3572, 3058 -> LOCK;
            // read_only, a server in read-only mode, offline_mode.
            case 1290, 1836, 3032 -> READ_ONLY;
            case 1785 -> MIXED_ENGINES;
            // Row not found; duplicate keys; foreign keys.
            case 1032, 1062, 1022, 1586, 1451, 1452, 1216, 1217 -> MISMATCH;
            // No such database, table, column; a view; types that don't fit, in the error numbers of BINLOG and of
            // replicas.
            case 1049, 1051, 1054, 1146, 1347, 1105, 1535, 1677, 13146 -> SCHEMA;
            // Shutdown, aborted, KILL, gone, lost, KILL, idle.
            case 1053, 1152, 1927, 2006, 2013, 3169, 4031 -> CONNECTION;
            default -> isConnectionFailure(e) ? CONNECTION : OTHER;
        };
    }

    private static boolean isConnectionFailure(SQLException e) {
        String state = e.getSQLState();
        return e instanceof SQLRecoverableException
                || e instanceof SQLNonTransientConnectionException
                || (state != null && state.startsWith("08"));
    }
}
