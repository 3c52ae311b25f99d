// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.micrometer.core.instrument.MeterRegistry;
import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent;
import io.quorate.core.NodeMachine;
import io.quorate.core.NodeState;
import io.quorate.core.QuorateException;
import io.quorate.core.TotalOrder;
import io.quorate.core.answer.NodeStatus;
import io.quorate.ist.Donor;
import io.quorate.ist.HistoryCheck;
import io.quorate.node.question.Answers;
import io.quorate.node.question.Questions;
import io.quorate.transport.PeerChannels;
import io.quorate.transport.RatisTotalOrder;
import io.quorate.transport.TransportSettings;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
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

/** One node: wires the stores, the order, the link to the server and the loop that owns the state, and ends them again. */
@Component
class Node implements SmartLifecycle {
    private static final Logger log = LoggerFactory.getLogger(Node.class);
    /** With the two seconds the order takes to notice, a node without a majority is closed for writes within three. */
    private static final long ELECTION_GRACE_MILLIS = 600;

    private final NodeProperties properties;
    private final ApplicationEventPublisher publisher;
    private final JsonMapper json;
    private final MeterRegistry meters;
    private final ApplyProgress progress = new ApplyProgress();
    private final KeylessTables keyless = new KeylessTables();

    private NodeLoop loop;
    private FileChannel lockFile;
    private Stores stores;
    private OrderedStream stream;
    private ConflictJournal conflicts;
    private ServerKeyExplainer keys;
    private volatile PausableOrder order;
    private DiskGuard disk;
    private Donor donor;
    private StreamSource streamSource;
    private AuditSource auditSource;
    private Audit audit;
    private CatchUpChoice choice;
    private Standing standing;
    private PeerChannels channels;
    private Members members;
    private MemberDesk desk;
    private Answers answers;
    private volatile Admission admission;
    private ForcedRecovery recovery;
    private Rejoin rejoin;
    private boolean gave;
    private CacheForecast forecast;
    private ServerAccess access;
    private volatile Server server;
    private volatile boolean running;

    Node(NodeProperties properties, ApplicationEventPublisher publisher, JsonMapper json, MeterRegistry meters) {
        this.properties = properties;
        this.publisher = publisher;
        this.json = json;
        this.meters = meters;
    }

    @Override
    public void start() {
        try {
            open();
        } catch (IOException e) {
            stop();
            throw new QuorateException(ErrorCode.DISK, properties.dataDir() + ": " + e, e);
        } catch (RuntimeException e) {
            stop();
            throw e;
        }
        running = true;
    }

