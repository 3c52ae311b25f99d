// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.Sandbox.Part;
import java.io.IOException;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Servers that are compared, and put right, while clients write to the very tables on all of them. */
@Timeout(200)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class AuditIT {
    private static final long SEED = System.nanoTime();
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final int ROWS = 3000;

    private static Cluster cluster;
    private static Load load;
    private static Bank bank;

    @BeforeAll
    static void start() throws Exception {
        cluster = Cluster.start(
                3,
                // Small stretches, each of which the writers meet.
                Map.of("quorate.audit.stretch-rows", "500", "quorate.audit.share", "1"));
        cluster.mysql(1)
                .execute(
                        "CREATE DATABASE load_test",
                        Load.TABLE,
                        "CREATE TABLE load_test.many (a VARCHAR(20) CHARACTER SET latin1, b DATETIME(3), c"
                                + " VARBINARY(4), v INT,"
                                + " w INT AS (v + 1) STORED, PRIMARY KEY (a, b, c), UNIQUE KEY (v))",
                        "CREATE TABLE load_test.bag (v VARCHAR(20), f FLOAT)",
                        "CREATE TABLE load_test.kinds (e ENUM('x','y') PRIMARY KEY, f FLOAT, d DOUBLE, n"
                                + " DECIMAL(20,5), j JSON,"
                                + " t TIME(6), b BIT(13), s SET('a','b'), g GEOMETRY, x BINARY(4), y YEAR, u"
                                + " CHAR(5) CHARACTER SET"
                                + " utf16, z TIMESTAMP(2) NULL, o BLOB)",
                        "CREATE TABLE load_test.`o'dd.table` (`i``d` BIGINT UNSIGNED PRIMARY KEY, `t` TEXT)",
                        "CREATE TABLE load_test.plain (id INT PRIMARY KEY)",
                        "CREATE TABLE load_test.zoned (id INT PRIMARY KEY, ts TIMESTAMP, h INT AS (HOUR(ts)) STORED,"
                                + " d DATE AS (DATE(ts)) STORED, UNIQUE (d))");
        try (Connection connection = cluster.app(1);
                PreparedStatement insert = connection.prepareStatement(
                        "INSERT INTO load_test.many (a, b, c, v) VALUES (?, '2020-01-01 00:00:00' + INTERVAL ?"
                                + " MINUTE, ?, ?)")) {
            connection.setAutoCommit(false);
            for (int i = 0; i < ROWS; i++) {
                insert.setString(1, "ä'" + i % 7);
                insert.setInt(2, i / 3);
                insert.setBytes(3, new byte[] {(byte) i, (byte) (i % 3)});
                insert.setInt(4, i);
                insert.addBatch();
            }
            insert.executeBatch();
            connection.commit();
        }
        cluster.mysql(1)
                .execute(
                        "INSERT INTO load_test.bag VALUES ('a', 1), ('a', 1), ('a', 1), ('b', 1e-30), (NULL, NULL)",
                        "INSERT INTO load_test.kinds VALUES ('x', 16777217, -0.1, -1.5, '{\"a\": [1, \"é\"]}',"
                                + " '-01:02:03.000004',"
                                + " b'101', 'a,b', POINT(1, 2), x'00', 1999, _utf8mb4'é', '2020-02-02"
                                + " 02:02:02.02', x'27005C')",
                        "INSERT INTO load_test.`o'dd.table` VALUES (18446744073709551615, 'it''s \\\\ here')");
        Bank.open(cluster, 1);
        cluster.assertConverged();
        writesUnderZones();
        cluster.assertConverged();
        load = Load.inBackground(cluster, SEED, 1, 2, 3);
        bank = new Bank(cluster, SEED, 100, 1, 1, 2, 3);
    }

    /** By the zones of the others, there would be two rows of one day. */
    private static void writesUnderZones() throws Exception {
        String[] zones = {"+05:00", "-03:30", "+00:00"};
        for (int node = 1; node <= 3; node++) {
            try (Connection connection = cluster.app(node);
                    Statement statement = connection.createStatement()) {
                statement.execute("SET time_zone = '" + zones[node - 1] + "'");
                statement.execute("INSERT INTO load_test.zoned (id, ts) VALUES (" + 10 * node + ", '202" + node
                        + "-03-15 01:30:00'), (" + (10 * node + 1) + ", '202" + node + "-03-14 23:30:00')");
                // Here the binlog doesn't say in which zone, because the first row has nothing of it.
                statement.execute("BEGIN");
                statement.execute("INSERT INTO load_test.plain VALUES (" + node + ")");
                statement.execute("INSERT INTO load_test.zoned (id, ts) VALUES (" + (10 * node + 2) + ", '202" + node
                        + "-05-15 01:30:00'), (" + (10 * node + 3) + ", '202" + node + "-05-14 23:30:00')");
                statement.execute("COMMIT");
            }
        }
    }

    @AfterAll
    static void end() {
        if (bank != null) {
            bank.close();
        }
        if (load != null) {
            load.close();
        }
        cluster.close();
    }

    @Test
    @Tag("long")
    @Order(1)
    void findsNothingWhereOnlyWritesAreOnTheirWay() throws Exception {
        JsonNode audit = audit(1);
        assertThat(audit.path("found").asLong()).as(audit.toString()).isZero();
        assertThat(audit.path("nodes").toString()).isEqualTo("[\"n1\",\"n2\",\"n3\"]");
        assertThat(audit.path("rows").asLong()).isGreaterThan(ROWS);
        assertThat(audit.path("left").size()).isZero();
    }

    @Test
    @Order(2)
    void namesWhatDiffersAndPutsItRight() throws Exception {
        cluster.mysql(3)
                .execute(
                        "SET SESSION sql_log_bin = 0",
                        "UPDATE load_test.many SET v = -1 WHERE v = 1234",
                        "DELETE FROM load_test.many WHERE v = 2222",
                        // The value of another row, which is to come back.
                        "INSERT INTO load_test.many (a, b, c, v) VALUES ('zz', '2030-01-01', x'00', 2222)",
                        "DELETE FROM load_test.bag WHERE v = 'a' LIMIT 2",
                        "INSERT INTO load_test.bag VALUES ('c', 2), ('c', 2)",
                        "UPDATE load_test.kinds SET f = 16777218, g = POINT(1, 3), o = NULL, j = '{}', t = '00:00:00',"
                                + " b = b'0', s = '', u = '', z = NULL, d = 0, n = 0",
                        "UPDATE load_test.`o'dd.table` SET t = NULL",
                        // Nothing changes but what the server computes.
                        "SET time_zone = '+09:00'",
                        "UPDATE load_test.zoned SET id = id, ts = ts WHERE id = 10");
        cluster.mysql(2).execute("SET SESSION sql_log_bin = 0", "CREATE TABLE load_test.secret (id INT PRIMARY KEY)");
        JsonNode audit = audit(1);
        Map<String, Integer> found = new TreeMap<>();
        for (JsonNode difference : audit.path("differences")) {
            found.merge(difference.path("table").asString(), 1, Integer::sum);
            String odd = difference.path("table").asString().equals("load_test.secret") ? "n2" : "n3";
            String right = difference.path("right").asString();
            difference.path("versions").properties().forEach(e -> assertThat(
                            e.getValue().asString().equals(right))
                    .as("%s of %s", e.getKey(), difference)
                    .isEqualTo(!e.getKey().equals(odd)));
        }
        assertThat(found)
                .isEqualTo(Map.of(
                        "load_test.many",
                        3,
                        "load_test.bag",
                        2,
                        "load_test.kinds",
                        2,
                        "load_test.o'dd.table",
                        1,
                        "load_test.secret",
                        1,
                        "load_test.zoned",
                        1));

        JsonNode plan = post(1, Map.of("action", "repair"));
        assertThat(plan.toString()).contains("n3 would be replaced").doesNotContain("n3 repaired");
        assertThat(cluster.mysql(3).queryLong("SELECT COUNT(*) FROM load_test.many WHERE v = -1"))
                .isEqualTo(1);
        // A trigger that the account may not see would run.
        cluster.mysql(3).execute("SET SESSION sql_log_bin = 0", "REVOKE TRIGGER ON *.* FROM 'quorate'@'localhost'");
        assertThat(post(1, Map.of("action", "repair", "apply", "true")).toString())
                .contains("GRANT TRIGGER")
                .doesNotContain("repaired");
        cluster.mysql(3).execute("SET SESSION sql_log_bin = 0", "GRANT TRIGGER ON *.* TO 'quorate'@'localhost'");
        JsonNode done = post(1, Map.of("action", "repair", "apply", "true"));
        for (JsonNode difference : done.path("differences")) {
            assertThat(difference.path("outcome").asString())
                    .as(difference.toString())
                    .startsWith(difference.path("identity").isNull() ? "left alone" : "n3 repaired");
        }
        assertThat(Files.readAllLines(cluster.directory(3).resolve("quorate/repairs.jsonl")))
                .hasSize(9)
                .anyMatch(line -> line.contains("\"-1\"") && line.contains("\"1234\""));
        cluster.mysql(2).execute("SET SESSION sql_log_bin = 0", "DROP TABLE load_test.secret");
        JsonNode again = audit(2);
        assertThat(again.path("found").asLong()).as(again.toString()).isZero();
    }

    /** It goes on at the table that it was at. */
    @Test
    @Tag("long")
    @Order(3)
    void goesOnAfterItsNodeWasKilled() throws Exception {
        bank.stop();
        try (Connection client = cluster.app(3);
                Statement statement = client.createStatement()) {
            statement.execute("LOCK TABLES load_test.many WRITE");
            assertThat(post(2, Map.of("action", "start")).path("done").asBoolean())
                    .isTrue();
            assertThat(Cluster.within(
                            LIMIT, () -> status(2).path("table").asString("").equals("load_test.many")))
                    .as(status(2).toString())
                    .isTrue();
            String started = status(2).path("started").asString();
            cluster.kill(2, Part.SERVICE);
            assertThat(cluster.restart(2)).isTrue();
            assertThat(status(2).path("started").asString()).isEqualTo(started);
            assertThat(status(2).path("tablesDone").asInt()).isPositive();
            statement.execute("UNLOCK TABLES");
            JsonNode audit = awaitEnd(2);
            assertThat(audit.path("started").asString()).isEqualTo(started);
            assertThat(audit.path("tablesDone").asInt())
                    .isEqualTo(audit.path("tables").asInt());
            assertThat(audit.path("found").asLong()).as(audit.toString()).isZero();
        }
    }

    @Test
    @Order(4)
    void theServersAreTheSameInTheEnd() throws Exception {
        bank.stop();
        Load.assertNothingLost(cluster, load.stop(), SEED);
        cluster.assertConverged();
    }

    private static JsonNode audit(int node) throws Exception {
        JsonNode begun = post(node, Map.of("action", "start"));
        assertThat(begun.path("done").asBoolean()).as(begun.toString()).isTrue();
        return awaitEnd(node);
    }

    private static JsonNode awaitEnd(int node) throws InterruptedException {
        boolean ended = Cluster.within(LIMIT, () -> {
            JsonNode audit = status(node);
            return audit.isObject() && !audit.path("ended").isNull();
        });
        assertThat(ended).as(status(node).toString()).isTrue();
        return status(node);
    }

    private static JsonNode status(int node) {
        try {
            return JsonMapper.shared()
                    .readTree(cluster.http(node, "/actuator/audit"))
                    .path("audit");
        } catch (IOException e) {
            return JsonMapper.shared().createObjectNode();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static JsonNode post(int node, Map<String, String> what) throws Exception {
        return JsonMapper.shared()
                .readTree(cluster.post(
                        node, "/actuator/audit", JsonMapper.shared().writeValueAsString(what)));
    }
}
