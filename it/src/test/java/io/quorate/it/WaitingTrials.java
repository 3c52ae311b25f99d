// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.NodeReport;
import io.quorate.sandbox.Sandbox.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * All servers wait for a copy at one time, each because of a definition of its own clients that lost, and give one
 * another the tables in which they don't differ; where it was the same table, one keeps its own. Whoever gives, gets or
 * keeps something is killed in the midst of it, now and then two at a time. A command of its own, see it/README.md.
 * {@code -Dquorate.seconds=900} is for how long, {@code -Dquorate.seed=S} chooses the same kills again, though not at
 * the same moments. After a failure the cluster's directory is kept.
 */
@Timeout(7200)
class WaitingTrials {
    private static final int SECONDS = Integer.getInteger("quorate.seconds", 900);
    private static final int BETWEEN = 300;
    /** So that a copy takes some seconds of the rate that is set below. */
    private static final int FILLING = 2000;

    private static final int KILLS_MAX = 5;

    private final long seed = Long.getLong("quorate.seed", System.nanoTime());
    private final Random random = new Random(seed);

    private Cluster cluster;
    private int kills;

    @Test
    void theyGiveOneAnotherWhatTheyHaveWhoeverIsKilled() throws Exception {
        System.out.println("seed " + seed + ", " + SECONDS + " s");
        cluster = Cluster.start(
                3,
                Map.of(
                        "quorate.sst.method", "stream",
                        "quorate.sst.bytes-per-second-max", "200KB",
                        "quorate.order.checkpoint-entries", "50"));
        boolean passed = false;
        try (SoakWatch watch = new SoakWatch(cluster)) {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            for (int round = 1; System.nanoTime() < end; round++) {
                round(round, watch);
            }
            assertThat(LosingDefinitions.begunAmongWaiting(cluster))
                    .as("how often all waited, and one began")
                    .isPositive();
            assertThat(LosingDefinitions.kept(cluster))
                    .as("how often all waited, and one kept its own")
                    .isPositive();
            passed = true;
        } finally {
            cluster.close(passed);
        }
    }

    private void round(int round, SoakWatch watch) throws Exception {
        int killsBefore = kills;
        long begunBefore = LosingDefinitions.begunAmongWaiting(cluster);
        long keptBefore = LosingDefinitions.kept(cluster);
        prepare();
        // What the others write to a table before this comes before it in the order, and is seen after it.
        boolean inOneTable = random.nextBoolean();
        if (!inOneTable) {
            LosingDefinitions.runOnEach(cluster, BETWEEN, "DROP COLUMN a", node -> List.of());
        } else {
            LosingDefinitions.runOnOne(cluster, BETWEEN, 10 * round, "DROP COLUMN gone");
        }
        killAndRestart();
        cluster.assertConverged();
        assertThat(cluster.objectsThatDiffer()).as("seed %d", seed).isEmpty();
        assertThat(watch.fault()).as("seed %d", seed).isEmpty();
        assertThat(watch.departure()).as("seed %d", seed).isEmpty();
        long kept = LosingDefinitions.kept(cluster) - keptBefore;
        for (int node : cluster.servers()) {
            assertNothingLost(node, !inOneTable);
            if (kept > 0 && inOneTable) {
                LosingDefinitions.assertRowsAreThere(cluster, node, 10 * round);
            }
        }
        System.out.printf(
                "round %d: %d kills, one began %d times, one kept its own %d times, copies %s%n",
                round,
                kills - killsBefore,
                LosingDefinitions.begunAmongWaiting(cluster) - begunBefore,
                kept,
                watch.copies());
    }

    private void prepare() throws InterruptedException {
        cluster.awaitQuery(1, "SELECT @@read_only", "0");
        List<String> setUp = new ArrayList<>(List.of(
                "DROP DATABASE IF EXISTS d", "CREATE DATABASE d", "USE d", "SET cte_max_recursion_depth = 10000"));
        setUp.add("CREATE TABLE still (id INT PRIMARY KEY, a INT)");
        for (int n = 1; n <= 3; n++) {
            setUp.add("CREATE TABLE t" + n + " (id INT PRIMARY KEY, a INT, filling VARCHAR(500))");
            setUp.add(
                    "INSERT INTO t" + n + " WITH RECURSIVE i (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < "
                            + FILLING + ") SELECT n, n, REPEAT('x', 400) FROM i");
        }
        setUp.add("CREATE TABLE t (id INT PRIMARY KEY, gone VARCHAR(20), a INT, filling VARCHAR(500))");
        setUp.add("INSERT INTO t SELECT id + 3, 'gone', 0, filling FROM t1");
        cluster.mysql(1).execute(setUp.toArray(String[]::new));
        cluster.assertConverged();
        for (int n : cluster.servers()) {
            // Otherwise rows that are captured after a definition conflict with all others of the table.
            cluster.mysql(n).execute("INSERT INTO d.t VALUES (" + n + ", 'gone', 0, '')");
        }
        cluster.assertConverged();
    }

    private void killAndRestart() throws InterruptedException {
        awaitAWaitingOne();
        int times = random.nextInt(KILLS_MAX + 1);
        for (int i = 0; i < times; i++) {
            Thread.sleep(random.nextInt(3000));
            int node = 1 + random.nextInt(3);
            kill(node, Part.values()[random.nextInt(Part.values().length)]);
            int second = random.nextInt(4) == 0 ? 1 + node % 3 : node;
            if (second != node) {
                kill(second, Part.SERVICE);
            }
            Thread.sleep(random.nextInt(1500));
            cluster.bringUp(node);
            cluster.bringUp(second);
        }
    }

    private void awaitAWaitingOne() throws InterruptedException {
        Cluster.within(Cluster.LIMIT, () -> cluster.servers().stream()
                .flatMap(node -> cluster.node(node).report().stream())
                .map(NodeReport::state)
                .anyMatch("JOINER"::equals));
    }

    private void kill(int node, Part part) {
        kills++;
        System.out.println("kill -9 " + part + " of n" + node + " (" + cluster.reason(node) + ")");
        cluster.kill(node, part);
    }

    private void assertNothingLost(int node, boolean inThreeTables) {
        assertThat(cluster.mysql(node).queryLong("SELECT COUNT(*) FROM d.still"))
                .as("n%d, seed %d", node, seed)
                .isEqualTo(3L * BETWEEN);
        assertThat(cluster.mysql(node).queryLong("SELECT COUNT(*) FROM d.t"))
                .as("n%d, seed %d", node, seed)
                .isEqualTo(FILLING + 3);
        for (int n = 1; n <= 3; n++) {
            assertThat(cluster.mysql(node).queryLong("SELECT COUNT(*) FROM d.t" + n))
                    .as("t%d of n%d, seed %d", n, node, seed)
                    .isEqualTo(FILLING);
            // Of three definitions one may have been ordered before the row that it would have lost against.
            boolean dropped = cluster.mysql(node)
                    .query("SHOW COLUMNS FROM d.t" + n + " LIKE 'a'")
                    .isEmpty();
            assertThat(dropped
                            || !inThreeTables
                            || cluster.mysql(node).queryLong("SELECT a FROM d.t" + n + " WHERE id = 2") == 20)
                    .as("t%d of n%d, seed %d", n, node, seed)
                    .isTrue();
        }
    }
}
