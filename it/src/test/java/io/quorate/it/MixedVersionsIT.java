// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.MySqlDistribution;
import io.quorate.sandbox.MySqlSeries;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

/**
 * MySQL 8.0 and 9.7 in one cluster, and the way from one to the other under load. Skipped where MySQL 9.7 can't be had.
 */
@Timeout(1800)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class MixedVersionsIT {
    private static final String OLD = "8.0";
    private static final String NEW = "9.7";
    private static final long SEED = 20;
    private static final int CHILDREN = 100;

    private static Cluster cluster;

    @BeforeAll
    static void start() throws Exception {
        MySqlDistribution.unavailable(NEW).ifPresent(Assumptions::abort);
        // As 9.7 is delivered, with cascades in the binlog.
        Map<String, String> set =
                Map.of("quorate.commit-mode", "after-sync", "mysql.loose-innodb-native-foreign-keys", "OFF");
        cluster = Cluster.create(3, set, new MySqlSeries(OLD, Map.of(3, NEW)));
        cluster.start();
    }

    @AfterAll
    static void end() {
        if (cluster != null) {
            cluster.close();
        }
    }

    private static String version(int node) {
        return cluster.mysql(node).queryOne("SELECT VERSION()");
    }

    @Test
    @Order(1)
    void rowsAndDefinitionsOfEitherReachTheOther() throws Exception {
        assertThat(version(1)).startsWith(OLD);
        assertThat(version(3)).startsWith(NEW);
        cluster.mysql(1).execute("CREATE DATABASE mixed");
        cluster.awaitQuery(3, "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'mixed'", "1");
        for (int node : List.of(1, 3)) {
            String table = "mixed.of" + node;
            cluster.mysql(node)
                    .execute(
                            "CREATE TABLE " + table
                                    + " (id INT PRIMARY KEY, j JSON, d DECIMAL(20, 5), t TIMESTAMP(6) NULL,"
                                    + " e ENUM('a', 'b'), b BLOB, s VARCHAR(50), g INT AS (id + 1) STORED, UNIQUE (s))",
                            "INSERT INTO " + table + " (id, j, d, t, e, b, s) VALUES"
                                    + " (1, '{\"a\": [1, 2, null]}', 1234.5, NOW(6), 'b', x'00ff', 'ä'),"
                                    + " (2, NULL, NULL, NULL, NULL, NULL, NULL),"
                                    + " (3, '[]', -0.00001, NOW(6), 'a', '', 'x')",
                            "ALTER TABLE " + table + " ADD more VARCHAR(20) DEFAULT 'm', ADD INDEX (more)",
                            "UPDATE " + table + " SET j = JSON_SET(j, '$.b', 2), more = 'n' WHERE id = 1",
                            "DELETE FROM " + table + " WHERE id = 2");
            cluster.assertConverged(node);
            // What the other one writes to it.
            int other = 4 - node;
            cluster.mysql(other)
                    .execute(
                            "UPDATE " + table + " SET s = 'y' WHERE id = 3",
                            "INSERT INTO " + table + " (id) VALUES (" + other + "0)");
            cluster.assertConverged(other);
        }
    }

    @Test
    @Order(2)
    void accountsOfEitherLogInAtTheOther() throws Exception {
        for (int node : List.of(1, 3)) {
            String user = "of" + node;
            cluster.mysql(node)
                    .execute(
                            "CREATE USER " + user + "@localhost IDENTIFIED BY 'secret'",
                            "GRANT SELECT ON mixed.* TO " + user + "@localhost");
            int other = 4 - node;
            cluster.awaitQuery(other, "SELECT COUNT(*) FROM mysql.db WHERE User = '" + user + "'", "1");
            try (Connection connection = cluster.mysql(other).connect(user, "secret", "mixed")) {
                assertThat(connection.isValid(10)).isTrue();
            }
        }
    }

    /** 8.0 takes them from anybody, later servers from sessions that say so; the upgrade below copies them. */
    @Test
    @Order(3)
    void foreignKeysToWhatIsNotUniqueReachTheNewer() throws Exception {
        for (int node : List.of(1, 3)) {
            String parent = "mixed.loose_p" + node;
            cluster.mysql(node)
                    .execute(
                            "SET SESSION innodb_strict_mode = ON /*!80400 , restrict_fk_on_non_standard_key = OFF */",
                            "CREATE TABLE " + parent + " (id INT PRIMARY KEY, x INT, KEY (x))",
                            "CREATE TABLE mixed.loose_c" + node
                                    + " (id INT PRIMARY KEY, x INT, FOREIGN KEY (x) REFERENCES " + parent
                                    + " (x) ON DELETE CASCADE)",
                            "INSERT INTO " + parent + " VALUES (1, 1), (2, 1), (3, 2)",
                            "INSERT INTO mixed.loose_c" + node + " VALUES (1, 1), (2, 2)");
            cluster.assertConverged(node);
            assertThat(cluster.steps(1, "copy_begun") + cluster.steps(3, "copy_begun"))
                    .as("nobody refuses them")
                    .isZero();
        }
    }

    @Test
    @Order(4)
    void cascadesOfEitherLeaveTheSameRows() throws Exception {
        cluster.mysql(1)
                .execute(
                        "CREATE TABLE mixed.p (id INT PRIMARY KEY)",
                        "CREATE TABLE mixed.c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES mixed.p (id)"
                                + " ON DELETE CASCADE ON UPDATE CASCADE)",
                        "CREATE TABLE mixed.g (id INT PRIMARY KEY, c INT, FOREIGN KEY (c) REFERENCES mixed.c (id)"
                                + " ON DELETE SET NULL)",
                        "INSERT INTO mixed.p VALUES (1), (2), (3), (4)",
                        "INSERT INTO mixed.c VALUES (10, 1), (20, 2), (21, 2), (30, 3), (40, 4)",
                        "INSERT INTO mixed.g VALUES (100, 10), (200, 20), (201, 21), (300, 30), (400, 40)");
        cluster.assertConverged();
        for (int node : List.of(1, 3)) {
            cluster.mysql(node)
                    .execute(
                            "DELETE FROM mixed.p WHERE id = " + node,
                            "UPDATE mixed.p SET id = id + 10 WHERE id = " + (node + 1));
            cluster.assertConverged(node);
        }
        assertThat(cluster.mysql(2).query("SELECT id, p FROM mixed.c ORDER BY id"))
                .isEqualTo(List.of(List.of("20", "12"), List.of("21", "12"), List.of("40", "14")));
    }

    /** One of the two loses, wherever the cascade is carried out. */
    @Test
    @Order(5)
    void childrenThatComeBesideACascadeAreNeverLeftAlone() throws Exception {
        String parents =
                IntStream.rangeClosed(1, CHILDREN).mapToObj(i -> "(" + i + ")").collect(joining(", "));
        cluster.mysql(1)
                .execute(
                        "CREATE TABLE mixed.q (id INT PRIMARY KEY)",
                        "CREATE TABLE mixed.r (id INT AUTO_INCREMENT PRIMARY KEY, q INT, FOREIGN KEY (q)"
                                + " REFERENCES mixed.q (id) ON DELETE CASCADE)",
                        "INSERT INTO mixed.q VALUES " + parents);
        cluster.assertConverged();
        int copies = cluster.steps(3, "copy_completed");
        Thread deleting = new Thread(() -> eachChild(3, i -> "DELETE FROM mixed.q WHERE id = " + i));
        deleting.start();
        eachChild(1, i -> "INSERT INTO mixed.r (q) VALUES (" + i + ")");
        deleting.join();
        cluster.assertConverged();
        for (int node : cluster.servers()) {
            assertThat(cluster.mysql(node)
                            .queryLong("SELECT COUNT(*) FROM mixed.r WHERE q NOT IN (SELECT id FROM mixed.q)"))
                    .as("without a parent on n%d", node)
                    .isZero();
        }
        assertThat(cluster.steps(3, "copy_completed"))
                .as("copies of n3, which can undo cascades that its binlog has")
                .isEqualTo(copies);
    }

    private static void eachChild(int node, IntFunction<String> statement) {
        for (int i = 1; i <= CHILDREN; i++) {
            try {
                cluster.mysql(node).execute(statement.apply(i));
            } catch (RuntimeException refused) {
                // It lost, or there was no such parent any more.
            }
        }
    }

    /** The older servers outnumber it: its definition is void, and it takes theirs. */
    @Test
    @Order(6)
    void whatTheOlderOnesCantTakeIsVoid() throws Exception {
        cluster.mysql(3).execute("CREATE TABLE mixed.v (id INT PRIMARY KEY, v VECTOR(3))");
        cluster.awaitQuery(
                3,
                "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'mixed' AND TABLE_NAME = 'v'",
                "0");
        cluster.awaitState(3, "SYNCED");
        cluster.assertConverged();
        for (String page : List.of("members", "cluster")) {
            assertThat(cluster.http(1, "/actuator/" + page))
                    .contains("different series, 8.0 (n1, n2), 9.7 (n3)", "columns of type VECTOR");
        }
    }

    @Test
    @Order(7)
    void oneIsUpgradedUnderLoad() throws Exception {
        upgradeUnderLoad(1);
        assertThat(cluster.http(1, "/actuator/cluster")).contains("different series, 8.0 (n2), 9.7 (n1, n3)");
    }

    @Test
    @Tag("long")
    @Order(8)
    void thenAllAreOfTheNewerVersion() throws Exception {
        upgradeUnderLoad(2);
        assertThat(cluster.http(1, "/actuator/cluster")).doesNotContain("different series");
    }

    private static void upgradeUnderLoad(int node) throws Exception {
        cluster.mysql(node).execute("DROP DATABASE IF EXISTS bank");
        Bank.open(cluster, node);
        cluster.assertConverged(node);
        Set<Bank.Transfer> acknowledged;
        try (Bank bank = new Bank(cluster, SEED, 50, 1, 1, 2, 3)) {
            cluster.upgrade(node, NEW);
            assertThat(version(node)).startsWith(NEW);
            assertThat(bank.transfers()).as("clients elsewhere go on").isPositive();
            acknowledged = bank.stop();
        }
        cluster.assertConverged();
        Bank.assertKept(cluster, acknowledged, SEED);
    }

    /** All are of the newer version by now. Its creator gets rights to it, as to a routine. */
    @Test
    @Tag("long")
    @Order(9)
    void aLibraryIsEverywhereWithTheRightsToIt() throws Exception {
        cluster.mysql(1)
                .execute(
                        "CREATE USER author@localhost IDENTIFIED BY 'author'",
                        "GRANT CREATE ROUTINE ON mixed.* TO author@localhost");
        try (Connection author = cluster.mysql(1).connect("author", "author", "mixed")) {
            author.createStatement()
                    .execute("CREATE LIBRARY lib LANGUAGE JAVASCRIPT AS 'export function f() { return \"1;\"; }'");
        }
        cluster.assertConverged();
        String rights = "SELECT GROUP_CONCAT(Proc_priv) FROM mysql.procs_priv WHERE Routine_name = 'lib'";
        assertThat(cluster.mysql(1).queryOne(rights)).isNotEmpty();
        for (int node : List.of(2, 3)) {
            cluster.awaitQuery(node, rights, cluster.mysql(1).queryOne(rights));
            assertThat(cluster.mysql(node).query("SHOW CREATE LIBRARY mixed.lib"))
                    .isEqualTo(cluster.mysql(1).query("SHOW CREATE LIBRARY mixed.lib"));
        }
    }

    /** The order has no number for it. */
    @Test
    @Order(10)
    void aTransactionUnderATaggedGtidCostsItsNodeACopy() throws SQLException, InterruptedException {
        try (Connection connection = cluster.mysql(3).connect()) {
            connection.createStatement().execute("SET SESSION gtid_next = 'AUTOMATIC:mytag'");
            connection.createStatement().execute("INSERT INTO mixed.of1 (id) VALUES (77)");
        } catch (SQLException ended) {
            // Its commit waits for a verdict that can't come.
        }
        cluster.awaitQuery(3, "SELECT COUNT(*) FROM mixed.of1 WHERE id = 77", "0");
        cluster.awaitState(3, "SYNCED");
        assertThat(cluster.logged(3, "QRT-2012")).isNotEmpty();
        cluster.mysql(1).execute("INSERT INTO mixed.of1 (id) VALUES (78)");
        cluster.assertConverged();
    }
}
