// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.applier.ApplyCourse;
import io.quorate.applier.ApplyStep;
import io.quorate.applier.Blockers;
import io.quorate.applier.DefinitionTurn;
import io.quorate.applier.Group;
import io.quorate.applier.Patience;
import io.quorate.applier.Schedule.Turn;
import io.quorate.applier.Settlement;
import io.quorate.applier.Verdicts;
import io.quorate.core.CertifiedXid;
import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.OwnWrites.Doomed;
import io.quorate.core.QuorateException;
import io.quorate.core.Spool;
import io.quorate.core.WriteSet;
import io.quorate.core.binlog.Inverse;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/**
 * A worker with a group. What it does is decided by the product's {@link ApplyCourse}, and what is done about those in
 * its way by {@link Blockers}; here is the connection, on which every statement takes its time and may fail.
 */
final class Execution implements ApplyCourse.Place, Settlement.Server {
    /** So often a statement meets a lock before the holder is looked up, and before it fails. */
    private static final int LOOK_UP = 3;

    private static final int LOCK_WAIT = 15;
    private static final int CAPTURE_WAIT = 40;
    /** What the product waits for runs so much faster here, as all does. */
    private static final int CLOCK = 50;

    private static final int RETRIES_MAX = 100;
    private static final int LOCK_WAIT_TIMEOUT = 1205;
    private static final int ROW_NOT_FOUND = 1032;
    private static final int CONNECTION_LOST = 2013;

    /** A session waits for another one's lock. */
    private record Wait(long waiter, long holder) implements Blockers.Wait {}

    private final Session session;
    private final World world;
    private final Node node;
    private final Group group;
    private final long id;
    private final ApplyCourse course;
    private boolean over;

    // The transaction.
    private Transaction transaction;
    private ApplyCourse.Position position;
    private List<Doomed> noted = List.of();
    /** What the server has been told to commit; null before and afterwards. */
    private Transaction inCommit;
    /** Whether the position that belongs to it comes later, on its own. */
    private boolean isApart;

    /** Whether a client has run the same definition here. */
    private boolean repeated;

    /** Keeps clients from the table of the definition that is to be run; null while nothing does. */
    private Transaction locking;

    // The step.
    private boolean begun;
    private List<Change> changes;
    private int at;
    private int waits;
    private Set<Transaction> waitsFor = Set.of();
    /** Whether the last lock that wasn't to be had was that of a commit under way. */
    private boolean lockedOut;

    private long lookFor;
    private Settlement settlement;

    /** @param id the server's number of the connection */
    Execution(Session session, Group group, long id) {
        this.session = session;
        this.world = session.world;
        this.node = session.node;
        this.group = group;
        this.id = id;
        if (!group.isBarrier() && !group.isSettling()) {
            group.leaveOut(c -> c.passed() && session.voting.isVoid(c.seqno()));
        }
        this.course = new ApplyCourse(
                group, node.uuid(), Spoilt.register(session, this, world.bugs), this, new Patience(RETRIES_MAX));
        again();
    }

    /** The connection is gone, and what was open with it. */
    void abandon() {
        over = true;
        rollback();
        unlockTables();
    }

    ApplyStep at() {
        return course.at();
    }

    private void again() {
        world.after(1 + micros(course.next()), () -> {
            if (!over) {
                step();
            }
        });
    }

    private long micros(ApplyStep next) {
        return switch (next) {
            case PAUSE -> course.pauseMillis() * 1000 / CLOCK;
            // It asks, and then looks again and again, for a second.
            case ASK_OTHERS -> world.random.nextInt(1_000_000 / world.dispute.clock);
            default -> world.random.nextInt(world.faults.stepMicrosMax());
        };
    }

    private void step() {
        try {
            try {
                carryOut(course.next());
            } catch (SQLException e) {
                end();
                course.failed(e);
            }
        } catch (SQLException e) {
            world.trace(node.name() + " loses a connection of its applier");
            node.link().close();
        } catch (QuorateException e) {
            if (world.dispute != null && e.code().kind() == ErrorCode.Kind.DIFFERENCE) {
                over = true;
                world.dispute.requireCause(node, e);
                node.replacement().differs(e);
                return;
            }
            // Where a cache was lost it isn't known what failed, and what clients did since fails in case it was built
            // on that. So does a definition that came after rows of which it wasn't known what else they touch.
            if (e.code() != ErrorCode.UNDO_IMPOSSIBLE || (!node.hasLostCache() && !isAnyOfUnknownTables())) {
                throw e;
            }
            node.replacement().need(e.getMessage());
        }
        if (!over) {
            again();
        }
    }

