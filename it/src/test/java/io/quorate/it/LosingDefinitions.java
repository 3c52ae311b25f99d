// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Definitions of which one on each of three nodes loses at the same time, of tables of {@code d} with a column {@code
 * a}. Then all servers wait for a copy.
 */
final class LosingDefinitions {
    private LosingDefinitions() {}

    /**
     * Each node's client writes to the table of the next one, then defines its own: {@code t1}, {@code t2} and {@code
     * t3}.
     *
     * @param between how many rows each of them writes to {@code still (id, a)} before that
     * @param change what it does to the table, as in ALTER TABLE
     * @param more what it does then, as to its own table and number
     */
    static void runOnEach(Cluster cluster, int between, String change, IntFunction<List<String>> more)
            throws Exception {
        run(cluster, between, node -> "UPDATE t" + (node % 3 + 1) + " SET a = 20 WHERE id = 2", node -> {
            List<String> all = new ArrayList<>(List.of("ALTER TABLE t" + node + " " + change));
            all.addAll(more.apply(node));
            return all;
        });
    }

    /**
     * Each node's client writes a row of its own to table {@code t}, then defines that; for the rest as above.
     *
     * @param value what n1 writes, and never wrote before; n2 and n3 write the next ones
     */
    static void runOnOne(Cluster cluster, int between, int value, String change) throws Exception {
        run(
                cluster,
                between,
                node -> "UPDATE t SET a = " + (value + node - 1) + " WHERE id = " + node,
                node -> List.of("ALTER TABLE t " + change));
    }

    /**
     * Whether a node has the rows that {@link #runOnOne} wrote, or its journal says that they lost: where the capture
     * doesn't know how the table was defined before, any two rows of it conflict.
     */
    static void assertRowsAreThere(Cluster cluster, int node, int value) throws Exception {
        String journal = cluster.http(node, "/actuator/conflicts?limit=10000&full=true");
        for (int id = 1; id <= 3; id++) {
            int written = value + id - 1;
            boolean isThere = cluster.mysql(node).queryLong("SELECT a FROM d.t WHERE id = " + id) == written;
            assertThat(isThere || journal.contains("\"a\":\"" + written + "\""))
                    .as("row %d of n%d", id, node)
                    .isTrue();
        }
    }

    private static void run(
            Cluster cluster, int between, IntFunction<String> row, IntFunction<List<String>> definitions)
            throws Exception {
        for (int node : cluster.servers()) {
            cluster.pause(node);
        }
        try {
            for (int node : cluster.servers()) {
                List<String> statements = new ArrayList<>(List.of("USE d", row.apply(node)));
                for (int i = 0; i < between; i++) {
                    statements.add("INSERT INTO still VALUES (" + (node * 10_000 + i) + ", 1)");
                }
                statements.addAll(definitions.apply(node));
                cluster.mysql(node).execute(statements.toArray(String[]::new));
            }
        } finally {
            // One that goes on earlier might have its definition ordered before another one's row.
            cluster.goOn(cluster.servers());
        }
    }

    /** How often all servers have waited and one has begun, by the logs. */
    static long begunAmongWaiting(Cluster cluster) {
        return logged(cluster, "all servers wait for a copy; this one begins");
    }

    /** How often one has let its own definition of the same table stand. */
    static long kept(Cluster cluster) {
        return logged(cluster, " stand: all that others have committed fits under them");
    }

    /** How often one has found that this can't be. */
    static long keptInVain(Cluster cluster) {
        return logged(cluster, "this server's own definitions can't stand");
    }

    private static long logged(Cluster cluster, String text) {
        return cluster.servers().stream()
                .mapToLong(node -> cluster.logged(node, text).size())
                .sum();
    }
}