    private void open() throws IOException {
        Path directory = properties.dataDir();
        Files.createDirectories(directory);
        lock(directory);
        properties.requireServerUnlessArbitrator();
        boolean arbitrator = properties.arbitrator();
        if (!arbitrator) {
            access = new ServerAccess(properties.mysql());
            ServerLink.checkNow(access);
            keys = new ServerKeyExplainer(access);
        }
        NodeIdentity identity = NodeIdentity.read(directory, properties.cluster(), properties.node());
        String incarnation = incarnation();
        stores = Stores.open(directory, incarnation, properties);
        Faults faults = new Faults(
                failed -> loop.post(failed), status -> Runtime.getRuntime().halt(status));
        loop = new NodeLoop(
                arbitrator
                        ? NodeMachine.ofArbitrator(ELECTION_GRACE_MILLIS)
                        : new NodeMachine(properties.apply().syncedLagMax(), ELECTION_GRACE_MILLIS),
                this::look,
                this::onState,
                faults::loopEnded);
        stream = stores.stream(this::happened, this::quorumChanged);
        if (identity != null) {
            stream.self(identity.server());
        }
        conflicts = new ConflictJournal(
                directory.resolve("conflicts"),
                properties.conflicts(),
                stores.cache(),
                json,
                meters,
                this::accountOf,
                arbitrator ? (loser, hashes) -> Map.of() : keys,
                faults);
        stream.onFailed(conflicts::failed, conflicts::lookBack);
        UUID life = UUID.fromString(incarnation);
        donor = new Donor(stores.cache(), stores.checkpoints(), life);
        forecast = new CacheForecast(stores.cache(), properties.cache().returnWarning());
        String directoryId = NodeIdentity.directoryId(directory).toString();
        TransportSettings configured = transportSettings(directory);
        PausableOrder pausable = new PausableOrder(
                () -> RatisTotalOrder.start(Admission.now(admission.settings()), stream, channels),
                this::quorumChanged,
                cause -> happened(new NodeEvent.Failed(cause)));
        order = pausable;
        standing = new Standing(
                properties,
                directoryId,
                stores,
                stream,
                progress,
                loop,
                pausable,
                () -> server,
                () -> admission,
                configured::lives);
        members = new Members(
                directory.resolve("peers.properties"),
                standing::report,
                r -> channels.broadcast(r),
                this::eachReport,
                json,
                faults);
        standing.of(members);
        answers = new Answers(json);
        channels = PeerChannels.start(
                configured.withPeers(configured.knownMembersAndSelf(), false), this::serve, members::heard);
        Questions questions = new Questions(properties.node(), answers, channels, json);
        desk = new MemberDesk(properties.node(), pausable, standing::membership, members, questions, channels);
        desk.register(answers);
        disk = new DiskGuard(directory, properties.disk().reserve(), pausable, this::happened, faults);
        JoinCounts joins = new JoinCounts(meters);
        ServerSession.Parts parts = new ServerSession.Parts(
                properties,
                incarnation,
                stores.cache(),
                stream,
                order,
                progress,
                keyless,
                System.nanoTime(),
                joins,
                this::happened,
                faults);
        server = arbitrator
                ? new NoServer()
                : new ServerLink(
                        access,
                        properties.mysql().retry(),
                        parts,
                        new FullCopy.Donors(members::present, questions, json),
                        this::happened,
                        faults);
        new CopySource(properties, access, () -> loop.state().isReady()).register(answers);
        streamSource = new StreamSource(properties, access, server::session, stream, progress, () -> loop.state()
                .isReady());
        streamSource.register(answers);
        answers.requireAll(CopyQuestion.class);
        auditSource = new AuditSource(
                properties,
                access,
                server::session,
                stream,
                progress,
                () -> loop.state().isReady(),
                new RowRepair(properties, access, stream, questions, json));
        auditSource.register(answers);
        audit = new Audit(properties, new AuditedNodes(properties.node(), questions, members::present), json, faults);
        choice = new CatchUpChoice(
                properties, server, loop::state, standing, progress::lastApplied, members::present, questions, joins, faults);
        rejoin = new Rejoin(stores, stream, pausable, server, channels, life, standing::offers, joins, this::happened, faults);
        HistoryCheck history = new HistoryCheck(stores.cache(), channels, life);
        admission = new Admission(
                configured,
                directoryId,
                desk,
                members,
                pausable,
                server,
                () -> stores.cache().last(),
                history,
                rejoin,
                channels,
                this::happened,
                faults);
        recovery = new ForcedRecovery(
                configured,
                pausable,
                members,
                desk,
                channels,
                server,
                stores,
                stream,
                history,
                admission,
                this::happened,
                faults);
        channels.onFormer(recovery::former);
        admission.decide();
        loop.start();
        if (stores.damage() != null) {
            pausable.pause(PausableOrder.Hold.TRANSFER);
            rejoin.begin(stores.damage());
        }
        rejoin.start();
        admission.start();
        members.start();
        disk.start();
        choice.start();
        if (!arbitrator) {
            audit.startThread();
        }
        log.info("node {} of cluster {} is up, data in {}", properties.node(), properties.cluster(), directory);
    }

