// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

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
    private static final Map<String, String> DURABLE =
            Map.of("mysql.innodb_flush_log_at_trx_commit", "1", "mysql.sync_binlog", "1");

    @TempDir
    static Path images;

    private static PowerCluster power;
    private static Cluster cluster;

    @BeforeAll
    static void start() throws Exception {
        power = PowerCluster.start(images, DURABLE);
        if (power != null) {
            cluster = power.cluster();
            cluster.assertConverged();
        }
    }

    @BeforeEach
    void requireVolumes() {
        PowerCluster.require(power);
    }

    @AfterAll
    static void end() throws Exception {
        if (power != null) {
            power.close();
        }
    }

    private static IntStream counts() {
        return Boolean.getBoolean("quorate.long") ? IntStream.of(3, 2, 1, 3) : IntStream.of(3);
    }

    /** @param count of nodes that fail */
    @ParameterizedTest
    @MethodSource("counts")
    void nothingAcknowledgedIsLost(int count) throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<Integer> victims = new ArrayList<>(PowerCluster.ALL);
        Collections.shuffle(victims, random);
        victims = victims.subList(0, count);
        System.out.printf("power fails for %s, seed %d%n", victims, seed);
        cluster.mysql(1).execute("DELETE FROM load_test.ledger");
        cluster.assertConverged();
        Map<Integer, Integer> acknowledged;
        try (Load load = new Load(cluster, seed, 1, 2, 3)) {
            load.goesOn(10, 1, 2, 3);
            Thread.sleep(random.nextInt(2000));
            power.failPower(victims);
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
