// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.MySqlServer;
import io.quorate.sandbox.Sandbox.Part;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
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

/** Nodes that nobody's writeset cache can bring up to date: they get all data of another one, under load. */
@Tag("long")
@Timeout(900)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class CopyIT {
    private static final long SEED = System.nanoTime();
    private static final int ROWS = 60;
    /** Of rows that are written for another attempt, in their ids. */
    private static final int FAT_APART = 100_000;
    /** Where those begin that are there before anything happens. */
    private static final int FAT_BEFORE = -FAT_APART;

    private static final int ATTEMPTS = 3;
    /** Bytes a second: half a minute and more for what there is to copy, or some seconds. */
    private static final long SLOW = 6 << 20;

    private static final long FAST = 64 << 20;

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
                        "quorate.sst.bytes-per-second-max", "64MB",
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
                        "CREATE TABLE load_test.kinds (id INT PRIMARY KEY, f FLOAT, d DOUBLE, j JSON, t"
                                + " TIME(6), b BIT(13),"
                                + " e ENUM('a','b'), g GEOMETRY, x BINARY(4), c CHAR(5) CHARACTER SET latin1)",
                        "INSERT INTO load_test.kinds VALUES (1, 1e-30, -0.0, JSON_OBJECT('d', CAST('2020-01-01'"
                                + " AS DATE), 'n',"
                                + " 1.10), '-01:02:03.000001', b'101', 'b', POINT(1, 2), x'0100', _latin1 x'E4')",
                        "CREATE PROCEDURE load_test.p() SELECT 1",
                        "CREATE USER 'late'@'%' " + cluster.mysql(1).dialect().identifiedBy() + " 'late'");
        Bank.open(cluster, 1);
        // More than the caches keep: whoever is new needs a copy.
        Load.fat(cluster, 1, FAT_BEFORE, ROWS);
        cluster.assertConverged();
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    /** The account with which a server is copied is gone from all of them when the copy is complete. */
    private static void assertNobodyMayCopy() {
        for (int each : List.of(1, 2, 3)) {
            assertThat(cluster.mysql(each).query("SELECT user FROM mysql.user WHERE user LIKE 'quorate\\_clone\\_%'"))
                    .as("accounts for copies at n%d", each)
                    .isEmpty();
        }
    }

    private static void assertCopied(int node) {
        assertThat(cluster.steps(node, "copy_completed"))
                .as("n%d got a full copy", node)
                .isPositive();
    }

    /**
     * Whoever dies in the middle of the copy: the joiner's service, all of the joiner, the donor's server.
     */
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
        await(
                "it is told what is undecided",
                first,
                () -> cluster.transfer(3).path("waitsFor").asString("").contains("XA COMMIT"));
        cluster.kill(3, Part.SERVICE);
        cluster.mysql(3).execute("XA COMMIT 'mine'");
        first.exceptionally(e -> false).join();
        try (Load load = Load.inBackground(cluster, SEED, 1, 2)) {
            for (Part part : List.of(Part.SERVICE, Part.BOTH)) {
                CompletableFuture<Boolean> restarting = restartUntilCopying();
                cluster.kill(3, part);
                restarting.exceptionally(e -> false).join();
            }
            CompletableFuture<Boolean> restarting = restartUntilCopying();
            int donor = Integer.parseInt(
                    cluster.transfer(3).path("copyFrom").asString().substring(1));
            int brokenOff = cluster.steps(3, "copy_broken_off");
            cluster.mysql(donor).kill9();
            await("it was broken off", restarting, () -> cluster.steps(3, "copy_broken_off") > brokenOff);
            throttle(FAST);
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

    /**
     * What the donor's clients commit during the copy conflicts with what others do, and some of it is prepared only.
     */
    @Test
    @Order(2)
    void aNewNodeGetsACopyWhileTheOthersWrite() throws Exception {
        try (Bank bank = new Bank(cluster, SEED, 100, 2, 1, 2, 3);
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
            for (int id = 10_000; id < 10_800; id++) {
                insert.setInt(1, id);
                insert.executeUpdate();
            }
        }
        cluster.mysql(3).execute("SET GLOBAL binlog_group_commit_sync_delay = 1000000");
        assertThat(cluster.restart(3)).isTrue();
        assertThat(cluster.steps(3, "copy_preferred")).isEqualTo(1);
        assertCopied(3);
        assertNobodyMayCopy();
        writes(3);
        cluster.assertConverged();
    }

    /** It is a node like the others again, with GTIDs of its own. */
    private static void writes(int node) throws InterruptedException {
        // The writer keeps book from nothing on: what it wrote in a test before would be too much.
        cluster.mysql(node).execute("DELETE FROM load_test.ledger WHERE writer = " + node);
        Map<Integer, Integer> acknowledged;
        try (Load load = Load.inBackground(cluster, SEED, node)) {
            load.goesOn(20, node);
            acknowledged = load.stop();
        }
        Load.assertNothingLost(cluster, acknowledged, SEED);
    }

    /**
     * Starts what is down of n3 without waiting for it, until a copy is half way. One that nobody saw is made once
     * more.
     */
    private static CompletableFuture<Boolean> restartUntilCopying() throws Exception {
        StringBuilder before = new StringBuilder();
        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            CompletableFuture<Boolean> restarting = CompletableFuture.supplyAsync(() -> cluster.restart(3));
            boolean[] met = {false};
            boolean[] throttled = {false};
            Cluster.within(Cluster.LIMIT, () -> {
                // Before it begins: there is to be time to do something to it.
                throttled[0] = throttled[0] || throttle(SLOW);
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
            if (!over || cluster.steps(3, "copy_completed") == 0) {
                break;
            }
            cluster.kill(3, Part.SERVICE);
            Load.fat(cluster, 1, attempt * FAT_APART, ROWS);
        }
        throw new AssertionError("no copy was seen under way" + before + "; " + cluster.story(3));
    }

    /** From its next beginning on a copy takes no more than that; false while none is under way. */
    private static boolean throttle(long bytesPerSecond) {
        try {
            JsonMapper json = JsonMapper.shared();
            String change = json.writeValueAsString(Map.of("action", "throttle", "bytesPerSecond", bytesPerSecond));
            return json.readTree(cluster.post(3, "/actuator/transfer", change))
                    .path("done")
                    .asBoolean();
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static void await(String what, CompletableFuture<Boolean> restarting, BooleanSupplier happened)
            throws InterruptedException {
        boolean[] met = {false};
        Cluster.within(Cluster.LIMIT, () -> {
            met[0] = happened.getAsBoolean();
            return met[0] || restarting.isDone();
        });
        assertThat(met[0]).as("%s; %s", what, cluster.story(3)).isTrue();
    }
}
