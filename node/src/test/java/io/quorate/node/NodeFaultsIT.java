// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.quorate.core.NodeState;
import io.quorate.node.config.NodeProperties;
import io.quorate.sandbox.MySqlServer;
import io.quorate.sandbox.Ports;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import tools.jackson.databind.json.JsonMapper;

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
        int port = Ports.freeBlock(0, 1);
        Map<String, String> keys = new HashMap<>(Map.of(
                "quorate.cluster",
                "faults-" + port,
                "quorate.node",
                "n1",
                "quorate.data-dir",
                directory.resolve("data").toString(),
                "quorate.peers[0].name",
                "n1",
                "quorate.peers[0].host",
                "127.0.0.1",
                "quorate.peers[0].raft-port",
                Integer.toString(port),
                "quorate.peers[0].channel-port",
                Integer.toString(port + 1)));
        keys.putAll(more);
        NodeProperties properties = new Binder(new MapConfigurationPropertySource(keys))
                .bind("quorate", NodeProperties.class)
                .get();
        Node node = new Node(properties, event -> {}, JsonMapper.shared(), new SimpleMeterRegistry());
        node.start();
        return node;
    }

    private static void awaitState(Node node, NodeState state) throws InterruptedException {
        NodeState now = node.state();
        while (now != state) {
            assertThat(now).as(node.status().reason()).isNotEqualTo(NodeState.INCONSISTENT);
            Thread.sleep(20);
            now = node.state();
        }
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
        awaitState(node, NodeState.INCONSISTENT);
        assertThat(node.status().reason()).startsWith("QRT-8001").contains(thread);
    }

    @ParameterizedTest
    @ValueSource(strings = {"quorate-disk", "quorate-members", "quorate-join", "quorate-conflicts"})
    void whenAnArbitratorsThreadEnds(String thread) throws Exception {
        Node node = start(Map.of("quorate.arbitrator", "true"));
        try {
            awaitState(node, NodeState.ARBITRATOR);
            assertLeavesTheCluster(node, thread);
        } finally {
            node.stop();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"quorate-server", "quorate-proposer", "quorate-audit", "quorate-join"})
    void whenAThreadBesideAServerEnds(String thread) throws Exception {
        mysql.execute("DROP DATABASE IF EXISTS quorate", "SET GLOBAL read_only = OFF");
        Node node = start(Map.of("quorate.mysql.port", Integer.toString(mysql.port()), "quorate.mysql.user", "root"));
        try {
            awaitState(node, NodeState.SYNCED);
            assertThat(mysql.queryOne("SELECT @@global.read_only")).isEqualTo("0");
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
