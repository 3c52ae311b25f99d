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
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;
import org.springframework.boot.ssl.SslBundles;
import tools.jackson.databind.json.JsonMapper;

/** Nodes in the test's own process, each a cluster of its own. */
final class LocalNode {
    private LocalNode() {}

    static Node start(String cluster, Path data, Map<String, String> more) throws Exception {
        return start(cluster, data, more, new DefaultSslBundleRegistry());
    }

    static Node start(String cluster, Path data, Map<String, String> more, SslBundles bundles) throws Exception {
        int port = Ports.freeBlock(0, 1);
        Map<String, String> keys = new HashMap<>(Map.of(
                "quorate.cluster",
                cluster,
                "quorate.node",
                "n1",
                "quorate.data-dir",
                data.toString(),
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
        Node node = new Node(properties, bundles, event -> {}, JsonMapper.shared(), new SimpleMeterRegistry());
        node.start();
        return node;
    }

    static Map<String, String> beside(MySqlServer server) {
        return Map.of("quorate.mysql.port", Integer.toString(server.port()), "quorate.mysql.user", "root");
    }

    static void awaitState(Node node, NodeState state) throws InterruptedException {
        NodeState now = node.state();
        while (now != state) {
            assertThat(now).as(node.status().reason()).isNotEqualTo(NodeState.INCONSISTENT);
            Thread.sleep(20);
            now = node.state();
        }
    }
}
