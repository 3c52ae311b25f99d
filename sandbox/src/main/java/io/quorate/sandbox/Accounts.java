// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.util.List;

/**
 * The accounts of a sandbox's servers. They are made on each server by itself and outside its binlog, so that all nodes
 * begin with the same data and nothing executed.
 */
final class Accounts {
    static final String SERVICE_USER = "quorate";
    static final String SERVICE_PASSWORD = "quorate";
    static final String APP_USER = "app";
    static final String APP_PASSWORD = "app";

    /**
     * What the service needs: the binlog, applying row events and DDL of any kind, read_only. DDL on accounts is left
     * out, as GRANT OPTION on everything would make the account another root.
     */
    private static final String SERVICE_GRANTS =
            "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES,"
                    + " CREATE TEMPORARY TABLES, LOCK TABLES, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EXECUTE,"
                    + " EVENT, TRIGGER, PROCESS, RELOAD, REPLICATION SLAVE, REPLICATION CLIENT, REPLICATION_APPLIER,"
                    + " SESSION_VARIABLES_ADMIN, SYSTEM_VARIABLES_ADMIN, CONNECTION_ADMIN, XA_RECOVER_ADMIN,"
                    // For views, routines, triggers and events whose DEFINER is root.
                    + " SET_USER_ID, SYSTEM_USER";

    /** All rights on schemas, none that passes read_only. */
    private static final String APP_GRANTS = "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES,"
            + " CREATE TEMPORARY TABLES, LOCK TABLES, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EXECUTE,"
            + " EVENT, TRIGGER, PROCESS, REPLICATION CLIENT, XA_RECOVER_ADMIN";

    private static final String WRITES = "INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES,"
            + " CREATE TEMPORARY TABLES, LOCK TABLES, CREATE VIEW, CREATE ROUTINE, ALTER ROUTINE, EVENT, TRIGGER";

    private Accounts() {}

    /** Makes the accounts unless they are there. */
    static void create(MySqlServer server) {
        if (server.queryLong("SELECT COUNT(*) FROM mysql.user WHERE user = '" + SERVICE_USER + "'") == 0) {
            server.execute(statements(server.distribution().version()).toArray(new String[0]));
        }
    }

    static List<String> statements(String version) {
        // Every client speaks the old authentication without TLS; from 8.4 on the server has it no longer.
        String by = version.startsWith("8.0.") ? "IDENTIFIED WITH mysql_native_password BY" : "IDENTIFIED BY";
        // SET_USER_ID was divided in two in 8.2 and is gone since 8.4.
        String serviceGrants = version.startsWith("8.0.")
                ? SERVICE_GRANTS
                : SERVICE_GRANTS.replace("SET_USER_ID", "SET_ANY_DEFINER, ALLOW_NONEXISTENT_DEFINER");
        String app = "'" + APP_USER + "'@'localhost'";
        String service = "'" + SERVICE_USER + "'@'localhost'";
        return List.of(
                "SET sql_log_bin = 0",
                "CREATE USER IF NOT EXISTS " + app + " " + by + " '" + APP_PASSWORD + "'",
                "GRANT " + APP_GRANTS + " ON *.* TO " + app,
                "REVOKE SELECT, EXECUTE, SHOW VIEW, " + WRITES + " ON mysql.* FROM " + app,
                "REVOKE " + WRITES + " ON sys.* FROM " + app,
                "REVOKE " + WRITES + " ON quorate.* FROM " + app,
                // Last: its being there says that all is done.
                "CREATE USER " + service + " " + by + " '" + SERVICE_PASSWORD + "'",
                "GRANT " + serviceGrants + " ON *.* TO " + service);
    }
}
