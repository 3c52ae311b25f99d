// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.applier.Applier;
import io.quorate.applier.ApplierListener;
import io.quorate.applier.TailRepair;
import io.quorate.applier.TakenBack;
import io.quorate.core.CertifiedXid;
import io.quorate.core.ErrorCode;
import io.quorate.core.GtidSet;
import io.quorate.core.NodeEvent;
import io.quorate.core.OwnWrites;
import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import io.quorate.sst.CloneCopy;
import io.quorate.sst.CopyProgress;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/**
 * Gives this node's server all of another one's data when nothing less will do. The node takes part in the order meanwhile and
 * keeps what comes, as an arbitrator does; what certification knew where that begins it has from a peer.
 *
 * <ol>
 *   <li>What this server has committed and the order hasn't is captured and ordered, or it would be gone.
 *   <li>The servers copy ({@link CloneCopy}). From then on this one is, by its rows and GTIDs, the donor's server after a crash that lost
 *       nothing: at a position, with transactions of the donor's clients that the order doesn't know yet.
 *   <li>So it is treated as that: once the order has them all they are taken back ({@link TailRepair}) and applied in their
 *       order, by an applier that takes itself for the donor's.
 *   <li>Then it is this node's own again: the GTIDs it ever gave out are reserved, for the copy doesn't know them.
 * </ol>
 *
 * Every step is noted before it is taken ({@link CopyNote}); after a crash the node goes on with it. Work of the link's thread.
 */
final class FullCopy {
    private static final Logger log = LoggerFactory.getLogger(FullCopy.class);
    private static final int ROW_NOT_FOUND = 1032;
    private static final int DUPLICATE = 1062;
    private static final long POLL_MILLIS = 250;
    private static final Duration LOCK_WAIT = Duration.ofSeconds(3);
    /** A server that ends in order closes its port some time before it has ended. */
    private static final long START_AFTER_NANOS = Duration.ofSeconds(2).toNanos();

    private static final long START_AGAIN_NANOS = Duration.ofSeconds(30).toNanos();
    private static final long START_LIMIT_SECONDS = 120;
    /** How long a copy may stand still whose donor is gone, and one whose donor says that it is well. */
    private static final long GONE_NANOS = Duration.ofSeconds(10).toNanos();

    private static final long STANDS_NANOS = Duration.ofMinutes(10).toNanos();
    private static final long TRY_AGAIN_MILLIS = 3_000;
    private static final Duration TOLD_EVERY = Duration.ofSeconds(5);

    private final ServerSession.Parts parts;
    private final ServerAccess access;
    private final LinkSignals signals;
    private final Donors donors;
    private volatile CopyNote note;
    private volatile CopyProgress progress;
    private volatile String obstacle;
    private long unreachableSince;
    private long startedNanos;
    private long movedNanos;
    private long toldNanos;
    private String told = "";

    /** What the other nodes have to say of themselves, and how they are asked. */
    record Donors(Supplier<List<MemberReport>> present, PeerStreams peers, JsonMapper json) {}

    FullCopy(ServerSession.Parts parts, ServerAccess access, LinkSignals signals, Donors donors) {
        this.parts = parts;
        this.access = access;
        this.signals = signals;
        this.donors = donors;
        this.note = CopyNote.read(parts.properties().dataDir());
    }

    /** Whether this node may replace its server's data by a copy. */
    boolean isAllowed() {
        return parts.properties().sst().method() != NodeProperties.Sst.Method.NONE;
    }

    /** Whether a server that has nothing gets one also where the others' caches would do. */
    boolean isPreferred() {
        return parts.properties().sst().method() == NodeProperties.Sst.Method.CLONE;
    }

    /** Whether there is one to be made or to be finished. */
    boolean isPending() {
        return note != null;
    }

    /** A copy is needed that ends after seqno {@code from}, where this node's cache begins. While the link has no session. */
    void want(long from) throws IOException {
        CopyNote before = note;
        keep(before == null ? CopyNote.wanted(from) : CopyNote.wanted(from).ownLast(before.ownLast()));
        log.warn("this server needs a full copy of another one's data");
    }

