// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.MySqlServer;
import io.quorate.sandbox.Sandbox.Part;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
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

/** Full copies row by row, in pieces of different moments, while clients write to the rows that are copied. */
@Tag("long")
@Timeout(900)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class StreamIT {
    private static final long SEED = System.nanoTime();
    private static final int FAT_ROWS = 48;
    /** Bytes a second. */
    private static final long SLOW = 1 << 20;

    private static final long FAST = 8 << 20;
    private static final long AS_FAST_AS_IT_CAN = 0;
    private static final Path AWKWARD = Path.of("../applier/src/test/resources/awkward-types.sql");

    private static Cluster cluster;

    @BeforeAll
    static void start() throws Exception {
        cluster = Cluster.start(
                3,
                Map.of(
                        "quorate.order.checkpoint-entries", "20",
                        "quorate.order.log-bytes-max", "2MB",
                        "quorate.cache.segment-bytes", "1MB",
                        "quorate.cache.bytes-max", "8MB",
                        "quorate.sst.method", "stream",
                        // Many pieces, so that there is a middle to die in.
                        "quorate.sst.chunk", "32KB",
                        "quorate.sst.bytes-per-second-max", "4MB"));
        MySqlServer first = cluster.mysql(1);
        List<String> awkward = Files.readAllLines(AWKWARD, StandardCharsets.UTF_8);
        first.execute(Stream.concat(
                        Stream.of("CREATE DATABASE awkward", "USE awkward"),
                        awkward.stream().filter(s -> !s.startsWith("--") && !s.isBlank()))
                .toArray(String[]::new));
        first.execute(
                "CREATE DATABASE load_test",
                Load.TABLE,
                "CREATE TABLE load_test.fat (id INT PRIMARY KEY, v LONGBLOB)",
                "CREATE TABLE load_test.parent (id INT PRIMARY KEY, v INT)",
                "CREATE TABLE load_test.child (id INT AUTO_INCREMENT PRIMARY KEY, parent INT, KEY (parent),"
                        + " FOREIGN KEY (parent)"
                        + " REFERENCES load_test.parent (id) ON DELETE CASCADE ON UPDATE CASCADE)",
                "CREATE VIEW load_test.view AS SELECT id FROM load_test.fat",
                "CREATE PROCEDURE load_test.p() SELECT 1",
                "CREATE TRIGGER load_test.t BEFORE INSERT ON load_test.fat FOR EACH ROW SET @x = NEW.id",
                "CREATE USER 'late'@'%' " + cluster.mysql(1).dialect().identifiedBy() + " 'late'");
        Bank.open(cluster, 1);
        Load.fat(cluster, 1, 0, FAT_ROWS);
        cluster.assertConverged();
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    /** Parents come and go and get other keys, and their children with them, which no writeset says. */
    private static final class Family implements AutoCloseable {
        private final AtomicBoolean stop = new AtomicBoolean();
        private final Thread thread;

        Family(int node) {
            thread = new Thread(() -> write(node, new Random(SEED)), "family");
            thread.start();
        }

        private void write(int node, Random random) {
            while (!stop.get()) {
                try (Connection connection = cluster.app(node)) {
                    for (int id = 1; !stop.get(); id++) {
                        long start = System.nanoTime();
                        int parent = random.nextInt(50);
                        run(connection, "REPLACE INTO load_test.parent VALUES (?, ?)", parent, id);
                        run(connection, "INSERT INTO load_test.child (parent) VALUES (?)", parent);
                        run(connection, "DELETE FROM load_test.parent WHERE id = ?", random.nextInt(100));
                        int moved = random.nextInt(50);
                        run(connection, "UPDATE IGNORE load_test.parent SET id = ? WHERE id = ?", 50 + moved, moved);
                        Load.rest(start, 100);
                    }
                } catch (SQLException e) {
                    Thread.onSpinWait();
                } catch (InterruptedException e) {
                    return;
                }
            }
        }

        private static void run(Connection connection, String sql, int... values) throws SQLException {
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                for (int i = 0; i < values.length; i++) {
                    statement.setInt(i + 1, values[i]);
                }
                statement.executeUpdate();
            }
        }

        void stop() throws InterruptedException {
            stop.set(true);
            thread.join(60_000);
        }

        @Override
        public void close() {
            stop.set(true);
        }
    }

    @Test
    @Order(1)
    void aNewNodeGetsRowsThatChangeWhileTheyAreRead() throws Exception {
        try (Bank bank = new Bank(cluster, SEED, 100, 2, 1, 2, 3);
                Family family = new Family(1);
                Load load = Load.inBackground(cluster, SEED, 2)) {
            cluster.add();
            assertThat(cluster.steps(4, "copy_begun")).isEqualTo(1);
            assertThat(cluster.steps(4, "copy_completed")).isEqualTo(1);
            assertThat(cluster.steps(4, "copy_broken_off") + cluster.steps(4, "copy_begun_anew"))
                    .isZero();
            bank.stop();
            family.stop();
            Load.assertNothingLost(cluster, load.stop(), SEED);
        }
        cluster.assertConverged();
        for (int node : cluster.servers()) {
            assertThat(Bank.wrongBalances(cluster, node))
                    .as("n%d, seed %d", node, SEED)
                    .isEmpty();
        }
        assertSameDefinitions(4);
        writes(4);
    }

    private static void assertSameDefinitions(int node) {
        for (String sql : List.of(
                "SHOW CREATE TABLE bank.history",
                "SHOW CREATE TABLE bank.account",
                "SHOW CREATE TABLE load_test.child",
                "SHOW CREATE VIEW load_test.view",
                "SHOW CREATE PROCEDURE load_test.p",
                "SHOW CREATE USER 'late'@'%'",
                // The service's own account is each server's own.
                "SELECT user, host, plugin, IF(user = 'quorate', '', HEX(authentication_string)) FROM mysql.user"
                        + " ORDER BY 1, 2",
                "SELECT TRIGGER_NAME, ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA ="
                        + " 'load_test'",
                "SELECT HEX(CAST(j AS CHAR)), JSON_TYPE(JSON_EXTRACT(j, '$.t')) FROM awkward.docs ORDER BY id")) {
            assertThat(text(node, sql)).as(sql).isEqualTo(text(1, sql));
        }
    }

    private static String text(int node, String sql) {
        return cluster.mysql(node).query(sql).toString().replaceAll("AUTO_INCREMENT=\\d+ ?", "");
    }

    /** It is a node like the others, with GTIDs of its own. */
    private static void writes(int node) throws InterruptedException {
        cluster.mysql(node).execute("DELETE FROM load_test.ledger WHERE writer = " + node);
        Map<Integer, Integer> acknowledged;
        try (Load load = Load.inBackground(cluster, SEED, node)) {
            load.goesOn(20, node);
            acknowledged = load.stop();
        }
        Load.assertNothingLost(cluster, acknowledged, SEED);
    }

    /** It goes on where it was: no piece comes twice that was here, and another node gives what is missing. */
    @Test
    @Order(2)
    void aNodeThatWasAwayTooLongGetsACopyThatGoesOnWhoeverDies() throws Exception {
        // The writers keep book from nothing on.
        cluster.mysql(1).execute("DELETE FROM load_test.ledger");
        cluster.assertConverged();
        cluster.kill(3, Part.SERVICE);
        cluster.mysql(3).execute("INSERT INTO load_test.fat VALUES (-3, 'while away')");
        Load.fat(cluster, 1, 1000, 40);
        Map<Integer, Integer> acknowledged;
        try (Load load = Load.inBackground(cluster, SEED + 1, 1, 2)) {
            long before = 0;
            int begun = 0;
            for (Part part : new Part[] {Part.SERVICE, Part.BOTH}) {
                CompletableFuture<Boolean> restarting = restartUntil(before + (4 << 20));
                before = cluster.transfer(3).path("copying").path("bytes").asLong();
                begun += cluster.steps(3, "copy_begun");
                cluster.kill(3, part);
                restarting.exceptionally(e -> false).join();
            }
            CompletableFuture<Boolean> restarting = restartUntil(before + (1 << 20));
            String first = donor();
            cluster.mysql(number(first)).kill9();
            assertThat(Cluster.within(Cluster.LIMIT, () -> !donor().equals(first)))
                    .as("another node gives what %s can't", first)
                    .isTrue();
            cluster.mysql(number(first)).start();
            // A dead server is known after a moment, and maybe before anybody asks for a piece. That a service is dead
            // isn't known until it has been silent for a while, and this copy asks for a piece every second or two.
            String second = donor();
            cluster.kill(number(second), Part.SERVICE);
            assertThat(Cluster.within(Cluster.LIMIT, () -> cluster.steps(3, "piece_broken_off") > 0))
                    .as("a piece of %s broke off", second)
                    .isTrue();
            throttle(AS_FAST_AS_IT_CAN);
            assertThat(restarting.join()).isTrue();
            assertThat(cluster.restart(number(second))).isTrue();
            assertThat(begun + cluster.steps(3, "copy_begun"))
                    .as("copies begun")
                    .isEqualTo(1);
            acknowledged = load.stop();
        }
        Load.assertNothingLost(cluster, acknowledged, SEED);
        for (int node : cluster.servers()) {
            cluster.awaitQuery(node, "SELECT v FROM load_test.fat WHERE id = -3", "while away");
        }
        writes(3);
    }

    /** It doesn't begin anew: what is new is made as the order says, once its tables are here. */
    @Test
    @Order(3)
    void whatIsMadeMeanwhileComesByTheOrder() throws Exception {
        CompletableFuture<Boolean> restarting = returnsForACopy(2000);
        cluster.mysql(1)
                .execute(
                        "CREATE DATABASE fresh CHARACTER SET latin1",
                        "CREATE TABLE fresh.t (id INT PRIMARY KEY, a VARCHAR(5))",
                        "INSERT INTO fresh.t VALUES (1, 'x'), (2, 'y')",
                        "ALTER TABLE fresh.t ADD b INT DEFAULT 3",
                        "CREATE TRIGGER fresh.r BEFORE INSERT ON fresh.t FOR EACH ROW SET NEW.b = 4",
                        "CREATE VIEW fresh.v AS SELECT b FROM fresh.t",
                        "CREATE TABLE load_test.gone (id INT PRIMARY KEY)",
                        "INSERT INTO load_test.gone VALUES (1)",
                        "DROP TABLE load_test.gone",
                        "INSERT INTO fresh.t (id, a) VALUES (3, 'z')");
        cluster.mysql(2).execute("INSERT INTO load_test.fat VALUES (-4, 'meanwhile')");
        throttle(FAST);
        assertThat(restarting.join()).isTrue();
        assertThat(cluster.steps(3, "copy_begun_anew")).isZero();
        cluster.assertConverged();
        assertThat(cluster.objectsThatDiffer()).isEmpty();
        assertThat(cluster.mysql(3).queryLong("SELECT SUM(b) FROM fresh.v")).isEqualTo(10);
        writes(3);
    }

    @Test
    @Order(4)
    void tablesThatAreChangedMeanwhileAreCopiedAsTheyBecame() throws Exception {
        CompletableFuture<Boolean> restarting = returnsForACopy(3000);
        waitsWhileItIsPaused();
        cluster.mysql(1)
                .execute(
                        "ALTER TABLE load_test.fat ADD COLUMN more INT DEFAULT 7 FIRST",
                        "CREATE TABLE load_test.another (a INT)",
                        "INSERT INTO load_test.another VALUES (1)");
        throttle(FAST);
        assertThat(Cluster.within(Cluster.LIMIT, () -> cluster.steps(3, "copy_begun_anew") > 0 || restarting.isDone()))
                .isTrue();
        cluster.mysql(2)
                .execute(
                        "CREATE VIEW load_test.later AS SELECT 1",
                        "DROP PROCEDURE load_test.p",
                        "CREATE USER 'later'@'%' IDENTIFIED BY 'later'");
        assertThat(restarting.join()).isTrue();
        assertThat(cluster.steps(3, "copy_begun_anew")).isPositive();
        cluster.assertConverged();
        assertThat(cluster.mysql(3).queryLong("SELECT COUNT(*) FROM mysql.user WHERE user = 'later'"))
                .isEqualTo(1);
        assertThat(cluster.mysql(3)
                        .queryLong(
                                "SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'load_test'"))
                .isZero();
        writes(3);
    }

    /** Whom n3 copies from. */
    private static String donor() {
        return cluster.transfer(3).path("copyFrom").asString("");
    }

    private static int number(String node) {
        return Integer.parseInt(node.substring(1));
    }

    private static void waitsWhileItIsPaused() throws Exception {
        assertThat(post("pause").path("done").asBoolean()).isTrue();
        assertThat(Cluster.within(
                        Cluster.LIMIT,
                        () -> cluster.transfer(3).path("waitsFor").asString("").contains("paused")))
                .isTrue();
        // Pieces under way come to an end, and no others begin although there are more.
        long[] here = {-1, 0};
        assertThat(Cluster.within(Cluster.LIMIT, () -> {
                    JsonNode copying = cluster.transfer(3).path("copying");
                    boolean moves = copying.path("bytes").asLong() != here[0];
                    here[0] = copying.path("bytes").asLong();
                    here[1] = moves ? System.nanoTime() : here[1];
                    return System.nanoTime() - here[1] > Duration.ofSeconds(2).toNanos();
                }))
                .isTrue();
        assertThat(cluster.transfer(3).path("copying").path("toDo").asLong()).isPositive();
        assertThat(post("cancel").path("refusal").asString()).contains("can't be brought up to date otherwise");
        assertThat(post("resume").path("done").asBoolean()).isTrue();
    }

    private static JsonNode post(String action) throws IOException, InterruptedException {
        return post(Map.of("action", action));
    }

    private static JsonNode post(Map<String, Object> what) throws IOException, InterruptedException {
        JsonMapper json = JsonMapper.shared();
        return json.readTree(cluster.post(3, "/actuator/transfer", json.writeValueAsString(what)));
    }

    /** From now on the copy takes no more than that. */
    private static void throttle(long bytesPerSecond) throws IOException, InterruptedException {
        JsonNode answer = post(Map.of("action", "throttle", "bytesPerSecond", bytesPerSecond));
        assertThat(answer.path("done").asBoolean()).as(answer.toString()).isTrue();
    }

    /** n3 was away too long, and is in the midst of its copy. */
    private static CompletableFuture<Boolean> returnsForACopy(int firstId) throws Exception {
        cluster.kill(3, Part.SERVICE);
        Load.fat(cluster, 1, firstId, 40);
        return restartUntil(4 << 20);
    }

    /** Starts what is down of n3 without waiting for it, until a copy has so many bytes. It is slow then. */
    private static CompletableFuture<Boolean> restartUntil(long bytes) throws IOException, InterruptedException {
        CompletableFuture<Boolean> restarting = CompletableFuture.supplyAsync(() -> cluster.restart(3));
        boolean[] met = {false};
        Cluster.within(Cluster.LIMIT, () -> {
            JsonNode copying = cluster.transfer(3).path("copying");
            met[0] = copying.path("bytes").asLong() >= bytes
                    && copying.path("toDo").asLong() > 0;
            return met[0] || restarting.isDone();
        });
        if (met[0]) {
            // There is to be time to do something to it.
            throttle(SLOW);
        }
        assertThat(met[0])
                .as(
                        "a copy was under way; restarted: %s",
                        restarting.handle((done, e) -> e == null ? done : e).getNow("not yet"))
                .isTrue();
        return restarting;
    }
}