    private void carryOut(ApplyStep step) throws SQLException {
        boolean first = !begun;
        begun = true;
        mayBreakOff(step);
        switch (step) {
            case PAUSE, SET_SAVEPOINT, NOTE_UNDONE, CLEAR_WAY, CLEAR_PREPARED, ROLL_BACK, BACK_TO_SAVEPOINT -> {
                atOnce(step);
                done();
            }
            case SAVE_POSITION -> savePosition();
            case AWAIT_HEAD -> {
                if (isHead() || Spoilt.outOfTurn(group, world.bugs)) {
                    done();
                }
            }
            case AWAIT_TURN -> awaitTurn();
            case LOCK_TABLES -> lockTables();
            case LOOK, EXPLAIN, AWAIT_CAPTURE -> awaitCapture(first, step);
            case COMPARE -> compare();
            case TAKE_BACK -> {
                changes = first ? inverses() : changes;
                change();
            }
            case APPLY -> {
                changes = first ? Spoilt.changes(course.writeSets(), node, world.bugs) : changes;
                change();
            }
            case COMMIT -> commit();
            case SETTLE -> settle(first);
            case RUN_ALONE -> runAlone();
            case ASK_OTHERS -> askOthers();
            case DONE -> finish();
            default -> throw new IllegalStateException("can't " + step);
        }
    }

    private void atOnce(ApplyStep step) throws SQLException {
        switch (step) {
            case SET_SAVEPOINT -> open();
            case CLEAR_WAY -> Settlement.clearWay(session.own.prepared(), course.writeSets(), this);
            case CLEAR_PREPARED -> node.database().rollbackPrepared();
            case NOTE_UNDONE -> noted = course.losers();
            case ROLL_BACK -> rollback();
            case BACK_TO_SAVEPOINT -> {
                world.statistics.rounds++;
                node.database().rollbackToSavepoint(transaction);
                noted = List.of();
            }
            default -> {}
        }
    }

    private void done() {
        end();
        course.done();
    }

    private void answer(boolean yes) {
        end();
        course.answered(yes);
    }

    /** Of a step. */
    private void end() {
        begun = false;
        at = 0;
        waits = 0;
        waitsFor = Set.of();
    }

    private void mayBreakOff(ApplyStep step) throws SQLException {
        if (!step.waits() && world.chance(world.faults.loss() / 150)) {
            if (step == ApplyStep.COMMIT && transaction != null && world.random.nextBoolean()) {
                commitRows();
            }
            throw new SQLException("lost", "08S01", CONNECTION_LOST);
        }
    }

    private void open() {
        if (transaction == null) {
            transaction = node.database().begin(false);
        }
        position = course.position() == null ? position : course.position();
    }

    private void rollback() {
        if (transaction != null) {
            node.database().rollback(transaction);
        }
        transaction = null;
        noted = List.of();
    }

    private void awaitTurn() {
        Turn turn = Spoilt.outOfOrder(session, world.bugs) ? Turn.COMMIT : session.schedule.turn(group);
        if (turn != Turn.WAIT) {
            answer(turn == Turn.COMMIT);
        }
    }

    private void awaitCapture(boolean first, ApplyStep step) {
        lookFor = first ? node.database().lastNumber() : lookFor;
        if (session.own.isCovered(lookFor) || Spoilt.looksOnce(step, world.bugs)) {
            answer(true);
        } else if (++waits > CAPTURE_WAIT) {
            answer(false);
        }
    }

    private boolean isAnyOfUnknownTables() {
        return course.losers().stream()
                .map(this::writeSet)
                .anyMatch(w -> !w.isBarrier() && w.keys().touchEverything());
    }

    private WriteSet writeSet(Doomed loser) {
        return loser.writeSet() == null ? node.read(loser.failedAt()).writeSet() : loser.writeSet();
    }

