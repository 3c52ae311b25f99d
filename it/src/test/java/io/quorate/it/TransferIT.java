// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.Sandbox.Part;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** A node that was away for longer than the order's log is kept, and comes back from the writeset caches of the others. */
@Timeout(600)
class TransferIT {
    private static Cluster cluster;

    @BeforeAll
    static void start() throws Exception {
        cluster = Cluster.start(
                3,
                Map.of(
                        "quorate.order.checkpoint-entries", "20",
                        "quorate.order.log-bytes-max", "2MB",
                        "quorate.cache.segment-bytes", "16MB"));
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

    /** Starts what is down of a node without waiting for it, and waits until a transfer to it is half way. */
    private static CompletableFuture<Void> restartUntilInTransfer(int node) throws InterruptedException {
        CompletableFuture<Void> restarting = CompletableFuture.runAsync(() -> {
            try {
                cluster.restart(node);
            } catch (RuntimeException e) {
                // The test ends it.
            }
        });
        boolean[] met = {false};
        Cluster.within(Duration.ofSeconds(90), () -> {
            JsonNode receiving = cluster.transfer(node).path("receiving");
            met[0] = receiving.path("bytes").asLong() > 0
                    && receiving.path("toDo").asLong() > 0;
            return met[0] || restarting.isDone();
        });
        assertThat(met[0]).as("the transfer was under way").isTrue();
        return restarting;
    }

    @Test
    void comesBackUnderLoadFromTheCachesOfTheOthers() throws Exception {
        long seed = System.nanoTime();
        Map<Integer, Integer> acknowledged;
        try (Load load = new Load(cluster, seed, 1, 2)) {
            cluster.kill(3, Part.SERVICE);
            Load.fat(cluster, 1, 1, 40);
            Thread.sleep(3000);
            // What its server takes meanwhile is captured when it is back.
            cluster.mysql(3).execute("INSERT INTO load_test.fat VALUES (0, 'while away')");
            assertThat(cluster.restart(3)).isTrue();
            assertThat(cluster.logged(3, " writesets, "))
                    .as("it received a transfer")
                    .isNotEmpty();
            Thread.sleep(1000);
            acknowledged = load.stop();
        }
        Load.assertNothingLost(cluster, acknowledged, seed);
        cluster.awaitQuery(1, "SELECT v FROM load_test.fat WHERE id = 0", "while away");
    }

    @Test
    void aKilledJoinerGoesOnWhereItWas() throws Exception {
        cluster.kill(3, Part.BOTH);
        Load.fat(cluster, 1, 1000, 150);
        CompletableFuture<Void> restarting = restartUntilInTransfer(3);
        cluster.kill(3, Part.SERVICE);
        restarting.join();
        int before = cluster.logged(3, "receiving what was missed from the other nodes")
                .size();
        assertThat(cluster.restart(3)).isTrue();
        assertThat(cluster.logged(3, "receiving what was missed from the other nodes"))
                .as("it went on receiving")
                .hasSizeGreaterThan(before);
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
        assertThat(Cluster.within(Duration.ofSeconds(30), () -> cluster.lastOrdered(3) >= ordered))
                .isTrue();
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
        assertThat(cluster.logged(3, "QRT-6001").size()
                        + cluster.logged(3, "it is kept in").size())
                .as("the damage was met")
                .isPositive();
        cluster.assertConverged();
    }

    @Test
    void goesOnFromAnotherDonorWhenOneIsKilled() throws Exception {
        cluster.kill(3, Part.SERVICE);
        Load.fat(cluster, 2, 2000, 150);
        CompletableFuture<Void> restarting = restartUntilInTransfer(3);
        cluster.kill(1, Part.SERVICE);
        assertThat(cluster.transfer(3).path("state").asString())
                .as("it was still receiving")
                .isEqualTo("JOINER");
        restarting.join();
        cluster.awaitState(3, "SYNCED");
        assertThat(cluster.restart(1)).isTrue();
        cluster.assertConverged();
    }
}
