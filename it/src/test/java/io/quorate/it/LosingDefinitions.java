// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/**
 * Definitions of which one on each of three nodes loses at the same time, each of another table of {@code d}: {@code
 * t1}, {@code t2} and {@code t3}, with a column {@code a}. Then all servers wait for a copy.
 */
final class LosingDefinitions {
    private LosingDefinitions() {}

    /**
     * Each node's client writes to the table of the next one, then defines its own.
     *
     * @param between how many rows each of them writes to {@code still (id, a)} before that
     * @param change what it does to the table, as in ALTER TABLE
     */
    static void runOnEach(Cluster cluster, int between, String change) throws Exception {
        for (int node : cluster.servers()) {
            cluster.pause(node);
        }
        try {
            for (int node : cluster.servers()) {
                List<String> statements =
                        new ArrayList<>(List.of("USE d", "UPDATE t" + (node % 3 + 1) + " SET a = 20 WHERE id = 2"));
                for (int i = 0; i < between; i++) {
                    statements.add("INSERT INTO still VALUES (" + (node * 10_000 + i) + ", 1)");
                }
                statements.add("ALTER TABLE t" + node + " " + change);
                cluster.mysql(node).execute(statements.toArray(String[]::new));
            }
        } finally {
            for (int node : cluster.servers()) {
                cluster.goOn(node);
            }
        }
    }

    /** How often all servers have waited and one has begun, by the logs. */
    static long begunAmongWaiting(Cluster cluster) throws IOException {
        long begun = 0;
        for (int node : cluster.servers()) {
            begun += Files.readAllLines(cluster.node(node).serviceLog()).stream()
                    .filter(line -> line.contains("all servers wait for a copy; this one begins"))
                    .count();
        }
        return begun;
    }
}
