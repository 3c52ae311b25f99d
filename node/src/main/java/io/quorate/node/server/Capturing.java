// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.applier.SharedOwnWrites;
import io.quorate.capture.CapturePosition;
import io.quorate.capture.CaptureSettings;
import io.quorate.capture.CaptureStats;
import io.quorate.capture.MySqlCapture;
import io.quorate.capture.PassedOver;
import io.quorate.capture.SemiSyncReplica;
import io.quorate.core.AppliedDdl;
import io.quorate.core.BinlogPosition;
import io.quorate.core.CaptureProtocol;
import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.GtidSet;
import io.quorate.core.NodeEvent;
import io.quorate.core.OriginPosition;
import io.quorate.core.OwnOrder;
import io.quorate.core.OwnRegister;
import io.quorate.core.ProposalWindow;
import io.quorate.core.QuorateException;
import io.quorate.core.ServerPassword;
import io.quorate.core.ServerTls;
import io.quorate.core.Spool;
import io.quorate.core.TotalOrder;
import io.quorate.core.WriteSet;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.thread.FaultHandler;
import io.quorate.node.trace.Traces;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Captures what clients commit on the server. The {@link CaptureProtocol} decides what to do; a {@link MySqlCapture},
 * which reads the binlog, and a {@link Proposer} do it. One object for each register of own transactions. Used by the
 * link's thread; any thread may read the statistics.
 */
