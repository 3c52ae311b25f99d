// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a commit in mode {@code after-sync} takes when the nodes are far from one another, at the leader's node and at
 * another one. Between namespaces, through a program that passes packets on later. A command of its own: it measures.
 */
@Timeout(1800)
class WanTrials {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int COMMITS = 150;
    private static final int WARMING_UP = 300;
    private static final int[] ROUND_TRIPS = {0, 1, 10, 50, 100};

    @TempDir
    static Path directory;

    @Test
    void aCommitTakesOneRoundTripAtTheLeadersNodeAndTwoElsewhere() throws Exception {
        assertThat(Network.possible()).as("network namespaces").isTrue();
        try (Network network = Network.make(3)) {
            Path accounts = Files.write(directory.resolve("accounts.sql"), PartitionIT.accountsFor(network.address(0)));
            try (Cluster cluster = Cluster.create(
                            3,
                            Map.of("mysql.init-file", accounts.toString(), "quorate.commit-mode", "after-sync"),
                            network.places());
                    Delay delay = network.delay()) {
                cluster.start();
                measure(cluster, delay);
            }
        }
    }

    private static void measure(Cluster cluster, Delay delay) throws Exception {
        cluster.mysql(1).execute("CREATE DATABASE wan", "CREATE TABLE wan.t (id INT PRIMARY KEY, n INT)");
        cluster.mysql(1).execute("INSERT INTO wan.t VALUES (1, 0), (2, 0)");
        cluster.assertConverged();
        assertThat(Cluster.within(LIMIT, () -> leads(cluster))).isTrue();
        for (int node : new int[] {1, 2}) {
            commit(cluster, node, WARMING_UP);
        }
        System.out.println("| round trip ms | at the leader's node: median, p95 ms | at another node |");
        System.out.println("|---|---|---|");
        for (int roundTrip : ROUND_TRIPS) {
            delay.is(roundTrip / 2.0);
            commit(cluster, 1, 5);
            System.out.printf(
                    "| %d | %s | %s |%n", roundTrip, commit(cluster, 1, COMMITS), commit(cluster, 2, COMMITS));
        }
        delay.is(0);
        cluster.assertConverged();
    }

    private static boolean leads(Cluster cluster) {
        try {
            if (cluster.leader(1) != 1) {
                cluster.post(1, "/actuator/members", "{\"action\":\"lead\",\"member\":\"n1\"}");
            }
            return cluster.leader(1) == 1;
        } catch (Exception e) {
            return false;
        }
    }

    /** Commits one after the other; how long that took, in words. */
    private static String commit(Cluster cluster, int node, int times) throws Exception {
        double[] millis = new double[times];
        try (Connection client = cluster.app(node);
                Statement statement = client.createStatement()) {
            for (int i = 0; i < times; i++) {
                long start = System.nanoTime();
                statement.execute("UPDATE wan.t SET n = n + 1 WHERE id = " + node);
                millis[i] = (System.nanoTime() - start) / 1e6;
            }
        }
        Arrays.sort(millis);
        return String.format("%.1f, %.1f", millis[times / 2], millis[times * 95 / 100]);
    }
}
