// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.applier.ApplierStats;
import io.quorate.applier.OwnWriteSets;
import io.quorate.applier.PositionTable;
import io.quorate.applier.SharedOwnWrites;
import io.quorate.capture.CaptureStats;
import io.quorate.certification.OrderedStream;
import io.quorate.core.GtidSet;
import io.quorate.core.NodeEvent;
import io.quorate.core.OwnWrites;
import io.quorate.core.TotalOrder;
import io.quorate.core.WriteSetLog;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.thread.FaultHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One session with the server, from the first check until the server is lost. The server is checked and made read-only,
 * what it lost in a crash is repaired, the applier is started and, once there is a majority, the capture and the
 * proposer. Used by the link's thread; any thread may read the statistics.
 */
public final class ServerSession implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ServerSession.class);
    private static final long LOOK_MILLIS = 1000;
    /** How long a server that was left open may stay so while its service starts. */
    private static final long STAYS_OPEN_NANOS = TimeUnit.SECONDS.toNanos(20);

    private static final int LOOKS_PER_TABLE_LOOK = 60;
    /** A capture whose connection breaks has another one long before. */
    private static final long CAPTURE_LOST_NANOS = TimeUnit.SECONDS.toNanos(20);

    /** mysqld ends the connections of replicas after eight seconds, at the latest. */
    private static final Duration STOP_MAX = Duration.ofSeconds(15);

    /** What every session of this node works with. */
    public record Ports(
            NodeProperties properties,
            String incarnation,
            WriteSetLog cache,
            OrderedStream stream,
            TotalOrder order,
            ApplyProgress progress,
            KeylessTables keyless,
            UnsafeTables unsafe,
            Refusals refusals,
            AckStats acks,
            long openedNanos,
            Consumer<NodeEvent> events,
            FaultHandler faults) {
        private Applying.Ports applying() {
            return new Applying.Ports(properties, incarnation, cache, progress, events);
        }

        private Capturing.Ports capturing() {
            return new Capturing.Ports(properties, incarnation, stream, order, events, faults);
        }

        private Voting voting(UUID server) {
            return new Voting(properties.node(), server, stream, order, refusals);
        }

        private LostTail.Ports lostTail() {
            return new LostTail.Ports(properties, incarnation, cache, stream, order);
        }
    }

    private final Ports ports;
    private final ServerAccess access;
    private final LinkSignals signals;
    private NodeIdentity identity;
    private GtidSet executed;
    private LostTail tail;
    private OwnNumbers numbers;
    private Voting voting;
    private volatile LinkSignals.Task done;
    private int looks;
    /** How many commits didn't wait; -1 while it isn't known. */
    private long passedBy = -1;

    private volatile Applying applying;
    private volatile Capturing capturing;

    public ServerSession(Ports ports, ServerAccess access, LinkSignals signals) {
        this.ports = ports;
        this.access = access;
        this.signals = signals;
    }

    /**
     * Checks the server. If mysqld has been running since the last session, the applier starts; if mysqld was
     * restarted, the server is closed for clients until it is known what it lost.
     */
    void open() throws SQLException, IOException {
        try (Connection connection = access.connect()) {
            requireSettings(connection);
            if (access.semiSync() != null) {
                access.semiSync().install(connection);
            }
            executed = ServerAccess.executed(connection);
            identity = identity(connection);
            lookAtTables(connection);
            tail = new LostTail(ports.lostTail(), access, identity, connection);
            numbers = new OwnNumbers(ports.properties.dataDir(), connection, identity.server());
            executed = ServerAccess.executed(connection);
            carryOut(connection, tail.isReady() ? signals.task() : LinkSignals.Task.READ_ONLY);
            ports.progress.startFrom(ServerAccess.applied(connection));
        }
        ports.stream.self(identity.server());
        voting = ports.voting(identity.server());
        if (tail.isReady()) {
            startApplier();
        }
    }

    /** Keeps clients from writing to a member's server that doesn't record what they write. */
    private void requireSettings(Connection connection) throws SQLException {
        NodeProperties properties = ports.properties;
        if (NodeIdentity.read(properties.dataDir(), properties.cluster(), properties.node()) != null
                && !ServerCheck.recording(connection).isWhole()) {
            access.readOnly(connection, true);
        }
        ServerCheck.require(connection);
    }

    private void lookAtTables(Connection connection) throws SQLException {
        ports.keyless.look(connection);
        ports.unsafe.look(connection);
    }

    private void startApplier() throws SQLException {
        try (Connection connection = access.connect()) {
            if (ports.stream.own().lastSeen() < ServerAccess.applied(connection)) {
                PositionTable.log(connection);
            }
        }
        Applying started = new Applying(
                ports.applying(),
                access,
                signals,
                identity.server(),
                (applied, undone, isHere) -> attach(new OwnWrites(applied, undone, isHere)),
                voting);
        applying = started;
        started.start(tail.takenBack());
    }

    /** Makes a register hear of the order. What is captured from now on goes through this register. */
    private SharedOwnWrites attach(OwnWrites own) throws IOException, InterruptedException {
        SharedOwnWrites register = new SharedOwnWrites(own);
        Capturing next = new Capturing(ports.capturing(), identity, register, gate(), this::appliedSeqno);
        capturing = next;
        next.attach();
        return register;
    }

    private AckGate gate() {
        return access.semiSync() == null
                ? null
                : new AckGate(
                        access,
                        identity.server(),
                        ports.properties.commitTimeout(),
                        executed.last(identity.server()),
                        ports.acks,
                        ports.faults);
    }

    /** The seqno up to which the order is applied by now; without an applier, the last seqno that is ordered. */
    private long appliedSeqno() {
        Applying a = applying;
        return a == null ? ports.stream.lastOrdered() : a.appliedSeqno();
    }

    /**
     * Captures everything that clients have committed on this server, and waits until it is ordered, without applying
     * anything. There is nothing to do for a server that has never taken part.
     *
     * @return whether the order has everything; false when the link has something else to do
     */
    public boolean drain() throws SQLException, IOException, InterruptedException {
        NodeProperties properties = ports.properties;
        if (NodeIdentity.read(properties.dataDir(), properties.cluster(), properties.node()) == null) {
            return true;
        }
        try (Connection connection = access.connect()) {
            executed = ServerAccess.executed(connection);
            identity = identity(connection);
            UUID server = identity.server();
            tail = new LostTail(ports.lostTail(), access, identity, connection);
            access.readOnly(connection, true);
            ports.stream.self(server);
            attach(OwnWriteSets.beforeRepair(server, tail.takenBack(), ports.stream.lastOrdered()));
            while (signals.task().serves()) {
                if (tail.isCurrent()) {
                    if (ownOrdered() >= ownExecuted(connection)) {
                        return true;
                    }
                    if (!capturing.hasBegun()) {
                        capturing.begin(executed, tail.reserved(connection));
                    }
                }
                signals.await(signals.task(), LOOK_MILLIS / 20);
            }
            return false;
        }
    }

    /** Says in the order that the server won't hold what the order says: it gets a copy. */
    public void withdraw() throws SQLException {
        try (Connection connection = access.connect()) {
            ports.voting(ServerAccess.uuid(connection)).withdraw();
        }
    }

    /** The last GTID number of the server's own transactions that it has executed. */
    public long ownExecuted(Connection connection) throws SQLException {
        return ServerAccess.executed(connection)
                .minus(tail.reserved(connection))
                .last(identity.server());
    }

    /** The last GTID number of the server's own transactions that the order has. */
    public long ownOrdered() {
        return Math.max(
                identity.baseline().last(identity.server()), ports.stream.own().last());
    }

    /**
     * The GTID number of the last of this server's own transactions up to {@code number} that the order hasn't decided
     * on yet; 0 for none.
     *
     * @return -1 when the capture hasn't read the binlog up to there within {@code limit}
     */
    public long undecided(long number, Duration limit) throws InterruptedException {
        Capturing c = capturing;
        return c == null ? -1 : c.undecided(number, limit);
    }

    private NodeIdentity identity(Connection connection) throws SQLException, IOException {
        UUID server = ServerAccess.uuid(connection);
        NodeProperties properties = ports.properties;
        Path directory = properties.dataDir();
        NodeIdentity kept = NodeIdentity.read(directory, properties.cluster(), properties.node());
        if (kept == null) {
            // A server that took part before has transactions to be captured; only what a first start finds is the
            // baseline.
            boolean knows = ServerAccess.applied(connection) > 0;
            if (!knows) {
                ServerCheck.requireNew(connection);
                FormerCluster.requireNoDefinitions(properties.cluster(), ports.incarnation, executed);
            }
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

    /**
     * Carries out what the node's state requires, and looks after the server until it is lost or the session is to end.
     */
    void watch() throws SQLException, IOException, InterruptedException {
        boolean up = false;
        long capturedNanos = System.nanoTime();
        LinkSignals.Task task = signals.task();
        while (task.serves()) {
            try (Connection connection = access.connect()) {
                carryOut(connection, applying == null ? LinkSignals.Task.READ_ONLY : task);
                if (applying == null) {
                    recover(connection);
                } else if (!capturing.hasBegun()
                        && capturing.mayBegin(applying.appliedSeqno(), tail.orderedThen(connection))) {
                    numbers.requireUsed(connection);
                    capturing.begin(executed, tail.reserved(connection));
                }
                ServerCheck.Recording recording = ServerCheck.recording(connection);
                numbers.requireKept(recording.executed());
                if (!recording.isWhole()) {
                    requireSettings(connection);
                }
                requireWaiting(connection);
                if (++looks % LOOKS_PER_TABLE_LOOK == 0) {
                    lookAtTables(connection);
                    tail.compareSettings(connection);
                }
            }
            if (applying != null) {
                voting.answer(applying.appliedSeqno(), task == LinkSignals.Task.WRITABLE);
            }
            if (!up && applying != null && capturing.isUp()) {
                up = true;
                ports.events.accept(new NodeEvent.DatabaseUp());
            }
            if (!up || capturing.isUp()) {
                capturedNanos = System.nanoTime();
            } else if (System.nanoTime() - capturedNanos > CAPTURE_LOST_NANOS) {
                signals.lost("the binlog can't be read, the log says why");
            }
            task = signals.await(task, up ? LOOK_MILLIS : LOOK_MILLIS / 20);
        }
    }

    /** The first count after the server was opened has what this service itself committed meanwhile. */
    private void countPassedBy(long now) {
        if (passedBy >= 0 && now > passedBy) {
            log.error(
                    "{} commits got OK before the order had decided on them: somebody has switched semi-sync"
                            + " replication off for a moment",
                    now - passedBy);
        }
        passedBy = now;
    }

    /** Loses the session when commits of clients don't wait for their verdict although they should. */
    private void requireWaiting(Connection connection) throws SQLException {
        SemiSyncSource semiSync = access.semiSync();
        if (semiSync != null && done == LinkSignals.Task.WRITABLE) {
            String violation = semiSync.violation(connection);
            if (violation != null) {
                signals.lost("clients may get OK before the order has decided: " + violation);
            }
            countPassedBy(semiSync.passedBy(connection));
        }
    }

    /**
     * Opens or closes the server for clients, unless it is so already. A server that is found open when the service
     * starts was left open by the service that ran before. It is not closed for the moment that the node takes to be
     * SYNCED again: what clients write meanwhile is captured, just as what they wrote while no service ran.
     */
    private void carryOut(Connection connection, LinkSignals.Task task) throws SQLException {
        if (task == done) {
            return;
        }
        boolean stays = task == LinkSignals.Task.READ_ONLY
                && tail.isReady()
                && signals.mayStayOpen()
                && access.semiSync() == null
                && System.nanoTime() - ports.openedNanos < STAYS_OPEN_NANOS
                && !ServerAccess.isReadOnly(connection);
        if (!stays) {
            boolean opens = task == LinkSignals.Task.WRITABLE;
            if (opens && capturing != null) {
                capturing.opening(ServerAccess.executed(connection).last(identity.server()));
            }
            access.readOnly(connection, !opens);
            passedBy = -1;
            done = task;
        }
    }

    /** Goes on finding out what the server lost. What is captured for this goes through a register of its own. */
    private void recover(Connection connection) throws SQLException, IOException, InterruptedException {
        if (tail.isProbing() && tail.isCurrent()) {
            FormerCluster.requireWithinOrder(
                    ports.properties.cluster(), ServerAccess.applied(connection), ports.stream.lastOrdered());
        }
        switch (tail.step(connection)) {
            case PROBE, COMPARE, REPAIR -> {
                // Nothing to do but wait for the order.
            }
            case CAPTURE -> {
                if (capturing == null) {
                    attach(OwnWriteSets.beforeRepair(identity.server(), tail.takenBack(), ports.stream.lastOrdered()));
                    capturing.begin(executed, tail.reserved(connection));
                }
            }
            case DONE -> {
                close(capturing);
                startApplier();
            }
        }
    }

    /** Whether this session has closed the server for clients. */
    public boolean isClosed() {
        return done != null && done != LinkSignals.Task.WRITABLE;
    }

    void quorumChanged(TotalOrder.Quorum quorum) {
        Capturing c = capturing;
        if (c != null) {
            c.quorumChanged(quorum);
        }
    }

    public ApplierStats applierStats() {
        Applying a = applying;
        return a == null ? null : a.stats();
    }

    /** The client session whose locks the applier is waiting for; null when there is none. */
    public String blockedBy() {
        Applying a = applying;
        return a == null ? null : a.blockedBy();
    }

    /** How many of the server's own transactions wait for the decision of the order. */
    public int openTransactions() {
        Capturing c = capturing;
        return c == null ? 0 : c.openTransactions();
    }

    /** The commits of clients that wait for their verdict; none in commit mode {@code async}. */
    public WaitingCommits waitingCommits() {
        Capturing c = capturing;
        return c == null ? WaitingCommits.NONE : c.waitingCommits();
    }

    public CaptureStats captureStats() {
        Capturing c = capturing;
        return c == null ? null : c.stats();
    }

    /** Bytes that are captured and not yet known to be ordered. */
    public long windowBytes() {
        Capturing c = capturing;
        return c == null ? 0 : c.windowBytes();
    }

    /** How often proposals had to be sent again. */
    public long resends() {
        Capturing c = capturing;
        return c == null ? 0 : c.resends();
    }

    @Override
    public void close() {
        Capturing c = capturing;
        if (c != null && c.waitingCommits().count() > 0 && access.refusesConnections()) {
            awaitVerdicts(c);
        }
        close(capturing);
        close(applying);
    }

    /**
     * When mysqld is stopped without having been drained, it ends all sessions but those that wait within a commit, and
     * leaves the capture's connection alone for eight seconds more. As soon as that ends, everybody who still waits is
     * told OK. So it isn't given up before the order has decided, or mysqld has ended it.
     */
    private void awaitVerdicts(Capturing c) {
        ports.events.accept(new NodeEvent.DatabaseDown(
                "mysqld is being stopped while " + c.waitingCommits().count() + " commits wait for their verdict"));
        try {
            GtidSet open = c.awaitVerdicts(STOP_MAX);
            if (!open.isEmpty()) {
                log.warn(
                        "mysqld has ended while {} commits waited for their verdict. If it was stopped without quorate"
                                + " drain, it told their clients OK, although the order had not decided; quorate"
                                + " outcome will say what became of them: {}",
                        open.count(),
                        open);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
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
}
