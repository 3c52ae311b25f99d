// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.MySqlSeries;
import io.quorate.sandbox.Sandbox.Part;
import io.quorate.sandbox.SandboxException;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Three servers of MySQL 8.0 are replaced by 9.7, one after the other, under the bank, while services and servers are
 * killed, those that give a copy and those that get one among them; a command of its own, see it/README.md. In the end
 * all tables are equal, and nothing that was acknowledged is missing.
 */
@Timeout(7200)
class UpgradeTrials {
    private static final String OLD = "8.0";
    private static final String NEW = "9.7";
    private static final long SEED = Long.getLong("quorate.seed", System.nanoTime());
    private static final int ROUNDS = Integer.getInteger("quorate.rounds", 1);
    private static final int NODES = 3;
    private static final int TRIES = 5;
    /** Where a kill took the majority, nobody is level before what was killed is brought up again. */
    private static final Duration UPGRADE_MAX = Duration.ofSeconds(90);
    /** About how long an upgrade takes, so that kills meet all of it. */
    private static final int KILL_WITHIN_MILLIS = 30_000;

    @Test
    void nothingIsLostByKillsMeanwhile() throws Exception {
        Random random = new Random(SEED);
        for (int round = 1; round <= ROUNDS; round++) {
            System.out.printf("round %d of seed %d%n", round, SEED);
            round(random);
        }
    }

    private static void round(Random random) throws Exception {
        Map<String, String> set =
                Map.of("quorate.commit-mode", "after-sync", "mysql.loose-innodb-native-foreign-keys", "OFF");
        try (Cluster cluster = Cluster.create(NODES, set, new MySqlSeries(OLD, Map.of()))) {
            cluster.start();
            Bank.open(cluster, 1);
            cluster.assertConverged();
            Set<Bank.Transfer> acknowledged;
            try (Bank bank = new Bank(cluster, SEED, 50, 1, 1, 2, 3)) {
                for (int node = 1; node <= NODES; node++) {
                    int before = bank.transfers();
                    upgrade(cluster, node, random);
                    assertThat(bank.transfers()).as("seed %d", SEED).isGreaterThan(before);
                }
                acknowledged = bank.stop();
            }
            cluster.assertConverged();
            Bank.assertKept(cluster, acknowledged, SEED);
        }
    }

    private static void upgrade(Cluster cluster, int node, Random random) throws Exception {
        for (int tries = 0; !hasNew(cluster, node); tries++) {
            assertThat(tries).as("upgrades of n%d, seed %d", node, SEED).isLessThan(TRIES);
            int victim = 1 + random.nextInt(NODES);
            Part part = Part.values()[random.nextInt(Part.values().length)];
            int after = random.nextInt(KILL_WITHIN_MILLIS);
            System.out.printf("n%d is upgraded; %s of n%d is killed after %d ms%n", node, part, victim, after);
            CompletableFuture<Void> kill = CompletableFuture.runAsync(
                    () -> cluster.kill(victim, part), CompletableFuture.delayedExecutor(after, TimeUnit.MILLISECONDS));
            try {
                cluster.upgrade(node, NEW, UPGRADE_MAX);
            } catch (SandboxException e) {
                System.out.println(e.getMessage());
            }
            kill.get(2, TimeUnit.MINUTES);
            for (int each = 1; each <= NODES; each++) {
                cluster.bringUp(each);
            }
            for (int each = 1; each <= NODES; each++) {
                cluster.awaitState(each, "SYNCED");
            }
        }
    }

    /** Its settings say so before it is done, so its server is asked. */
    private static boolean hasNew(Cluster cluster, int node) {
        return cluster.mysql(node).query("SELECT VERSION()").get(0).get(0).startsWith(NEW);
    }
}
