// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.applier.ServerLife;
import io.quorate.applier.TakenBack;
import io.quorate.capture.DefinedTables;
import io.quorate.certification.OrderedStream;
import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.FromOutside;
import io.quorate.core.GtidSet;
import io.quorate.core.QuorateException;
import io.quorate.core.Retry;
import io.quorate.core.TableName;
import io.quorate.core.TotalOrder;
import io.quorate.core.WriteSetLog;
import io.quorate.ist.RejoinCourse;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.copy.DifferingTables.NotByTables;
import io.quorate.node.copy.StreamedCopy.NotByStream;
import io.quorate.node.member.MemberReport;
import io.quorate.node.question.Questions;
import io.quorate.node.server.JoinCounts;
import io.quorate.node.server.LinkSignals;
import io.quorate.node.server.NodeIdentity;
import io.quorate.node.server.Refill;
import io.quorate.node.server.ServerAccess;
import io.quorate.node.server.ServerLifeFile;
import io.quorate.node.server.ServerSession;
import io.quorate.sst.CopyProgress;
import io.quorate.sst.stream.Catalog;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/**
 * Gives this node's server another server's data: some tables if it is known where the two differ ({@link
 * CopiedTables}), or everything when nothing less will do, by one of two methods: {@link ClonedCopy} and {@link
 * StreamedCopy}. Meanwhile the node takes part in the order and keeps what is ordered, as an
 * arbitrator does; a peer has told it what certification knew at the place where that begins. What this server has
 * committed and the order doesn't have is captured and ordered first, or it would be lost.
 *
 * <p>Every step is noted before it is taken ({@link CopyNote}); after a crash the node goes on with the step that was
 * noted. All of this is done by the link's thread.
 */
public final class Copying implements ServerCopy, Refill {
    private static final Logger log = LoggerFactory.getLogger(Copying.class);
    static final long POLL_MILLIS = 250;
    private static final Pattern VERSION = Pattern.compile("[0-9]{1,4}\\.[0-9A-Za-z.+~_-]{1,60}");
    private static final Retry.Policy AGAIN = Retry.Policy.unbounded(
                    "the node waits for it with a server of no use to anybody, and whatever is in its way may"
                            + " pass or be mended",
                    Duration.ofSeconds(3))
            .telling(19, 20);
    private static final Duration TOLD_EVERY = Duration.ofSeconds(5);
    private static final int TOLD_MAX = 16;

    private final Ports ports;
    private final ServerAccess access;
    private final LinkSignals signals;
    private final Donors donors;
    private final Consumer<String> progress;
    private volatile CopyNote note;
    private final ByteBudget budget;
    private final ClonedCopy cloned;
    private final StreamedCopy streamed;
    private final AfterCopy afterCopy;
    private final CopiedTables copiedTables;
    private final TrustedTables trustedTables;
    private final KeptDefinitions keptDefinitions;
    private final CopyAnew anew;
    private final CopyMethod method;
    private final CopyStart start;
    private volatile String obstacle;
    private volatile OfferWhileWaiting offer;
    /** What {@link #mayKeep()} says. */
    private volatile @Nullable Boolean mayKeep;
    /** What {@link #notGiven} was before this server's own copy began. */
    private volatile List<TableName> wanted = List.of();

    private long toldNanos;
    /** What was said lately. */
    private final ArrayDeque<String> told = new ArrayDeque<>();

    private final CopyPulse pulse = new CopyPulse();

    /**
     * The parts of this node that a copy needs.
     *
     * @param incarnation UUID of the cluster that seqnos belong to
     */
    public record Ports(
            NodeProperties properties,
            String incarnation,
            WriteSetLog cache,
            OrderedStream stream,
            TotalOrder order,
            JoinCounts joins) {}

    /** What the other nodes report about themselves, and how they are asked. */
    public record Donors(Supplier<List<MemberReport>> present, Questions questions, JsonMapper json) {}

