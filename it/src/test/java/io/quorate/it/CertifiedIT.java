// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.Sandbox.Part;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Clients of three nodes that commit by the verdict. More with {@code -Dquorate.seconds=300}, the same again with
 * {@code -Dquorate.seed=S}.
 */
@Tag("long")
@Timeout(1800)
class CertifiedIT {
    private static final int SECONDS = Integer.getInteger("quorate.seconds", 0);
    /** At least. */
    private static final int KILLS = 2;

    private static final int HOT_ACCOUNTS = 40;

    private static Cluster cluster;

    @BeforeAll
    static void start() throws Exception {
        cluster = Cluster.start(3, Map.of());
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    @Test
    void whatIsAcknowledgedStaysAndWhatIsReadAddsUp() throws Exception {
        long seed = Long.getLong("quorate.seed", System.nanoTime());
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        Bank.open(cluster, 1);
        cluster.assertConverged();
        Set<Bank.Transfer> acknowledged;
        try (CertifiedBank bank = new CertifiedBank(cluster, seed, HOT_ACCOUNTS, 2, 1, 2, 3)) {
            long end = System.nanoTime() + SECONDS * 1_000_000_000L;
            Thread.sleep(3000);
            for (int kills = 0; kills < KILLS || System.nanoTime() < end; kills++) {
                int node = 1 + random.nextInt(3);
                Part part = Part.values()[random.nextInt(Part.values().length)];
                System.out.println("kill -9 " + part + " of n" + node);
                cluster.kill(node, part);
                Thread.sleep(1000 + random.nextInt(2000));
                assertThat(cluster.restart(node)).isTrue();
                Thread.sleep(1000 + random.nextInt(3000));
            }
            assertThat(Cluster.within(Cluster.LIMIT, bank::hasSeenEnough))
                    .as("some lose, and some read")
                    .isTrue();
            acknowledged = bank.stop();
            System.out.println(bank.prepared + " transfers prepared, " + acknowledged.size() + " acknowledged, "
                    + bank.readings + " readings of the total");
            assertThat(bank.wrongTotals()).as("seed %d", seed).isEmpty();
            assertThat(bank.readings.get()).isGreaterThan(100);
            assertThat(bank.prepared.get()).as("some lose").isGreaterThan(acknowledged.size());
        }
        cluster.assertConverged();
        Set<Bank.Transfer> happened = Bank.history(cluster, 1);
        Set<Bank.Transfer> lost = new TreeSet<>(acknowledged);
        lost.removeAll(happened);
        assertThat(lost).as("acknowledged and lost, seed %d", seed).isEmpty();
        assertThat(acknowledged).hasSizeGreaterThan(50);
        for (int node = 1; node <= 3; node++) {
            assertThat(Bank.wrongBalances(cluster, node))
                    .as("n%d, seed %d", node, seed)
                    .isEmpty();
            assertThat(cluster.mysql(node).query("XA RECOVER")).as("n%d", node).isEmpty();
        }
    }
}
