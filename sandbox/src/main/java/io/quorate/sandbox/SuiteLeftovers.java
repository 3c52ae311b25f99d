// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Takes away what a script leaves on a server: sessions, prepared transactions, schemas, accounts, tablespaces, global
 * variables. As root, and through the binlog like any client: the other nodes follow.
 */
final class SuiteLeftovers {
    /** Schema of the row by which nodes are seen to be level. */
    static final String MARKS = "suite_marks";

    private static final long SESSIONS_NANOS = 60_000_000_000L;

    private static final Set<String> NOT_OURS =
            Set.of("gtid_executed", "gtid_purged", "read_only", "super_read_only", "offline_mode");

    private final MySqlServer server;
    private final Map<String, String> variables;
    private final Set<String> accounts;
    private final List<String> account;
    private final List<List<String>> rights;

    /**
     * @param server as it is before the first script
     * @param account how the account of scripts is made, which they may change, too
     */
    SuiteLeftovers(MySqlServer server, List<String> account) {
        this.server = server;
        this.account = account;
        this.rights = rights();
        this.variables = variables();
        this.accounts = Set.copyOf(first("SELECT CONCAT(QUOTE(user), '@', QUOTE(host)) FROM mysql.user"));
    }

    /** Of the scripts' account: how it logs in, and what it may do. Empty if somebody has dropped it. */
    private List<List<String>> rights() {
        try {
            List<List<String>> rows = new ArrayList<>(server.query("SHOW CREATE USER " + SuiteProgram.ACCOUNT));
            rows.addAll(server.query("SHOW GRANTS FOR " + SuiteProgram.ACCOUNT));
            return rows;
        } catch (SandboxException e) {
            return List.of();
        }
    }

    private List<String> first(String query) {
        return server.query(query).stream().map(row -> row.get(0)).toList();
    }

    private Map<String, String> variables() {
        Map<String, String> values = new LinkedHashMap<>();
        server.query("SELECT variable_name, variable_value FROM performance_schema.global_variables")
                .forEach(row -> values.put(row.get(0), row.get(1)));
        values.keySet().removeAll(NOT_OURS);
        return values;
    }

    /** Ends the sessions of clients, and lets no event begin, so that nothing is written any more. */
    void quiet() {
        attempt(List.of("SET GLOBAL event_scheduler = OFF"));
        List<String> sessions = sessions();
        attempt(sessions.stream().map(id -> "KILL " + id).toList());
        // A table without transactions shows rows before the binlog has them.
        long deadline = System.nanoTime() + SESSIONS_NANOS;
        while (!sessions().isEmpty() && System.nanoTime() < deadline) {
            SuiteWatch.pause(50);
        }
        List<String> rollbacks = new ArrayList<>();
        server.query("XA RECOVER CONVERT XID").forEach(row -> rollbacks.add("XA ROLLBACK " + xid(row)));
        attempt(rollbacks);
    }

    private List<String> sessions() {
        return first("SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID()"
                + " AND user NOT IN ('system user', 'event_scheduler', '" + Accounts.SERVICE_USER + "')");
    }

    /** Of a row of XA RECOVER CONVERT XID: format, length of the two parts, both parts as 0x... */
    private static String xid(List<String> row) {
        int global = 2 + 2 * Integer.parseInt(row.get(1));
        String data = row.get(3);
        return data.substring(0, global) + ", 0x" + data.substring(global) + ", " + row.get(0);
    }

    /**
     * Drops everything that wasn't there before the first script, and makes an empty schema {@code test}.
     *
     * @return whether the next script finds that schema: files of a script's own in its directory would stay
     */
    boolean remove() {
        List<String> statements = new ArrayList<>();
        first("SELECT CONCAT('DROP DATABASE `', REPLACE(schema_name, '`', '``'), '`') FROM information_schema.schemata"
                        + " WHERE schema_name NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema',"
                        + " 'quorate', '" + MARKS + "', 'mtr')")
                .forEach(statements::add);
        statements.add("CREATE DATABASE test");
        first("SELECT CONCAT(QUOTE(user), '@', QUOTE(host)) FROM mysql.user").stream()
                .filter(account -> !accounts.contains(account))
                .forEach(account -> statements.add("DROP USER " + account));
        first("SELECT CONCAT('DROP TABLESPACE `', name, '`') FROM information_schema.innodb_tablespaces"
                        + " WHERE space_type = 'General' AND name <> 'mysql'")
                .forEach(statements::add);
        first("SELECT CONCAT('DROP SERVER `', server_name, '`') FROM mysql.servers")
                .forEach(statements::add);
        if (!rights().equals(rights)) {
            statements.add("DROP USER IF EXISTS " + SuiteProgram.ACCOUNT);
            statements.addAll(account);
        }
        attempt(statements);
        restoreVariables();
        return server.queryLong("SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = 'test'") == 1;
    }

    private void restoreVariables() {
        Map<String, String> now = variables();
        List<String> statements = new ArrayList<>();
        variables.forEach((name, value) -> {
            if (!value.equals(now.get(name))) {
                boolean number = value.matches("-?\\d+(\\.\\d+)?");
                statements.add("SET GLOBAL " + name + " = " + (number ? value : "'" + value.replace("'", "''") + "'"));
            }
        });
        attempt(statements);
    }

    /** One after the other; what fails is left as it is, and shows when the nodes are compared. */
    private void attempt(List<String> statements) {
        if (statements.isEmpty()) {
            return;
        }
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION sql_mode = DEFAULT, foreign_key_checks = 0, lock_wait_timeout = 30");
            for (String sql : statements) {
                attempt(statement, sql);
            }
        } catch (SQLException e) {
            throw new SandboxException("mysqld on port " + server.port() + ": " + e.getMessage(), e);
        }
    }

    private static void attempt(Statement statement, String sql) {
        try {
            statement.execute(sql);
        } catch (SQLException e) {
            // A session that has ended meanwhile, a variable that can't be set.
            return;
        }
    }
}
