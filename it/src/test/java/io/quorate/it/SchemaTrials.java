// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import io.quorate.sandbox.MySqlServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * How long the schema of an application takes, statement by statement: at a server alone, at one node of three, and
 * until the other two have it. A command of its own, see it/README.md. {@code -Dquorate.tables=200} is how large it is.
 */
@Timeout(1800)
class SchemaTrials {
    private static final int TABLES = Integer.getInteger("quorate.tables", 100);

    @Test
    void anApplicationsSchema() throws Exception {
        List<String> statements = statements();
        double alone;
        try (MySqlServer server = MySqlServer.builder().start()) {
            run(server, List.of("CREATE DATABASE warm", "CREATE TABLE warm.t (id INT PRIMARY KEY)"));
            alone = run(server, statements);
        }
        try (Cluster cluster = Cluster.start(3, Map.of("quorate.commit-mode", "after-sync"))) {
            run(cluster.mysql(1), List.of("CREATE DATABASE warm", "CREATE TABLE warm.t (id INT PRIMARY KEY)"));
            cluster.assertConverged();
            double node = run(cluster.mysql(1), statements);
            long start = System.nanoTime();
            cluster.assertConverged();
            double behind = seconds(start);
            System.out.printf(
                    "%d statements: server alone %.1f s (%.0f/s), node %.1f s (%.0f/s, %.1f times), others %.1f s later"
                            + " (%.0f/s)%n",
                    statements.size(),
                    alone,
                    statements.size() / alone,
                    node,
                    statements.size() / node,
                    node / alone,
                    behind,
                    statements.size() / (node + behind));
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

    private static double run(MySqlServer server, List<String> statements) throws SQLException {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            long start = System.nanoTime();
            for (String each : statements) {
                statement.execute(each);
            }
            return seconds(start);
        }
    }

    private static double seconds(long since) {
        return Duration.ofNanos(System.nanoTime() - since).toMillis() / 1000.0;
    }
}