    /**
     * @param sessions makes sessions with the server, which are not open yet
     * @param progress is told how far the copy is, in words for people; null when the copy is complete
     */
    public Copying(
            Ports ports,
            Supplier<ServerSession> sessions,
            ServerAccess access,
            LinkSignals signals,
            Donors donors,
            Consumer<String> progress) {
        this.ports = ports;
        this.progress = progress;
        this.access = access;
        this.signals = signals;
        this.donors = donors;
        this.note = CopyNote.read(ports.properties().dataDir(), donors.json());
        this.budget =
                new ByteBudget(ports.properties().sst().bytesPerSecondMax().toBytes());
        this.cloned = new ClonedCopy(this, ports, access, signals, donors, budget);
        this.streamed = new StreamedCopy(ports, access, signals, donors, budget, this::ofWaiting, this::tell);
        this.afterCopy = new AfterCopy(this, ports, access, signals);
        this.copiedTables = new CopiedTables(this, streamed, ports, afterCopy);
        this.keptDefinitions = new KeptDefinitions(ports, afterCopy);
        this.trustedTables = new TrustedTables(this, ports);
        this.method = new CopyMethod(ports.properties());
        this.start = new CopyStart(this, method, sessions, ports, access, donors);
        this.anew = new CopyAnew(this, streamed, trustedTables, start, ports);
    }

    @Override
    public boolean isAllowed() {
        return ports.properties().sst().method() != NodeProperties.Sst.Method.NONE;
    }

    @Override
    public boolean isPreferred() {
        NodeProperties.Sst.Method configured = ports.properties().sst().method();
        return configured == NodeProperties.Sst.Method.CLONE || configured == NodeProperties.Sst.Method.STREAM;
    }

    @Override
    public boolean isPending() {
        return note != null;
    }

    @Override
    public void want(long from, Difference where) throws IOException {
        withhold();
        CopyNote before = note;
        // Of a server that was to be copied before, more may be gone than differs now.
        keep(before == null ? CopyNote.wanted(from, where) : before.everythingFrom(from));
        log.warn(
                "this server needs a copy of {}",
                note.where().mayBeAnywhere()
                        ? "all of another one's data"
                        : "what differs of another one's tables and objects");
    }

    @Override
    public List<TableName> unknown(Set<TableName> tables, String donor) {
        try (Connection connection = reach()) {
            List<TableName> lacked = StreamSource.lacked(connection, List.copyOf(tables));
            return lacked.isEmpty()
                    ? lacked
                    : donors.questions()
                            .ask(donor, new CopyQuestion.LackedOf(lacked))
                            .tables();
        } catch (SQLException e) {
            throw access.unreachable(e);
        } catch (IOException e) {
            throw noAnswer(donor, e);
        }
    }

    private static QuorateException noAnswer(String donor, IOException e) {
        return new QuorateException(ErrorCode.COPY_NO_DONOR, donor + " doesn't answer: " + e.getMessage(), e);
    }

    @Override
    public void wantOfWaiting(Difference where) throws IOException {
        want(CopyNote.ANY_PLACE, where);
    }

    @Override
    public String trust(long from, Difference where) throws IOException {
        CopyNote current = note;
        if (current != null && !current.isUntouched()) {
            return "its tables may be gone already, for a copy";
        }
        withhold();
        keep(CopyNote.trusting(from, current != null && where.mayBeAnywhere() ? current.where() : where));
        return null;
    }

    @Override
    public Boolean mayKeep() {
        CopyNote current = note;
        // One that waits for whoever is SYNCED. It may have tried to keep its own, or have none any more.
        boolean waits = current != null
                && (current.isBegun()
                        ? !isGiven(current.isByStream() ? streamed.tablesAlone() : null)
                        : current.isUntouched() && current.from() > CopyNote.ANY_PLACE);
        return waits ? Boolean.FALSE : mayKeep;
    }

    /** @param tables null for everything, or while only those that are SYNCED may give them */
    private boolean isGiven(@Nullable Set<TableName> tables) {
        return donors.present().get().stream().anyMatch(m -> m.gives(tables));
    }

    @Override
    public void keepOwn() throws IOException {
        Set<TableName> tables = Set.copyOf(notGiven());
        withhold();
        keep(CopyNote.keeping(ports.stream().lastOrdered(), tables));
    }

    @Override
    public void offer(Difference where) {
        if (offer != null || note != null) {
            return;
        }
        OfferWhileWaiting found = where.mayBeAnywhere() ? null : found(where);
        mayKeep = found != null && mayStand(found.notGiven(), where);
        offer = found;
        if (found != null) {
            log.info(
                    "until its copy, this server gives others that wait what differs there, but not {}",
                    TableName.some(found.notGiven()));
        }
    }

