// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.util.ArrayList;
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

    private static final String SERVICE = "'" + SERVICE_USER + "'@'localhost'";

    /** All rights on schemas, but none that passes read_only. */
    private static final String APP_GRANTS = "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES,"
            + " CREATE TEMPORARY TABLES, LOCK TABLES, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EXECUTE,"
            + " EVENT, TRIGGER, PROCESS, REPLICATION CLIENT, XA_RECOVER_ADMIN";

    private static final String WRITES = "INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES,"
            + " CREATE TEMPORARY TABLES, LOCK TABLES, CREATE VIEW, CREATE ROUTINE, ALTER ROUTINE, EVENT, TRIGGER";

    private Accounts() {}

    /** Makes the accounts if they don't exist. */
    static void create(MySqlServer server) {
        create(server, MySqlSeries.any());
    }

    /**
     * Makes the accounts if they don't exist.
     *
     * @param beside the series of all servers, each of which may get a copy of these accounts
     */
    static void create(MySqlServer server, MySqlSeries beside) {
        if (server.queryLong("SELECT COUNT(*) FROM mysql.user WHERE Grant_priv = 'Y' AND user = '" + SERVICE_USER + "'")
                == 0) {
            String by = beside.all(MySqlDialect::hasNativePassword)
                    ? server.dialect().identifiedBy()
                    : "IDENTIFIED BY";
            List<String> statements = new ArrayList<>(statements(by));
            if (server.queryLong("SELECT COUNT(*) FROM mysql.proxies_priv WHERE with_grant"
                            + " AND CONCAT(user, '@', host) = CURRENT_USER()")
                    > 0) {
                // Copies from a server of another series make root anew, which has this.
                statements.add("GRANT PROXY ON ''@'' TO " + SERVICE + " WITH GRANT OPTION");
            }
            // Any DDL from another node, on accounts and grants too, has to be applied here. Last, because these rights
            // say that everything is done, also where a start broke off before.
            statements.add("GRANT ALL ON *.* TO " + SERVICE + " WITH GRANT OPTION");
            server.execute(statements.toArray(new String[0]));
        }
    }

    /**
     * Sees to it that a newer server can get a copy of all accounts of a cluster.
     *
     * @param server any of the cluster's, open for writes
     * @param version of the newer one
     * @throws SandboxException naming the accounts that it couldn't make
     */
    static void makeReadyFor(MySqlServer server, String version) {
        if (MySqlDialect.hasNativePassword(version)) {
            return;
        }
        List<String> of = server
                .query("SELECT CONCAT(QUOTE(user), '@', QUOTE(host)) FROM mysql.user"
                        + " WHERE plugin = 'mysql_native_password' AND user <> '" + SERVICE_USER + "'")
                .stream()
                .map(row -> row.get(0))
                .toList();
        String app = "'" + APP_USER + "'@'localhost'";
        List<String> others =
                of.stream().filter(account -> !account.equals(app)).toList();
        if (!others.isEmpty()) {
            throw new SandboxException(
                    "MySQL " + version + " has no mysql_native_password, and these accounts log in by"
                            + " it: " + String.join(", ", others) + ". Run ALTER USER " + others.get(0)
                            + " IDENTIFIED WITH caching_sha2_password BY '...' first");
        }
        if (of.contains(app)) {
            server.execute("ALTER USER " + app + " IDENTIFIED WITH caching_sha2_password BY '" + APP_PASSWORD + "'");
        }
    }

    private static List<String> statements(String by) {
        String app = "'" + APP_USER + "'@'localhost'";
        return List.of(
                "SET sql_log_bin = 0",
                "CREATE USER IF NOT EXISTS " + app + " " + by + " '" + APP_PASSWORD + "'",
                "GRANT " + APP_GRANTS + " ON *.* TO " + app,
                "REVOKE SELECT, EXECUTE, SHOW VIEW, " + WRITES + " ON mysql.* FROM " + app,
                "REVOKE " + WRITES + " ON sys.* FROM " + app,
                "REVOKE " + WRITES + " ON quorate.* FROM " + app,
                "CREATE USER IF NOT EXISTS " + SERVICE + " " + by + " '" + SERVICE_PASSWORD + "'");
    }
}
