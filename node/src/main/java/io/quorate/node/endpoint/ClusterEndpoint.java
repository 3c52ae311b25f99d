// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.core.answer.ClusterAnswer;
import io.quorate.core.answer.NodeStatus;
import io.quorate.ist.WriteSetCacheStats;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.member.Standing;
import io.quorate.node.order.CacheForecast;
import io.quorate.node.order.Stores;
import io.quorate.node.server.KeylessTables;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/**
 * {@code /actuator/cluster}: every node with its state; {@code /actuator/cluster/self}: this node alone. Also in JMX.
 */
@Component
@Endpoint(id = "cluster")
class ClusterEndpoint {
    private static final Duration PATIENCE = Duration.ofMillis(700);

    private final NodeProperties properties;
    private final Standing standing;
    private final KeylessTables keyless;
    private final Stores stores;
    private final CacheForecast forecast;
    private final JsonMapper json;
    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(PATIENCE).build();

    ClusterEndpoint(
            Standing standing,
            KeylessTables keyless,
            Stores stores,
            CacheForecast forecast,
            NodeProperties properties,
            JsonMapper json) {
        this.properties = properties;
        this.standing = standing;
        this.keyless = keyless;
        this.stores = stores;
        this.forecast = forecast;
        this.json = json;
    }

    @ReadOperation
    ClusterAnswer cluster() {
        NodeStatus self = standing.status();
        List<CompletableFuture<NodeStatus>> asked = new ArrayList<>();
        for (NodeProperties.Peer peer : properties.peers()) {
            asked.add(peer.name().equals(self.name()) ? CompletableFuture.completedFuture(self) : ask(peer));
        }
        return new ClusterAnswer(
                properties.cluster(),
                self.name(),
                self.state(),
                self.reason(),
                self.primaryComponent(),
                self.lastOrdered(),
                self.lastApplied(),
                cache(),
                keyless.names(),
                asked.stream().map(CompletableFuture::join).toList());
    }

    private ClusterAnswer.Cache cache() {
        WriteSetCacheStats stats = stores.cache().stats();
        return new ClusterAnswer.Cache(
                stats.first(),
                stats.last(),
                stats.bytes(),
                stores.cache().bytesMax(),
                forecast.spanSeconds(),
                forecast.bytesPerSecond(),
                forecast.fullSeconds());
    }

    /** @param which only {@code self} is known */
    @ReadOperation
    NodeStatus self(@Selector String which) {
        return which.equals("self") ? standing.status() : null;
    }

    private CompletableFuture<NodeStatus> ask(NodeProperties.Peer peer) {
        if (peer.http() == null) {
            return CompletableFuture.completedFuture(NodeStatus.unreachable(peer.name(), peer.http()));
        }
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + peer.http() + "/actuator/cluster/self"))
                .timeout(PATIENCE)
                .header("Accept", "application/json")
                .build();
        return http.sendAsync(request, HttpResponse.BodyHandlers.ofString())
                .thenApply(response -> json.readValue(response.body(), NodeStatus.class))
                .exceptionally(failure -> NodeStatus.unreachable(peer.name(), peer.http()));
    }
}
