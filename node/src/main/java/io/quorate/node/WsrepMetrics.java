// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.quorate.applier.ApplierStats;
import io.quorate.capture.CaptureStats;
import io.quorate.core.NodeState;
import java.util.function.ToDoubleFunction;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.stereotype.Component;

/**
 * What corresponds to Galera's status variables, under the names that Prometheus' exporter for MySQL gives these:
 * dashboards and alerts that were made for a Galera cluster go on. What has no counterpart here isn't there, rather
 * than a constant.
 */
@Component
@ConditionalOnBooleanProperty("quorate.metrics.wsrep-names")
class WsrepMetrics implements MeterBinder {
    private static final String PREFIX = "mysql.global.status.wsrep.";

    private final Node node;

    WsrepMetrics(Node node) {
        this.node = node;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        Binding to = new Binding(registry, node);
        to.bind(
                "cluster.size",
                "members that are heard, this one among them",
                n -> 1 + n.network.members().present().size());
        to.bind("cluster.status", "1 with a majority", n -> n.order.quorum().primary() ? 1 : 0);
        to.bind("connected", "1 while the node takes part in the order", n -> isIn(n.state()) ? 1 : 0);
        to.bind("ready", "1 while clients may write", n -> n.state().writable() ? 1 : 0);
        to.bind("local.state", "1 joining, 2 donor, 3 joined, 4 synced, 0 none of these", n -> number(n.state()));
        to.bind("last.committed", "everything up to this seqno is in the server", n -> n.counters
                .progress()
                .lastApplied());
        to.bind("received", "writesets of other nodes applied", n -> n.counters
                .progress()
                .transactions());
        to.bind(
                "replicated",
                "transactions of this server's clients captured",
                n -> NodeMetrics.of(n.beside.server().captureStats(), CaptureStats::writeSets));
        to.bind(
                "local.cert.failures",
                "own transactions undone because they lost",
                n -> NodeMetrics.of(n.beside.server().applierStats(), ApplierStats::undone));
        to.bind(
                "local.bf.aborts",
                "client sessions ended for their locks",
                n -> NodeMetrics.of(n.beside.server().applierStats(), ApplierStats::blockersKilled));
        to.bind(
                "local.recv.queue",
                "writesets ordered and not applied",
                n -> Math.max(0, n.stream.lastOrdered() - n.counters.progress().lastApplied()));
        to.bind("cert.index.size", "keys in the certification index", n -> n.stream
                .stats()
                .keys());
        to.bind("local.cached.downto", "first seqno in the writeset cache", n -> n.home.stores()
                .cache()
                .first());
    }

    private static boolean isIn(NodeState state) {
        return state != NodeState.OPEN && state != NodeState.LEFT && state != NodeState.INCONSISTENT;
    }

    private static int number(NodeState state) {
        return switch (state) {
            case JOINER -> 1;
            case DONOR -> 2;
            case JOINED -> 3;
            case SYNCED -> 4;
            default -> 0;
        };
    }

    /** The exporter has all of them without {@code _total}, so they are gauges here. */
    private record Binding(MeterRegistry registry, Node node) {
        void bind(String name, String what, ToDoubleFunction<Node> value) {
            Gauge.builder(PREFIX + name, node, value).description(what).register(registry);
        }
    }
}
