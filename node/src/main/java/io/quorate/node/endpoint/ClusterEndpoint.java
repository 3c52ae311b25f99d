// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.core.answer.ClusterAnswer;
import io.quorate.core.answer.MixedVersions;
import io.quorate.core.answer.NodeStatus;
import io.quorate.ist.WriteSetCacheStats;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.member.MemberDesk;
import io.quorate.node.member.Standing;
import io.quorate.node.order.CacheForecast;
import io.quorate.node.order.Stores;
import io.quorate.node.server.KeylessTables;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.stereotype.Component;

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
    private final MemberDesk desk;

    ClusterEndpoint(
            Standing standing,
            KeylessTables keyless,
            Stores stores,
            CacheForecast forecast,
            NodeProperties properties,
            MemberDesk desk) {
        this.properties = properties;
        this.standing = standing;
        this.keyless = keyless;
        this.stores = stores;
        this.forecast = forecast;
        this.desk = desk;
    }

    @ReadOperation
    ClusterAnswer cluster() {
        NodeStatus self = standing.status();
        List<CompletableFuture<NodeStatus>> asked = new ArrayList<>();
        known().forEach((name, http) ->
                asked.add(name.equals(self.name()) ? CompletableFuture.completedFuture(self) : ask(name, http)));
        List<NodeStatus> nodes = asked.stream()
                .map(CompletableFuture::join)
                .filter(this::belongs)
                .toList();
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
                MixedVersions.advice(nodes, NodeStatus::name, NodeStatus::version),
                nodes);
    }

    /** The nodes of the configuration, and members that came later, with what is configured as their Actuator. */
    private Map<String, @Nullable String> known() {
        Map<String, @Nullable String> nodes = new LinkedHashMap<>();
        properties.peers().forEach(peer -> nodes.put(peer.name(), peer.http()));
        standing.members().forEach(member -> nodes.putIfAbsent(member.name(), null));
        return nodes;
    }

    /**
     * Who answers does, and whoever is a member; who is configured but was taken out, or has never come, is not missed.
     * Before this node knows members, all that are configured belong.
     */
    private boolean belongs(NodeStatus node) {
        return !node.state().equals(NodeStatus.UNREACHABLE)
                || standing.members().isEmpty()
                || standing.isMember(node.name());
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

    /** Asks it over the channel between nodes, by which nobody but a node can ask and be asked. */
    private CompletableFuture<NodeStatus> ask(String name, @Nullable String http) {
        NodeStatus silent = NodeStatus.unreachable(name, http);
        return desk.status(name)
                .completeOnTimeout(null, PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
                .thenApply(status -> Objects.requireNonNullElse(status, silent));
    }
}
