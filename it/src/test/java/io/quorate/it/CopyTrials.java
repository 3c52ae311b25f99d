// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.quorate.sandbox.Sandbox;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/**
 * Full copies that are too large for every build, each by both methods, always while clients write; a command of their
 * own, see it/README.md. All tables are compared at the end.
 */
@Timeout(1800)
class CopyTrials {
    private static final long SEED = System.nanoTime();
    private static final int TABLES = 500;
    private static final int ROWS = Integer.getInteger("quorate.rows", 5_000_000);
    private static final int ROW_BYTES = Integer.getInteger("quorate.row.bytes", 30_000_000);
    private static final int BATCH = 5_000;

    @TempDir
    Path directory;

    private static Cluster cluster(String method) throws Exception {
        return cluster(method, Map.of());
    }

    private static Cluster cluster(String method, Map<String, String> more) throws Exception {
        Map<String, String> set = new LinkedHashMap<>();
        // Nobody comes by what the caches hold.
        set.put("quorate.order.checkpoint-entries", "20");
        set.put("quorate.order.log-bytes-max", "2MB");
        set.put("quorate.cache.segment-bytes", "1MB");
        set.put("quorate.cache.bytes-max", "8MB");
        set.put("quorate.sst.method", method);
        set.put("quorate.sst.bytes-per-second-max", "32MB");
        set.put("mysql.max_allowed_packet", "128M");
        set.put("mysql.innodb_redo_log_capacity", "256M");
        set.putAll(more);
        Cluster cluster = Cluster.start(3, set);
        cluster.mysql(1).execute("CREATE DATABASE load_test", Load.TABLE);
        return cluster;
    }

    /** A node is added while two others are written to; then all have the same. */
    private static void copy(Cluster cluster) throws InterruptedException {
        Map<Integer, Integer> acknowledged;
        try (Load load = new Load(cluster, SEED, 1, 2)) {
            cluster.add();
            acknowledged = load.stop();
        }
        assertThat(acknowledged.values()).as("written meanwhile").allMatch(n -> n > 10);
        assertCopied(cluster, 4);
        Load.assertNothingLost(cluster, acknowledged, SEED);
    }

    private static void assertCopied(Cluster cluster, int node) {
        assertThat(cluster.steps(node, "copy_completed"))
                .as("n%d got a full copy", node)
                .isPositive();
    }

    /** Keys and foreign keys among them: all are made anew by a stream. */
    @ParameterizedTest
    @ValueSource(strings = {"stream", "clone"})
    void manyTables(String method) throws Exception {
        try (Cluster cluster = cluster(method)) {
            cluster.mysql(1).execute("CREATE DATABASE many");
            try (Connection connection = cluster.app(1);
                    Statement statement = connection.createStatement()) {
                for (int i = 0; i < TABLES; i++) {
                    statement.execute("CREATE TABLE many.t" + i
                            + " (id INT PRIMARY KEY, a INT, b VARCHAR(50), KEY (b), KEY a (a)"
                            + (i % 10 == 9
                                    ? ", FOREIGN KEY (a) REFERENCES many.t" + (i - 1) + " (id) ON DELETE SET NULL)"
                                    : ")"));
                    statement.execute(
                            "INSERT INTO many.t" + i + " VALUES (1, 1, 'one'), (2, 1, 'two'), (3, NULL, NULL)");
                }
            }
            copy(cluster);
            assertThat(cluster.mysql(4)
                            .queryLong("SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'many'"))
                    .isEqualTo(TABLES);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"stream", "clone"})
    void aRowOf30Megabytes(String method) throws Exception {
        try (Cluster cluster =
                cluster(method, Map.of("quorate.jvm", "-Xmx" + System.getProperty("quorate.heap", "512m")))) {
            cluster.mysql(1)
                    .execute("CREATE TABLE load_test.large (id INT PRIMARY KEY, b LONGBLOB, t LONGTEXT, n INT)");
            byte[] bytes = new byte[ROW_BYTES / 2];
            new Random(SEED).nextBytes(bytes);
            try (Connection connection = cluster.app(1);
                    PreparedStatement insert =
                            connection.prepareStatement("INSERT INTO load_test.large VALUES (?, ?, ?, 0)")) {
                for (int id = 0; id < 4; id++) {
                    insert.setInt(1, id);
                    insert.setBytes(2, bytes);
                    insert.setString(3, "\\ \t\n\u0000ä€\ud83d\ude00".repeat(ROW_BYTES / 2 / 14 + 1));
                    insert.executeUpdate();
                }
            }
            copy(cluster);
            assertThat(cluster.mysql(4)
                            .queryLong(
                                    "SELECT COUNT(*) FROM load_test.large WHERE LENGTH(b) + LENGTH(t) >= " + ROW_BYTES))
                    .isEqualTo(4);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"stream", "clone"})
    void aLargeTable(String method) throws Exception {
        try (Cluster cluster = cluster(method)) {
            cluster.mysql(1).execute("CREATE TABLE load_test.many (id INT PRIMARY KEY, k INT, v VARCHAR(20), KEY (k))");
            fill(cluster);
            copy(cluster);
            assertThat(cluster.mysql(4).queryLong("SELECT COUNT(*) FROM load_test.many"))
                    .isEqualTo(ROWS);
        }
    }

