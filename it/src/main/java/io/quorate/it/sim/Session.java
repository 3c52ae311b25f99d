// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import static java.time.temporal.ChronoUnit.MICROS;

import io.quorate.applier.Blockers;
import io.quorate.applier.Dispatch;
import io.quorate.applier.Feed;
import io.quorate.applier.Group;
import io.quorate.applier.Intake;
import io.quorate.applier.OrderedLater;
import io.quorate.applier.OwnWriteSets;
import io.quorate.applier.Schedule;
import io.quorate.core.CaptureProtocol;
import io.quorate.core.Certified;
import io.quorate.core.CertifiedXid;
import io.quorate.core.Gtid;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.KeysBuilder;
import io.quorate.core.OriginPosition;
import io.quorate.core.OwnRegister;
import io.quorate.core.OwnWrites;
import io.quorate.core.Payload;
import io.quorate.core.WriteSet;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** One session of a service with its database: schedule, workers, capture and proposer. */
final class Session implements Intake.Taker {
    private static final int WORKERS = 3;
    private static final int BYTES_MAX = 1 << 20;
    private static final int GROUP_MICROS_MAX = 3000;
    private static final Duration POSITION_INTERVAL = Duration.ofMillis(4);
    private static final int ASKED_MICROS_MAX = 1_000_000 / Acknowledging.CLOCK;
    private static final int ASKED_AGAIN_MICROS = 1000;
    private static final int ASKS_EVERY = 8;
    private static final long[] NONE = {};

    final Node node;
    final World world;
    final OwnWrites own;
    final OrderedLater later;
    final Schedule schedule;
    final List<Execution> running = new ArrayList<>();

    private final boolean recovering;
    private final OwnWriteSets here;
    private final Feed feed;
    private final Dispatch dispatch;
    private final Intake intake;
    private int connections;
    private boolean held;
    private boolean closed;

    final Voting voting;
    /** By which clients hear OK; null but in mode after-sync. */
    private final Acknowledging acknowledging;

    private final long since;
    private final CaptureProtocol protocol;
    private Proposer proposer;
    /** Where in the binlog; below zero before it is known where to begin. */
    private int captureAt = -1;

    private long capturedSeen;
    private boolean capturing;
    private long waitsUntil;

    /** @param recovering whether it only captures: what the server lost is not known yet */
    Session(Node node, boolean recovering) {
        this.node = node;
        this.world = node.world;
        long position = node.database().position();
        this.recovering = recovering;
        here = new OwnWriteSets(node.uuid(), node.takenBack(), node.database().undone());
        own = !recovering
                ? new OwnWrites(position, node.database().undone(), here::isHere)
                : world.bugs.contains(Bug.FAILURES_FORGOTTEN)
                        ? new OwnWrites(position, Map.of(), c -> false)
                        : OwnWriteSets.beforeRepair(node.uuid(), node.takenBack(), node.lastOrdered());
        later = new OrderedLater(node.uuid(), Dispute.TEXTS);
        voting = new Voting(node);
        acknowledging = world.mode == Mode.AFTER_SYNC ? new Acknowledging(this) : null;
        since = world.now();
        protocol = protocol();
        attach();
        feed = new Feed(node.log(), here, own.prepared(), position + 1);
        int transactionsMax = 1 + world.random.nextInt(8);
        schedule = new Schedule(position, transactionsMax, BYTES_MAX, Long.MAX_VALUE);
        dispatch = new Dispatch(schedule, groupInterval(), POSITION_INTERVAL, nanos());
        intake = new Intake(feed, transactionsMax, BYTES_MAX, this);
        feed();
    }

    /** The product's, and the bugs that are planted in it. */
    private CaptureProtocol protocol() {
        OwnRegister register = world.bugs.contains(Bug.BUILT_ON_DROPPED) ? new Spoilt.Register(own) : own;
        OwnRegister hearing = acknowledging == null ? register : register.and(acknowledging, c -> false);
        return new CaptureProtocol(node.uuid(), 0, node.stream(), hearing, this::applied) {
            @Override
            public boolean mayBegin(boolean primary, long applied, long orderedBefore) {
                return world.bugs.contains(Bug.CAPTURE_TOO_EARLY) || super.mayBegin(primary, applied, orderedBefore);
            }
        };
    }