    /**
     * Gives up one that was not necessary, for the server has all that it had. While the link has no session.
     *
     * @return false when the server's data may be gone already
     */
    boolean forget() throws IOException {
        if (note == null || note.step() != CopyNote.Step.WANTED || note.ownLast() != 0) {
            return false;
        }
        CopyNote.delete(parts.properties().dataDir());
        note = null;
        progress = null;
        return true;
    }

    /** How far it is, null while nothing is copied. */
    CopyProgress look() {
        return progress;
    }

    /** Whose server is copied, empty while that isn't known; null without a copy. */
    String donor() {
        CopyNote current = note;
        return current == null ? null : current.donor();
    }

    /** What it waits for, null when it doesn't. */
    String obstacle() {
        return note == null ? null : obstacle;
    }

    private void keep(CopyNote next) throws IOException {
        next.write(parts.properties().dataDir());
        note = next;
    }

    /** Goes on with it until it is over, or the node has something else for the link to do. */
    void run() throws SQLException, IOException, InterruptedException {
        while (note != null && signals.task().serves()) {
            try {
                switch (note.step()) {
                    case WANTED -> begin();
                    case COPYING -> copy();
                    case STRAIGHT -> apply();
                }
            } catch (QuorateException e) {
                if (e.code() != ErrorCode.COPY_REFUSED
                        && e.code() != ErrorCode.ORDER_INTERRUPTED
                        && e.code() != ErrorCode.SERVER_UNREACHABLE) {
                    throw e;
                }
                waits(e.code() == ErrorCode.COPY_REFUSED ? e.getMessage() : e.detail());
                pause(TRY_AGAIN_MILLIS);
            }
        }
    }

    private void pause(long millis) throws InterruptedException {
        LinkSignals.Task task = signals.task();
        if (task.serves()) {
            signals.await(task, millis);
        }
    }

    /** What stands in the way, or null. */
    private void waits(String why) {
        obstacle = why;
        tell(why == null ? "" : why);
    }

    private void tell(String what) {
        CopyNote current = note;
        String donor = current == null || current.donor().isEmpty() ? "another node" : current.donor();
        String text = "receiving a full copy of the data of " + donor + (what.isEmpty() ? "" : ": " + what);
        parts.events().accept(new NodeEvent.Joining(text));
        boolean moves = progress != null && obstacle == null;
        if (!text.equals(told) && (!moves || System.nanoTime() - toldNanos > TOLD_EVERY.toNanos())) {
            told = text;
            toldNanos = System.nanoTime();
            log.info("{}", text);
        }
    }

    // WANTED

    private void begin() throws SQLException, IOException, InterruptedException {
        progress = null;
        MemberReport donor = donors.present().get().stream()
                .filter(m -> m.hasSyncedServer() && m.applied() >= note.from())
                .min(MemberReport.nearest(parts.properties().zone()))
                .orElse(null);
        if (donor == null) {
            waits("no node with a server is SYNCED and has applied seqno " + note.from());
            pause(POLL_MILLIS);
            return;
        }
        CopyRequest.Source source = ask(donor.node());
        try (ServerSession session = new ServerSession(parts, access, signals)) {
            tell("what this server has committed is being ordered first");
            if (!session.drain()) {
                return;
            }
        }
        try (Connection connection = reach()) {
            ServerCheck.require(connection);
            new CloneCopy(access.credentials()).prepare(connection, "this node's server", "CLONE_ADMIN");
            String version = ServerAccess.version(connection);
            if (!version.equals(source.version())) {
                throw new QuorateException(
                        ErrorCode.COPY_REFUSED,
                        "CLONE needs servers of one version: " + donor.node() + " has " + source.version()
                                + ", this node " + version);
            }
            access.readOnly(connection, true);
            requireNothingUndecided(connection);
            CloneCopy.expect(connection);
            keep(note.copying(lastOfOurs(connection), donor.node(), source.server(), GtidSet.parse(source.reserved())));
        }
        log.info(
                "copying the server of {} at {}:{}, about {} MB, with MySQL's CLONE; what this server holds goes",
                donor.node(),
                source.host(),
                source.port(),
                source.bytes() >> 20);
    }

