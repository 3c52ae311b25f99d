// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Power fails under load, for services and servers at once, with a volume for each node: what was not forced to disk is
 * gone. The servers force their logs, so nothing that they acknowledged may be missing. Needs the right to mount;
 * skipped without, and counted so.
 */
@Timeout(600)
class PowerIT {
    private static final List<Integer> ALL = List.of(1, 2, 3);
    private static final Map<String, String> DURABLE =
            Map.of("mysql.innodb_flush_log_at_trx_commit", "1", "mysql.sync_binlog", "1");

    @TempDir
    static Path images;

    private static final List<Volume> VOLUMES = new ArrayList<>();
    private static Cluster cluster;

    @BeforeAll
    static void start() throws Exception {
        if (!Volume.possible(images)) {
            return;
        }
        cluster = Cluster.create(ALL.size(), DURABLE);
        for (int node : ALL) {
            VOLUMES.add(Volume.make(images.resolve("n" + node + ".img"), cluster.directory(node)));
        }
        for (int node : ALL) {
            cluster.mysql(node).start();
            cluster.mysql(node).stop();
            Volume.forceKeys(cluster.directory(node).resolve("data"));
        }
        cluster.start();
        cluster.mysql(1).execute("CREATE DATABASE load_test", Load.TABLE);
        cluster.assertConverged();
    }

    /** Here, for a class that is skipped as a whole is not counted. */
    @BeforeEach
    void requireVolumes() {
        assumeThat(VOLUMES)
                .as("volumes, for which one must be allowed to mount")
                .isNotEmpty();
    }

    @AfterAll
    static void end() throws Exception {
        if (cluster != null) {
            cluster.killAll();
            for (Volume volume : VOLUMES) {
                volume.close();
            }
            cluster.close();
        }
    }

    private static IntStream counts() {
        return Boolean.getBoolean("quorate.long") ? IntStream.of(3, 2, 1, 3) : IntStream.of(3, 1);
    }

    private static void failPower(List<Integer> nodes) throws Exception {
        // Asked for now: afterwards nobody can read any more which processes these are.
        List<ProcessHandle> processes =
                nodes.stream().flatMap(cluster::processes).toList();
        assertThat(processes).hasSize(2 * nodes.size());
        Volume.failPower(volumes(nodes), processes);
    }

    private static List<Volume> volumes(List<Integer> nodes) {
        return nodes.stream().map(node -> VOLUMES.get(node - 1)).toList();
    }

    /** @param count of nodes that fail */
    @ParameterizedTest
    @MethodSource("counts")
    void nothingAcknowledgedIsLost(int count) throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<Integer> victims = new ArrayList<>(ALL);
        Collections.shuffle(victims, random);
        victims = victims.subList(0, count);
        System.out.printf("power fails for %s, seed %d%n", victims, seed);
        cluster.mysql(1).execute("DELETE FROM load_test.ledger");
        cluster.assertConverged();
        Map<Integer, Integer> acknowledged;
        try (Load load = new Load(cluster, seed, 1, 2, 3)) {
            load.goesOn(10, 1, 2, 3);
            Thread.sleep(random.nextInt(2000));
            failPower(victims);
            for (Volume volume : volumes(victims)) {
                volume.restorePower();
            }
            long start = System.nanoTime();
            cluster.startAgain();
            System.out.printf("SYNCED %d ms after power came back%n", (System.nanoTime() - start) / 1_000_000);
            load.goesOn(10, 1, 2, 3);
            acknowledged = load.stop();
        }
        System.out.println("acknowledged " + acknowledged);
        assertThat(acknowledged.values()).as("everybody wrote").allMatch(n -> n > 5);
        Load.assertNothingLost(cluster, acknowledged, seed);
    }
}
