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
import io.quorate.transport.RatisTotalOrder;
import io.quorate.transport.TransportSettings;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
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
    private volatile TotalOrder order;
    private DiskGuard disk;
    private ServerAccess access;
    private volatile ServerLink link;
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
        access = new ServerAccess(properties.mysql());
        ServerLink.checkNow(access);
        NodeIdentity identity = NodeIdentity.read(directory, properties.cluster(), properties.node());
        String incarnation = incarnation();
        stores = Stores.open(directory, incarnation, properties);
        loop = new NodeLoop(
                new NodeMachine(properties.apply().syncedLagMax(), ELECTION_GRACE_MILLIS), this::look, this::onState);
        stream = stores.stream(loop::post, this::quorumChanged);
        if (identity != null) {
            stream.self(identity.server());
        }
        keys = new ServerKeyExplainer(access);
        conflicts = new ConflictJournal(
                directory.resolve("conflicts"),
                properties.conflicts(),
                stores.cache(),
                json,
                meters,
                this::accountOf,
                keys);
        stream.onFailed(conflicts::failed);
        TransportSettings transport = transportSettings(directory);
        PausableOrder pausable = new PausableOrder(() -> RatisTotalOrder.start(transport, stream), this::quorumChanged);
        order = pausable;
        disk = new DiskGuard(directory, properties.disk().reserve(), pausable, this::happened);
        ServerSession.Parts parts = new ServerSession.Parts(
                properties, incarnation, stores.cache(), stream, order, progress, keyless, this::happened);
        link = new ServerLink(access, properties.mysql().retry(), parts, this::happened);
        loop.start();
        link.start();
        disk.start();
        log.info("node {} of cluster {} is up, data in {}", properties.node(), properties.cluster(), directory);
    }

    private void happened(NodeEvent event) {
        if (event instanceof NodeEvent.Failed failed && failed.cause().code() == ErrorCode.UNDO_MISMATCH) {
            conflicts.mismatch(failed.cause().getMessage());
        }
        loop.post(event);
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
                .withTimeouts(o.electionTimeoutMin(), o.electionTimeoutMax());
    }

    private void quorumChanged(TotalOrder.Quorum quorum) {
        loop.post(new NodeEvent.QuorumChanged(quorum));
        ServerLink l = link;
        if (l != null) {
            l.quorumChanged(quorum);
        }
    }

    /** The account of an own transaction's connection, while that is open. */
    private String accountOf(Certified own) {
        return own.writeSet().gtid().source().equals(stream.self())
                ? access.accountOf(own.writeSet().session())
                : null;
    }

    /** The loop's regular look at how far things are; also lets the cache forget what nobody here needs. */
    private NodeEvent.Progress look() {
        long applied = progress.lastApplied();
        long needed = Math.min(Math.min(applied, stream.checkpointSeqno()) + 1, stream.oldestOwnFailure());
        stores.cache().retain(needed);
        return new NodeEvent.Progress(stream.lastOrdered(), applied, System.nanoTime() / 1_000_000);
    }

    private void onState(NodeState state) {
        ServerLink l = link;
        if (l != null) {
            l.writable(state.writable());
            if (state == NodeState.INCONSISTENT) {
                l.stopWorking();
            }
        }
        AvailabilityChangeEvent.publish(
                publisher, this, state.writable() ? ReadinessState.ACCEPTING_TRAFFIC : ReadinessState.REFUSING_TRAFFIC);
    }

    NodeStatus status() {
        NodeProperties.MySql mysql = properties.mysql();
        NodeProperties.Peer self = properties.peers().stream()
                .filter(p -> p.name().equals(properties.node()))
                .findFirst()
                .orElseThrow();
        TotalOrder.Quorum quorum = order.quorum();
        long applied = progress.lastApplied();
        return new NodeStatus(
                properties.node(),
                loop.state().name(),
                quorum.primary(),
                loop.reason(),
                quorum.leader(),
                mysql.host() + ":" + mysql.port(),
                self.http(),
                stream.lastOrdered(),
                applied,
                applied >= stream.lastOrdered() ? 0 : progress.lagMicros() / 1000,
                ProcessHandle.current().pid());
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
        return link.session();
    }

    @Override
    public void stop() {
        running = false;
        close(disk);
        close(link);
        close(order);
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
