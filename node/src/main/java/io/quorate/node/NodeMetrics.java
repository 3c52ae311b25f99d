// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.quorate.applier.ApplierStats;
import io.quorate.capture.CaptureStats;
import io.quorate.certification.Certifier;
import io.quorate.core.NodeState;
import io.quorate.ist.TransferProgress.Look;
import io.quorate.node.audit.AuditState;
import io.quorate.sst.CopyProgress;
import java.time.Duration;
import java.time.Instant;
import java.util.function.ToDoubleFunction;
import org.springframework.stereotype.Component;

/**
 * Metrics {@code quorate.*}. The counters of the applier and the capture start again with every session with the
 * server.
 */
@Component
class NodeMetrics implements MeterBinder {
    private final Node node;

    NodeMetrics(Node node) {
        this.node = node;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        for (NodeState state : NodeState.values()) {
            Gauge.builder("quorate.state", node, n -> n.state() == state ? 1 : 0)
                    .description("1 for the state the node is in")
                    .tag("state", state.name())
                    .register(registry);
        }
        gauge(
                registry,
                "quorate.primary",
                "1 with a majority",
                n -> n.order.quorum().primary() ? 1 : 0);
        gauge(registry, "quorate.ordered.seqno", "last seqno ordered", n -> n.stream.lastOrdered());
        gauge(registry, "quorate.applied.seqno", "everything up to it is in the server", n -> n.counters
                .progress()
                .lastApplied());
        gauge(
                registry,
                "quorate.apply.queue",
                "writesets ordered and not applied",
                n -> Math.max(0, n.stream.lastOrdered() - n.counters.progress().lastApplied()));
        counter(registry, "quorate.ordered", "writesets ordered", n -> n.stream.ordered());
        counter(registry, "quorate.applied", "writesets of other nodes applied", n -> n.counters
                .progress()
                .transactions());
        bindFlow(registry);
        bindCertificate(registry);
        bindTransfer(registry);
        bindCopy(registry);
        bindAudit(registry);
        node.counters.progress().bind(registry);
        bindCertification(registry);
        bindCapture(registry);
        bindApplier(registry);
    }

    private void bindFlow(MeterRegistry registry) {
        gauge(
                registry,
                "quorate.apply.behind.seconds",
                "age of the first writeset not applied",
                n -> n.members.flow().lagMillis() / 1e3);
        gauge(registry, "quorate.flow.quota", "commits a second for clients; -1 when they aren't slowed", n -> n.members
                .flow()
                .perSecond());
        counter(
                registry,
                "quorate.flow.held.seconds",
                "for how long clients have been kept from OK by flow control, all together",
                n -> n.members.flow().heldMillis() / 1e3);
        gauge(
                registry,
                "quorate.flow.left.behind",
                "1 while nobody waits for this node",
                n -> n.members.flow().isLeftBehind() ? 1 : 0);
    }

    private void bindCertificate(MeterRegistry registry) {
        gauge(
                registry,
                "quorate.tls.expires.seconds",
                "until this node's certificate expires, negative afterwards; NaN without one",
                n -> {
                    Instant end = n.certificates.expires();
                    return end == null
                            ? Double.NaN
                            : Duration.between(Instant.now(), end).toMillis() / 1e3;
                });
    }

    private void bindTransfer(MeterRegistry registry) {
        received(registry, "quorate.transfer.received", "writesets received by the transfer under way", Look::done);
        received(registry, "quorate.transfer.missing", "writesets it still has to receive", Look::toDo);
        received(registry, "quorate.transfer.rate", "writesets it receives a second", Look::perSecond);
        received(
                registry,
                "quorate.transfer.eta.seconds",
                "until they are here, -1 when nobody can tell",
                look -> look.etaMillis() < 0 ? -1 : look.etaMillis() / 1e3);
        gauge(registry, "quorate.transfer.giving", "streams this node gives to others now", n -> n.network
                .donor()
                .running()
                .size());
        counter(registry, "quorate.transfer.given.bytes", "bytes given to others, compressed", n -> n.network
                .donor()
                .bytes());
    }