    private List<Change> inverses() {
        List<Change> inverses = new ArrayList<>();
        for (Doomed loser : Spoilt.losers(course.losers(), world.bugs)) {
            WriteSet w = writeSet(loser);
            if (w.isBarrier()) {
                throw new QuorateException(ErrorCode.UNDO_IMPOSSIBLE, w + " would have to be undone");
            }
            inverses.addAll(Change.decode(Inverse.of(w.payload(), Spool.HEAP).toArray()));
        }
        return inverses;
    }

    private void compare() {
        long seqno = course.writeSet().seqno();
        boolean runs = !node.database().hasGtid(seqno) && !session.voting.isVoid(seqno);
        List<Doomed> alike = course.losers().stream()
                .filter(loser -> runs
                        && Dispute.areAlike(writeSet(loser), course.writeSet().writeSet()))
                .toList();
        repeated = !alike.isEmpty();
        end();
        course.answered(alike, later(alike, seqno));
    }

    private List<Doomed> later(List<Doomed> alike, long seqno) {
        List<Doomed> losers = course.losers();
        AtomicLong next = new AtomicLong(seqno);
        try {
            List<Doomed> later = session.later.among(
                    losers, losers.stream().map(this::writeSet).toList(), alike, seqno, () -> {
                        next.incrementAndGet();
                        return next.get() > node.lastOrdered() ? null : node.read(next.get());
                    });
            world.statistics.orderedLater += later.size();
            return later;
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The next row. */
    private void change() throws SQLException {
        open();
        if (at == changes.size()) {
            done();
            return;
        }
        Change change = changes.get(at);
        if (at() == ApplyStep.APPLY && node.number != 0) {
            World.require(
                    change.table().fits(change.version(), node.database().version(change.table())),
                    () -> node.name() + " applies rows of version " + change.version() + " of " + change.table()
                            + " to version " + node.database().version(change.table()) + " in " + group);
        }
        try {
            waitsFor = node.database().change(transaction, change);
        } catch (Rows.Misfit e) {
            throw new SQLException(change + ": " + e.getMessage(), "HY000", ROW_NOT_FOUND);
        }
        if (waitsFor.isEmpty()) {
            at++;
            waits = 0;
        } else {
            waitForLock();
        }
    }

    private void waitForLock() throws SQLException {
        if (++waits > LOCK_WAIT) {
            lockedOut = waitsFor.stream().anyMatch(Transaction::isInCommit);
            throw new SQLException("waits for " + waitsFor.size(), "HY000", LOCK_WAIT_TIMEOUT);
        }
        if (waits > LOOK_UP && isHead()) {
            clear();
        }
    }

    private void clear() {
        List<Wait> all = new ArrayList<>();
        for (Execution waiter : session.running) {
            waiter.waitsFor.forEach(holder -> all.add(new Wait(waiter.id, session.idOf(holder))));
        }
        switch (Blockers.way(id, all, session::isRunning, true)) {
            case OTHERS_YIELD -> othersYield();
            case ROLL_BACK_PREPARED -> node.database().rollbackPrepared();
            case KILL -> waitsFor.forEach(this::kill);
            default -> {}
        }
    }

    private void savePosition() {
        if (inCommit == null) {
            noted = course.losers();
            world.statistics.repeated += noted.size();
            open();
            commitRows();
            world.trace(node.name() + " saves position " + position.seqno());
        }
        if (isCommitted()) {
            done();
        }
    }

    /** Whoever is in its commit is only kept from hearing of it; in the product that isn't done so soon. */
    private void kill(Transaction client) {
        if (!client.isInCommit() || world.random.nextInt(10) == 0) {
            world.trace(node.name() + " ends a client in its way");
            world.statistics.killed++;
            node.database().kill(client);
        }
    }

    private void commit() {
        if (inCommit == null) {
            beginCommit();
        }
        if (isCommitted()) {
            node.check();
            if (!isApart) {
                done();
            }
            isApart = false;
        }
    }

    /** Whether the server has let it through. */
    private boolean isCommitted() {
        boolean committed = !inCommit.isOpen();
        inCommit = committed ? null : inCommit;
        return committed;
    }

    private void beginCommit() {
        boolean apart = Spoilt.savesApart(group, world.bugs);
        if (transaction != null) {
            world.trace(node.name() + " commits " + (group.isSettling() ? "what it had rolled back: " : "") + group
                    + (noted.isEmpty()
                            ? ""
                            : " and undoes "
                                    + noted.stream().map(Doomed::number).toList()));
            world.statistics.undone += noted.size();
            world.statistics.reapplied += group.isSettling() ? 1 : 0;
            ApplyCourse.Position whole = position;
            position = apart
                    ? new ApplyCourse.Position(
                            node.database().position(), node.database().positionLog())
                    : position;
            commitRows();
            position = whole;
            isApart = apart;
        } else {
            open();
            commitRows();
        }
    }

    private void commitRows() {
        List<Long> numbers = noted.stream().map(Doomed::number).toList();
        List<Long> losers = course.losers().stream().map(Doomed::number).toList();
        long seqno = position.seqno();
        inCommit = transaction;
        node.database()
                .commitApplied(
                        transaction,
                        seqno,
                        position.log(),
                        Spoilt.noted(numbers, world.bugs),
                        course.undoneAt(),
                        session.own.settledNumber(),
                        () -> node.model().undone(losers, seqno));
        transaction = null;
        noted = List.of();
        session.capture();
    }

    private void settle(boolean first) throws SQLException {
        settlement = first ? new Settlement(course.writeSet(), session.own.prepared()) : settlement;
        switch (settlement.step(this)) {
            case ASK_AGAIN -> {}
            case TO_APPLY -> answer(world.bugs.contains(Bug.ROLLED_BACK_FORGOTTEN));
            default -> {
                session.capture();
                node.check();
                answer(true);
            }
        }
    }

    @Override
    public boolean decide(CertifiedXid xid, boolean commit) {
        return commit
                ? node.database().commitPrepared(xid.count(), course.writeSet().seqno())
                : node.database().rollbackPrepared(xid.count());
    }

    @Override
    public long marked(CertifiedXid xid) {
        boolean marked = node.database().isMarked(xid.count()) && !world.bugs.contains(Bug.MARK_DROPPED);
        return marked ? xid.count() : 0;
    }

    /** Some tables can't be locked. */
    private void lockTables() throws SQLException {
        Table table = Table.ALL[course.writeSet().writeSet().payload().toArray()[0]];
        Set<Transaction> users = node.database().users(table);
        if (waits == 0 && world.random.nextInt(4) == 0) {
            answer(false);
        } else if (users.isEmpty()) {
            locking = node.database().lock(table);
            answer(true);
        } else {
            awaitUsers(users);
        }
    }

    private void runAlone() throws SQLException {
        try {
            answer(DefinitionTurn.take(
                    course.writeSet(), session.voting, Spoilt.server(node, course.writeSet(), repeated, world.bugs)));
        } catch (DefiningServer.InUse e) {
            awaitUsers(e.users());
        }
    }

    /** The server doesn't say that what is prepared keeps a table. */
    private void awaitUsers(Set<Transaction> users) throws SQLException {
        waitsFor = users.stream().filter(user -> user.prepared() == 0).collect(Collectors.toSet());
        waitForLock();
    }

    private void askOthers() throws SQLException {
        world.dispute.mayBreak(node);
        Verdicts.Verdict verdict = session.voting.onRefused(course.writeSet().seqno());
        if (verdict != Verdicts.Verdict.OPEN) {
            end();
            course.answered(verdict);
        }
    }

    private void finish() {
        if (!isHead()) {
            return;
        }
        over = true;
        session.committed(group, course.positionSaved());
        node.check();
        session.finished(this);
    }

    // Among the others.

    long id() {
        return id;
    }

    boolean holds(Transaction that) {
        return transaction == that || inCommit == that;
    }

    @Override
    public boolean isHead() {
        return session.schedule.isHead(group);
    }

    @Override
    public LogPosition committedPosition() {
        return session.schedule.committedPosition();
    }

    @Override
    public boolean isLockedOut() {
        return lockedOut && !world.bugs.contains(Bug.COMMITTING_GIVEN_UP);
    }

    @Override
    public void othersYield() {
        session.schedule.yieldAllButHead();
    }

    @Override
    public void holdClients(boolean hold) {
        session.hold(hold);
    }

    @Override
    public void unlockTables() {
        if (locking != null) {
            node.database().rollback(locking);
            locking = null;
        }
    }

    @Override
    public void count(ApplyCourse.Happening what) {
        world.statistics.yields += what == ApplyCourse.Happening.YIELDED ? 1 : 0;
    }

    @Override
    public String toString() {
        return course.at() + " " + group + (isHead() ? " head" : "") + " losers "
                + course.losers().size();
    }
}
