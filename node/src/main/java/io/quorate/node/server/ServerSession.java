// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.applier.ApplierStats;
import io.quorate.applier.OwnWriteSets;
import io.quorate.applier.PositionTable;
import io.quorate.applier.SharedOwnWrites;
import io.quorate.applier.TailCourse;
import io.quorate.capture.CaptureStats;
import io.quorate.capture.DefinedTables;
import io.quorate.capture.PassedOver;
import io.quorate.certification.OrderedStream;
import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.GtidSet;
import io.quorate.core.NodeEvent;
import io.quorate.core.OwnWrites;
import io.quorate.core.QuorateException;
import io.quorate.core.TotalOrder;
import io.quorate.core.WriteSetLog;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.thread.FaultHandler;
import io.quorate.node.thread.MonotonicClock;
import io.quorate.node.trace.Traces;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One session with the server, from the first check until the server is lost. The server is checked and made read-only,
 * what it lost in a crash is repaired, the applier is started and, once there is a majority, the capture and the
 * proposer. Used by the link's thread; any thread may read the statistics.
 */
public final class ServerSession implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ServerSession.class);
    private static final long PAUSE_MILLIS = 50;
    /**
     * How long a server that was left open may stay so while its service starts, which takes two to five seconds, and
     * half a minute on a machine that is ten times overloaded.
     */
    private static final long STAYS_OPEN_NANOS = TimeUnit.SECONDS.toNanos(60);

    private static final int LOOKS_PER_TABLE_LOOK = 60;
    private static final String READ_ONLY = "read_only";

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
            Traces traces,
            long openedNanos,
            Consumer<NodeEvent> events,
            FaultHandler faults) {
        private Applying.Ports applying(SessionFaults faults) {
            return new Applying.Ports(properties, incarnation, cache, progress, traces, faults.events(events));
        }

        private Capturing.Ports capturing(ServerAccess access, SessionFaults faults) {
            return new Capturing.Ports(
                    properties,
                    access.tls(),
                    access.password(),
                    incarnation,
                    stream,
                    order,
                    traces,
                    faults.events(events),
                    faults,
                    cache.spool());
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
    private final WaitCheck waits;
    private final SessionCourse course = new SessionCourse();
    private NodeIdentity identity;
    private GtidSet executed;
    private LostTail tail;
    private boolean handsOver;
    private OwnNumbers numbers;
    private Voting voting;
    private int looks;
    /** When the mysqld was started with which the session began. */
    private long started;
    /** Null before the session is open. */
    private volatile @Nullable String version;

    private volatile @Nullable String autoIncrement;

    private volatile @Nullable String closedBy;

    private volatile Applying applying;
    private volatile Capturing capturing;

    public ServerSession(Ports ports, ServerAccess access, LinkSignals signals) {
        this.ports = ports;
        this.access = access;
        this.signals = signals;
        this.waits = new WaitCheck(access.semiSync());
    }

    /**
     * Checks the server. If mysqld has been running since the last session, the applier starts; if mysqld was
     * restarted, the server is closed for clients until it is known what it lost.
     */
    void open() throws SQLException, IOException, InterruptedException {
        try (Connection connection = access.connect()) {
            started = ServerAccess.started(connection);
            version = ServerAccess.version(connection);
            requireSettings(connection);
            if (access.semiSync() != null) {
                access.semiSync().install(connection);
                requireNoOthers(connection);
            }
            executed = ServerAccess.executed(connection);
            identity = NodeIdentity.of(ports.properties, ports.incarnation, connection, executed);
            lookAtTables(connection);
            tail = new LostTail(ports.lostTail(), access, identity, connection);
            numbers = new OwnNumbers(ports.properties.dataDir(), connection, identity.server());
            reserveTagged(connection);
            executed = ServerAccess.executed(connection);
            long applied = ServerAccess.applied(connection);
            ports.progress.startFrom(applied);
            ports.traces.startFrom(applied);
            ports.stream.self(identity.server());
            voting = ports.voting(identity.server());
            course.begin(new ByConnection(connection), signals.task(), tail.isReady());
        }
    }

    /** The version of the server, as that says it; null before the session is open. */
    @Nullable
    public String version() {
        return version;
    }

    /** Which numbers the server gives out for AUTO_INCREMENT; null before that is known. */
    @Nullable
    public String autoIncrement() {
        return autoIncrement;
    }

    /** Keeps clients from writing to a member's server that doesn't record what they write. */
    private void requireSettings(Connection connection) throws SQLException {
        if (NodeIdentity.isKnown(ports.properties)
                && !ServerCheck.recording(connection).isWhole()) {
            access.readOnly(connection, true);
        }
        ServerCheck.require(connection);
    }

    /** Otherwise this session would be lost as soon as it is to open the server, and the next one as well. */
    private void requireNoOthers(Connection connection) throws SQLException {
        String others = access.semiSync().tooManyOthers(connection);
        if (others != null) {
            if (!ServerAccess.isReadOnly(connection)) {
                access.readOnly(connection, true);
            }
            throw new QuorateException(ErrorCode.SERVER_SETTINGS, WaitCheck.TOO_EARLY + others);
        }
    }

    /**
     * A clone of another server doesn't know what is tagged in this one's history, and would give it out once more;
     * then what a client commits under it would be taken for history.
     */
    private void reserveTagged(Connection connection) throws SQLException {
        GtidSet forgotten = identity.baseline().tagged(identity.server()).minus(executed);
        if (!forgotten.isEmpty()) {
            ServerAccess.reserve(connection, forgotten);
        }
    }

    /** When the mysqld was started with which this session has to do. */
    long started() {
        return started;
    }

    private void lookAtTables(Connection connection) throws SQLException {
        ports.keyless.look(connection);
        ports.unsafe.look(connection);
    }

    private void startApplier(Connection connection) throws SQLException {
        if (ports.stream.own().lastSeen() < ServerAccess.applied(connection)) {
            PositionTable.log(connection);
        }
        DefinedTables defined = DefinedTables.ofDefinitions(connection);
        AnsweredDefinitions answered = new AnsweredDefinitions(ports.cache, defined);
        Applying started = new Applying(
                ports.applying(faults()),
                access,
                signals,
                identity.server(),
                defined,
                (applied, undone, isHere) -> attach(new OwnWrites(applied, undone, isHere), answered),
                voting);
        applying = started;
        started.start(tail.takenBack());
    }

    /** Makes a register hear of the order. What is captured from now on goes through this register. */
    private SharedOwnWrites attach(OwnWrites own, Predicate<Certified> answered)
            throws IOException, InterruptedException {
        SharedOwnWrites register = new SharedOwnWrites(own);
        Capturing next = new Capturing(
                ports.capturing(access, faults()), identity, register, gate(), answered, handsOver, this::appliedSeqno);
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
                        ports.properties.flow().lagTarget(),
                        executed.last(identity.server()),
                        ports.acks,
                        ports.traces,
                        faults());
    }

    private SessionFaults faults() {
        return new SessionFaults(ports.faults, signals);
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
        openToHandOver();
        while (signals.task().serves()) {
            if (handsOver()) {
                return true;
            }
            signals.await(signals.task(), PAUSE_MILLIS);
        }
        return false;
    }

    /** Keeps clients from writing, and begins to have the order get what they have committed. */
    void openToHandOver() throws SQLException, IOException, InterruptedException {
        if (!NodeIdentity.isKnown(ports.properties)) {
            return;
        }
        handsOver = true;
        try (Connection connection = access.connect()) {
            executed = ServerAccess.executed(connection);
            identity = NodeIdentity.of(ports.properties, ports.incarnation, connection, executed);
            tail = new LostTail(ports.lostTail(), access, identity, connection);
            access.readOnly(connection, true);
            ports.stream.self(identity.server());
        }
    }

    /** Goes on with that; whether the order has everything. */
    boolean handsOver() throws SQLException, IOException, InterruptedException {
        if (identity == null || OwnNumbers.isRefused(ports.properties.dataDir())) {
            return true;
        }
        try (Connection connection = access.connect()) {
            return course.hasHandedOver(new ByConnection(connection));
        }
    }

    /** What was met while handing over and can't be ordered. */
    public PassedOver passedOver() {
        Capturing c = capturing;
        return c == null ? PassedOver.NOTHING : c.passedOver();
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

    /** Carries out what the node's state requires, and looks after the server. */
    void look(LinkSignals.Task task) throws SQLException, IOException, InterruptedException {
        try (Connection connection = access.connect()) {
            course.look(new ByConnection(connection), task, MonotonicClock.millis());
        }
    }

    /** Whether the server is applied to and was captured from. */
    boolean isUp() {
        return course.isUp();
    }

    private void check(Connection connection) throws SQLException, IOException {
        ServerCheck.Recording recording = ServerCheck.recording(connection);
        note(recording.autoIncrement());
        if (recording.started() != started) {
            // It was away for less than the time between two looks, and is closed for clients, or lost something.
            signals.lost("mysqld was started again");
            return;
        }
        numbers.requireKept(connection);
        if (!recording.isWhole()) {
            requireSettings(connection);
        }
        String violation = course.isOpen() ? waits.violation(connection) : null;
        if (violation != null) {
            closeBefore(violation, connection);
        }
        if (++looks % LOOKS_PER_TABLE_LOOK == 0) {
            lookAtTables(connection);
            tail.compareSettings(connection);
        }
    }

    private void note(String numbers) {
        boolean alone = ports.properties.peers().size() < 2;
        if (!numbers.equals(autoIncrement) && numbers.startsWith("1/") && !alone) {
            log.warn("{}", ServerCheck.SAME_NUMBERS);
        }
        autoIncrement = numbers;
    }

    /** Before the capture is let go, so that nobody gets OK without it. */
    private void closeBefore(String violation, Connection connection) throws SQLException {
        try {
            access.semiSync().restore(connection);
            access.closeCaptured(connection);
        } finally {
            signals.lost(violation);
        }
    }

    /** What the course of the session has to be done, by a connection for the time of one look. */
    private final class ByConnection implements SessionCourse.Work {
        private final Connection connection;

        ByConnection(Connection connection) {
            this.connection = connection;
        }

        /**
         * A server that is found open when the service starts was left open by the service that ran before. It is not
         * closed for the moment that the node takes to be SYNCED again: what clients write meanwhile is captured, just
         * as what they wrote while no service ran.
         */
        @Override
        public boolean staysOpen() throws SQLException {
            return tail.isReady()
                    && signals.mayStayOpen()
                    && access.semiSync() == null
                    && System.nanoTime() - ports.openedNanos < STAYS_OPEN_NANOS
                    && !ServerAccess.isReadOnly(connection);
        }

        @Override
        public void openForClients() throws SQLException {
            access.holdCommits(connection);
            String violation = waits.violationNow(connection);
            if (violation != null) {
                signals.lost(violation);
                return;
            }
            access.readOnly(connection, false);
            waits.changed();
        }

        @Override
        public void noteAnswered() throws SQLException {
            if (capturing != null) {
                capturing.answered(ServerAccess.executed(connection).last(identity.server()));
            }
        }

        @Override
        public void closeForClients() throws SQLException {
            if (course.isUp()) {
                access.closeCaptured(connection);
            } else {
                access.readOnly(connection, true);
            }
            waits.changed();
        }

        @Override
        public SessionCourse.Closed closed() throws SQLException {
            String by = ServerAccess.switchedOnBy(connection, READ_ONLY);
            if (by == null && course.isClosed()) {
                log.warn("somebody has opened the server for clients, which this node's state doesn't allow");
            }
            noteClosed(by, ServerAccess.switchedOnBy(connection, "offline_mode"));
            return by == null
                    ? SessionCourse.Closed.BY_NOBODY
                    : by.isEmpty() ? SessionCourse.Closed.BY_SERVICE : SessionCourse.Closed.BY_SOMEBODY;
        }

        @Override
        public void restoreRest() throws SQLException {
            access.keepDrained(connection);
            if (course.isUp() && !course.isOpen()) {
                access.keepHolding(connection); // An open server is closed first (check).
            }
        }

        @Override
        public TailCourse.Step recover() throws SQLException, IOException, InterruptedException {
            if (tail.isProbing() && tail.isCurrent()) {
                FormerCluster.requireWithinOrder(
                        ports.properties.cluster(), ServerAccess.applied(connection), ports.stream.lastOrdered());
            }
            return tail.step(connection);
        }

        @Override
        public boolean isCurrent() {
            return tail.isCurrent();
        }

        @Override
        public long ownOrdered() {
            return ServerSession.this.ownOrdered();
        }

        @Override
        public long ownExecuted() throws SQLException {
            return ServerSession.this.ownExecuted(connection);
        }

        @Override
        public boolean hasPassedOver() throws SQLException {
            GtidSet now = ServerAccess.executed(connection);
            return now.ofOthers(identity.server())
                    .addAll(now.tagged(identity.server()))
                    .minus(identity.known(now, ports.incarnation))
                    .minus(passedOver().gtids())
                    .isEmpty();
        }

        @Override
        public void captureAlone() throws SQLException, IOException, InterruptedException {
            attach(
                    OwnWriteSets.beforeRepair(identity.server(), tail.takenBack(), ports.stream.lastOrdered()),
                    c -> false);
            capturing.begin(executed, tail.reserved(connection));
        }

        @Override
        public void apply() throws SQLException {
            ServerSession.close(capturing);
            startApplier(connection);
        }

        @Override
        public boolean mayCapture() throws SQLException {
            return capturing.mayBegin(applying.appliedSeqno(), tail.orderedThen(connection));
        }

        @Override
        public void capture() throws SQLException, IOException {
            numbers.requireUsed(connection);
            capturing.begin(executed, tail.reserved(connection));
        }

        @Override
        public boolean isCaptureUp() {
            return capturing.isUp();
        }

        @Override
        public void check() throws SQLException, IOException {
            ServerSession.this.check(connection);
        }

        @Override
        public void vote(boolean synced) {
            voting.answer(applying.appliedSeqno(), synced);
        }

        @Override
        public void holdCommits() throws SQLException {
            access.holdCommits(connection);
        }

        @Override
        public void up() {
            ports.events.accept(new NodeEvent.DatabaseUp());
        }

        @Override
        public void lost(String why) {
            signals.lost(why);
        }
    }

    private void noteClosed(@Nullable String readOnly, @Nullable String offline) {
        String by = byOther(offline, "offline_mode");
        if (by == null) {
            by = byOther(readOnly, READ_ONLY);
        }
        if (by != null && !by.equals(closedBy)) {
            log.warn("clients can't write to the server: {}, and it is left so", by);
        }
        closedBy = by;
    }

    private static @Nullable String byOther(@Nullable String account, String variable) {
        return account == null || account.isEmpty() ? null : account + " has set " + variable + "=ON";
    }

    /** Who keeps clients from writing besides this service, and by what; null when nobody does. */
    @Nullable
    public String closedBy() {
        return closedBy;
    }

    /** Whether this session has closed the server for clients. */
    public boolean isClosed() {
        return course.isClosed();
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

    /** Why commits of clients are ended before anybody has captured them; null when none is. */
    public String stalled() {
        Capturing c = capturing;
        return c == null ? null : c.stalled();
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

    /**
     * Flow control: until {@code lease} is over, at most so many clients a second get their OK. Without effect in
     * commit mode {@code async}.
     */
    public void slowClients(double perSecond, Duration lease) {
        Capturing c = capturing;
        if (c != null) {
            c.slowClients(perSecond, lease);
        }
    }

    /** What flow control keeps back; nothing in commit mode {@code async}. */
    public HeldCommits heldCommits() {
        Capturing c = capturing;
        return c == null ? HeldCommits.NONE : c.heldCommits();
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
            c.awaitVerdictsWhileServerStops();
        }
        close(capturing);
        letThrough();
        close(applying);
    }

    /** What the applier has in a commit would wait for a capture that has ended. */
    private void letThrough() {
        if (access.semiSync() == null || !course.isClosed()) {
            return;
        }
        try (Connection connection = access.connect()) {
            access.settleCommits(connection);
        } catch (SQLException e) {
            log.debug("commits that may wait on {}: {}", access, e.toString());
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