    private void bindCopy(MeterRegistry registry) {
        copied(registry, "quorate.copy.received.bytes", "bytes of the full copy under way", CopyProgress::bytes);
        copied(registry, "quorate.copy.missing.bytes", "bytes still to be copied, estimated", CopyProgress::toDo);
        copied(
                registry,
                "quorate.copy.eta.seconds",
                "until they are here, -1 when nobody can tell",
                look -> look.etaMillis() < 0 ? -1 : look.etaMillis() / 1e3);
        counter(
                registry,
                "quorate.copy.given.bytes",
                "bytes of rows given to others by stream, compressed",
                n -> n.beside.given().bytes());
        counter(
                registry,
                "quorate.copy.held.seconds",
                "for how long they were held back because this node had not applied what was ordered, over all streams",
                n -> n.beside.given().heldMillis() / 1e3);
    }

    private void bindAudit(MeterRegistry registry) {
        gauge(
                registry,
                "quorate.audit.differences",
                "rows and tables that the latest audit of this node found to differ",
                n -> {
                    AuditState state = n.audit.state();
                    return state == null ? 0 : state.found();
                });
        gauge(registry, "quorate.audit.age.seconds", "since an audit of this node ended, -1 without one", n -> {
            AuditState state = n.audit.state();
            return state == null || state.isRunning()
                    ? -1
                    : Duration.between(Instant.parse(state.ended()), Instant.now())
                            .toSeconds();
        });
    }

    private void copied(MeterRegistry registry, String name, String what, ToDoubleFunction<CopyProgress> value) {
        gauge(registry, name, what, n -> {
            CopyProgress look = n.beside.copy().look();
            return look == null ? 0 : value.applyAsDouble(look);
        });
    }

    private void received(MeterRegistry registry, String name, String what, ToDoubleFunction<Look> value) {
        gauge(registry, name, what, n -> {
            Look look = n.members.join().look();
            return look == null ? 0 : value.applyAsDouble(look);
        });
    }

    private void bindCertification(MeterRegistry registry) {
        gauge(registry, "quorate.certification.keys", "keys in the index", n -> n.stream
                .stats()
                .keys());
        gauge(registry, "quorate.certification.bytes", "memory of the index", n -> n.stream
                .stats()
                .bytes());
        gauge(
                registry,
                "quorate.certification.voters",
                "servers that vote on definitions",
                n -> n.stream.ask(Certifier::voters));
        gauge(registry, "quorate.certification.cut", "seqno up to which the index has forgotten", n -> n.stream
                .stats()
                .cut());
        counter(registry, "quorate.certification.passed", "writesets passed", n -> n.stream
                .stats()
                .passed());
        counter(registry, "quorate.certification.conflicts", "writesets failed by a conflict", n -> n.stream
                .stats()
                .conflicts());
        counter(
                registry,
                "quorate.certification.built.on.failed",
                "writesets failed for an own one they were built on",
                n -> n.stream.stats().builtOnFailed());
        counter(registry, "quorate.certification.too.old", "writesets failed for their age", n -> n.stream
                .stats()
                .tooOld());
        counter(
                registry,
                "quorate.certification.malformed",
                "entries left out because they were none",
                n -> n.stream.malformed());
        gauge(registry, "quorate.cache.bytes", "size of the writeset cache", n -> n.home.stores()
                .cache()
                .stats()
                .bytes());
        gauge(
                registry,
                "quorate.cache.span.seconds",
                "age of the oldest writeset in it",
                n -> n.forecast.spanSeconds());
        gauge(
                registry,
                "quorate.cache.return.seconds",
                "for how long the absent member with the least time can come back by a transfer; -1 without one",
                n -> n.forecast.returns().values().stream()
                        .filter(seconds -> seconds >= 0)
                        .min(Long::compare)
                        .orElse(-1L));
        gauge(registry, "quorate.cache.first.seqno", "first seqno in the writeset cache", n -> n.home.stores()
                .cache()
                .first());
    }

