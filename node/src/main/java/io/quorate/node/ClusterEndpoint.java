// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.ist.WriteSetCacheStats;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/** {@code /actuator/cluster}: every node with its state; {@code /actuator/cluster/self}: this one alone. Also in JMX. */
@Component
@Endpoint(id = "cluster")
class ClusterEndpoint {
    private static final Duration PATIENCE = Duration.ofMillis(700);

    private final NodeProperties properties;
    private final Node node;
    private final JsonMapper json;
    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(PATIENCE).build();

    ClusterEndpoint(NodeProperties properties, Node node, JsonMapper json) {
        this.properties = properties;
        this.node = node;
        this.json = json;
    }

    @ReadOperation
    Map<String, Object> cluster() {
        NodeStatus self = node.status();
        List<CompletableFuture<NodeStatus>> asked = new ArrayList<>();
        for (NodeProperties.Peer peer : properties.peers()) {
            asked.add(peer.name().equals(self.name()) ? CompletableFuture.completedFuture(self) : ask(peer));
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("cluster", properties.cluster());
        answer.put("node", self.name());
        answer.put("state", self.state());
        answer.put("reason", self.reason());
        answer.put("primaryComponent", self.primaryComponent());
        answer.put("lastOrdered", self.lastOrdered());
        answer.put("lastApplied", self.lastApplied());
        answer.put("cache", cache());
        answer.put("tablesWithoutKey", node.keyless().names());
        answer.put("nodes", asked.stream().map(CompletableFuture::join).toList());
        return answer;
    }

    private Map<String, Object> cache() {
        WriteSetCacheStats stats = node.stores().cache().stats();
        Map<String, Object> cache = new LinkedHashMap<>();
        cache.put("first", stats.first());
        cache.put("last", stats.last());
        cache.put("bytes", stats.bytes());
        cache.put("bytesMax", node.stores().cache().bytesMax());
        cache.put("spanSeconds", node.forecast().spanSeconds());
        cache.put("bytesPerSecond", node.forecast().bytesPerSecond());
        cache.put("spanSecondsWhenFull", node.forecast().fullSeconds());
        return cache;
    }

    /** @param which only {@code self} is known */
    @ReadOperation
    NodeStatus self(@Selector String which) {
        return which.equals("self") ? node.status() : null;
    }

    private CompletableFuture<NodeStatus> ask(NodeProperties.Peer peer) {
        if (peer.http() == null) {
            return CompletableFuture.completedFuture(NodeStatus.unreachable(peer));
        }
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + peer.http() + "/actuator/cluster/self"))
                .timeout(PATIENCE)
                .header("Accept", "application/json")
                .build();
        return http.sendAsync(request, HttpResponse.BodyHandlers.ofString())
                .thenApply(response -> json.readValue(response.body(), NodeStatus.class))
                .exceptionally(failure -> NodeStatus.unreachable(peer));
    }
}