    private void happened(NodeEvent event) {
        if (event instanceof NodeEvent.Failed failed) {
            if (Rejoin.mends(failed.cause())) {
                rejoin.begin(failed.cause());
                return;
            }
            if (failed.cause().code() == ErrorCode.NOT_A_MEMBER) {
                loop.post(new NodeEvent.Left(failed.cause().getMessage()));
                order.pause(PausableOrder.Hold.LEFT);
                return;
            }
            if (failed.cause().code() == ErrorCode.UNDO_MISMATCH) {
                conflicts.mismatch(failed.cause().getMessage());
            }
        }
        loop.post(event);
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

    MemberDesk desk() {
        return desk;
    }

    Admission admission() {
        return admission;
    }

    String cluster() {
        return properties.cluster();
    }

    /** The order while this node takes part in it, null else. */
    RatisTotalOrder running() {
        return order.running();
    }

    ForcedRecovery recovery() {
        return recovery;
    }

    Members members() {
        return members;
    }

    /** The members as this node knows them. */
    Membership membership() {
        return standing.membership();
    }

    /** Whether others are not to wait for this node, however far behind it is. */
    void desynced(boolean value) {
        standing.desynced(value);
    }

    private void eachReport() {
        rejoin.tell();
        RatisTotalOrder running = order.running();
        if (running != null) {
            running.members().forEach(m -> members.generation(m.name(), m.generation()));
        }
        forecast.look(System.nanoTime() / 1_000_000, standing.absent());
        boolean gives = !donor.running().isEmpty();
        if (gives != gave) {
            gave = gives;
            loop.post(new NodeEvent.Donating(gives));
        }
    }

    CacheForecast forecast() {
        return forecast;
    }

    /** Two services on one directory would ruin it. */
    private void lock(Path directory) throws IOException {
        lockFile = FileChannel.open(directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock held = lockFile.tryLock();
        if (held == null) {
            throw new QuorateException(ErrorCode.CONFIGURATION, directory + " is in use by another process");
        }
    }

    /** Which life of the cluster seqnos belong to. One for each cluster name, until clusters can be made anew by force. */
    private String incarnation() {
        return UUID.nameUUIDFromBytes(("quorate:" + properties.cluster()).getBytes(StandardCharsets.UTF_8))
                .toString();
    }

    private TransportSettings transportSettings(Path directory) {
        NodeProperties.Order o = properties.order();
        return TransportSettings.of(
                        properties.cluster(),
                        properties.node(),
                        properties.peers().stream()
                                .map(p -> new TransportSettings.Peer(p.name(), p.host(), p.raftPort(), p.channelPort()))
                                .toList(),
                        directory.resolve("order"))
                .withTimeouts(o.electionTimeoutMin(), o.electionTimeoutMax())
                .withCheckpoints(o.checkpointEntries(), o.logBytesMax().toBytes());
    }

    private void quorumChanged(TotalOrder.Quorum quorum) {
        loop.post(new NodeEvent.QuorumChanged(quorum));
        Server beside = server;
        if (beside != null) {
            beside.quorumChanged(quorum);
        }
    }

    /** The account of an own transaction's connection, while that is open. */
    private String accountOf(Certified own) {
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
        long needed =
                Math.min(Math.min(applied, stores.checkpoints().forgettableSeqno()) + 1, stream.oldestOwnFailure());
        stores.cache().retain(Math.min(needed, donor.oldestNeeded()));
        return new NodeEvent.Progress(standing.leaderOrdered(), applied, System.nanoTime() / 1_000_000);
    }

    private void onState(NodeState state) {
        Server beside = server;
        if (beside != null) {
            beside.writable(state.writable());
            if (state == NodeState.INCONSISTENT) {
                beside.stopWorking();
            }
        }
        AvailabilityChangeEvent.publish(
                publisher, this, state.isReady() ? ReadinessState.ACCEPTING_TRAFFIC : ReadinessState.REFUSING_TRAFFIC);
    }

    NodeStatus status() {
        TotalOrder.Quorum quorum = order.quorum();
        long applied = progress.lastApplied();
        return new NodeStatus(
                properties.node(),
                loop.state().name(),
                quorum.primary(),
                standing.reason(),
                quorum.leader(),
                server.address(),
                properties.self().http(),
                stream.lastOrdered(),
                applied,
                applied >= stream.lastOrdered() ? 0 : progress.lagMicros() / 1000,
                ProcessHandle.current().pid());
    }

    Rejoin rejoin() {
        return rejoin;
    }

    /** Of the server; null without one. */
    FullCopy copy() {
        return server.copy();
    }

    StreamSource streamSource() {
        return streamSource;
    }

    /** Gives up a full copy that isn't necessary; why not, or null. */
    String cancelCopy() throws IOException, InterruptedException {
        return choice.cancel();
    }

    Audit audit() {
        return audit;
    }

    Donor donor() {
        return donor;
    }

    NodeState state() {
        return loop.state();
    }

    OrderedStream stream() {
        return stream;
    }

    KeylessTables keyless() {
        return keyless;
    }

    ConflictJournal conflicts() {
        return conflicts;
    }

    Stores stores() {
        return stores;
    }

    ApplyProgress progress() {
        return progress;
    }

    TotalOrder order() {
        return order;
    }

    /** Null while the server is away. */
    ServerSession session() {
        return server.session();
    }

    @Override
    public void stop() {
        running = false;
        close(disk);
        close(audit);
        close(auditSource);
        close(choice);
        close(members);
        close(recovery);
        close(admission);
        close(rejoin);
        close(server);
        close(order);
        close(channels);
        close(loop);
        close(conflicts);
        close(keys);
        close(stores);
        close(access);
        close(lockFile);
    }

    private static void close(AutoCloseable what) {
        if (what == null) {
            return;
        }
        try {
            what.close();
        } catch (Exception e) {
            log.warn("while the node ends: {}", e.toString());
        }
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