    private void bindCapture(MeterRegistry registry) {
        capture(registry, "quorate.capture.connected", "1 while the binlog is read", s -> s.connected() ? 1 : 0);
        captured(registry, "quorate.capture.events", "binlog events read", CaptureStats::events);
        captured(registry, "quorate.capture.writesets", "transactions of clients captured", CaptureStats::writeSets);
        captured(registry, "quorate.capture.bytes", "bytes of binlog read", CaptureStats::bytes);
        captured(registry, "quorate.capture.restarts", "binlog connections built anew", CaptureStats::restarts);
        gauge(
                registry,
                "quorate.capture.window.bytes",
                "captured and not yet known to be ordered",
                n -> n.beside.server().session() == null
                        ? 0
                        : n.beside.server().session().windowBytes());
        counter(
                registry,
                "quorate.capture.resends",
                "proposals sent again",
                n -> n.beside.server().session() == null
                        ? 0
                        : n.beside.server().session().resends());
    }

    private void bindApplier(MeterRegistry registry) {
        appliedCount(registry, "quorate.apply.groups", "database transactions of the applier", ApplierStats::groups);
        appliedCount(registry, "quorate.apply.retries", "groups executed again", ApplierStats::retries);
        appliedCount(registry, "quorate.apply.lock.waits", "lock waits and deadlocks met", ApplierStats::lockWaits);
        appliedCount(
                registry,
                "quorate.apply.blockers.killed",
                "client sessions ended for their locks",
                ApplierStats::blockersKilled);
        appliedCount(
                registry,
                "quorate.apply.capture.waits",
                "groups executed again because the capture was behind",
                ApplierStats::captureWaits);
        appliedCount(
                registry, "quorate.apply.undone", "own transactions undone because they lost", ApplierStats::undone);
        appliedCount(
                registry,
                "quorate.apply.settled",
                "own transactions prepared first and committed by the verdict",
                ApplierStats::settled);
        appliedCount(
                registry,
                "quorate.apply.prepared.rolled.back",
                "own prepared transactions rolled back for an earlier writeset",
                ApplierStats::preparedRolledBack);
        gauge(registry, "quorate.tables.keyless", "tables without any unique key", n -> n.counters
                .keyless()
                .names()
                .size());
        gauge(
                registry,
                "quorate.own.open",
                "own transactions whose fate is open",
                n -> n.beside.server().session() == null
                        ? 0
                        : n.beside.server().session().openTransactions());
        gauge(
                registry,
                "quorate.commit.waiting",
                "commits of clients that wait for their verdict",
                n -> n.beside.server().session() == null
                        ? 0
                        : n.beside.server().session().waitingCommits().count());
        applier(registry, "quorate.apply.executing", "groups being executed", ApplierStats::executing);
        appliedCount(
                registry,
                "quorate.apply.busy.seconds",
                "time of all workers spent on groups",
                s -> s.busyNanos() / 1e9);
    }

    private void gauge(MeterRegistry registry, String name, String what, ToDoubleFunction<Node> value) {
        Gauge.builder(name, node, value).description(what).register(registry);
    }

    private void counter(MeterRegistry registry, String name, String what, ToDoubleFunction<Node> value) {
        FunctionCounter.builder(name, node, value).description(what).register(registry);
    }

    private void capture(MeterRegistry registry, String name, String what, ToDoubleFunction<CaptureStats> value) {
        gauge(registry, name, what, n -> of(n.beside.server().captureStats(), value));
    }

    private void captured(MeterRegistry registry, String name, String what, ToDoubleFunction<CaptureStats> value) {
        counter(registry, name, what, n -> of(n.beside.server().captureStats(), value));
    }

    private void applier(MeterRegistry registry, String name, String what, ToDoubleFunction<ApplierStats> value) {
        gauge(registry, name, what, n -> of(n.beside.server().applierStats(), value));
    }

    private void appliedCount(MeterRegistry registry, String name, String what, ToDoubleFunction<ApplierStats> value) {
        counter(registry, name, what, n -> of(n.beside.server().applierStats(), value));
    }

    /** @param stats null while there is no session with the server */
    static <S> double of(S stats, ToDoubleFunction<S> value) {
        return stats == null ? 0 : value.applyAsDouble(stats);
    }
}
