// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
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
     */
    static void runOnEach(Cluster cluster, int between, String change) throws Exception {
        run(
                cluster,
                between,
                node -> "UPDATE t" + (node % 3 + 1) + " SET a = 20 WHERE id = 2",
                node -> "ALTER TABLE t" + node + " " + change);
    }

    /** Each node's client writes a row of its own to table {@code t}, then defines that; for the rest as above. */
    static void runOnOne(Cluster cluster, int between, String change) throws Exception {
        run(
                cluster,
                between,
                node -> "UPDATE t SET a = " + (20 + node) + " WHERE id = " + node,
                node -> "ALTER TABLE t " + change);
    }

    private static void run(Cluster cluster, int between, IntFunction<String> row, IntFunction<String> definition)
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
                statements.add(definition.apply(node));
                cluster.mysql(node).execute(statements.toArray(String[]::new));
            }
        } finally {
            for (int node : cluster.servers()) {
                cluster.goOn(node);
            }
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
        long lines = 0;
        for (int node : cluster.servers()) {
            try {
                lines += Files.readAllLines(cluster.node(node).serviceLog()).stream()
                        .filter(line -> line.contains(text))
                        .count();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return lines;
    }
}
