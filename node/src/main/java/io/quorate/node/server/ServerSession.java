// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.applier.ApplierStats;
import io.quorate.applier.OwnWriteSets;
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
 * One session with the server, from its first look to its loss: server checked and read-only, what it lost in a crash
 * repaired, applier running, and, once there is a majority, capture and proposer. Used by the link's thread; the
 * statistics by any.
 */
public final class ServerSession implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ServerSession.class);
    private static final long LOOK_MILLIS = 1000;
    /** How long a server that was left open may stay so while its service starts. */
    private static final long STAYS_OPEN_NANOS = TimeUnit.SECONDS.toNanos(20);

    private static final int LOOKS_PER_TABLE_LOOK = 60;

    /** What every session is made of. */
    public record Ports(
            NodeProperties properties,
            String incarnation,
            WriteSetLog cache,
            OrderedStream stream,
            TotalOrder order,
            ApplyProgress progress,
            KeylessTables keyless,
            long openedNanos,
            Consumer<NodeEvent> events,
            FaultHandler faults) {
        private Applying.Ports applying() {
            return new Applying.Ports(properties, incarnation, cache, progress, events);
        }

        private Capturing.Ports capturing() {
            return new Capturing.Ports(properties, incarnation, stream, order, events, faults);
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
    private LinkSignals.Task done;
    private int looks;
    private volatile Applying applying;
    private volatile Capturing capturing;

    public ServerSession(Ports ports, ServerAccess access, LinkSignals signals) {
        this.ports = ports;
        this.access = access;
        this.signals = signals;
    }

    /**
     * Checks the server, and starts the applier on one that was seen before; one that was started anew is closed for
     * clients until it is known what it lost.
     */
    void open() throws SQLException, IOException {
        try (Connection connection = access.connect()) {
            ServerCheck.require(connection);
            executed = ServerAccess.executed(connection);
            identity = identity(connection);
            ports.keyless.look(connection);
            tail = new LostTail(ports.lostTail(), access, identity, connection);
            carryOut(connection, tail.isReady() ? signals.task() : LinkSignals.Task.READ_ONLY);
            ports.progress.startFrom(ServerAccess.applied(connection));
        }
        ports.stream.self(identity.server());
        if (tail.isReady()) {
            startApplier();
        }
    }

    private void startApplier() throws SQLException {
        Applying started = new Applying(
                ports.applying(),
                access,
                signals,
                identity.server(),
                (applied, undone, isHere) -> attach(new OwnWrites(applied, undone, isHere)));
        applying = started;
        started.start(tail.takenBack());
    }

    /** Has a register hear of the order; what is captured from now on goes through it. */
    private SharedOwnWrites attach(OwnWrites own) throws IOException, InterruptedException {
        SharedOwnWrites register = new SharedOwnWrites(own);
        Capturing next = new Capturing(ports.capturing(), identity, register, this::appliedSeqno);
        capturing = next;
        next.attach();
        return register;
    }

    /** As far as the order is applied by now, or will be before anything is captured. */
    private long appliedSeqno() {
        Applying a = applying;
        return a == null ? ports.stream.lastOrdered() : a.appliedSeqno();
    }

    /**
     * Has all that clients have committed on a server that took part before captured and ordered, without applying
     * anything.
     *
     * @return whether the order has it; false when the link has something else to do
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

    /** The last GTID number of its own that the server has executed. */
    public long ownExecuted(Connection connection) throws SQLException {
        return ServerAccess.executed(connection)
                .minus(tail.reserved(connection))
                .last(identity.server());
    }

    /** And the last that the order knows of. */
    public long ownOrdered() {
        return Math.max(
                identity.baseline().last(identity.server()), ports.stream.own().last());
    }

    /**
     * The last of this server's own transactions up to {@code number} whose fate is open, 0 for none.
     *
     * @return -1 when the capture hasn't read so far within {@code limit}
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

    /** Carries out what the node's state asks for and looks after the server until it is lost or the node is done. */
    void watch() throws SQLException, IOException, InterruptedException {
        boolean up = false;
        LinkSignals.Task task = signals.task();
        while (task.serves()) {
            try (Connection connection = access.connect()) {
                carryOut(connection, applying == null ? LinkSignals.Task.READ_ONLY : task);
                if (applying == null) {
                    recover(connection);
                } else if (!capturing.hasBegun()
                        && capturing.mayBegin(applying.appliedSeqno(), tail.orderedThen(connection))) {
                    capturing.begin(executed, tail.reserved(connection));
                }
                if (++looks % LOOKS_PER_TABLE_LOOK == 0) {
                    ports.keyless.look(connection);
                    tail.compareSettings(connection);
                }
            }
            if (!up && applying != null && capturing.isUp()) {
                up = true;
                ports.events.accept(new NodeEvent.DatabaseUp());
            }
            task = signals.await(task, up ? LOOK_MILLIS : LOOK_MILLIS / 20);
        }
    }

    /**
     * Opens or closes the server for clients, unless that was the last thing done. One that is found open when the
     * service starts was left so by the service that ran before, and is not closed for the moment it takes to be SYNCED
     * again: what clients write meanwhile is captured, as what they wrote while no service ran.
     */
    private void carryOut(Connection connection, LinkSignals.Task task) throws SQLException {
        if (task == done) {
            return;
        }
        boolean stays = task == LinkSignals.Task.READ_ONLY
                && tail.isReady()
                && signals.mayStayOpen()
                && System.nanoTime() - ports.openedNanos < STAYS_OPEN_NANOS
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

    /** The client's session whose locks apply waits for, null when none does. */
    public String blockedBy() {
        Applying a = applying;
        return a == null ? null : a.blockedBy();
    }

    /** Own transactions whose fate is open. */
    public int openTransactions() {
        Capturing c = capturing;
        return c == null ? 0 : c.openTransactions();
    }

    public CaptureStats captureStats() {
        Capturing c = capturing;
        return c == null ? null : c.stats();
    }

    /** Bytes captured and not yet known to be ordered. */
    public long windowBytes() {
        Capturing c = capturing;
        return c == null ? 0 : c.windowBytes();
    }

    /** How often proposals under way had to be sent again. */
    public long resends() {
        Capturing c = capturing;
        return c == null ? 0 : c.resends();
    }

    @Override
    public void close() {
        close(capturing);
        close(applying);
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
