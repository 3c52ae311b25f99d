// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.applier.Applier;
import io.quorate.applier.ApplierListener;
import io.quorate.applier.ApplierSettings;
import io.quorate.applier.ApplierStats;
import io.quorate.applier.OwnWriteSets;
import io.quorate.capture.CapturePosition;
import io.quorate.capture.CaptureSettings;
import io.quorate.capture.CaptureStats;
import io.quorate.capture.MySqlCapture;
import io.quorate.core.AppliedDdl;
import io.quorate.core.Certified;
import io.quorate.core.GtidSet;
import io.quorate.core.NodeEvent;
import io.quorate.core.OriginPosition;
import io.quorate.core.OwnWrites;
import io.quorate.core.ProposalWindow;
import io.quorate.core.QuorateException;
import io.quorate.core.TotalOrder;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One session with the server, from its first look to its loss: server checked and read-only, what it lost in a crash
 * repaired, applier running, and, once there is a majority, capture and proposer. Used by the link's thread; the statistics
 * by any.
 */
final class ServerSession implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ServerSession.class);
    private static final long LOOK_MILLIS = 1000;
    /** How long a server that was left open may stay so while its service starts. */
    private static final long STAYS_OPEN_NANOS = TimeUnit.SECONDS.toNanos(20);

    private static final int LOOKS_PER_TABLE_LOOK = 60;

    /** What every session works with. */
    record Parts(
            NodeProperties properties,
            String incarnation,
            WriteSetLog cache,
            OrderedStream stream,
            TotalOrder order,
            ApplyProgress progress,
            KeylessTables keyless,
            long openedNanos,
            JoinCounts joins,
            Consumer<NodeEvent> events,
            FaultHandler faults) {}

    private final Parts parts;
    private final ServerAccess access;
    private final LinkSignals signals;
    private NodeIdentity identity;
    private GtidSet executed;
    private LostTail tail;
    private LinkSignals.Task done;
    private int looks;
    private volatile OwnWrites ownWrites;
    private volatile Applier applier;
    private volatile MySqlCapture capture;
    private volatile Proposer proposer;

    ServerSession(Parts parts, ServerAccess access, LinkSignals signals) {
        this.parts = parts;
        this.access = access;
        this.signals = signals;
    }

    /**
     * Checks the server, and starts the applier on one that was seen before; one that was started anew is closed for clients
     * until it is known what it lost.
     */
    void open() throws SQLException, IOException {
        try (Connection connection = access.connect()) {
            ServerCheck.require(connection);
            executed = ServerAccess.executed(connection);
            identity = identity(connection);
            parts.keyless.look(connection);
            tail = new LostTail(parts, access, identity, connection);
            carryOut(connection, tail.isReady() ? signals.task() : LinkSignals.Task.READ_ONLY);
            parts.progress.startFrom(ServerAccess.applied(connection));
        }
        parts.stream.self(identity.server());
        if (tail.isReady()) {
            startApplier();
        }
    }

    private void startApplier() throws SQLException {
        Applier started = new Applier(
                applierSettings(parts.properties),
                access.workers(),
                parts.cache,
                identity.server(),
                parts.incarnation,
                this::openOwnWrites,
                new FromApplier());
        applier = started;
        started.start(tail.takenBack());
    }

    /**
     * Has all that clients have committed on a server that took part before captured and ordered, without applying anything.
     *
     * @return whether the order has it; false when the link has something else to do
     */
    boolean drain() throws SQLException, IOException, InterruptedException {
        NodeProperties properties = parts.properties;
        if (NodeIdentity.read(properties.dataDir(), properties.cluster(), properties.node()) == null) {
            return true;
        }
        try (Connection connection = access.connect()) {
            executed = ServerAccess.executed(connection);
            identity = identity(connection);
            UUID server = identity.server();
            tail = new LostTail(parts, access, identity, connection);
            access.readOnly(connection, true);
            parts.stream.self(server);
            attach(OwnWriteSets.beforeRepair(server, tail.takenBack(), parts.stream.lastOrdered()));
            while (signals.task().serves()) {
                if (tail.isCurrent()) {
                    if (ownOrdered() >= ownExecuted(connection)) {
                        return true;
                    }
                    if (capture == null) {
                        startCapture(connection);
                    }
                }
                signals.await(signals.task(), LOOK_MILLIS / 20);
            }
            return false;
        }
    }

    /** The last GTID number of its own that the server has executed. */
    long ownExecuted(Connection connection) throws SQLException {
        return ServerAccess.executed(connection)
                .minus(tail.reserved(connection))
                .last(identity.server());
    }

    /** And the last that the order knows of. */
    long ownOrdered() {
        return Math.max(
                identity.baseline().last(identity.server()), parts.stream.own().last());
    }

    /**
     * The last of this server's own transactions up to {@code number} whose fate is open, 0 for none.
     *
     * @return -1 when the capture hasn't read so far within {@code limit}
     */
    long undecided(long number, Duration limit) throws InterruptedException {
        OwnWrites own = ownWrites;
        return own != null && own.awaitCovered(number, limit) ? own.lastUndecided(number) : -1;
    }

    private OwnWrites openOwnWrites(long applied, Map<Long, Long> undone, Predicate<Certified> isHere)
            throws IOException {
        return attach(new OwnWrites(applied, undone, isHere));
    }

    private OwnWrites attach(OwnWrites register) throws IOException {
        ownWrites = register;
        parts.stream.attach(register);
        register.covered(identity.baseline().last(identity.server()), 0);
        return register;
    }

    private NodeIdentity identity(Connection connection) throws SQLException, IOException {
        UUID server = ServerAccess.uuid(connection);
        NodeProperties properties = parts.properties;
        Path directory = properties.dataDir();
        NodeIdentity kept = NodeIdentity.read(directory, properties.cluster(), properties.node());
        if (kept == null) {
            // A server that took part before has transactions to be captured; only what a first start finds is the
            // baseline.
            boolean knows = ServerAccess.applied(connection) > 0;
            GtidSet baseline = knows ? GtidSet.parse("") : executed;
            kept = new NodeIdentity(
                    properties.cluster(),
                    properties.node(),
                    server,
                    baseline,
                    NodeIdentity.directoryId(directory),
                    !knows && ServerAccess.isEmpty(connection));
            kept.write(directory);
            log.info("this node belongs to server {} from now on, which has executed {}", server, executed);
        }
        kept.requireServer(
                server, properties.mysql().host() + ":" + properties.mysql().port());
        return kept;
    }

    static ApplierSettings applierSettings(NodeProperties properties) {
        NodeProperties.Apply a = properties.apply();
        return ApplierSettings.DEFAULTS
                .withWorkers(a.workers())
                .withGroups(a.groupTransactionsMax(), (int) a.groupBytesMax().toBytes(), a.groupInterval())
                .withMask(properties.conflicts().mask());
    }

    /** Carries out what the node's state asks for and looks after the server until it is lost or the node is done. */
    void watch() throws SQLException, IOException, InterruptedException {
        boolean up = false;
        LinkSignals.Task task = signals.task();
        while (task.serves()) {
            try (Connection connection = access.connect()) {
                carryOut(connection, applier == null ? LinkSignals.Task.READ_ONLY : task);
                if (applier == null) {
                    recover(connection);
                } else if (capture == null
                        && parts.order.quorum().primary()
                        && parts.stream.isCurrent(applier.appliedSeqno())
                        && parts.stream.own().last() >= tail.orderedThen(connection)) {
                    // Only with a majority is our own place in the order known, and so where to capture from; and what
                    // the order has taken must not look open.
                    startCapture(connection);
                }
                if (++looks % LOOKS_PER_TABLE_LOOK == 0) {
                    parts.keyless.look(connection);
                    tail.compareSettings(connection);
                }
            }
            if (!up && applier != null && capture != null && capture.stats().connected() && parts.stream.isKnown()) {
                up = true;
                parts.events.accept(new NodeEvent.DatabaseUp());
            }
            task = signals.await(task, up ? LOOK_MILLIS : LOOK_MILLIS / 20);
        }
    }

    /**
     * Opens or closes the server for clients, unless that was the last thing done. One that is found open when the service
     * starts was left so by the service that ran before, and is not closed for the moment it takes to be SYNCED again:
     * what clients write meanwhile is captured, as what they wrote while no service ran.
     */
    private void carryOut(Connection connection, LinkSignals.Task task) throws SQLException {
        if (task == done) {
            return;
        }
        boolean stays = task == LinkSignals.Task.READ_ONLY
                && tail.isReady()
                && signals.mayStayOpen()
                && System.nanoTime() - parts.openedNanos < STAYS_OPEN_NANOS
                && !ServerAccess.isReadOnly(connection);
        if (!stays) {
            access.readOnly(connection, task != LinkSignals.Task.WRITABLE);
            done = task;
        }
    }

    /** Goes on finding out what the server lost; what is captured for that has a register of its own. */
    private void recover(Connection connection) throws SQLException, IOException, InterruptedException {
        switch (tail.step(connection)) {
            case PROBE, COMPARE, REPAIR -> {
                // For the order.
            }
            case CAPTURE -> {
                if (capture == null) {
                    attach(OwnWriteSets.beforeRepair(identity.server(), tail.takenBack(), parts.stream.lastOrdered()));
                    startCapture(connection);
                }
            }
            case DONE -> {
                close(proposer);
                close(capture);
                proposer = null;
                capture = null;
                startApplier();
            }
        }
    }

    private void startCapture(Connection connection) throws SQLException {
        OriginPosition at = parts.stream.own();
        ProposalWindow window = new ProposalWindow(identity.server(), at, windowLimits());
        if (!parts.stream.isKnown()) {
            window.announce();
        }
        Proposer next = new Proposer(
                window, parts.order, parts.properties.order().resendAfter().toMillis(), parts.faults);
        // What was delivered since we asked is told now; what comes after goes to the proposer by itself.
        next.delivered(parts.stream.attach(next));
        proposer = next;
        long from = Math.max(at.last(), identity.baseline().last(identity.server()));
        OriginPosition origin = new OriginPosition(from, at.lastSeen(), at.undecided());
        GtidSet resume =
                CapturePosition.after(identity.server(), origin, executed).resume();
        resume.addAll(tail.reserved(connection));
        MySqlCapture started = new MySqlCapture(
                captureSettings(),
                new CapturePosition(resume, origin),
                (number, lastSeen, undecided, writeSet) -> {
                    WriteSet complete = writeSet == null ? null : ownWrites.captured(believable(writeSet));
                    ownWrites.covered(number, lastSeen);
                    if (complete == null) {
                        next.progress(number, lastSeen, undecided);
                    } else {
                        next.captured(complete, undecided);
                    }
                },
                cause -> parts.events.accept(new NodeEvent.Failed(cause)));
        started.start();
        capture = started;
    }

    /** What a client claims to have seen of the order can't be more than was there. */
    private WriteSet believable(WriteSet w) {
        Applier a = applier;
        long applied = a == null ? parts.stream.lastOrdered() : a.appliedSeqno();
        return w.isPrepared() && w.lastSeen() > applied ? w.withLastSeen(applied) : w;
    }

    private ProposalWindow.Limits windowLimits() {
        NodeProperties.Order o = parts.properties.order();
        return new ProposalWindow.Limits(
                (int) o.proposalBytesMax().toBytes(),
                o.inFlightMax(),
                o.windowBytesMax().toBytes(),
                o.interval().toMillis(),
                o.intervalMax().toMillis(),
                o.idleAfter().toMillis());
    }

    private CaptureSettings captureSettings() {
        NodeProperties p = parts.properties;
        NodeProperties.MySql mysql = p.mysql();
        // The binlog connection needs a server id of its own among the server's replicas.
        long mixed = UUID.nameUUIDFromBytes((p.cluster() + "/" + p.node()).getBytes(StandardCharsets.UTF_8))
                .getMostSignificantBits();
        return CaptureSettings.of(
                        mysql.host(),
                        mysql.port(),
                        mysql.user(),
                        mysql.password(),
                        identity.server(),
                        0x4000_0000L | (mixed & 0x3fff_ffffL))
                .with(mysql.sslMode(), AppliedDdl.source(parts.incarnation))
                .withBytes(
                        p.capture().transactionBytesMax().toBytes(),
                        p.capture().undecidedBytesMax().toBytes());
    }

    void quorumChanged(TotalOrder.Quorum quorum) {
        Proposer p = proposer;
        if (p != null) {
            p.quorumChanged(quorum);
        }
    }

    ApplierStats applierStats() {
        Applier a = applier;
        return a == null ? null : a.stats();
    }

    /** The client's session whose locks apply waits for, null when none does. */
    String blockedBy() {
        Applier a = applier;
        return a == null ? null : a.blockedBy();
    }

    /** Own transactions whose fate is open. */
    int openTransactions() {
        OwnWrites own = ownWrites;
        return own == null ? 0 : own.size();
    }

    CaptureStats captureStats() {
        MySqlCapture c = capture;
        return c == null ? null : c.stats();
    }

    /** Bytes captured and not yet known to be ordered. */
    long windowBytes() {
        Proposer p = proposer;
        return p == null ? 0 : p.windowBytes();
    }

    /** How often proposals under way had to be sent again. */
    long resends() {
        Proposer p = proposer;
        return p == null ? 0 : p.resends();
    }

    @Override
    public void close() {
        close(proposer);
        close(capture);
        close(applier);
    }

    private static void close(AutoCloseable what) {
        if (what == null) {
            return;
        }
        try {
            what.close();
        } catch (Exception e) {
            log.warn("while a session ends: {}", e.toString());
        }
    }

    /** The applier's messages, on its threads. */
    private final class FromApplier implements ApplierListener {
        @Override
        public void applied(long seqno, int transactions, long originCommittedMicros) {
            parts.progress.applied(seqno, transactions, originCommittedMicros);
        }

        @Override
        public void holdClients(boolean hold) {
            signals.held(hold);
        }

        @Override
        public void failed(QuorateException cause) {
            parts.events.accept(new NodeEvent.Failed(cause));
        }

        @Override
        public void databaseLost(SQLException cause) {
            signals.lost(access.unreachable(cause).getMessage());
        }
    }
}
