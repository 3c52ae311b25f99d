// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.Sandbox.Part;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/**
 * A node that was away for longer than the order's log is kept, and comes back from the writeset caches of the others.
 */
@Timeout(900)
@Tag("long")
class TransferIT {
    private static final int ATTEMPTS = 3;
    private static final int FAT_ROWS = 150;
    /** Of the ids of rows that are written for another attempt. */
    private static final int FAT_APART = 100_000;

    private static Cluster cluster;

    @BeforeAll
    static void start() throws Exception {
        cluster = Cluster.start(
                3,
                Map.of(
                        "quorate.order.checkpoint-entries", "20",
                        "quorate.order.log-bytes-max", "2MB",
                        "quorate.cache.segment-bytes", "16MB",
                        "quorate.tls.bundle", "nodes"));
        cluster.mysql(1)
                .execute(
                        "CREATE DATABASE load_test",
                        Load.TABLE,
                        "CREATE TABLE load_test.fat (id INT PRIMARY KEY, v LONGBLOB)");
        cluster.assertConverged();
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    /**
     * While n3 is down: writes a transfer's worth on another node, starts n3 without waiting for it, and waits until it
     * is in the middle of receiving that. A transfer that was over before anybody saw it is made once more.
     */
    private static CompletableFuture<Void> restartUntilInTransfer(int writer, int firstId) throws Exception {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Load.fat(cluster, writer, firstId + attempt * FAT_ROWS, FAT_ROWS);
            CompletableFuture<Void> restarting = CompletableFuture.runAsync(() -> {
                try {
                    cluster.restart(3);
                } catch (RuntimeException e) {
                    // The test ends it.
                }
            });
            boolean[] met = {false};
            Cluster.within(Cluster.LIMIT, () -> {
                JsonNode receiving = cluster.transfer(3).path("receiving");
                met[0] = receiving.path("bytes").asLong() > 0
                        && receiving.path("toDo").asLong() > 0;
                return met[0] || restarting.isDone();
            });
            if (met[0]) {
                return restarting;
            }
            assertThat(cluster.steps(3, "transfer_completed"))
                    .as("transfers that nobody saw; %s", cluster.story(3))
                    .isPositive();
            cluster.kill(3, Part.SERVICE);
        }
        throw new AssertionError("no transfer was seen under way");
    }

    @Test
    void comesBackUnderLoadFromTheCachesOfTheOthers() throws Exception {
        long seed = System.nanoTime();
        Map<Integer, Integer> acknowledged;
        try (Load load = Load.inBackground(cluster, seed, 1, 2)) {
            cluster.kill(3, Part.SERVICE);
            Load.fat(cluster, 1, 1, 60);
            load.goesOn(20, 1, 2);
            // What its server takes meanwhile is captured when it is back.
            cluster.mysql(3).execute("INSERT INTO load_test.fat VALUES (0, 'while away')");
            assertThat(cluster.restart(3)).isTrue();
            assertThat(cluster.steps(3, "transfer_completed"))
                    .as("it received a transfer")
                    .isPositive();
            load.goesOn(10, 1, 2);
            acknowledged = load.stop();
        }
        Load.assertNothingLost(cluster, acknowledged, seed);
        cluster.awaitQuery(1, "SELECT v FROM load_test.fat WHERE id = 0", "while away");
    }

    @Test
    void aKilledJoinerGoesOnWhereItWas() throws Exception {
        cluster.kill(3, Part.BOTH);
        CompletableFuture<Void> restarting = restartUntilInTransfer(1, 1000);
        cluster.kill(3, Part.SERVICE);
        restarting.join();
        assertThat(cluster.restart(3)).isTrue();
        assertThat(cluster.steps(3, "transfer_begun"))
                .as("it went on receiving")
                .isPositive();
        cluster.assertConverged();
    }

    /** Bits that changed on the disk, in a part of the cache that was durable. */
    @Test
    void aDamagedCacheIsFetchedAgain() throws Exception {
        Load.fat(cluster, 1, 3000, 60);
        cluster.assertConverged();
        cluster.kill(3, Part.MYSQLD);
        Load.fat(cluster, 1, 4000, 20);
        long ordered = cluster.lastOrdered(1);
        cluster.awaitOrdered(3, ordered - 1);
        cluster.stopService(3);
        Path cache = cluster.node(3).serviceLog().resolveSibling("quorate").resolve("cache");
        List<Path> segments;
        try (var files = Files.list(cache)) {
            segments = files.filter(file -> !file.endsWith("lock")).sorted().toList();
        }
        // Of what its server doesn't have yet.
        Path last = segments.get(segments.size() - 1);
        Path segment = Files.size(last) > 3_000_000 ? last : segments.get(segments.size() - 2);
        byte[] bytes = Files.readAllBytes(segment);
        bytes[bytes.length - 2_000_000] ^= 1;
        Files.write(segment, bytes);
        assertThat(cluster.restart(3)).isTrue();
        assertThat(cluster.steps(3, "cache_damaged")).as("the damage was met").isPositive();
        cluster.assertConverged();
    }

    @Test
    void goesOnFromAnotherDonorWhenOneIsKilled() throws Exception {
        CompletableFuture<Void> restarting = null;
        for (int attempt = 1; restarting == null; attempt++) {
            cluster.kill(3, Part.SERVICE);
            CompletableFuture<Void> each = restartUntilInTransfer(2, 2000 + attempt * FAT_APART);
            cluster.kill(1, Part.SERVICE);
            if (cluster.state(3).equals("JOINER")) {
                restarting = each;
            } else {
                // It was over before.
                assertThat(attempt).as("attempts").isLessThan(ATTEMPTS);
                each.join();
                assertThat(cluster.restart(1)).isTrue();
            }
        }
        restarting.join();
        cluster.awaitState(3, "SYNCED");
        assertThat(cluster.restart(1)).isTrue();
        cluster.assertConverged();
    }
}
