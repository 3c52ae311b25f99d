// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.micrometer.core.instrument.MeterRegistry;
import io.quorate.certification.OrderedStream;
import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent;
import io.quorate.core.NodeState;
import io.quorate.core.QuorateException;
import io.quorate.core.answer.NodeStatus;
import io.quorate.node.audit.Audit;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.conflict.ConflictJournal;
import io.quorate.node.definition.Definitions;
import io.quorate.node.member.Participation;
import io.quorate.node.member.Reporting;
import io.quorate.node.order.CacheForecast;
import io.quorate.node.order.DiskGuard;
import io.quorate.node.order.Forgetting;
import io.quorate.node.order.PausableOrder;
import io.quorate.node.thread.Faults;
import io.quorate.node.thread.NodeLoop;
import io.quorate.node.trace.Traces;
import io.quorate.node.trace.Tracing;
import io.quorate.transport.RatisTotalOrder;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/**
 * One node, put together room by room: what it keeps on its disk, the other nodes, its part in the order, its server,
 * its standing among the members, how it joins, and what looks after all of these. No part works before {@link #start}.
 * The part that was opened first is closed last.
 */
@Component
class Node implements SmartLifecycle, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Node.class);

    private final NodeProperties properties;
    private final NodeEvents events;
    private final Opened opened = new Opened();
    final Counters counters;
    final Certificates certificates;
    final Home home;
    final ConflictJournal conflicts;
    final OrderedStream stream;
    final Network network;
    final CacheForecast forecast;
    final PausableOrder order;
    final ServerRoom beside;
    final MemberRoom members;
    final Audit audit;
    final Definitions definitions;
    final NodeLoop loop;
    final Upkeep upkeep;
    private final Reporting reporting;
    private final Forgetting forgetting;
    private final DiskGuard disk;
    private volatile boolean running;

    Node(
            NodeProperties properties,
            SslBundles bundles,
            ApplicationEventPublisher publisher,
            JsonMapper json,
            MeterRegistry meters) {
        this.properties = properties;
        this.events = new NodeEvents(publisher);
        this.counters = new Counters(meters);
        boolean complete = false;
        try {
            PrivateDirectory rights = PrivateDirectory.open(properties.dataDir());
            NodeKind kind = NodeKind.of(properties, bundles, opened);
            Faults faults = new Faults(events::failed, Runtime.getRuntime()::halt);

            Traces traces = opened.add(Tracing.open(properties, meters, faults)).traces();

            // What the node keeps of the order, and how the order changes the node's state.
            certificates = Certificates.of(properties, bundles);
            home = Home.open(properties, rights, opened);
            conflicts = opened.add(new ConflictJournal(
                    home.directory().resolve("conflicts"),
                    properties.conflicts(),
                    home.stores().cache(),
                    json,
                    meters,
                    kind.explainer(events::self, opened),
                    faults));
            stream = home.stores().stream(events::happened, events::quorumChanged, conflicts, traces, meters);
            if (home.identity() != null) {
                stream.self(home.identity().server());
            }
            conflicts.lookBack(stream.lastOrdered());
            conflicts.begin(stream);
            loop = opened.add(new NodeLoop(kind.machine(), events::look, events::stateChanged, faults.ofLoop()));

            // The other nodes, and the order.
            network =
                    Network.open(properties, certificates.tls(), home, json, events::hasLeft, events::isMember, opened);
            Participation participation = new Participation();
            order = opened.add(new PausableOrder(
                    () -> RatisTotalOrder.start(participation.toStart(), stream, network.channels()),
                    events::quorumChanged,
                    cause -> events.happened(new NodeEvent.Failed(cause))));

            // The node's server, its standing among the members, and what looks after all of these.
            Base base = new Base(properties, home, stream, order, network, counters, traces);
            Told told = new Told(events::happened, events::copying, faults);
            beside = kind.open(base, () -> loop.state().isReady(), told, opened);
            members = MemberRoom.open(base, beside, loop, participation, told, opened);
            definitions = kind.openDefinitions(
                    base, beside, members, () -> loop.state().isReady(), told, opened);
            forecast =
                    new CacheForecast(home.stores().cache(), properties.cache().returnWarning());
            upkeep = new Upkeep(base, beside, members, forecast, loop::post);
            reporting = opened.add(new Reporting(
                    members.standing()::report, network.channels()::broadcast, upkeep::eachReport, json, faults));
            audit = opened.add(new Audit(properties, network.questions(), network.members()::present, json, faults));
            forgetting = opened.add(new Forgetting(
                    home.stores(), stream, counters.progress()::lastApplied, network.donor()::oldestNeeded, faults));
            disk = opened.add(
                    new DiskGuard(home.directory(), properties.disk().reserve(), order, events::happened, faults));
            complete = true;
            events.built(this);
        } catch (IOException e) {
            throw new QuorateException(ErrorCode.DISK, properties.dataDir() + ": " + e, e);
        } finally {
            if (!complete) {
                opened.close();
            }
        }
    }

    @Override
    public void start() {
        members.join().decide();
        loop.start();
        members.join().start();
        reporting.start();
        forgetting.start();
        disk.start();
        if (beside.server().exists()) {
            audit.startThread();
        }
        running = true;
        log.info(
                "node {} of cluster {} is up, data in {}",
                properties.node(),
                properties.cluster(),
                properties.dataDir());
    }

    NodeState state() {
        return loop.state();
    }

    NodeStatus status() {
        return members.standing().status();
    }

    @Override
    public void stop() {
        events.stopping();
        running = false;
        close();
    }

    @Override
    public void close() {
        opened.close();
    }

    /** The node starts before the web server and is stopped after it. */
    @Override
    public int getPhase() {
        return 0;
    }

    @Override
    public boolean isRunning() {
        return running;
    }
}
