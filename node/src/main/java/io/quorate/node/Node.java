// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.micrometer.core.instrument.MeterRegistry;
import io.quorate.certification.OrderedStream;
import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent;
import io.quorate.core.NodeMachine;
import io.quorate.core.NodeState;
import io.quorate.core.QuorateException;
import io.quorate.core.TotalOrder;
import io.quorate.core.answer.NodeStatus;
import io.quorate.ist.Donor;
import io.quorate.ist.RejoinCourse;
import io.quorate.ist.Retention;
import io.quorate.node.audit.Audit;
import io.quorate.node.audit.AuditSource;
import io.quorate.node.audit.AuditedNodes;
import io.quorate.node.audit.RowRepair;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.conflict.ConflictJournal;
import io.quorate.node.conflict.ServerKeyExplainer;
import io.quorate.node.copy.CopyQuestion;
import io.quorate.node.copy.CopySource;
import io.quorate.node.copy.FullCopy;
import io.quorate.node.copy.ServerCopy;
import io.quorate.node.copy.StreamSource;
import io.quorate.node.join.Join;
import io.quorate.node.member.MemberDesk;
import io.quorate.node.member.Members;
import io.quorate.node.member.Participation;
import io.quorate.node.member.Reporting;
import io.quorate.node.member.Standing;
import io.quorate.node.order.CacheForecast;
import io.quorate.node.order.DiskGuard;
import io.quorate.node.order.PausableOrder;
import io.quorate.node.order.Stores;
import io.quorate.node.question.Answers;
import io.quorate.node.question.Questions;
import io.quorate.node.server.ApplyProgress;
import io.quorate.node.server.JoinCounts;
import io.quorate.node.server.KeylessTables;
import io.quorate.node.server.LinkSignals;
import io.quorate.node.server.NoServer;
import io.quorate.node.server.NodeIdentity;
import io.quorate.node.server.Server;
import io.quorate.node.server.ServerAccess;
import io.quorate.node.server.ServerLink;
import io.quorate.node.server.ServerSession;
import io.quorate.node.thread.Faults;
import io.quorate.node.thread.NodeLoop;
import io.quorate.transport.PeerChannels;
import io.quorate.transport.RatisTotalOrder;
import io.quorate.transport.TransportSettings;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/**
 * One node, put together room by room: what it keeps on disk, its channels to the others, its part in the order, its
 * server, its standing among the members, copies, audits, joining. Nothing works before {@link #start}; what was opened
 * first is closed last.
 */
