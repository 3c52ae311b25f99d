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
        switch (e.getErrorCode()) {
            case 1205: // lock wait timeout, FLUSH TABLES WITH READ LOCK included
            case 1213: // deadlock
            case 1317: // KILL QUERY
            case 1223: // read lock held by this session's global lock
            case 3572: // NOWAIT
            case 3058: // deadlock of metadata locks
                return LOCK;
            case 1290: // read_only
            case 1836: // running in read-only mode
            case 3032: // offline_mode
                return READ_ONLY;
            case 1785:
                return MIXED_ENGINES;
            case 1032: // row not found
            case 1062: // duplicate key
            case 1022:
            case 1586:
            case 1451: // foreign keys
            case 1452:
            case 1216:
            case 1217:
                return MISMATCH;
            case 1049: // database
            case 1051: // table to drop
            case 1054: // column
            case 1105: // column types, as BINLOG says it
            case 1146: // table
            case 1347: // a view
            case 1535:
            case 1677: // column types
            case 13146: // the same, newer
                return SCHEMA;
            case 1053: // shutdown
            case 1152: // aborted
            case 1927: // KILL
            case 2006:
            case 2013:
            case 3169: // KILL
            case 4031: // idle
                return CONNECTION;
            default:
                return isConnectionFailure(e) ? CONNECTION : OTHER;
        }
    }

    private static boolean isConnectionFailure(SQLException e) {
        String state = e.getSQLState();
        return e instanceof SQLRecoverableException
                || e instanceof SQLNonTransientConnectionException
                || state != null && state.startsWith("08");
    }
}