    /**
     * What a client of this server has prepared, and decides itself, would be lost. Not so what is prepared in a copy that came to
     * nothing; then it is known already what this server gave out.
     */
    private void requireNothingUndecided(Connection connection) throws SQLException {
        long given = ServerAccess.executed(connection).last(ServerAccess.uuid(connection));
        List<String> undecided = CloneCopy.prepared(connection).stream()
                .filter(xid -> !xid.endsWith("," + CertifiedXid.FORMAT))
                .toList();
        if (note.ownLast() == 0 && given > 0 && !undecided.isEmpty()) {
            throw new QuorateException(
                    ErrorCode.COPY_REFUSED,
                    "clients have prepared transactions on this server that they have not decided: XA COMMIT or XA ROLLBACK "
                            + String.join("; ", undecided));
        }
    }

    private static void unlogged(Connection connection, String... statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION sql_log_bin = 0");
            try {
                for (String each : statements) {
                    statement.execute(each);
                }
            } finally {
                statement.execute("SET SESSION sql_log_bin = 1");
            }
        }
    }

    private CopyRequest.Source ask(String node) {
        try {
            return CopyRequest.ask(donors.peers(), node, donors.json());
        } catch (IOException e) {
            throw new QuorateException(ErrorCode.COPY_REFUSED, node + " doesn't answer: " + e.getMessage(), e);
        }
    }

    private Connection reach() {
        try {
            return access.connectAlone();
        } catch (SQLException e) {
            throw access.unreachable(e);
        }
    }

    /** The highest GTID number this server ever gave out. */
    private long lastOfOurs(Connection connection) throws SQLException {
        UUID server = ServerAccess.uuid(connection);
        long executed = ServerAccess.executed(connection).last(server);
        return Math.max(
                Math.max(note.ownLast(), executed),
                parts.stream().positionOf(server).last());
    }

    // COPYING

    private void copy() throws SQLException, IOException, InterruptedException {
        Connection connection;
        try {
            connection = access.connectAlone();
        } catch (SQLException e) {
            awaitServer();
            return;
        }
        try (connection) {
            unreachableSince = 0;
            if (CloneCopy.running(connection) >= 0) {
                // Begun by this service before it was started anew.
                waits(null);
                watch(connection);
            } else if (isCopied(connection)) {
                straighten(connection);
            } else {
                fetch(connection);
            }
        }
    }

    /** Whether the server is the donor's by its data, and far enough. */
    private boolean isCopied(Connection connection) throws SQLException {
        return CloneCopy.isComplete(connection) && ServerAccess.applied(connection) >= note.from();
    }

    private void fetch(Connection connection) throws SQLException, IOException, InterruptedException {
        CopyRequest.Source source;
        try {
            source = ask(note.donor());
        } catch (QuorateException e) {
            keep(note.again());
            throw e;
        }
        if (!source.server().equals(note.donorServer())) {
            keep(note.again());
            return;
        }
        CloneCopy clone = new CloneCopy(access.credentials());
        clone.clear(connection, parts.properties().sst().bytesPerSecondMax().toBytes());
        AtomicReference<Throwable> end = new AtomicReference<>();
        Thread thread = new Thread(
                () -> {
                    try (Connection own = access.connectAlone()) {
                        log.info("CLONE: {}", clone.run(own, source.host(), source.port()));
                    } catch (SQLException | RuntimeException e) {
                        end.set(e);
                    }
                },
                "quorate-clone");
        thread.setDaemon(true);
        waits(null);
        thread.start();
        while (thread.isAlive() && signals.task().serves()) {
            watch(connection);
            thread.join(1);
        }
        if (end.get() instanceof QuorateException refused) {
            log.info("the copy of {} has failed, trying again: {}", note.donor(), refused.getMessage());
            keep(note.again());
            throw refused;
        } else if (end.get() != null) {
            log.info("CLONE: {}", end.get().toString());
        }
    }

    private void watch(Connection connection) throws InterruptedException {
        try {
            long running = connection.isValid(2) ? CloneCopy.running(connection) : -1;
            if (running >= 0) {
                CopyProgress now = CloneCopy.progress(connection);
                if (progress == null
                        || now.bytes() != progress.bytes()
                        || !now.stage().equals(progress.stage())) {
                    movedNanos = System.nanoTime();
                }
                progress = now;
                tell(now.toString());
                endIfItStands(connection, running);
            }
        } catch (SQLException e) {
            log.debug("the server is about to restart, as it does at the end: {}", e.toString());
        }
        pause(POLL_MILLIS);
    }

    /** MySQL waits for a donor that is gone far longer than another one takes to give it all. */
    private void endIfItStands(Connection connection, long running) throws SQLException {
        boolean gone =
                donors.present().get().stream().noneMatch(m -> m.node().equals(note.donor()) && m.hasSyncedServer());
        long stands = System.nanoTime() - movedNanos;
        if (progress.needsDonor() && stands > (gone ? GONE_NANOS : STANDS_NANOS)) {
            log.warn(
                    "nothing has come from {} for {} s{}; breaking off",
                    note.donor(),
                    TimeUnit.NANOSECONDS.toSeconds(stands),
                    gone ? ", which isn't SYNCED any more" : "");
            CloneCopy.breakOff(connection, running);
            movedNanos = System.nanoTime();
        }
    }

    /** The server is away, as it is when the copy is complete: it restarts by itself, or somebody starts it. */
    private void awaitServer() throws IOException, InterruptedException {
        long now = System.nanoTime();
        unreachableSince = unreachableSince == 0 ? now : unreachableSince;
        String command = parts.properties().mysql().startCommand();
        boolean longEnough = now - unreachableSince > START_AFTER_NANOS;
        if (longEnough) {
            waits(new QuorateException(ErrorCode.COPY_TO_START, "mysqld has ended, to begin with what it has received")
                    .getMessage());
        }
        if (longEnough && !command.isEmpty() && (startedNanos == 0 || now - startedNanos > START_AGAIN_NANOS)) {
            startedNanos = now;
            start(command);
        }
        pause(POLL_MILLIS);
    }

    private static void start(String command) throws IOException, InterruptedException {
        log.info("starting mysqld: {}", command);
        Process process = new ProcessBuilder("/bin/sh", "-c", command)
                .redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(new java.io.File("/dev/null")))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (!process.waitFor(START_LIMIT_SECONDS, TimeUnit.SECONDS)) {
            log.warn("quorate.mysql.start-command has not ended after {} s; it goes on", START_LIMIT_SECONDS);
        } else if (process.exitValue() != 0) {
            log.warn("quorate.mysql.start-command ended with {}", process.exitValue());
        }
    }

    /** Leaves the rows as they were at their position; see {@link TailRepair}. */
    private void straighten(Connection connection) throws SQLException, IOException, InterruptedException {
        UUID donor = note.donorServer();
        access.readOnly(connection, true);
        if (!reserve(connection)) {
            log.warn("somebody has written to this server before it was closed; copying it anew");
            keep(note.again());
            return;
        }
        GtidSet executed = ServerAccess.executed(connection);
        long last = executed.minus(note.reserved()).last(donor);
        long ordered = parts.stream().positionOf(donor).last();
        if (ordered < last || parts.stream().lastOrdered() < ServerAccess.applied(connection)) {
            waits("waiting until the order has the donor's transactions up to " + last + ", it has " + ordered);
            pause(POLL_MILLIS);
            return;
        }
        long upTo = parts.stream().lastOrdered();
        TakenBack back;
        try {
            back = TailRepair.ofCopy(
                            new TailRepair.Access(access.workers(), LOCK_WAIT),
                            parts.cache(),
                            donor,
                            parts.incarnation())
                    .run(ordered, executed, note.reserved());
        } catch (QuorateException e) {
            if (e.code() != ErrorCode.TAIL_UNCLEAR) {
                throw e;
            }
            throw anew(e.detail(), e);
        } catch (SQLException e) {
            if (e.getErrorCode() != ROW_NOT_FOUND && e.getErrorCode() != DUPLICATE) {
                throw e;
            }
            // This service ended right after the last time.
            throw anew(e.getMessage(), e);
        }
        if (back != null) {
            keep(note.straight(back.after(), upTo));
        }
    }

    private QuorateException anew(String why, Exception cause) throws IOException {
        keep(note.again());
        return new QuorateException(
                ErrorCode.COPY_REFUSED,
                "what clients had just committed at the donor can't be taken back, another copy may have none of that: "
                        + why,
                cause);
    }

    /** Has the server never give out again what it gave out before the copy; false when it has already. */
    private boolean reserve(Connection connection) throws SQLException {
        UUID server = ServerAccess.uuid(connection);
        if (note.ownLast() == 0) {
            return true;
        }
        GtidSet ours = new GtidSet().add(server, 1, note.ownLast());
        if (ours.minus(ServerAccess.purged(connection)).isEmpty()) {
            return true;
        }
        if (ServerAccess.executed(connection).last(server) > 0) {
            return false;
        }
        ServerAccess.reserve(connection, ours);
        return true;
    }

    // STRAIGHT

    /** Applies what was ordered since the copy, until all of the donor's own that was in the copy is in its place. */
    private void apply() throws SQLException, IOException, InterruptedException {
        AtomicReference<Exception> failure = new AtomicReference<>();
        // What the donor commits from now on is not here, however high its number.
        TakenBack back = new TakenBack(note.after(), Long.MAX_VALUE);
        try (Connection connection = reach()) {
            access.readOnly(connection, true);
        }
        Applier applier = new Applier(
                ServerSession.applierSettings(parts.properties()),
                access.workers(),
                parts.cache(),
                note.donorServer(),
                parts.incarnation(),
                (applied, undone, isHere) -> {
                    OwnWrites register = new OwnWrites(applied, undone, isHere);
                    parts.stream().tell(register, note.donorServer());
                    register.covered(Long.MAX_VALUE, 0);
                    return register;
                },
                new Listener(failure));
        try {
            applier.start(back);
            obstacle = null;
            while (applier.appliedSeqno() < note.upTo()
                    && failure.get() == null
                    && signals.task().serves()) {
                tell("it is here; applying what was ordered meanwhile, " + (note.upTo() - applier.appliedSeqno())
                        + " writesets to go");
                pause(POLL_MILLIS);
            }
        } finally {
            applier.close();
        }
        if (failure.get() instanceof SQLException e) {
            throw e;
        } else if (failure.get() instanceof QuorateException e) {
            throw e;
        } else if (applier.appliedSeqno() >= note.upTo()) {
            finish();
        }
    }

    /** What was the donor's alone goes; the server is this node's own. */
    private void finish() throws SQLException, IOException {
        NodeProperties properties = parts.properties();
        try (Connection connection = reach()) {
            int prepared = CloneCopy.rollBackPrepared(connection);
            if (prepared > 0) {
                log.info("{} transactions that were prepared at the donor were rolled back here", prepared);
            }
            unlogged(connection, "DELETE FROM quorate.undone", "DELETE FROM quorate.certified");
            UUID server = ServerAccess.uuid(connection);
            GtidSet ours = note.ownLast() == 0 ? new GtidSet() : new GtidSet().add(server, 1, note.ownLast());
            boolean durable = ServerAccess.forcesBinlog(connection) && ServerAccess.forcesRedoLog(connection);
            if (NodeIdentity.read(properties.dataDir(), properties.cluster(), properties.node()) == null) {
                new NodeIdentity(
                                properties.cluster(),
                                properties.node(),
                                server,
                                ours,
                                NodeIdentity.directoryId(properties.dataDir()),
                                false)
                        .write(properties.dataDir());
            }
            new ServerLife(ServerAccess.started(connection), durable, ours, new GtidSet(), TakenBack.NONE)
                    .write(properties.dataDir());
        }
        log.info("the full copy of the data of {} is complete; this server holds seqno {}", note.donor(), note.upTo());
        CopyNote.delete(properties.dataDir());
        note = null;
        progress = null;
        parts.events().accept(new NodeEvent.Joining(null));
    }

    private record Listener(AtomicReference<Exception> failure) implements ApplierListener {
        @Override
        public void applied(long seqno, int transactions, long originCommittedMicros) {}

        @Override
        public void failed(QuorateException cause) {
            failure.compareAndSet(null, cause);
        }

        @Override
        public void databaseLost(SQLException cause) {
            failure.compareAndSet(null, cause);
        }
    }
}