    private void attach() {
        try {
            protocol.attach();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** In every second session groups wait until they have filled, up to so long. */
    private Duration groupInterval() {
        return Duration.of(Math.max(0, world.random.nextInt(2 * GROUP_MICROS_MAX) - GROUP_MICROS_MAX), MICROS);
    }

    boolean isClosed() {
        return closed;
    }

    void close() {
        closed = true;
        feed.close();
        if (acknowledging != null) {
            acknowledging.disconnect();
        }
        for (Execution e : List.copyOf(running)) {
            e.abandon();
        }
    }

    long applied() {
        return schedule.committed();
    }

    boolean isCapturing() {
        boolean connected = acknowledging == null || acknowledging.isConnected();
        return proposer != null && connected && node.stream().isKnown();
    }

    boolean isIdle() {
        return proposer != null
                && proposer.isIdle()
                && captureAt == node.database().binlog().size()
                && running.isEmpty();
    }

    /** @param orderedBefore what the order is known to have had of this server */
    boolean mayCapture(boolean primary, long orderedBefore) {
        return protocol.mayBegin(primary, applied(), orderedBefore);
    }

    void quorumChanged(boolean primary) {
        if (proposer != null) {
            proposer.quorumChanged(primary);
        }
    }

    /** Null but in mode after-sync. */
    Acknowledging acknowledging() {
        return acknowledging;
    }

    /** Since when it is there. */
    long since() {
        return since;
    }

    // The applier.

    /** Something may be ready to be applied: it is ordered, there is room for it, or it is time for it. */
    void feed() {
        if (closed || recovering) {
            return;
        }
        try {
            while (intake.turn(Duration.ZERO)) {
                // There is more.
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
        tellProgress();
        work();
    }

    private void tellProgress() {
        Dispatch.Progress progress = dispatch.progress();
        if (progress != null) {
            own.applied(progress.seqno());
        }
    }

    @Override
    public Feed.Due read(Feed.Due next) {
        return new Feed.Due(spoil(node.asRead(next.writeSet())), next.duty());
    }

    @Override
    public boolean offer(Deque<Feed.Due> batch) {
        return dispatch.offer(batch, running.size() < WORKERS);
    }

    private void work() {
        for (Group next; running.size() < WORKERS && (next = dispatch.take(nanos())) != null; ) {
            running.add(new Execution(this, next, ++connections));
        }
    }

    private long nanos() {
        return TimeUnit.MICROSECONDS.toNanos(world.now());
    }

    /** By which number the server shows a transaction's session: none where it is prepared, below zero a client's. */
    long idOf(Transaction transaction) {
        return transaction.prepared() > 0
                ? Blockers.PREPARED
                : running.stream()
                        .filter(e -> e.holds(transaction))
                        .mapToLong(Execution::id)
                        .findFirst()
                        .orElse(-1);
    }

    boolean isRunning(long id) {
        return running.stream().anyMatch(e -> e.id() == id);
    }

    void hold(boolean clients) {
        held = clients;
    }

    /** Whether clients have to wait. */
    boolean isHolding() {
        return held;
    }

    private Certified spoil(Certified c) {
        WriteSet w = c.writeSet();
        if (!world.bugs.contains(Bug.DDL_NO_BARRIER) || !w.isBarrier()) {
            return c;
        }
        WriteSet spoilt = new WriteSet(
                w.gtid(), w.lastSeen(), 0, WriteSet.Kind.ROWS, w.keys(), w.payload(), w.builtOn(), Spoilt.ROWS);
        return new Certified(c.seqno(), c.verdict(), c.conflictsWith(), 0, c.position(), c.lastOfEntry(), spoilt);
    }

    void committed(Group group, boolean positionSaved) {
        dispatch.committed(group, positionSaved, nanos());
        tellProgress();
    }

    void finished(Execution e) {
        running.remove(e);
        world.after(1, () -> {
            if (!closed) {
                feed();
            }
        });
    }

    // The capture.

    void startCapture() {
        OriginPosition from = protocol.begin(Proposer.limits(node), window -> proposer = new Proposer(this, window));
        world.decided.requireKnown(node, from.last());
        capturedSeen = from.lastSeen();
        List<Database.Logged> binlog = node.database().binlog();
        int at = 0;
        while (at < binlog.size() && binlog.get(at).number() <= from.last()) {
            at++;
        }
        captureAt = at;
        if (acknowledging != null) {
            acknowledging.connect(at);
        } else {
            capture();
        }
    }

    /** Something was committed, or there is room for more. */
    void capture() {
        if (closed
                || captureAt < 0
                || capturing
                || (acknowledging != null && !acknowledging.isConnected())
                || proposer.isFull()
                || captureAt >= node.database().binlog().size()) {
            return;
        }
        capturing = true;
        world.after(1 + world.random.nextInt(world.faults.captureMicrosMax()), () -> {
            capturing = false;
            if (!closed && (acknowledging == null || !acknowledging.breaks(captureAt))) {
                Database.Logged entry = node.database().binlog().get(captureAt);
                capturing = true;
                ask(asks(entry), world.now() + ASKED_MICROS_MAX, known -> {
                    capturing = false;
                    captureNext(known);
                    capture();
                });
            }
        });
    }

    /** How far the binlog has been read. */
    int captured() {
        return captureAt;
    }

    /** For so long the server doesn't answer. */
    void captureWaits(long micros) {
        world.trace(node.name() + " doesn't answer its capture for " + micros + " us");
        waitsUntil = world.now() + micros;
    }

    /** The table of which the server has to be asked something before an entry can be given; null for none. */
    private Table asks(Database.Logged entry) {
        if (world.asking == null || !entry.byClient()) {
            return null;
        }
        return entry.ddl() != null
                ? entry.ddl()
                : world.asking.nextInt(ASKS_EVERY) > 0 ? null : Table.ALL[world.asking.nextInt(Table.ALL.length)];
    }

    /**
     * Asks the server something of a table. Whoever defines it may be waiting for this capture: so there is a limit.
     *
     * @param table null for nothing
     * @param then is told whether there was an answer
     */
    private void ask(Table table, long limit, Consumer<Boolean> then) {
        boolean limited = world.now() >= limit && !world.bugs.contains(Bug.ASKED_WITHOUT_LIMIT);
        boolean locked = table != null && node.database().isBeingDefined(table);
        if (world.now() < waitsUntil || (locked && !limited)) {
            world.after(Math.max(ASKED_AGAIN_MICROS, waitsUntil - world.now()), () -> {
                if (!closed) {
                    ask(table, limit, then);
                }
            });
            return;
        }
        world.statistics.limited += locked ? 1 : 0;
        then.accept(!locked);
    }

    /** @param known whether the server has answered what it was asked for this */
    private void captureNext(boolean known) {
        Database.Logged entry = node.database().binlog().get(captureAt++);
        if (entry.number() > 0) {
            read(entry, known);
        }
        if (acknowledging != null) {
            acknowledging.read(captureAt, entry);
        }
    }

    private void read(Database.Logged entry, boolean known) {
        capturedSeen = Math.max(capturedSeen, entry.applied());
        try {
            protocol.read(entry.number(), capturedSeen, NONE, entry.byClient() ? writeSet(entry, known) : null);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private WriteSet writeSet(Database.Logged entry, boolean known) {
        KeysBuilder keys = new KeysBuilder();
        entry.changes().forEach(change -> change.addKeys(keys, world.bugs));
        if (entry.ddl() != null) {
            boolean fits = known && entry.ddl().keyed && entry.ddl() != Table.TAG;
            keys.add(entry.ddl().key(), fits ? KeyType.UPDATE : KeyType.EXCLUSIVE);
            if (entry.ddl() == Table.TAG) {
                keys.add(Keys.KEEPS_COLUMNS, KeyType.SHARED);
            }
        }
        if (!known && entry.ddl() == null) {
            // Which other tables' rows it needs isn't known.
            keys.add(Keys.EVERYTHING, KeyType.EXCLUSIVE);
        }
        long seen = entry.isPrepared() ? entry.snapshot() : capturedSeen;
        if (world.bugs.contains(Bug.LAST_SEEN_TOO_HIGH)) {
            seen = Math.min(seen + 1, node.lastOrdered());
        }
        return new WriteSet(
                new Gtid(node.uuid(), entry.number()),
                seen,
                world.now(),
                entry.ddl() != null
                        ? WriteSet.Kind.DDL
                        : entry.isPrepared() ? WriteSet.Kind.PREPARED : WriteSet.Kind.ROWS,
                keys.build(),
                Payload.of(payload(entry)),
                NONE,
                entry.session());
    }

    private byte[] payload(Database.Logged entry) {
        if (entry.ddl() != null) {
            return entry.ddl() == Table.TAG
                    ? entry.payload()
                    : new byte[] {(byte) entry.ddl().ordinal()};
        }
        return entry.isPrepared()
                ? Change.prepared(entry.payload(), new CertifiedXid(node.number, entry.number(), "x", entry.snapshot()))
                : entry.payload();
    }

    @Override
    public String toString() {
        return "running " + running
                + (proposer == null
                        ? " no capture"
                        : " captured to " + captureAt + " of "
                                + node.database().binlog().size() + (proposer.isIdle() ? " idle" : " open"))
                + (acknowledging == null ? "" : " " + acknowledging)
                + " own open " + own.size()
                + " schedule at " + schedule.committed();
    }
}