    /** False also when that can't be found out. */
    private boolean mayStand(List<TableName> tables, Difference where) {
        try (Connection connection = access.connectAlone()) {
            return KeptDefinitions.mayStand(Set.copyOf(tables), where, connection, DefinedTables.at(connection), ports);
        } catch (SQLException | IOException e) {
            log.debug("whose definitions differ here can't be told: {}", e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return false;
    }

    /** Null when that can't be found out. */
    private @Nullable OfferWhileWaiting found(Difference where) {
        try (Connection connection = access.connectAlone()) {
            return DifferingTables.of(DefinedTables.at(connection), ports.cache(), ServerAccess.uuid(connection))
                    .offer(
                            where,
                            ServerAccess.applied(connection),
                            ports.stream().lastOrdered(),
                            Catalog.read(connection, ports.properties().sst().omitted()));
        } catch (NotByTables | SQLException | IOException e) {
            log.debug("what differs here can't be told by tables: {}", e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return null;
    }

    @Override
    public void withhold() {
        mayKeep = null;
        if (offer != null) {
            wanted = notGiven();
            offer = null;
        }
    }

    @Override
    public List<TableName> notGiven() {
        OfferWhileWaiting current = offer;
        return current == null ? null : current.notGiven();
    }

    /** What this server gives though it waits for a copy; null when it gives nothing. */
    @Nullable
    OfferWhileWaiting offered() {
        return offer;
    }

    /**
     * The tables that a server may give which waits for a copy itself; null while only those may give anything that
     * are SYNCED.
     *
     * @param copied those that are being copied; null while that isn't known
     */
    @Nullable
    Set<TableName> ofWaiting(@Nullable Set<TableName> copied) {
        CopyNote current = note;
        if (current == null || current.where().mayBeAnywhere()) {
            return null;
        }
        if (copied != null && current.isBegun()) {
            return copied;
        }
        if (current.from() > CopyNote.ANY_PLACE) {
            return null;
        }
        if (wanted.isEmpty()) {
            // The service that found it out has ended since.
            OfferWhileWaiting found = found(current.where());
            wanted = found == null ? wanted : found.notGiven();
        }
        return wanted.isEmpty() ? null : Set.copyOf(wanted);
    }

    @Override
    public Wish wish() {
        CopyNote current = note;
        boolean mayWait = current != null
                && current.step() == CopyNote.Step.WANTED
                && current.from() > CopyNote.ANY_PLACE
                && !current.where().mayBeAnywhere();
        return mayWait ? new Wish(current.from(), current.where()) : null;
    }

    @Override
    public boolean forget() throws IOException {
        if (note == null || note.step() != CopyNote.Step.WANTED) {
            return false;
        }
        CopyNote.delete(ports.properties().dataDir());
        note = null;
        return true;
    }

    @Override
    public CopyProgress look() {
        CopyNote current = note;
        if (current == null || current.isWanted()) {
            return null;
        }
        return pulse.shown(current.isByStream() ? streamed.look() : cloned.look(), System.nanoTime());
    }

    @Override
    public NodeProperties.Sst.Method method() {
        CopyNote current = note;
        if (current == null || current.isWanted()) {
            return null;
        }
        return current.isByStream() ? NodeProperties.Sst.Method.STREAM : NodeProperties.Sst.Method.CLONE;
    }

    @Override
    public ByteBudget budget() {
        return budget;
    }

    @Override
    public String donor() {
        CopyNote current = note;
        if (current == null) {
            return null;
        }
        return current.isByStream() ? streamed.donor() : current.donor();
    }

    @Override
    public String obstacle() {
        String rows = streamed.obstacle();
        String known = rows == null ? obstacle : rows;
        CopyProgress shown = look();
        long still =
                shown == null || !shown.needsDonor() || budget.isPaused() ? 0 : pulse.stillSeconds(System.nanoTime());
        return note == null
                ? null
                : known != null || still == 0 ? known : "nothing has come from " + from() + " for " + still + " s";
    }

    @Override
    public String pause(boolean value) {
        if (value && method() == NodeProperties.Sst.Method.CLONE) {
            return "MySQL's CLONE can't be held up; quorate transfer throttle makes the next one slower";
        }
        budget.pause(value);
        return null;
    }

    CopyNote note() {
        return note;
    }

    /**
     * Begins anew, by a clone. On a server that may have given out GTIDs which it had given out before, as one does
     * that is written to right after a clone, only another clone makes them undone.
     */
    void againByClone() throws IOException {
        method.onlyClone();
        keep(note.again());
    }

    void keep(CopyNote next) throws IOException {
        next.write(ports.properties().dataDir(), donors.json());
        note = next;
    }

    @Override
    public void run() throws SQLException, IOException, InterruptedException {
        Retry retry = new Retry(AGAIN, System.nanoTime());
        while (note != null && signals.task().serves()) {
            if (isLeft()) {
                keep(note.atAnyPlace());
            }
            try {
                switch (note.step()) {
                    case WANTED, WANTED_STILL, WANTED_ANEW -> {
                        cloned.reset();
                        start.run();
                    }
                    case COPYING -> cloned.run();
                    case STRAIGHT -> cloned.apply(afterCopy);
                    case STREAMING -> {
                        if (!wasWrittenTo()) {
                            obstacle = null;
                            copiedTables.fetch();
                        }
                    }
                    case TABLES_HERE, TRUSTED -> copiedTables.finish();
                    case KEEPING -> bringUnderOwn();
                    case TRUSTING -> trust();
                }
            } catch (NotByTables e) {
                anew.begin(e);
            } catch (QuorateException e) {
                if (!isTriedAgain(e)) {
                    throw e;
                }
                waits(e.getMessage());
                Retry.Next next = retry.failed(e.getMessage(), System.nanoTime());
                // A reason that is new has already been logged by waits().
                if (next.tell()) {
                    log.info("the full copy has waited {} times by now: {}", next.attempts(), e.getMessage());
                }
                pause(next.pauseMillis());
            }
        }
    }

    /**
     * Whether tables are gone here for a copy of a server that was SYNCED, and all that are left wait for one
     * themselves. As long as there is a plan, these may give what it has.
     */
    private boolean isLeft() {
        List<MemberReport> present = donors.present().get();
        return note.isBegun()
                && note.from() > CopyNote.ANY_PLACE
                && !note.where().mayBeAnywhere()
                && !streamed.isPlanned(note.from())
                && present.stream().noneMatch(MemberReport::hasSyncedServer)
                && present.stream().anyMatch(m -> m.notGiven() != null);
    }

    /**
     * Whether the copy is tried again after this failure. A stream that can't copy something is tried again too: the
     * donor's clients may alter what stands in its way.
     */
    private static boolean isTriedAgain(QuorateException e) {
        return e.code() == ErrorCode.COPY_NOT_BY_STREAM || (e.code().isRetryable() && !RejoinCourse.mends(e));
    }

    private void bringUnderOwn() throws NotByTables, SQLException, IOException, InterruptedException {
        try (Connection connection = start.closed()) {
            if (connection == null) {
                return;
            }
        }
        if (keptDefinitions.bring(note.where().tables())) {
            log.warn(
                    "this server's own definitions of {} stand: all that others have committed fits under them",
                    TableName.some(List.copyOf(note.where().tables())));
            keep(CopyNote.trusting(note.from(), note.where()));
        }
    }

    private void trust() throws NotByTables, SQLException, IOException, InterruptedException {
        CopyPlan.delete(ports.properties().dataDir());
        try (Connection connection = start.closed()) {
            CopyPlan plan = connection == null ? null : trustedTables.choose(connection);
            if (plan != null) {
                streamed.here(plan);
                keep(note.trusted(start.lastOfOurs(connection), plan.upTo()));
            }
        }
    }

    /** More is copied than was wanted at first. */
    void forgetWanted() {
        wanted = List.of();
    }

    void pause(long millis) throws InterruptedException {
        LinkSignals.Task task = signals.task();
        if (task.serves()) {
            signals.await(task, millis);
        }
    }

    /** Notes and tells what the copy waits for; null when nothing is in its way. */
    void waits(String why) {
        obstacle = why;
        tell(why == null ? "" : why);
    }

    /** Whose data come, for people. */
    private String from() {
        String donor = donor();
        return donor == null || donor.isEmpty() ? "another node" : donor;
    }

    void tell(String what) {
        CopyNote current = note;
        String extent = current == null || current.where().mayBeAnywhere() ? "a full copy of the data" : "what differs";
        String text = (current != null && current.isTrust()
                        ? "its own tables are taken for right"
                        : "receiving " + extent + " of " + from())
                + (what.isEmpty() ? "" : ": " + what);
        progress.accept(text);
        boolean moves = look() != null && obstacle == null;
        boolean isTime = !moves || System.nanoTime() - toldNanos > TOLD_EVERY.toNanos();
        // A copy that is tried again and again says the same few things in turns.
        if (isTime && !told.contains(text)) {
            if (told.size() == TOLD_MAX) {
                told.removeFirst();
            }
            told.addLast(text);
            toldNanos = System.nanoTime();
            log.info("{}", text);
        }
    }

    static void unlogged(Connection connection, String... statements) throws SQLException {
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

    CopyQuestion.CloneSource ask(String node) {
        try {
            return plausible(node, donors.questions().ask(node, new CopyQuestion.CloneFrom()));
        } catch (IOException e) {
            throw noAnswer(node, e);
        }
    }

    /** This node's password goes to that server. */
    private static CopyQuestion.CloneSource plausible(String node, CopyQuestion.CloneSource source) {
        boolean plausible = FromOutside.isHost(source.host())
                && FromOutside.isPort(source.port())
                && source.server() != null
                && source.version() != null
                && VERSION.matcher(source.version()).matches()
                && isGtidSet(source.reserved());
        if (!plausible) {
            throw new QuorateException(
                    ErrorCode.COPY_REFUSED,
                    node + " says of its server what can't be; look at what its service and its server are");
        }
        return source;
    }

    private static boolean isGtidSet(String text) {
        try {
            return text != null && GtidSet.parse(text) != null;
        } catch (IllegalArgumentException | IndexOutOfBoundsException | QuorateException e) {
            return false;
        }
    }

    Connection reach() {
        try {
            return access.connectAlone();
        } catch (SQLException e) {
            throw access.unreachable(e);
        }
    }

    /** After a copy of everything can't come by method stream. */
    void byClone(NotByStream why) throws IOException {
        if (ports.properties().sst().method() == NodeProperties.Sst.Method.STREAM) {
            if (why.refusal != null) {
                throw why.refusal;
            }
            return;
        }
        log.warn("method stream can't copy this, trying clone: {}", why.getMessage());
        againByClone();
    }

    private boolean wasWrittenTo() throws SQLException, IOException {
        try (Connection connection = reach()) {
            return wasWrittenTo(connection);
        }
    }

    /**
     * Whether clients have written to this server since the copy began, which some accounts can at any time; then it
     * begins anew, once the order has what they wrote. They may have dropped tables in the midst of the copy.
     */
    boolean wasWrittenTo(Connection connection) throws SQLException, IOException {
        UUID server = ServerAccess.uuid(connection);
        if (ServerAccess.executed(connection).last(server) <= note.ownLast()) {
            return false;
        }
        log.warn("somebody has written to this server while it was copied; copying it anew");
        keep(note.again());
        return true;
    }

    /**
     * Notes that the copy is complete and the server is this node's own.
     *
     * @param at the seqno up to which the server holds everything
     * @param reserved the server's own GTIDs that are executed though no transaction there has them
     */
    void finish(Connection connection, long at, GtidSet reserved) throws SQLException, IOException {
        NodeProperties properties = ports.properties();
        UUID server = ServerAccess.uuid(connection);
        boolean durable = ServerAccess.forcesBinlog(connection) && ServerAccess.forcesRedoLog(connection);
        if (NodeIdentity.read(properties.dataDir(), properties.cluster(), properties.node()) == null) {
            GtidSet executed = ServerAccess.executed(connection);
            GtidSet ours = executed.ofOthers(server).addAll(executed.tagged(server));
            ours.add(server, 1, note.ownLast());
            new NodeIdentity(
                            properties.cluster(),
                            properties.node(),
                            server,
                            ours,
                            NodeIdentity.directoryId(properties.dataDir()),
                            false)
                    .write(properties.dataDir());
        }
        // A clone brings all that its donor's has.
        NodeIdentity.note(properties, ServerAccess.purged(connection).ofOthers(server));
        ServerLifeFile.write(
                properties.dataDir(),
                new ServerLife(ServerAccess.started(connection), durable, reserved, new GtidSet(), TakenBack.NONE));
        if (note.isTrust()) {
            log.info("this server holds seqno {}, with its own tables as they were", at);
        } else {
            log.info("the copy of {} is complete; this server holds seqno {}", from(), at);
            ports.joins().count(JoinCounts.Step.COPY_COMPLETED);
        }
        CopyNote.delete(properties.dataDir());
        note = null;
        told.clear();
        // Nobody could let the next one go on before it is there.
        budget.pause(false);
        progress.accept(null);
    }
}
