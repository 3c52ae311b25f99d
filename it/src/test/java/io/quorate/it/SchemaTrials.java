// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.MySqlServer;
import io.quorate.sandbox.Ports;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * How long the schema of an application takes, statement by statement: at a server alone, and at one of three servers,
 * and until the other two have it: with semi-synchronous replication, with Group Replication, and with Quorate. A
 * command of its own, see it/README.md. {@code -Dquorate.tables=200} is how large it is.
 */
@Timeout(1800)
class SchemaTrials {
    private static final int TABLES = Integer.getInteger("quorate.tables", 100);
    private static final int SERVERS = 3;

    private final List<String> statements = statements();

    /** Ends when all servers have what the first one has. */
    private interface Arrival {
        void await() throws Exception;
    }

    @Test
    void anApplicationsSchema() throws Exception {
        System.out.println(statements.size() + " statements");
        try (MySqlServer server = MySqlServer.builder().start()) {
            measure("a server alone", server, () -> {});
        }
        semiSync();
        groupReplication();
        try (Cluster cluster = Cluster.start(SERVERS, Map.of("quorate.commit-mode", "after-sync"))) {
            measure("Quorate", cluster.mysql(1), cluster::assertConverged);
        }
    }

    private void measure(String name, MySqlServer first, Arrival arrival) throws Exception {
        run(first, List.of("CREATE DATABASE warm", "CREATE TABLE warm.t (id INT PRIMARY KEY)"));
        arrival.await();
        long start = System.nanoTime();
        run(first, statements);
        double answered = seconds(start);
        arrival.await();
        double all = seconds(start);
        System.out.printf(
                "%-24s %6.1f s (%3.0f a second), all servers after %6.1f s (%3.0f a second)%n",
                name, answered, statements.size() / answered, all, statements.size() / all);
    }

    private void semiSync() throws Exception {
        List<MySqlServer> servers = new ArrayList<>();
        try {
            for (int i = 1; i <= SERVERS; i++) {
                String role = i == 1 ? "source" : "replica";
                servers.add(MySqlServer.builder()
                        .serverId(i)
                        .option("plugin-load-add", "semisync_" + role + ".so")
                        .option("rpl-semi-sync-" + role + "-enabled", "1")
                        .start());
            }
            MySqlServer source = servers.get(0);
            for (MySqlServer replica : servers.subList(1, SERVERS)) {
                replica.execute(
                        "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = " + source.port()
                                + ", SOURCE_USER = 'root', SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1",
                        "START REPLICA");
            }
            source.execute("SET GLOBAL rpl_semi_sync_source_timeout = 60000");
            measure("semi-sync, two replicas", source, () -> awaitAll(servers));
        } finally {
            servers.forEach(MySqlServer::close);
        }
    }

    private void groupReplication() throws Exception {
        List<Integer> ports = new ArrayList<>();
        for (int i = 0; i < SERVERS; i++) {
            ports.add(Ports.free());
        }
        List<MySqlServer> servers = new ArrayList<>();
        try {
            for (int i = 1; i <= SERVERS; i++) {
                MySqlServer server = MySqlServer.builder().serverId(i).start();
                servers.add(server);
                server.execute(
                        "INSTALL PLUGIN group_replication SONAME 'group_replication.so'",
                        "SET GLOBAL group_replication_group_name = '" + new UUID(1, 1) + "'",
                        "SET GLOBAL group_replication_local_address = '127.0.0.1:" + ports.get(i - 1) + "'",
                        "SET GLOBAL group_replication_group_seeds = '127.0.0.1:" + ports.get(0) + "'",
                        "SET GLOBAL group_replication_ip_allowlist = '127.0.0.1/8'",
                        "SET GLOBAL group_replication_recovery_get_public_key = ON",
                        "SET GLOBAL group_replication_bootstrap_group = " + (i == 1 ? "ON" : "OFF"),
                        "CHANGE REPLICATION SOURCE TO SOURCE_USER = 'root' FOR CHANNEL 'group_replication_recovery'",
                        "START GROUP_REPLICATION",
                        "SET GLOBAL group_replication_bootstrap_group = OFF");
            }
            for (MySqlServer server : servers) {
                assertThat(Cluster.within(
                                Cluster.LIMIT,
                                () -> server.queryLong(
                                                "SELECT COUNT(*) FROM performance_schema.replication_group_members"
                                                        + " WHERE MEMBER_STATE = 'ONLINE'")
                                        == SERVERS))
                        .isTrue();
            }
            measure("Group Replication", servers.get(0), () -> awaitAll(servers));
        } finally {
            servers.forEach(MySqlServer::close);
        }
    }

    private static void awaitAll(List<MySqlServer> servers) {
        String executed = servers.get(0).queryOne("SELECT @@GLOBAL.gtid_executed");
        for (MySqlServer server : servers) {
            assertThat(server.queryLong("SELECT WAIT_FOR_EXECUTED_GTID_SET('" + executed + "', 300)"))
                    .isZero();
        }
    }

    /** Tables, then what migrations do to them, and a few rows of settings. */
    private static List<String> statements() {
        List<String> statements = new ArrayList<>(List.of("CREATE DATABASE app", "USE app"));
        for (int i = 0; i < TABLES; i++) {
            statements.add("CREATE TABLE t" + i + " (id BIGINT PRIMARY KEY AUTO_INCREMENT, owner BIGINT,"
                    + " name VARCHAR(255) NOT NULL DEFAULT '', value TEXT, status INT DEFAULT 0, KEY (status))");
            statements.add("CREATE INDEX by_name ON t" + i + " (name(64))");
            if (i > 0) {
                statements.add("ALTER TABLE t" + i + " ADD CONSTRAINT fk" + i + " FOREIGN KEY (owner) REFERENCES t"
                        + (i - 1) + " (id) ON DELETE CASCADE");
            }
            statements.add("INSERT INTO t" + i + " (name) VALUES ('a'), ('b')");
        }
        return statements;
    }

    private static void run(MySqlServer server, List<String> statements) throws SQLException {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
    }

    private static double seconds(long since) {
        return Duration.ofNanos(System.nanoTime() - since).toMillis() / 1000.0;
    }
}
