// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.MySqlServer;
import io.quorate.sandbox.Sandbox.Part;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** Nodes that nobody's writeset cache can bring up to date: they get all data of another one, under load. */
@Timeout(600)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class CopyIT {
    private static final long SEED = System.nanoTime();
    private static final int ROWS = 60;
    /** Of rows that are written for another attempt, in their ids. */
    private static final int FAT_APART = 100_000;

    private static final int ATTEMPTS = 3;
    private static final Pattern STORY =
            Pattern.compile(" : node n|FullCopy|ClonedCopy|CopyMethod|Rejoin|NodeLoop|The order stops");

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
                        "quorate.sst.bytes-per-second-max", "32MB",
                        "quorate.sst.switch-after", "1m",
                        // Clone it is, by the estimate.
                        "quorate.sst.stream-expected-bytes-per-second", "1B",
                        // A server whose commits are slow takes long then.
                        "quorate.apply.group-transactions-max", "2"));
        cluster.mysql(1)
                .execute(
                        "CREATE DATABASE load_test",
                        Load.TABLE,
                        "CREATE TABLE load_test.fat (id INT PRIMARY KEY, v LONGBLOB)",
                        // CLONE holds itself to a bandwidth only by and by: what is small is here at once.
                        "CREATE TABLE load_test.ballast (id INT PRIMARY KEY) AUTOEXTEND_SIZE = 256M",
                        "CREATE TABLE load_test.kinds (id INT PRIMARY KEY, f FLOAT, d DOUBLE, j JSON, t TIME(6), b BIT(13),"
                                + " e ENUM('a','b'), g GEOMETRY, x BINARY(4), c CHAR(5) CHARACTER SET latin1)",
                        "INSERT INTO load_test.kinds VALUES (1, 1e-30, -0.0, JSON_OBJECT('d', CAST('2020-01-01' AS DATE), 'n',"
                                + " 1.10), '-01:02:03.000001', b'101', 'b', POINT(1, 2), x'0100', _latin1 x'E4')",
                        "CREATE PROCEDURE load_test.p() SELECT 1",
                        "CREATE USER 'late'@'%' IDENTIFIED WITH mysql_native_password BY 'late'");
        Bank.open(cluster, 1);
        cluster.assertConverged();
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    private static void assertCopied(int node) {
        assertThat(cluster.logged(node, "the full copy of the data of"))
                .as("n%d got a full copy", node)
                .isNotEmpty();
    }

    /** Whoever dies in the middle of the copy: the joiner, the donor's server, with {@code -Dquorate.long=true} first the service alone. */
    @Test
    @Order(1)
    void aNodeThatWasAwayTooLongHandsOverWhatItHasAndGetsACopyWhoeverDies() throws Exception {
        cluster.kill(3, Part.SERVICE);
        cluster.mysql(3).execute("INSERT INTO load_test.fat VALUES (-3, 'while away')");
        try (Connection connection = cluster.app(3);
                Statement statement = connection.createStatement()) {
            statement.execute("XA START 'mine'");
            statement.execute("INSERT INTO load_test.fat VALUES (-4, 'to be decided')");
            statement.execute("XA END 'mine'");
            statement.execute("XA PREPARE 'mine'");
        }
        Load.fat(cluster, 1, 0, ROWS);
        Map<Integer, Integer> acknowledged;
        CompletableFuture<Boolean> first = CompletableFuture.supplyAsync(() -> cluster.restart(3));
        awaitLog("clients have prepared transactions on this server", first);
        cluster.kill(3, Part.SERVICE);
        cluster.mysql(3).execute("XA COMMIT 'mine'");
        first.exceptionally(e -> false).join();
        try (Load load = new Load(cluster, SEED, 1, 2)) {
            Part[] parts =
                    Boolean.getBoolean("quorate.long") ? new Part[] {Part.SERVICE, Part.BOTH} : new Part[] {Part.BOTH};
            for (Part part : parts) {
                CompletableFuture<Boolean> restarting = restartUntilCopying();
                cluster.kill(3, part);
                restarting.exceptionally(e -> false).join();
            }
            CompletableFuture<Boolean> restarting = restartUntilCopying();
            int donor = Integer.parseInt(
                    cluster.transfer(3).path("copyFrom").asString().substring(1));
            cluster.mysql(donor).kill9();
            awaitLog("trying again", restarting);
            cluster.mysql(donor).start();
            assertThat(restarting.join()).isTrue();
            assertCopied(3);
            acknowledged = load.stop();
        }
        Load.assertNothingLost(cluster, acknowledged, SEED);
        for (int node : cluster.servers()) {
            cluster.awaitQuery(node, "SELECT v FROM load_test.fat WHERE id = -3", "while away");
            cluster.awaitQuery(node, "SELECT v FROM load_test.fat WHERE id = -4", "to be decided");
        }
        writes(3);
    }

    /** What the donor's clients commit during the copy conflicts with what others do, and some of it is prepared only. */
    @Test
    @Order(2)
    void aNewNodeGetsACopyWhileTheOthersWrite() throws Exception {
        try (Bank bank = new Bank(cluster, SEED, 10, 2, 1, 2, 3);
                Connection undecided = cluster.app(1);
                Statement statement = undecided.createStatement()) {
            statement.execute("XA START 'open'");
            statement.execute("INSERT INTO load_test.fat VALUES (-1, 'prepared')");
            statement.execute("XA END 'open'");
            statement.execute("XA PREPARE 'open'");
            cluster.add();
            assertCopied(4);
            assertThat(cluster.mysql(4).query("XA RECOVER")).isEmpty();
            statement.execute("XA COMMIT 'open'");
            bank.stop();
        }
        cluster.assertConverged();
        for (int node : cluster.servers()) {
            assertThat(Bank.wrongBalances(cluster, node))
                    .as("n%d, seed %d", node, SEED)
                    .isEmpty();
        }
        MySqlServer added = cluster.mysql(4);
        assertThat(added.queryOne("SELECT v FROM load_test.fat WHERE id = -1")).isEqualTo("prepared");
        assertThat(added.queryOne("SELECT JSON_TYPE(JSON_EXTRACT(j, '$.d')) FROM load_test.kinds"))
                .isEqualTo("DATE");
        assertThat(added.queryLong("SELECT COUNT(*) FROM mysql.user WHERE user = 'late'"))
                .isEqualTo(1);
        writes(4);
    }

    /** It could come back by what the caches hold, but its server is slow: a second each commit. */
    @Test
    @Order(3)
    void aNodeThatWouldCatchUpForLongChangesOverToACopy() throws Exception {
        cluster.kill(3, Part.SERVICE);
        try (Connection connection = cluster.app(1);
                PreparedStatement insert =
                        connection.prepareStatement("INSERT INTO load_test.fat VALUES (?, 'one of many')")) {
            for (int id = 10_000; id < 13_000; id++) {
                insert.setInt(1, id);
                insert.executeUpdate();
            }
        }
        int copies = cluster.logged(3, "the full copy of the data of").size();
        cluster.mysql(3).execute("SET GLOBAL binlog_group_commit_sync_delay = 1000000");
        assertThat(cluster.restart(3)).isTrue();
        assertThat(cluster.logged(3, "changing over to a copy")).hasSize(1);
        assertThat(cluster.logged(3, "the full copy of the data of")).hasSizeGreaterThan(copies);
        writes(3);
        cluster.assertConverged();
    }

    /** It is a node like the others again, with GTIDs of its own. */
    private static void writes(int node) throws InterruptedException {
        // The writer keeps book from nothing on: what it wrote in a test before would be too much.
        cluster.mysql(node).execute("DELETE FROM load_test.ledger WHERE writer = " + node);
        Map<Integer, Integer> acknowledged;
        try (Load load = new Load(cluster, SEED, node)) {
            assertThat(Cluster.within(
                            Duration.ofMinutes(1), () -> load.acknowledged().get(node) > 50))
                    .isTrue();
            acknowledged = load.stop();
        }
        Load.assertNothingLost(cluster, acknowledged, SEED);
    }

    /** Starts what is down of n3 without waiting for it, until a copy is half way. One that nobody saw is made once more. */
    private static CompletableFuture<Boolean> restartUntilCopying() throws Exception {
        StringBuilder before = new StringBuilder();
        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            int copies = cluster.logged(3, "the full copy of the data of").size();
            CompletableFuture<Boolean> restarting = CompletableFuture.supplyAsync(() -> cluster.restart(3));
            boolean[] met = {false};
            Cluster.within(Duration.ofSeconds(90), () -> {
                JsonNode copying = cluster.transfer(3).path("copying");
                met[0] = copying.path("bytes").asLong() > 0
                        && copying.path("toDo").asLong() > 0;
                return met[0] || restarting.isDone();
            });
            if (met[0]) {
                return restarting;
            }
            boolean over = restarting.handle((done, e) -> e == null && done).getNow(false);
            before.append("\nattempt ").append(attempt).append(", restarted: ").append(over);
            if (!over || cluster.logged(3, "the full copy of the data of").size() == copies) {
                break;
            }
            cluster.kill(3, Part.SERVICE);
            Load.fat(cluster, 1, attempt * FAT_APART, ROWS);
        }
        throw new AssertionError("no copy was seen under way" + before + "; " + story());
    }

    /** The last of what n3 said of its way back. */
    private static String story() {
        List<String> told = cluster.logged(3, "").stream()
                .filter(line -> STORY.matcher(line).find())
                .toList();
        return String.join("\n", told.subList(Math.max(0, told.size() - 60), told.size()));
    }

    private static void awaitLog(String text, CompletableFuture<Boolean> restarting) throws InterruptedException {
        Cluster.within(Duration.ofMinutes(3), () -> !cluster.logged(3, text).isEmpty() || restarting.isDone());
        assertThat(cluster.logged(3, text))
                .as("%s in the log of n3; %s", text, story())
                .isNotEmpty();
    }
}
