// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.Sandbox.Part;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.json.JsonMapper;

/** Two nodes with servers and one that votes only. */
@Tag("long")
@Timeout(600)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ArbitratorIT {
    private static final int ROW_BYTES = 400_000;
    private static final Random RANDOM = new Random(1);
    private static Cluster cluster;

    @BeforeAll
    static void start() throws Exception {
        cluster = Cluster.startWithArbitrators(
                3,
                Set.of(3),
                Map.of(
                        "quorate.tls.bundle", "nodes",
                        "quorate.order.checkpoint-entries", "20",
                        "quorate.order.log-bytes-max", "2MB",
                        "quorate.cache.segment-bytes", "4MB",
                        "quorate.cache.bytes-max", "16MB"));
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

    /** Waits until what is written there is ordered. */
    private static void assertOrders(int node, int id) throws InterruptedException {
        cluster.awaitState(node, "SYNCED");
        long before = cluster.lastOrdered(node);
        cluster.mysql(node).execute("INSERT INTO load_test.fat VALUES (" + id + ", '')");
        cluster.awaitOrdered(node, before);
    }

    @Test
    @Order(1)
    void anyTwoOfThemGoOn() throws Exception {
        assertThat(cluster.state(3)).isEqualTo("ARBITRATOR");
        assertThat(cluster.node(3).hasServer()).isFalse();
        long seed = System.nanoTime();
        Map<Integer, Integer> acknowledged;
        try (Load load = Load.inBackground(cluster, seed, 1, 2)) {
            for (int gone : new int[] {1, 3}) {
                load.goesOn(10, 1, 2);
                cluster.kill(gone, Part.BOTH);
                assertOrders(gone == 1 ? 2 : 1, gone);
                assertThat(cluster.state(gone)).isEqualTo("UNREACHABLE");
                assertThat(cluster.restart(gone)).isTrue();
            }
            acknowledged = load.stop();
        }
        assertThat(cluster.state(3)).isEqualTo("ARBITRATOR");
        Load.assertNothingLost(cluster, acknowledged, seed);
    }

    /** What it applies is nothing, so nobody has to have kept it. */
    @Test
    @Order(2)
    void itComesBackAlsoWhenNobodyHasKeptWhatItMissed() throws Exception {
        long had = cluster.lastOrdered(3);
        cluster.kill(3, Part.SERVICE);
        assertThat(Cluster.within(Cluster.LIMIT, () -> {
                    // Where n3 led, writes are refused until another one does.
                    return writeFat(1, 10) && cacheFirst(1) > had + 1 && cacheFirst(2) > had + 1;
                }))
                .as(
                        "the others have forgotten what came after %d; they hold what follows %d and %d,"
                                + " applied: %s %s",
                        had,
                        cacheFirst(1),
                        cacheFirst(2),
                        cluster.lastOrdered(1),
                        cluster.node(2).report())
                .isTrue();
        assertThat(cluster.restart(3)).isTrue();
        cluster.awaitState(3, "ARBITRATOR");
        // Its vote counts again.
        cluster.kill(1, Part.BOTH);
        assertOrders(2, -1);
        assertThat(cluster.restart(1)).isTrue();
        cluster.assertConverged();
    }

    @Test
    @Order(3)
    void oneIsTakenOutAndAnotherComes() throws Exception {
        cluster.remove("n3");
        cluster.addArbitrator();
        assertThat(cluster.numbers()).containsExactly(1, 2, 3);
        assertThat(cluster.servers()).containsExactly(1, 2);
        cluster.kill(2, Part.BOTH);
        assertOrders(1, -2);
        assertThat(cluster.restart(2)).isTrue();
        cluster.assertConverged();
    }

    private static long cacheFirst(int node) {
        try {
            return JsonMapper.shared()
                    .readTree(cluster.http(node, "/actuator/cluster"))
                    .path("cache")
                    .path("first")
                    .asLong();
        } catch (IOException e) {
            return 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 0;
        }
    }

    /** Rows that don't compress, each a transaction; whether all were taken. */
    private static boolean writeFat(int node, int rows) {
        byte[] bytes = new byte[ROW_BYTES];
        try (Connection connection = cluster.app(node);
                PreparedStatement replace = connection.prepareStatement("REPLACE INTO load_test.fat VALUES (?, ?)")) {
            for (int id = 1000; id < 1000 + rows; id++) {
                RANDOM.nextBytes(bytes);
                replace.setInt(1, id);
                replace.setBytes(2, bytes);
                replace.executeUpdate();
            }
            return true;
        } catch (SQLException e) {
            System.out.println("n" + node + " refused a row: " + e);
            return false;
        }
    }
}