@Component
class Node implements SmartLifecycle, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Node.class);
    /** With the two seconds the order takes to notice, a node without a majority is closed for writes within three. */
    private static final long ELECTION_GRACE_MILLIS = 600;

    private final NodeProperties properties;
    private final ApplicationEventPublisher publisher;
    private final Opened opened = new Opened();
    final ApplyProgress progress = new ApplyProgress();
    final KeylessTables keyless = new KeylessTables();
    final Stores stores;
    final OrderedStream stream;
    final ConflictJournal conflicts;
    final Donor donor;
    final CacheForecast forecast;
    final Members members;
    final PausableOrder order;
    final Server server;
    final ServerCopy copy;
    final Standing standing;
    final MemberDesk desk;
    final StreamSource streamSource;
    final Audit audit;
    final Join join;
    private final NodeLoop loop;
    private final Answers answers;
    private final DiskGuard disk;
    private final Reporting reporting;
    private boolean gave;
    private volatile boolean running;

    Node(NodeProperties properties, ApplicationEventPublisher publisher, JsonMapper json, MeterRegistry meters) {
        this.properties = properties;
        this.publisher = publisher;
        boolean complete = false;
        try {
            properties.requireServerUnlessArbitrator();
            boolean arbitrator = properties.arbitrator();
            Path directory = Files.createDirectories(properties.dataDir());
            opened.add(DirectoryLock.of(directory));
            ServerAccess access = arbitrator ? null : opened.add(new ServerAccess(properties.mysql()));
            if (!arbitrator) {
                ServerLink.checkNow(access);
            }
            NodeIdentity identity = NodeIdentity.read(directory, properties.cluster(), properties.node());
            String directoryId = NodeIdentity.directoryId(directory).toString();
            UUID life = NodeIdentity.life(properties.cluster());
            JoinCounts joins = new JoinCounts(meters);

            // What it keeps of the order, and what the order does to it.
            stores = opened.add(Stores.open(directory, life.toString(), properties));
            Faults faults = new Faults(this::failed, Runtime.getRuntime()::halt);
            stream = stores.stream(this::happened, this::quorumChanged);
            if (identity != null) {
                stream.self(identity.server());
            }
            ServerKeyExplainer keys = arbitrator ? null : opened.add(new ServerKeyExplainer(access));
            conflicts = opened.add(new ConflictJournal(
                    directory.resolve("conflicts"),
                    properties.conflicts(),
                    stores.cache(),
                    json,
                    meters,
                    own -> accountOf(own, access),
                    arbitrator ? (loser, hashes) -> Map.of() : keys,
                    faults));
            stream.onFailed(conflicts::failed, conflicts::lookBack);
            loop = opened.add(new NodeLoop(
                    arbitrator
                            ? NodeMachine.ofArbitrator(ELECTION_GRACE_MILLIS)
                            : new NodeMachine(properties.apply().syncedLagMax(), ELECTION_GRACE_MILLIS),
                    this::look,
                    this::onState,
                    faults::loopEnded));

            // The others, and the order.
            TransportSettings configured = properties.transport();
            Participation participation = new Participation();
            members = new Members(directory.resolve("peers.properties"), json);
            donor = new Donor(stores.cache(), stores.checkpoints(), life);
            forecast = new CacheForecast(stores.cache(), properties.cache().returnWarning());
            answers = new Answers(json);
            PeerChannels channels = opened.add(PeerChannels.start(
                    configured.withPeers(configured.knownMembersAndSelf(), false), this::serve, members::heard));
            Questions questions = new Questions(properties.node(), answers, channels, json);
            order = opened.add(new PausableOrder(
                    () -> RatisTotalOrder.start(participation.toStart(), stream, channels),
                    this::quorumChanged,
                    cause -> happened(new NodeEvent.Failed(cause))));

            // Its server.
            ServerSession.Parts parts = new ServerSession.Parts(
                    properties,
                    life.toString(),
                    stores.cache(),
                    stream,
                    order,
                    progress,
                    keyless,
                    System.nanoTime(),
                    joins,
                    this::happened,
                    faults);
            if (arbitrator) {
                copy = ServerCopy.NONE;
                server = new NoServer();
            } else {
                LinkSignals signals = new LinkSignals();
                FullCopy full = new FullCopy(
                        parts, access, signals, new FullCopy.Donors(members::present, questions, json), this::copying);
                copy = full;
                server = opened.add(new ServerLink(
                        access, properties.mysql().retry(), parts, signals, full, this::happened, faults));
            }

            // Where it stands, and what it answers.
            standing = new Standing(
                    properties,
                    directoryId,
                    stores,
                    stream,
                    progress,
                    loop,
                    order,
                    server,
                    participation,
                    members,
                    configured::lives);
            desk = new MemberDesk(properties.node(), order, standing::membership, members, questions, channels);
            desk.register(answers);
            new CopySource(properties, access, () -> loop.state().isReady()).register(answers);
            streamSource = new StreamSource(properties, access, server::session, stream, progress, () -> loop.state()
                    .isReady());
            streamSource.register(answers);
            answers.requireAll(CopyQuestion.class);
            AuditSource auditSource = new AuditSource(
                    properties,
                    access,
                    server::session,
                    stream,
                    progress,
                    () -> loop.state().isReady(),
                    new RowRepair(properties, access, stream, questions, json));
            auditSource.register(answers);

            // Joining.
            join = opened.add(new Join(
                    properties,
                    new Join.Own(configured, directoryId, life, stores, stream, order, participation),
                    new Join.Others(members, desk, questions, channels, standing),
                    server,
                    copy,
                    progress,
                    loop::state,
                    joins,
                    this::happened,
                    faults));

            // What looks after it.
            reporting =
                    opened.add(new Reporting(standing::report, channels::broadcast, this::eachReport, json, faults));
            audit = opened.add(new Audit(
                    properties, new AuditedNodes(properties.node(), questions, members::present), json, faults));
            disk = opened.add(new DiskGuard(directory, properties.disk().reserve(), order, this::happened, faults));
            complete = true;
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
        join.decide();
        loop.start();
        join.start();
        reporting.start();
        disk.start();
        if (server.exists()) {
            audit.startThread();
        }
        running = true;
        log.info(
                "node {} of cluster {} is up, data in {}",
                properties.node(),
                properties.cluster(),
                properties.dataDir());
    }

    private void failed(NodeEvent.Failed failed) {
        loop.post(failed);
    }

    private void happened(NodeEvent event) {
        if (event instanceof NodeEvent.Failed failed) {
            if (RejoinCourse.mends(failed.cause())) {
                join.missing(failed.cause());
                return;
            }
            if (failed.cause().code() == ErrorCode.NOT_A_MEMBER) {
                join.takenOut(failed.cause().getMessage());
                return;
            }
            if (failed.cause().code() == ErrorCode.UNDO_MISMATCH) {
                conflicts.mismatch(failed.cause().getMessage());
            }
        }
        loop.post(event);
    }

    private void copying(String how) {
        join.copying(how);
    }

    private void serve(String peer, byte[] request, OutputStream answer) throws IOException {
        if (Answers.isQuestion(request)) {
            answers.serve(request, answer);
        } else if (order.holds(PausableOrder.Hold.LEFT)) {
            // What it holds may be of a former life of the cluster.
            throw new QuorateException(ErrorCode.NOT_A_MEMBER, properties.node() + " takes no part in the order");
        } else {
            donor.serve(peer, request, answer);
        }
    }

    private void eachReport() {
        join.tell();
        RatisTotalOrder part = order.running();
        if (part != null) {
            part.members().forEach(m -> members.generation(m.name(), m.generation()));
        }
        forecast.look(System.nanoTime() / 1_000_000, standing.absent());
        boolean gives = !donor.running().isEmpty();
        if (gives != gave) {
            gave = gives;
            loop.post(new NodeEvent.Donating(gives));
        }
    }

    private void quorumChanged(TotalOrder.Quorum quorum) {
        loop.post(new NodeEvent.QuorumChanged(quorum));
        server.quorumChanged(quorum);
    }

    /** The account of an own transaction's connection, while that is open; null else. */
    private String accountOf(Certified own, ServerAccess access) {
        return access != null && own.writeSet().gtid().source().equals(stream.self())
                ? access.accountOf(own.writeSet().session())
                : null;
    }

    /** The loop's regular look at how far things are; also lets the cache forget what nobody here needs. */
    private NodeEvent.Progress look() {
        if (!server.exists()) {
            progress.startFrom(stream.lastOrdered());
        }
        long applied = progress.lastApplied();
        long forgettable = stores.checkpoints().forgettableSeqno();
        Retention retention = new Retention(applied, forgettable, stream.oldestOwnFailure(), donor.oldestNeeded());
        stores.cache().retain(retention.first());
        return new NodeEvent.Progress(standing.leaderOrdered(), applied, System.nanoTime() / 1_000_000);
    }

    private void onState(NodeState state) {
        server.writable(state.writable());
        if (state == NodeState.INCONSISTENT) {
            server.stopWorking();
        }
        AvailabilityChangeEvent.publish(
                publisher, this, state.isReady() ? ReadinessState.ACCEPTING_TRAFFIC : ReadinessState.REFUSING_TRAFFIC);
    }

    NodeState state() {
        return loop.state();
    }

    NodeStatus status() {
        return standing.status();
    }

    @Override
    public void stop() {
        running = false;
        close();
    }

    @Override
    public void close() {
        opened.close();
    }

    /** Before the web server starts and after it has stopped. */
    @Override
    public int getPhase() {
        return 0;
    }

    @Override
    public boolean isRunning() {
        return running;
    }
}