    private static void fill(Cluster cluster) throws SQLException {
        Random random = new Random(SEED);
        try (Connection connection = cluster.app(1);
                Statement statement = connection.createStatement()) {
            for (int from = 0; from < ROWS; from += BATCH) {
                StringBuilder rows = new StringBuilder("INSERT INTO load_test.many VALUES ");
                for (int id = from; id < Math.min(ROWS, from + BATCH); id++) {
                    rows.append(id == from ? "(" : ",(")
                            .append(id)
                            .append(',')
                            .append(random.nextInt())
                            .append(",'row ")
                            .append(id)
                            .append("')");
                }
                statement.execute(rows.toString());
            }
        }
    }

    /** The copy says what is wrong for as long as the joiner's disk is full, and goes on by itself then. */
    @Test
    void aJoinerWhoseDiskIsFull() throws Exception {
        Path volume = Files.createDirectory(directory.resolve("volume"));
        assumeThat(DiskIT.run("mount", "-t", "tmpfs", "-o", "size=1200m", "tmpfs", volume.toString()))
                .as("may mount")
                .isZero();
        try (Cluster cluster = cluster("stream", Map.of("quorate.sst.bytes-per-second-max", "6MB"))) {
            cluster.mysql(1).execute("CREATE TABLE load_test.fat (id INT PRIMARY KEY, v LONGBLOB)");
            cluster.assertConverged();
            cluster.kill(3, Sandbox.Part.BOTH);
            Path data = cluster.directory(3).resolve("data");
            DiskIT.copy(data, volume.resolve("data"));
            Files.move(data, directory.resolve("before"));
            Files.createSymbolicLink(data, volume.resolve("data"));
            Load.fat(cluster, 1, 0, 300);
            CompletableFuture<Boolean> back = CompletableFuture.supplyAsync(() -> cluster.restart(3));
            awaitTransfer(cluster, back, t -> t.path("copying").path("bytes").asLong() > 0);
            Path filler = volume.resolve("filler");
            try (OutputStream out = Files.newOutputStream(filler)) {
                byte[] megabyte = new byte[1 << 20];
                while (Files.getFileStore(volume).getUsableSpace() > 8 << 20) {
                    out.write(megabyte);
                }
            }
            awaitTransfer(cluster, back, t -> t.path("waitsFor").asString("").contains("full"));
            Thread.sleep(5000);
            Files.delete(filler);
            assertThat(back.get(5, TimeUnit.MINUTES)).isTrue();
            assertCopied(cluster, 3);
            cluster.assertConverged();
        } finally {
            assertThat(DiskIT.run("umount", volume.toString())).isZero();
        }
    }

    private static void awaitTransfer(Cluster cluster, CompletableFuture<Boolean> back, Predicate<JsonNode> what)
            throws InterruptedException {
        boolean seen = Cluster.within(Duration.ofMinutes(2), () -> back.isDone() || what.test(cluster.transfer(3)));
        assertThat(seen && !back.isDone()).as("n3: %s", cluster.transfer(3)).isTrue();
    }
}
