// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.util.List;

/**
 * The accounts of a sandbox's servers. They are made on each server separately and outside its binlog, so that all
 * nodes begin with the same data and with nothing executed.
 */
final class Accounts {
    static final String SERVICE_USER = "quorate";
    static final String SERVICE_PASSWORD = "quorate";
    static final String APP_USER = "app";
    static final String APP_PASSWORD = "app";

    /** All rights on schemas, but none that passes read_only. */
    private static final String APP_GRANTS = "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES,"
            + " CREATE TEMPORARY TABLES, LOCK TABLES, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EXECUTE,"
            + " EVENT, TRIGGER, PROCESS, REPLICATION CLIENT, XA_RECOVER_ADMIN";

    private static final String WRITES = "INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES,"
            + " CREATE TEMPORARY TABLES, LOCK TABLES, CREATE VIEW, CREATE ROUTINE, ALTER ROUTINE, EVENT, TRIGGER";

    private Accounts() {}

    /** Makes the accounts if they don't exist. */
    static void create(MySqlServer server) {
        if (server.queryLong("SELECT COUNT(*) FROM mysql.user WHERE user = '" + SERVICE_USER + "'") == 0) {
            server.execute(statements(server.distribution().version()).toArray(new String[0]));
        }
    }

    static List<String> statements(String version) {
        String by = new MySqlDialect(version).identifiedBy();
        String app = "'" + APP_USER + "'@'localhost'";
        String service = "'" + SERVICE_USER + "'@'localhost'";
        return List.of(
                "SET sql_log_bin = 0",
                "CREATE USER IF NOT EXISTS " + app + " " + by + " '" + APP_PASSWORD + "'",
                "GRANT " + APP_GRANTS + " ON *.* TO " + app,
                "REVOKE SELECT, EXECUTE, SHOW VIEW, " + WRITES + " ON mysql.* FROM " + app,
                "REVOKE " + WRITES + " ON sys.* FROM " + app,
                "REVOKE " + WRITES + " ON quorate.* FROM " + app,
                // Last, because its existence says that everything is done.
                "CREATE USER " + service + " " + by + " '" + SERVICE_PASSWORD + "'",
                // Any DDL from another node, on accounts and grants too, has to be applied here.
                "GRANT ALL ON *.* TO " + service + " WITH GRANT OPTION");
    }
}
