// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.OwnWrites.Doomed;
import io.quorate.core.OwnWrites.Losers;
import io.quorate.core.QuorateException;
import io.quorate.core.Retry;
import io.quorate.core.WriteSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes groups on a connection of its own: all statements as soon as the group is taken, COMMIT when it is its turn.
 * A failure that may pass (locks, read-only) is met by executing the group again, when nothing before it is open any more.
 * Any other failure of a group is looked at closely by applying its writesets one by one: either it was an effect of
 * the grouping, or the writeset at fault is known.
 */
final class Worker implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(Worker.class);
    private static final Duration LOCKED = Duration.ofMillis(10);
    private static final Duration LOCKED_MAX = Duration.ofSeconds(1);
    private static final Retry.Policy READ_ONLY = Retry.Policy.unbounded(
                    "the order is kept in the cache meanwhile, and only whoever made the server read-only knows for how long",
                    Duration.ofSeconds(1))
            .telling(0, 30);

    private final Context context;
    private final Session session;
    private final PositionRow positionRow;
    private final TableMaps tableMaps;
    private final Statements statements;
    private final LeftRows leftRows;
    private long definitions;
    /** Over groups: a server that takes no writes takes none of the next one either. */
    private final Retry readOnly = new Retry(READ_ONLY, System.nanoTime());
    /** Whether what runs now takes back own transactions. */
    private boolean undoing;
    /** Whether clients are being kept from writing, because what they write is lost before it can be undone. */
    private boolean holding;

    /** What the workers of an applier share. */
    record Context(
            ApplierSettings settings,
            Pipeline pipeline,
            Counters counters,
            DdlSessions ddl,
            SchemaVersion schema,
            Undo undo,
            Settler settler,
            Stop stop,
            TableMaps.Check check,
            int packetBytesMax) {}

    /** Opens connections for DDL. */
    interface DdlSessions {
        DdlSession open(long seqno) throws SQLException;
    }

    /** How a worker ends the applier, or has clients wait for it. */
    interface Stop {
        void holdClients(boolean hold);

        void failed(QuorateException cause);

        void databaseLost(SQLException cause);
    }

    Worker(Context context, Session session, PositionRow positionRow) {
        this.context = context;
        this.session = session;
        this.positionRow = positionRow;
        this.leftRows = new LeftRows(session.connection(), context.settings().mask());
        this.tableMaps = new TableMaps(context.check());
        this.statements = new Statements(tableMaps, context.settings().groupBytesMax(), context.packetBytesMax());
    }

    /** Breaks the connection, whatever it is doing. Any thread. */
    void abort() {
        session.abort();
    }

    @Override
    public void run() {
        try (session) {
            for (Group group; (group = context.pipeline().take()) != null; ) {
                apply(group);
            }
        } catch (InterruptedException e) {
            log.debug("stopped while waiting");
        } catch (QuorateException e) {
            context.stop().failed(e);
        } catch (SQLException e) {
            if (SqlErrors.of(e) == SqlErrors.CONNECTION) {
                context.stop().databaseLost(e);
            } else {
                context.stop().failed(new QuorateException(ErrorCode.APPLY_FAILED, ApplyErrors.describe(e), e));
            }
        }
    }

    private void apply(Group group) throws SQLException, InterruptedException {
        if (group.isBarrier()) {
            context.pipeline().awaitHead(group);
            applyBarrier(group);
            return;
        }
        if (definitions != context.schema().current()) {
            tableMaps.forget();
            definitions = context.schema().current();
        }
        group.session(session.id());
        if (group.isSettling()) {
            context.pipeline().awaitHead(group);
            settle(group);
            return;
        }
        Retry locks = locks();
        for (boolean again = false; !tryTogether(group, locks, again); again = true) {
            context.counters().retries.increment();
        }
    }

    /** For one step that may meet locks. Not for ever: a client that holds one is killed long before, if that is all it is. */
    private Retry locks() {
        Retry.Policy policy = Retry.Policy.attempts(context.settings().retriesMax(), LOCKED)
                .growingTo(LOCKED_MAX)
                .telling(9, 10);
        return new Retry(policy, System.nanoTime());
    }

    /** Executes and commits the group; false when it has to be tried again. */
    private boolean tryTogether(Group group, Retry locks, boolean again) throws SQLException, InterruptedException {
        boolean head = context.pipeline().isHead(group);
        long from = System.nanoTime();
        try {
            Step step = new Step(group, group.work(), group.last(), group.position());
            List<Doomed> losers = executeClear(step, head, again);
            context.counters().busyNanos.add(System.nanoTime() - from);
            if (losers == null) {
                context.pipeline().awaitHead(group);
                return false;
            }
            if (!context.pipeline().awaitTurn(group)) {
                session.rollback();
                context.counters().yields.increment();
                context.pipeline().awaitHead(group);
                return false;
            }
            long turn = System.nanoTime();
            commit(losers, group.last());
            context.counters().busyNanos.add(System.nanoTime() - turn);
        } catch (SQLException e) {
            afterFailure(group, e, locks);
            if (!head || mayPass(e)) {
                context.pipeline().awaitHead(group);
                return false;
            }
            log.warn("{} failed ({}); applying its writesets one by one", group, ApplyErrors.describe(e));
            applySingly(group);
        }
        done(group, true);
        return true;
    }

    /** What goes into one transaction: all of a group, or one writeset of it. */
    private record Step(Group group, List<Certified> writeSets, long seqno, LogPosition position) {}

    /**
     * Executes a step with all that stands in its way undone, and leaves the transaction open.
     *
     * <p>Clients may commit more that has to be undone until the step holds its locks. The head therefore goes back to a
     * savepoint rather than to the start when it finds such a thing: InnoDB keeps the locks of rows, so that the next
     * round finds less. The position goes before it, because an engine that had no part in the transaction when the
     * savepoint was set is rolled back altogether, locks and all.
     *
     * <p>Only the head undoes: a group before this one may have to undo the same.
     *
     * <p>Rounds have no bound of their own: each takes locks that the next one keeps, and clients are kept from writing after a
     * hundred of them.
     *
     * @param again whether it was tried before: then in rounds at once
     * @return what is undone in it; null when nothing is open and it has to be tried again as the head
     */
    private List<Doomed> executeClear(Step step, boolean head, boolean again)
            throws SQLException, InterruptedException {
        Undo undo = context.undo();
        List<Doomed> losers = certain(undo.losers(step.writeSets), step);
        if (!head && !losers.isEmpty()) {
            return null;
        }
        boolean inRounds = head && (again || !losers.isEmpty());
        byte[] update = positionUpdate(step.seqno, step.position);
        if (inRounds) {
            run(List.of(), update);
            session.execute("SAVEPOINT quorate");
            update = null;
        }
        for (int round = 1; ; round++) {
            try {
                context.settler().clearWay(step.writeSets);
                execute(step.writeSets, losers, step.seqno, update);
                Undo.Outlook outlook = undo.outlook(session, step.writeSets, losers);
                if (outlook == Undo.Outlook.CLEAR) {
                    return losers;
                }
                if (!inRounds || outlook == Undo.Outlook.UNKNOWN) {
                    session.rollback();
                    awaitCapture(step.group, outlook);
                    return null;
                }
            } catch (SQLException e) {
                if (!inRounds || mayPass(e) || SqlErrors.of(e) == SqlErrors.CONNECTION || !hasNewLosers(step, losers)) {
                    throw e;
                }
            }
            session.execute("ROLLBACK TO SAVEPOINT quorate");
            context.counters().retries.increment();
            if (round % 100 == 0) {
                log.warn("clients still get in the way of {} after {} rounds", step.group, round);
                holdClients(true);
            }
            context.pipeline().pause(0);
            losers = certain(undo.losers(step.writeSets, losers), step);
        }
    }

    /** Waits, with or without locks, for what the order has to tell: it doesn't wait for us, so this needs no bound. */
    private List<Doomed> certain(Losers losers, Step step) throws InterruptedException {
        Losers now = losers;
        while (!now.certain()) {
            context.pipeline().pause(10);
            now = context.undo().losers(step.writeSets, List.of());
        }
        return now.doomed();
    }

    private void awaitCapture(Group group, Undo.Outlook outlook) throws SQLException, InterruptedException {
        if (outlook == Undo.Outlook.UNKNOWN) {
            context.counters().captureWaits.increment();
            log.warn("the capture of this server's binlog is behind or away; {} waits for it", group);
            awaitCapture();
        }
    }

    /** Without a bound: nothing may be decided before the capture says what clients have committed, and it starts anew by itself. */
    private void awaitCapture() throws SQLException, InterruptedException {
        while (!context.undo().awaitCapture(session)) {
            context.pipeline().pause(0);
        }
    }

    /** After a failure: whether a client committed something meanwhile that has to be undone first. */
    private boolean hasNewLosers(Step step, List<Doomed> losers) throws SQLException, InterruptedException {
        awaitCapture();
        return context.undo().hasMore(step.writeSets, losers);
    }

    private byte[] positionUpdate(long seqno, LogPosition position) {
        return positionRow.update(seqno, position, System.currentTimeMillis() * 1000);
    }

    /**
     * Takes the losers back and applies what passed.
     *
     * @param undoneAt the position that counts as theirs
     * @param positionUpdate the first thing to do, null when it is done
     */
    private void execute(List<Certified> group, List<Doomed> losers, long undoneAt, byte[] positionUpdate)
            throws SQLException, InterruptedException {
        undoing = !losers.isEmpty();
        if (undoing) {
            List<WriteSet> writeSets = context.undo().writeSets(losers);
            List<Certified> inverses = context.undo().inverses(writeSets);
            leftRows.require(writeSets);
            run(inverses, positionUpdate);
            undoing = false;
            session.execute(UndoneTable.forget(context.undo().settledNumber(), undoneAt));
            session.execute(UndoneTable.insert(losers, undoneAt));
        }
        List<Certified> passed = group.stream().allMatch(Certified::passed)
                ? group
                : group.stream().filter(Certified::passed).toList();
        run(passed, losers.isEmpty() ? positionUpdate : null);
    }

    private void run(List<Certified> writeSets, byte[] positionUpdate) throws SQLException {
        statements.begin(writeSets, 0, positionRow, positionUpdate);
        for (byte[] events; (events = statements.next()) != null; ) {
            session.binlog(events);
            context.counters().statements.increment();
        }
    }

    private void commit(List<Doomed> losers, long undoneAt) throws SQLException {
        context.undo().committing(losers, undoneAt);
        try {
            session.commit();
        } catch (SQLException e) {
            context.undo().failed(losers);
            throw e;
        }
        if (!losers.isEmpty()) {
            context.counters().undone.add(losers.size());
            log.info("undone at seqno {}: {}", undoneAt, context.undo().names(losers));
        }
    }

    private void holdClients(boolean hold) {
        if (hold != holding) {
            holding = hold;
            context.stop().holdClients(hold);
        }
    }

    private void done(Group group, boolean positionSaved) {
        holdClients(false);
        Counters counters = context.counters();
        counters.groups.increment();
        counters.transactions.add(group.transactions());
        counters.bytes.add(group.bytes());
        readOnly.reset(System.nanoTime());
        context.pipeline().committed(group, positionSaved);
    }

    private static boolean mayPass(SQLException e) {
        SqlErrors error = SqlErrors.of(e);
        return error == SqlErrors.LOCK || error == SqlErrors.READ_ONLY;
    }

    /** Rolls back, and waits when waiting may help; throws when the connection is gone or all tries are used up. */
    private void afterFailure(Group group, SQLException e, Retry locks) throws SQLException, InterruptedException {
        if (SqlErrors.of(e) == SqlErrors.CONNECTION) {
            throw e;
        }
        session.rollback();
        waitOut(group, e, locks);
    }

    private void waitOut(Group group, SQLException e, Retry locks) throws InterruptedException {
        SqlErrors error = SqlErrors.of(e);
        if (error == SqlErrors.READ_ONLY) {
            context.counters().readOnlyWaits.increment();
            Retry.Next next = readOnly.failed(e.getMessage(), System.nanoTime());
            if (next.tell()) {
                log.warn("the server takes no writes ({}); {} waits for it", e.getMessage(), group);
            }
            context.pipeline().pause(next.pauseMillis());
        } else if (error == SqlErrors.LOCK) {
            context.counters().lockWaits.increment();
            // Which lock it was changes from one to the next, and is no news.
            Retry.Next next = locks.failed("locks", System.nanoTime());
            if (!next.again()) {
                throw new QuorateException(
                        ErrorCode.APPLY_FAILED,
                        group + " met locks " + next.attempts() + " times, last: " + ApplyErrors.describe(e),
                        e);
            }
            if (next.tell()) {
                log.warn("{} still meets locks after {} tries: {}", group, next.attempts(), e.getMessage());
            }
            if (context.pipeline().isHead(group)) {
                context.pipeline().yieldAllButHead();
            }
            context.pipeline().pause(next.pauseMillis());
        }
    }

    /** The group is the head. Each writeset gets a transaction and position of its own. */
    private void applySingly(Group group) throws SQLException, InterruptedException {
        for (Certified writeSet : group.work()) {
            applyAlone(group, writeSet);
        }
    }

    private void applyAlone(Group group, Certified writeSet) throws SQLException, InterruptedException {
        boolean last =
                writeSet.seqno() == group.work().get(group.work().size() - 1).seqno();
        long seqno = last ? group.last() : writeSet.seqno();
        LogPosition position = last ? group.position() : writeSet.position();
        Retry locks = locks();
        while (!tryAlone(group, writeSet, seqno, position, locks)) {
            context.counters().retries.increment();
        }
    }

    /** The group is the head. What is prepared is there already; the position follows when there is time. */
    private void settle(Group group) throws SQLException, InterruptedException {
        boolean positionSaved = false;
        for (Certified own : group.work()) {
            positionSaved = !isSettled(group, own);
            if (positionSaved) {
                applyAlone(group, own);
            }
        }
        done(group, positionSaved);
    }

    private boolean isSettled(Group group, Certified own) throws SQLException, InterruptedException {
        Retry locks = locks();
        while (true) {
            try {
                return context.settler().settle(own);
            } catch (SQLException e) {
                if (SqlErrors.of(e) == SqlErrors.CONNECTION) {
                    throw e;
                }
                if (!mayPass(e)) {
                    throw ApplyErrors.apply(own, e);
                }
                waitOut(group, e, locks);
            }
        }
    }

    private boolean tryAlone(Group group, Certified writeSet, long seqno, LogPosition position, Retry locks)
            throws SQLException, InterruptedException {
        Step step = new Step(group, List.of(writeSet), seqno, position);
        List<Doomed> losers = context.undo().losers(step.writeSets).doomed();
        try {
            // In rounds from the first attempt on.
            losers = executeClear(step, true, true);
            if (losers == null) {
                return false;
            }
            commit(losers, seqno);
            return true;
        } catch (SQLException e) {
            boolean tookBack = undoing;
            afterFailure(group, e, locks);
            if (mayPass(e)) {
                return false;
            }
            if (tookBack) {
                throw ApplyErrors.undo(context.undo().names(losers), writeSet, e);
            }
            if (SqlErrors.of(e) == SqlErrors.MIXED_ENGINES) {
                applyOutsideTransaction(group, writeSet);
                savePosition(seqno, position);
                return true;
            }
            throw ApplyErrors.apply(writeSet, e);
        }
    }

    /**
     * Before DDL, which commits by itself: takes back what it dooms, in a transaction of its own. Until there is no more of it: clients are
     * kept from writing meanwhile.
     */
    private void undoBefore(Group group) throws SQLException, InterruptedException {
        Retry locks = locks();
        while (true) {
            awaitCapture();
            Step step = new Step(group, group.work(), group.last(), group.position());
            List<Doomed> losers = certain(context.undo().losers(group.work()), step);
            if (losers.isEmpty()) {
                return;
            }
            // A statement takes no locks that would keep them off, and all they commit before it is done is lost.
            holdClients(true);
            try {
                execute(
                        List.of(),
                        losers,
                        group.last(),
                        positionUpdate(group.first() - 1, context.pipeline().committedPosition()));
                commit(losers, group.last());
            } catch (SQLException e) {
                afterFailure(group, e, locks);
                if (!mayPass(e) && !hasNewLosers(step, losers)) {
                    throw ApplyErrors.undo(
                            context.undo().names(losers), group.work().get(0), e);
                }
            }
        }
    }

    private void applyBarrier(Group group) throws SQLException, InterruptedException {
        context.settler().clearWay(group.work());
        undoBefore(group);
        for (Certified writeSet : group.work()) {
            applyOutsideTransaction(group, writeSet);
            context.counters().ddl.increment();
        }
        context.schema().changed();
        if (group.hasWork()) {
            savePosition(group.last(), group.position());
        }
        done(group, group.hasWork());
    }

    private void applyOutsideTransaction(Group group, Certified writeSet) throws SQLException, InterruptedException {
        Retry locks = locks();
        while (true) {
            try (DdlSession ddl = context.ddl().open(writeSet.seqno())) {
                group.session(ddl.id());
                ddl.run(writeSet, this::separateStatements);
                return;
            } catch (SQLException e) {
                if (SqlErrors.of(e) == SqlErrors.CONNECTION) {
                    throw e;
                }
                if (!mayPass(e)) {
                    throw ApplyErrors.apply(writeSet, e);
                }
                waitOut(group, e, locks);
            }
        }
    }

    private Statements separateStatements(boolean check) {
        TableMaps maps = new TableMaps(check ? context.check() : event -> {});
        return new Statements(maps, context.settings().groupBytesMax(), context.packetBytesMax());
    }

    private void savePosition(long seqno, LogPosition position) throws SQLException, InterruptedException {
        run(List.of(), positionUpdate(seqno, position));
        session.commit();
    }
}