final class Capturing implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Capturing.class);

    /** What every capture of this node works with. */
    record Ports(
            NodeProperties properties,
            ServerTls tls,
            ServerPassword password,
            String incarnation,
            OwnOrder own,
            TotalOrder order,
            Traces traces,
            Consumer<NodeEvent> events,
            FaultHandler faults,
            Spool spool) {}

    /**
     * A row, with what stands in the same event, may take this part of the heap beyond what the service needs in any
     * case: where it is applied it takes about five times its size, as payload, events and packet, while the next one
     * comes in. One that is larger would end every service, and again after each start.
     */
    private static final int HEAP_SHARE = 5;

    /** And this part of the heap what is captured and not ordered yet, unless it is a single transaction. */
    private static final int WINDOW_SHARE = 32;

    private static final long HEAP_NEEDED = 96 << 20;

    /** What a key of a large transaction takes while it is captured, ordered and certified. */
    private static final int KEY_BYTES = 160;

    /** More doesn't fit into the largest packet. */
    private static final long EVENT_BYTES_MAX = 700 << 20;

    /** mysqld ends the connections of replicas after eight seconds, at the latest. */
    private static final Duration STOP_MAX = Duration.ofSeconds(15);

    private static final long LOOK_MILLIS = 20;
    private static final long HEAP_MAX = Runtime.getRuntime().maxMemory();

    private final Ports ports;
    private final UUID server;
    private final NodeIdentity identity;
    private final boolean handsOver;

    private final SharedOwnWrites register;
    private final CaptureProtocol protocol;
    /** Null in commit mode {@code async}. */
    private final AckGate gate;

    private volatile Proposer proposer;
    private volatile MySqlCapture reader;

    /**
     * @param gate through which clients get their OK; null in commit mode {@code async}
     * @param answered whether a failed definition's client gets OK all the same
     * @param handsOver as {@link CaptureSettings#handingOver}
     * @param applied the seqno up to which the order is applied at the server by now
     */
    Capturing(
            Ports ports,
            NodeIdentity identity,
            SharedOwnWrites register,
            AckGate gate,
            Predicate<Certified> answered,
            boolean handsOver,
            LongSupplier applied) {
        this.ports = ports;
        this.server = identity.server();
        this.identity = identity;
        this.handsOver = handsOver;
        this.register = register;
        this.gate = gate;
        this.protocol = new CaptureProtocol(
                server,
                identity.baseline().last(server),
                ports.own(),
                heard(register, gate, answered, ports.traces()),
                applied);
    }

    /** With those who hear what the register is told. The gate tells traces what it hears itself. */
    private static OwnRegister heard(OwnRegister register, AckGate gate, Predicate<Certified> answered, Traces traces) {
        if (gate != null) {
            return register.and(gate, answered);
        }
        return traces == Traces.OFF ? register : register.and(new Captured(traces), c -> false);
    }

    /** Tells traces what is captured where no client waits. */
    private record Captured(Traces traces) implements OwnRegister.Listener {
        @Override
        public void captured(WriteSet w) {
            traces.captured(w, false);
        }

        @Override
        public void decided(Collection<Long> lost, long last) {
            // They hear it from the order.
        }
    }

    /** Makes the register hear of the order. To be called before {@link #begin}. */
    void attach() throws IOException, InterruptedException {
        protocol.attach();
    }

    /**
     * Whether it is known where to capture from.
     *
     * @param applied the seqno up to which the order is applied at the server
     * @param orderedBefore a GTID number of the server up to which the order is known to have had its transactions; 0
     *     for none
     */
    boolean mayBegin(long applied, long orderedBefore) {
        return protocol.mayBegin(ports.order().quorum().primary(), applied, orderedBefore);
    }

    /**
     * Begins to read the binlog.
     *
     * @param executed what the server had executed when the session began; used for the GTIDs of other sources
     * @param reserved GTIDs of the server that are not to be looked for in its binlog
     */
    void begin(GtidSet executed, GtidSet reserved) {
        ports.traces().captureBegins();
        OriginPosition from = protocol.begin(windowLimits(), window -> {
            Proposer made = new Proposer(
                    window,
                    ports.order(),
                    ports.properties().order().resendAfter().toMillis(),
                    gate == null ? ports.traces()::proposed : gate::proposed,
                    gate != null,
                    ports.faults());
            proposer = made;
            made.quorumMayHaveChanged();
            return made;
        });
        GtidSet resume = CapturePosition.after(server, from, identity.known(executed, ports.incarnation()))
                .resume()
                .addAll(reserved);
        MySqlCapture started = new MySqlCapture(
                captureSettings(),
                new CapturePosition(resume, from),
                ports.spool(),
                protocol::read,
                this::failed,
                gate == null ? null : new Reading());
        if (gate != null) {
            gate.reads(started::stats);
        }
        started.start();
        reader = started;
    }

    private void failed(QuorateException cause) {
        QuorateException told = cause;
        if (cause.code() == ErrorCode.GTID_OUT_OF_ORDER) {
            try {
                OwnNumbers.refuse(ports.properties().dataDir(), cause.detail());
            } catch (IOException e) {
                told = new QuorateException(ErrorCode.DISK, e.toString(), e);
            }
        }
        ports.events().accept(new NodeEvent.Failed(told));
    }

    /** What was met and can't be ordered. */
    PassedOver passedOver() {
        return reader == null ? PassedOver.NOTHING : reader.passedOver();
    }

    /** The gate hears what is read, and then the proposer. */
    private final class Reading implements SemiSyncReplica {
        @Override
        public void awaitSettled() throws InterruptedException {
            gate.awaitSettled();
        }

        @Override
        public void connected(Acknowledger acknowledger) {
            gate.connected(acknowledger);
        }

        @Override
        public void read(BinlogPosition end, boolean endsGroup) {
            gate.read(end);
            proposer.read(endsGroup);
        }
    }

    boolean hasBegun() {
        return reader != null;
    }

    /** Whether the capture reads the binlog, and it is known how much of this server's transactions the order has. */
    boolean isUp() {
        return reader != null && reader.stats().connected() && ports.own().isKnown();
    }

    private ProposalWindow.Limits windowLimits() {
        NodeProperties.Order o = ports.properties().order();
        return new ProposalWindow.Limits(
                (int) o.proposalBytesMax().toBytes(),
                o.inFlightMax(),
                Math.min(o.windowBytesMax().toBytes(), HEAP_MAX / WINDOW_SHARE),
                // Where somebody waits, each transaction is proposed at once; what comes while rounds are under way
                // is proposed together.
                gate == null ? o.interval().toMillis() : 0,
                gate == null ? o.intervalMax().toMillis() : 0,
                o.idleAfter().toMillis());
    }

    private CaptureSettings captureSettings() {
        NodeProperties p = ports.properties();
        NodeProperties.MySql mysql = p.mysql();
        // The binlog connection needs a server id of its own among the server's replicas.
        long mixed = UUID.nameUUIDFromBytes((p.cluster() + "/" + p.node()).getBytes(StandardCharsets.UTF_8))
                .getMostSignificantBits();
        return CaptureSettings.of(
                        mysql.host(),
                        mysql.port(),
                        mysql.user(),
                        ports.password(),
                        server,
                        0x4000_0000L | (mixed & 0x3fff_ffffL))
                .with(
                        ports.tls(),
                        Set.of(AppliedDdl.source(ports.incarnation()), AppliedDdl.wholeSource(ports.incarnation())))
                .handingOver(handsOver)
                .withLimits(new CaptureSettings.Limits(
                        p.capture().transactionBytesMax().toBytes(),
                        (int) Math.min((HEAP_MAX - HEAP_NEEDED) / HEAP_SHARE, EVENT_BYTES_MAX),
                        (int) Math.min((HEAP_MAX - HEAP_NEEDED) / KEY_BYTES, CaptureSettings.Limits.KEYS_MAX_DEFAULT),
                        p.capture().undecidedBytesMax().toBytes()));
    }

    void quorumChanged(TotalOrder.Quorum quorum) {
        Proposer p = proposer;
        if (p != null) {
            p.quorumChanged(quorum);
        }
    }

    /**
     * The GTID number of the last of this server's own transactions up to {@code number} that the order hasn't decided
     * on yet; 0 for none.
     *
     * @return -1 when the capture hasn't read the binlog up to there within {@code limit}
     */
    long undecided(long number, Duration limit) throws InterruptedException {
        return register.awaitCovered(number, limit) ? register.lastUndecided(number) : -1;
    }

    /** How many of the server's own transactions wait for the decision of the order. */
    int openTransactions() {
        return register.size();
    }

    /** The commits of clients that wait for their verdict; none in commit mode {@code async}. */
    WaitingCommits waitingCommits() {
        return gate == null ? WaitingCommits.NONE : gate.waiting();
    }

    /** As {@link ServerSession#stalled}. */
    String stalled() {
        return gate == null ? null : gate.stalled();
    }

    /** As {@link ServerSession#slowClients}. */
    void slowClients(double perSecond, Duration lease) {
        if (gate != null) {
            gate.slow(perSecond, lease);
        }
    }

    /** What flow control keeps back; nothing in commit mode {@code async}. */
    HeldCommits heldCommits() {
        return gate == null ? HeldCommits.NONE : gate.held();
    }

    /**
     * Waits as long as commits wait for their verdict and the binlog can still be read, for at most {@code limit}.
     *
     * @return the transactions that still wait
     */
    private GtidSet awaitVerdicts(Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        while (waitingCommits().count() > 0 && isUp() && System.nanoTime() < end) {
            Thread.sleep(LOOK_MILLIS);
        }
        return gate == null ? new GtidSet() : gate.open();
    }

    /**
     * When mysqld is stopped without having been drained, it ends all sessions but those that wait within a commit, and
     * leaves the capture's connection alone for eight seconds more. As soon as that ends, everybody who still waits is
     * told OK. So it isn't given up before the order has decided, or mysqld has ended it.
     */
    void awaitVerdictsWhileServerStops() {
        ports.events()
                .accept(new NodeEvent.DatabaseDown("mysqld is being stopped while "
                        + waitingCommits().count() + " commits wait for their verdict"));
        try {
            GtidSet open = awaitVerdicts(STOP_MAX);
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

    /**
     * Commits are about to wait for their verdict.
     *
     * @param number its own GTID number up to which it has committed everything
     */
    void answered(long number) {
        if (gate != null) {
            gate.answered(number);
        }
    }

    /** Null before the capture has begun. */
    CaptureStats stats() {
        MySqlCapture r = reader;
        return r == null ? null : r.stats();
    }

    /** Bytes that are captured and not yet known to be ordered. */
    long windowBytes() {
        Proposer p = proposer;
        return p == null ? 0 : p.windowBytes();
    }

    /** How often proposals had to be sent again. */
    long resends() {
        Proposer p = proposer;
        return p == null ? 0 : p.resends();
    }

    @Override
    public void close() {
        Proposer p = proposer;
        if (p != null) {
            p.close();
        }
        if (gate != null) {
            gate.close();
        }
        MySqlCapture r = reader;
        if (r != null) {
            r.close();
        }
    }
}
