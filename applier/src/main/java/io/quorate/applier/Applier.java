// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSetLog;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies the node's ordered record to its database, starting after the position in the position table. A reader thread
 * hands the writesets to workers through a bounded {@link Pipeline}; whatever doesn't fit stays in the log, so the heap
 * doesn't grow with the lag. One object lives from {@link #start} to {@link #close} or to its first failure; after a
 * lost database create a new one.
 */
public final class Applier implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Applier.class);
    private static final Duration READ_WAIT = Duration.ofMillis(500);

    /**
     * Writesets that are not committed may take this part of the heap in the form in which they came; as events, text
     * and packets they take several times that.
     */
    private static final int HEAP_SHARE = 16;

    private final ApplierSettings settings;
    private final DataSource source;
    private final WriteSetLog writeSets;
    private final UUID server;
    private final String incarnation;
    private final OwnWritesSource ownWrites;
    private final Verdicts verdicts;
    private final DefinitionTexts definitions;
    private final ApplierListener listener;
    private final Counters counters = new Counters();
    private volatile LockWatch lockWatch;
    private final AuxiliaryConnection auxiliary;
    private final DdlConnections ddl;
    private final AtomicBoolean ended = new AtomicBoolean();
    private final List<Worker> workers = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private Thread reader;
    private volatile Pipeline pipeline;
    private Settler settler;
    private OwnWriteSets own;
    private SharedOwnWrites register;

    /** Makes the register of this server's own transactions when the applier starts. */
    public interface OwnWritesSource {
        /**
         * @param applied the seqno of the position table
         * @param undone what is undone already, and at which seqno, by GTID number
         * @param isHere whether the database has an own writeset
         */
        SharedOwnWrites open(long applied, Map<Long, Long> undone, Predicate<Certified> isHere)
                throws IOException, InterruptedException;
    }

    /**
     * @param source of connections as {@link ApplierDataSource} makes them, to a server at which no other applier works
     * @param writeSets the node's record
     * @param server the UUID of the server behind {@code source}
     * @param incarnation of the cluster, at most 36 ASCII characters
     * @param ownWrites register of what clients of this server commit; {@link SharedOwnWrites#none} when there are no
     *     clients
     * @param verdicts what the nodes have found about definitions that some servers refuse
     * @param definitions what the texts of definitions say
     */
    public Applier(
            ApplierSettings settings,
            DataSource source,
            WriteSetLog writeSets,
            UUID server,
            String incarnation,
            OwnWritesSource ownWrites,
            Verdicts verdicts,
            DefinitionTexts definitions,
            ApplierListener listener) {
        this.settings = settings;
        this.source = source;
        this.writeSets = writeSets;
        this.server = server;
        this.incarnation = incarnation;
        this.ownWrites = ownWrites;
        this.verdicts = verdicts;
        this.definitions = definitions;
        this.listener = listener;
        this.auxiliary = new AuxiliaryConnection(source);
        this.ddl = new DdlConnections(source, settings.lockWait(), DdlConnections.AGE_MAX);
    }

    /** {@link #start(TakenBack)} on a server that has all it ever committed. */
    public synchronized PositionTable.Position start() throws SQLException {
        return start(TakenBack.NONE);
    }

    /**
     * Reads the position and starts applying after it.
     *
     * @param takenBack own transactions that the database lacks after that position
     * @return the position found
     * @throws SQLException when the server can't be reached or refuses a statement
     * @throws QuorateException {@link ErrorCode#WRONG_SERVER} when its position is of another incarnation
     */
    public synchronized PositionTable.Position start(TakenBack takenBack) throws SQLException {
        if (pipeline != null) {
            throw new IllegalStateException("started before");
        }
        PositionTable.Position position;
        Map<Long, Long> undone;
        StaleSessions.end(source);
        try (Connection connection = source.getConnection()) {
            ApplierDataSource.requireBytesKept(connection);
            PositionTable.create(connection);
            position = PositionTable.read(connection);
            PositionTable.requireIncarnation(position, incarnation);
            PositionTable.addWorkers(connection, settings.workers(), incarnation);
            undone = UndoneTable.read(connection);
            own = new OwnWriteSets(server, takenBack, undone);
        }
        Schedule schedule = new Schedule(
                position.seqno(),
                settings.groupTransactionsMax(),
                settings.groupBytesMax(),
                Runtime.getRuntime().maxMemory() / HEAP_SHARE);
        register = register(position.seqno(), undone);
        pipeline = new Pipeline(schedule, new Telling(), settings.groupInterval(), settings.positionInterval());
        settler = new Settler(new AuxiliaryConnection(source), register.prepared(), pipeline, counters);
        Lockouts lockouts = new Lockouts();
        openWorkers(
                new Undo(register, server, writeSets, new Cascades(auxiliary), new Engines(auxiliary), definitions),
                lockouts);
        reader = thread("quorate-applier-reader", () -> read(position.seqno() + 1));
        LockWatch watch = new LockWatch(pipeline, settler, auxiliary, counters, lockouts, settings.blockerGrace());
        lockWatch = watch;
        thread("quorate-applier-locks", watch);
        threads.forEach(Thread::start);
        log.info("applying from seqno {} with {} workers", position.seqno() + 1, settings.workers());
        return position;
    }

    private SharedOwnWrites register(long applied, Map<Long, Long> undone) {
        try {
            return ownWrites.open(applied, undone, own::isHere);
        } catch (IOException e) {
            throw new QuorateException(ErrorCode.DISK, "can't read the writeset cache: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new QuorateException(ErrorCode.DISK, "can't read the writeset cache: interrupted", e);
        }
    }

    private void openWorkers(Undo undo, Lockouts lockouts) throws SQLException {
        Worker.Context context = new Worker.Context(
                settings,
                pipeline,
                counters,
                writeSet -> DdlSession.open(ddl, incarnation, writeSet),
                new SchemaVersion(),
                verdicts,
                undo,
                settler,
                new Ending(),
                new SchemaCheck(auxiliary),
                lockouts,
                definitions);
        boolean opened = false;
        try {
            for (int i = 0; i < settings.workers(); i++) {
                Session session = Session.open(source, settings.lockWait());
                Worker worker = new Worker(context, session, new PositionRow(i, incarnation));
                workers.add(worker);
                thread("quorate-applier-" + (i + 1), worker);
            }
            opened = true;
        } finally {
            if (!opened) {
                workers.forEach(Worker::abort);
            }
        }
    }

    private Thread thread(String name, Runnable body) {
        Thread thread = new Thread(() -> run(name, body), name);
        thread.setDaemon(true);
        threads.add(thread);
        return thread;
    }

    /** Whatever ends one of the threads before the applier is closed ends the applier. */
    private void run(String name, Runnable body) {
        Ending ending = new Ending();
        try {
            body.run();
            if (!ended.get()) {
                ending.failed(new QuorateException(ErrorCode.APPLY_FAILED, name + " ended by itself"));
            }
        } catch (RuntimeException | Error e) {
            ending.failed(new QuorateException(ErrorCode.APPLY_FAILED, name + " ended because of " + e, e));
        }
    }

    private void read(long from) {
        Ending ending = new Ending();
        try (Feed feed = new Feed(writeSets, own, register.prepared(), from)) {
            await(feed, from);
            Intake intake =
                    new Intake(feed, settings.groupTransactionsMax(), settings.groupBytesMax(), new ToPipeline());
            while (!ended.get()) {
                if (!intake.turn(READ_WAIT)) {
                    // Writesets that arrive now would wait for the group interval in any case, so don't wake up for
                    // each of them.
                    LockSupport.parkNanos(pipeline.pauseNanos());
                }
            }
        } catch (InterruptedException e) {
            log.debug("reader stopped");
        } catch (IOException e) {
            ending.failed(new QuorateException(ErrorCode.DISK, "can't read the writeset cache: " + e.getMessage(), e));
        } catch (QuorateException e) {
            ending.failed(e);
        }
    }

    private void await(Feed feed, long from) throws InterruptedException {
        if (!feed.isThere()) {
            log.info("the record ends at {}, the database is at {}; waiting for the order", writeSets.last(), from - 1);
        }
        while (!feed.isThere()) {
            Thread.sleep(READ_WAIT.toMillis() / 10);
        }
    }

    private void count(Feed.Due next) {
        Certified writeSet = next.writeSet();
        if (next.duty() == Duty.NONE) {
            counters.skipped.increment();
        } else if (next.duty() == Duty.EXECUTE && writeSet.passed() && own.isOwn(writeSet)) {
            log.debug(
                    "applying this server's own transaction {} (seqno {}) anew",
                    writeSet.writeSet().gtid(),
                    writeSet.seqno());
        }
    }

    /** Waits for room. */
    private final class ToPipeline implements Intake.Taker {
        @Override
        public Feed.Due read(Feed.Due due) {
            count(due);
            return due;
        }

        @Override
        public boolean offer(Deque<Feed.Due> batch) throws InterruptedException {
            pipeline.offer(batch);
            return true;
        }
    }

    /** The seqno up to which everything is in the database; 0 before the start. */
    public long appliedSeqno() {
        Pipeline p = pipeline;
        return p == null ? 0 : p.applied();
    }

    public ApplierStats stats() {
        Pipeline p = pipeline;
        Pipeline.State state = p == null ? new Pipeline.State(0, 0, 0, 0) : p.state();
        return new ApplierStats(
                appliedSeqno(),
                state.saved(),
                counters.transactions.sum(),
                counters.groups.sum(),
                counters.skipped.sum(),
                counters.statements.sum(),
                counters.bytes.sum(),
                counters.ddl.sum(),
                counters.retries.sum(),
                counters.lockWaits.sum(),
                counters.yields.sum(),
                counters.blockersKilled.sum(),
                counters.readOnlyWaits.sum(),
                counters.captureWaits.sum(),
                counters.undone.sum(),
                counters.settled.sum(),
                counters.preparedRolledBack.sum(),
                state.executing(),
                state.queued(),
                counters.busyNanos.sum(),
                state.originCommittedMicros());
    }

    /** Lets running groups finish for a while, then breaks the connections. The listener is not called after it. */
    @Override
    public synchronized void close() {
        ended.set(true);
        if (pipeline == null) {
            return;
        }
        pipeline.stop();
        register.end();
        if (reader != null) {
            reader.interrupt();
        }
        long deadline = System.nanoTime() + settings.closeWait().toNanos();
        boolean interrupted = join(deadline);
        if (threads.stream().anyMatch(Thread::isAlive)) {
            log.warn("groups still run after {}; breaking their connections", settings.closeWait());
            workers.forEach(Worker::abort);
            interrupted |= join(System.nanoTime() + Duration.ofSeconds(2).toNanos());
        }
        ddl.close();
        auxiliary.close();
        settler.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns whether the calling thread was interrupted meanwhile. */
    private boolean join(long deadline) {
        for (Thread thread : threads) {
            long millis = (deadline - System.nanoTime()) / 1_000_000;
            if (millis > 0 && thread != Thread.currentThread()) {
                try {
                    thread.join(millis);
                } catch (InterruptedException e) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The client session whose locks the applier is waiting for, with its statement; null when there is none. */
    public String blockedBy() {
        LockWatch watch = lockWatch;
        return watch == null ? null : watch.blockedBy();
    }

    /** Reports progress, to the register of own transactions too. */
    private final class Telling implements ApplierListener {
        @Override
        public void applied(long seqno, int transactions, long originCommittedMicros) {
            register.applied(seqno);
            listener.applied(seqno, transactions, originCommittedMicros);
        }

        @Override
        public boolean holdClients(boolean hold) {
            return listener.holdClients(hold);
        }

        @Override
        public void failed(QuorateException cause) {
            listener.failed(cause);
        }

        @Override
        public void databaseLost(SQLException cause) {
            listener.databaseLost(cause);
        }
    }

    /** The first failure ends everything and is the only one reported. Also reports when clients are in the way. */
    private final class Ending implements Worker.Stop {
        @Override
        public boolean holdClients(boolean hold) {
            return listener.holdClients(hold);
        }

        @Override
        public void failed(QuorateException cause) {
            if (end()) {
                log.error("apply has stopped: {}", cause.getMessage());
                listener.failed(cause);
            }
        }

        @Override
        public void databaseLost(SQLException cause) {
            if (end()) {
                log.warn("apply has stopped, the database is gone: {}", cause.getMessage());
                listener.databaseLost(cause);
            }
        }

        private boolean end() {
            boolean first = ended.compareAndSet(false, true);
            pipeline.stop();
            if (reader != null) {
                reader.interrupt();
            }
            return first;
        }
    }
}
