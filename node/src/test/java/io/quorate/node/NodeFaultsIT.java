// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.NodeState;
import io.quorate.sandbox.MySqlServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A node that has lost any one of its threads leaves the cluster, and says which thread it was. Each thread is made to
 * end as an error in it would end it: by something that its code doesn't expect, an interrupt while nothing is being
 * closed.
 */
@Timeout(120)
class NodeFaultsIT {
    private static MySqlServer mysql;

    @TempDir
    private Path directory;

    @BeforeAll
    static void startServer() {
        mysql = MySqlServer.builder().relaxed().start();
    }

    @AfterAll
    static void stopServer() {
        mysql.close();
    }

    private Node start(Map<String, String> more) throws Exception {
        return LocalNode.start("faults-" + UUID.randomUUID(), directory.resolve("data"), more);
    }

    /** Ends a thread in a way that its code doesn't expect. */
    private static void end(String name) {
        Thread[] all = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(name))
                .toArray(Thread[]::new);
        assertThat(all).as("threads called " + name).hasSize(1);
        all[0].interrupt();
    }

    private static void assertLeavesTheCluster(Node node, String thread) throws InterruptedException {
        end(thread);
        LocalNode.awaitState(node, NodeState.INCONSISTENT);
        assertThat(node.status().reason()).startsWith("QRT-8001").contains(thread);
    }

    @ParameterizedTest
    @ValueSource(strings = {"quorate-disk", "quorate-members", "quorate-join", "quorate-conflicts"})
    void whenAnArbitratorsThreadEnds(String thread) throws Exception {
        Node node = start(Map.of("quorate.arbitrator", "true"));
        try {
            LocalNode.awaitState(node, NodeState.ARBITRATOR);
            assertLeavesTheCluster(node, thread);
        } finally {
            node.stop();
        }
    }

    /** Ratis makes its own files as the process's umask says. */
    @Test
    void nobodyElseCanReadWhatARunningNodeKeeps() throws Exception {
        mysql.execute("SET GLOBAL read_only = OFF", "DROP DATABASE IF EXISTS quorate");
        Path data = directory.resolve("data");
        Node node = start(LocalNode.beside(mysql));
        try {
            assertThat(readableByOthers(data)).doesNotContain(data);
            LocalNode.awaitState(node, NodeState.SYNCED);
            mysql.execute("CREATE DATABASE IF NOT EXISTS kept", "CREATE OR REPLACE VIEW kept.v AS SELECT 1");
            while (!readableByOthers(data).isEmpty()) {
                Thread.sleep(20);
            }
            try (Stream<Path> files = Files.walk(data.resolve("order"))) {
                assertThat(files.filter(Files::isRegularFile)).hasSizeGreaterThan(2);
            }
        } finally {
            node.stop();
        }
    }

    private static List<Path> readableByOthers(Path directory) throws IOException {
        List<Path> found = new ArrayList<>();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path each : files.toList()) {
                // Some files are there for a moment only.
                boolean wide = Files.exists(each)
                        && !PosixFilePermissions.toString(Files.getPosixFilePermissions(each))
                                .endsWith("------");
                if (wide) {
                    found.add(each);
                }
            }
        } catch (NoSuchFileException | UncheckedIOException e) {
            return readableByOthers(directory);
        }
        return found;
    }

    @ParameterizedTest
    @ValueSource(strings = {"quorate-server", "quorate-proposer", "quorate-audit", "quorate-join"})
    void whenAThreadBesideAServerEnds(String thread) throws Exception {
        mysql.execute("SET GLOBAL read_only = OFF", "DROP DATABASE IF EXISTS quorate");
        Node node = start(LocalNode.beside(mysql));
        try {
            LocalNode.awaitState(node, NodeState.SYNCED);
            // Its server is writable a moment after the node says that it is SYNCED.
            while (!mysql.queryOne("SELECT @@global.read_only").equals("0")) {
                Thread.sleep(20);
            }
            assertLeavesTheCluster(node, thread);
            // Clients can't write to a server whose changes nobody orders.
            while (!mysql.queryOne("SELECT @@global.read_only").equals("1")) {
                Thread.sleep(20);
            }
        } finally {
            node.stop();
        }
    }
}
