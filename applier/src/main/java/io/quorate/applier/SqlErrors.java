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
    /** What the server holds stands against the change: a value, a constraint, a name that is taken or missing. */
    REFUSED,
    /** This service's account may not do it. */
    DENIED,
    /** The server itself can't: space, memory, files, libraries. */
    UNABLE,
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
            // Databases, tables, columns, keys that are there already, or aren't; accounts, routines, triggers, events.
            case 1007, 1008, 1050, 1060, 1061, 1068, 1072, 1091, 1133, 1141, 1147, 1304, 1305, 1359, 1360, 1396, 1403 ->
                REFUSED;
            case 1410, 1537, 1539, 3162, 3503, 3523, 3530, 3821, 3822, 3940 -> REFUSED;
            // Tablespaces, and their files; servers to federate with; spatial reference systems.
            case 1812, 1813, 1814, 3120, 3510, 3606, 1476, 1477, 3548, 3712 -> REFUSED;
            // Values that a column doesn't take, or a constraint.
            case 1048, 1138, 1263, 1264, 1265, 1292, 1364, 1366, 1406, 3819 -> REFUSED;
            // Foreign keys that can't be made, or keep something from being changed.
            case 1215, 1822, 1824, 1825, 1826, 1828, 1829, 1830, 1832, 1833, 1834, 3730, 3780 -> REFUSED;
            // Partitions.
            case 1505, 1507, 1517, 1526, 1731, 1736, 1737, 1748 -> REFUSED;
            // Shutdown, aborted, KILL, gone, lost, KILL, idle.
            case 1053, 1152, 1927, 2006, 2013, 3169, 4031 -> CONNECTION;
            // Disks, files, and memory.
            case 1016, 1017, 1021, 1023, 1024, 1026, 1030, 1034, 1036, 1037, 1038, 1041, 1114, 1194, 1195, 1206, 1878 ->
                UNABLE;
            // Rights on a database, to log in, on a table, on a column, on everything, on a routine, to make functions
            // while there is a binlog. 1410 is none: it says that GRANT doesn't make accounts, whoever may.
            case 1044, 1045, 1142, 1143, 1227, 1370, 1419 -> DENIED;
            // A packet that is too large; too many connections or threads; a transaction larger than the binlog's
            // caches.
            case 1153, 1040, 1135, 1197, 1705 -> UNABLE;
            // Libraries, engines, plugins and features that aren't there.
            case 1126, 1127, 1128, 1286, 1289, 1524 -> UNABLE;
            default -> isConnectionFailure(e) ? CONNECTION : isOfFiles(e) ? UNABLE : OTHER;
        };
    }

    /** Whether the database or table isn't there. */
    static boolean isMissing(SQLException e) {
        return e.getErrorCode() == 1146 || e.getErrorCode() == 1049;
    }

    /** Whether a function isn't made because its creator isn't trusted with the binlog. */
    static boolean isDistrust(SQLException e) {
        return e.getErrorCode() == 1418 || e.getErrorCode() == 1419;
    }

    /**
     * Whether a table can't be altered in the manner that the statement wants ({@code ALGORITHM}, {@code LOCK}). That
     * depends on what was done to the table on this server before.
     */
    static boolean isOfManner(SQLException e) {
        return switch (e.getErrorCode()) {
            // Not supported; too many versions of rows, fields or bytes for INSTANT.
            case 1845, 1846, 4092, 4157, 4158 -> true;
            default -> false;
        };
    }

    /** Whether a row that is to be changed isn't there. */
    static boolean isMissingRow(SQLException e) {
        return e.getErrorCode() == 1032;
    }

    /** Whether a server that holds something else might not have given this error. */
    static boolean isAboutContents(SQLException e) {
        return switch (of(e)) {
            case MISMATCH, SCHEMA, REFUSED -> true;
            case LOCK, READ_ONLY, CONNECTION, MIXED_ENGINES, DENIED, UNABLE, OTHER -> false;
        };
    }

    /**
     * Whether a server that holds something else might have run the definition: it has refused it, and not because it
     * can't run anything of that kind. MySQL has thousands of such errors; only those of the second kind are known by
     * number.
     */
    static boolean isRefusal(SQLException definition) {
        return isAboutContents(definition) || (of(definition) == OTHER && definition.getErrorCode() > 0);
    }

    /** Errors of MySQL's own file functions have small numbers. */
    private static boolean isOfFiles(SQLException e) {
        return e.getErrorCode() > 0 && e.getErrorCode() < 1000;
    }

    private static boolean isConnectionFailure(SQLException e) {
        String state = e.getSQLState();
        return e instanceof SQLRecoverableException
                || e instanceof SQLNonTransientConnectionException
                || (state != null && state.startsWith("08"));
    }
}
