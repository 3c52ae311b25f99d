// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.applier.Group;
import io.quorate.core.Certified;
import io.quorate.core.OwnWrites.Doomed;
import io.quorate.core.OwnWrites.Losers;
import io.quorate.core.WriteSet;
import io.quorate.core.binlog.Inverse;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/**
 * A worker with a group, statement by statement, as the applier's worker goes about it: undo and apply, look what clients
 * have committed meanwhile, wait for the turn, commit.
 */
final class Execution {
    private enum Phase {
        START,
        AWAIT_HEAD,
        EXECUTE,
        LOOK,
        TURN,
        SETTLE,
        DDL,
        SAVE_POSITION
    }

    /** So many waits for a client's lock, and the client goes. */
    private static final int PATIENCE = 3;

    private final Session session;
    private final World world;
    private final Node node;
    private final Group group;
    /** What goes into one transaction: all of a group, or one prepared writeset that is prepared no more. */
    private List<Certified> work;

    private long last;
    private int settled;
    private Phase phase;
    private Database.Transaction transaction;
    private List<Doomed> losers = List.of();
    private List<Change> changes = List.of();
    private int undoChanges;
    private int at;
    private int waits;
    private long lookFor;
    private boolean over;
    private boolean certain = true;

    Execution(Session session, Group group) {
        this.session = session;
        this.world = session.world;
        this.node = session.node;
        this.group = group;
        this.work = group.work();
        this.last = group.last();
        this.phase = group.isSettling() ? Phase.SETTLE : Phase.START;
        again();
    }

    void abandon() {
        over = true;
        if (transaction != null) {
            node.database().rollback(transaction);
        }
    }

    private void again() {
        world.after(1 + world.random.nextInt(world.faults.stepMicrosMax()), () -> {
            if (!over) {
                try {
                    step();
                } catch (NotUndoable e) {
                    World.require(node.hasLostCache(), e::getMessage);
                    node.needsCopy(e.getMessage());
                }
            }
        });
    }

    /**
     * The product stops the node with QRT-4003. It must not come to that unless a cache was lost: then it isn't known what
     * failed there, and what clients did since fails in case it was built on it.
     */
    private static final class NotUndoable extends RuntimeException {
        private static final long serialVersionUID = 1L;

        NotUndoable(String what) {
            super(what);
        }
    }

    private boolean isHead() {
        return session.schedule.isHead(group);
    }

    private void step() {
        switch (phase) {
            case START -> start();
            case AWAIT_HEAD -> awaitHead();
            case SETTLE -> settle();
            case EXECUTE -> execute();
            case LOOK -> look();
            case TURN -> turn();
            case DDL -> ddl();
            case SAVE_POSITION -> savePosition();
        }
        if (!over) {
            again();
        }
    }

    private List<Doomed> losers() {
        Losers now = session.own.toUndo(work, losers);
        certain = now.certain();
        return world.bugs.contains(Bug.UNDO_SKIPPED) ? List.of() : now.doomed();
    }

    private void awaitHead() {
        if (isHead()) {
            phase = group.isSettling() ? Phase.SETTLE : Phase.START;
        }
    }

    /** One after the other: what is prepared commits or is rolled back; what no longer is gets applied, or was committed. */
    private void settle() {
        if (!isHead() && !world.bugs.contains(Bug.SETTLED_OUT_OF_TURN)) {
            return;
        }
        if (settled == group.work().size()) {
            if (isHead()) {
                done();
            }
            return;
        }
        Certified c = group.work().get(settled);
        long own = c.writeSet().gtid().number();
        session.own.prepared().settled(own);
        if (!c.passed()) {
            node.database().rollbackPrepared(own);
            settled++;
        } else if (node.database().isMarked(own) && !world.bugs.contains(Bug.MARK_DROPPED)) {
            settled++;
        } else if (node.database().commitPrepared(own, c.seqno())) {
            world.trace("n" + node.number + " commits what it had prepared: " + c.seqno());
            settled++;
            session.capture();
            node.check();
        } else if (world.bugs.contains(Bug.ROLLED_BACK_FORGOTTEN)) {
            settled++;
        } else {
            work = List.of(c);
            last = c.seqno();
            phase = Phase.START;
        }
    }

    private boolean hasMore() {
        return losers().size() > losers.size();
    }

    private void start() {
        if (group.isBarrier()) {
            if (!isHead()) {
                return;
            }
            if (!session.own.isCovered(node.database().lastNumber())) {
                return;
            }
        }
        losers = losers();
        if (!certain) {
            losers = List.of();
            return;
        }
        if (!losers.isEmpty() && !isHead()) {
            phase = Phase.AWAIT_HEAD;
            return;
        }
        if (group.isBarrier() && losers.isEmpty()) {
            phase = Phase.DDL;
            return;
        }
        transaction = node.database().begin(false);
        prepare();
    }

    private void prepare() {
        for (long inTheWay : session.own.prepared().inTheWayOf(work).keySet()) {
            node.database().rollbackPrepared(inTheWay);
            session.own.prepared().settled(inTheWay);
        }
        changes = new ArrayList<>();
        List<Doomed> backwards = new ArrayList<>(losers);
        if (world.bugs.contains(Bug.UNDONE_FORWARDS)) {
            Collections.reverse(backwards);
        }
        for (Doomed loser : backwards) {
            WriteSet w = loser.writeSet() == null ? node.read(loser.failedAt()).writeSet() : loser.writeSet();
            if (w.isBarrier()) {
                throw new NotUndoable(w + " would have to be undone");
            }
            changes.addAll(Change.decode(Inverse.of(w.payload())));
        }
        undoChanges = changes.size();
        if (!group.isBarrier()) {
            List<Certified> inOrder = new ArrayList<>(work);
            if (world.bugs.contains(Bug.GROUP_BACKWARDS)) {
                Collections.reverse(inOrder);
            }
            for (Certified c : inOrder) {
                if (c.passed() && c.writeSet().session() != 1) {
                    changes.addAll(Change.decode(c.writeSet().payload()));
                } else if (c.passed()) {
                    node.database().ddlApplied(Table.ALL[c.writeSet().payload()[0]], c.seqno());
                }
            }
        }
        at = 0;
        waits = 0;
        phase = Phase.EXECUTE;
    }

    private void execute() {
        if (at == changes.size()) {
            lookFor = node.database().lastNumber();
            phase = Phase.LOOK;
            waits = 0;
            return;
        }
        Change change = changes.get(at);
        if (at >= undoChanges && node.number != 0) {
            World.require(
                    change.version() == node.database().version(change.table()),
                    () -> "n" + node.number + " applies rows of version " + change.version() + " of " + change.table()
                            + " to version " + node.database().version(change.table()) + " in " + group);
        }
        try {
            Set<Database.Transaction> holders = node.database().change(transaction, change);
            if (holders.isEmpty()) {
                at++;
                waits = 0;
            } else if (++waits > PATIENCE) {
                clear(holders);
            }
        } catch (Rows.Misfit e) {
            if (!isHead()) {
                rollback();
                phase = Phase.AWAIT_HEAD;
            } else if (session.own.isCovered(node.database().lastNumber())) {
                World.require(
                        hasMore(),
                        () -> "n" + node.number + " can't apply " + change + " of " + group + ": " + e.getMessage());
                nextRound();
            }
        }
    }

    /** The head's way is cleared; others wait, for they may be waiting for the head's own losers. */
    private void clear(Set<Database.Transaction> holders) {
        if (!isHead()) {
            return;
        }
        for (Database.Transaction holder : holders) {
            if (holder.client) {
                world.trace("n" + node.number + " ends "
                        + (holder.prepared() > 0 ? "prepared " + holder.prepared() : "a client"));
                world.statistics.killed++;
                node.database().rollback(holder);
                continue;
            }
            for (Execution other : session.running) {
                if (other.transaction == holder) {
                    world.statistics.yields++;
                    other.rollback();
                    other.phase = Phase.AWAIT_HEAD;
                }
            }
        }
    }

    private void rollback() {
        node.database().rollback(transaction);
        transaction = null;
        losers = List.of();
    }

    private void nextRound() {
        world.statistics.rounds++;
        node.database().rollbackToSavepoint(transaction);
        losers = losers();
        if (!certain) {
            rollback();
            phase = Phase.AWAIT_HEAD;
            return;
        }
        prepare();
    }

    private void look() {
        if (world.bugs.contains(Bug.NO_SECOND_LOOK)) {
            phase = Phase.TURN;
            return;
        }
        if (!session.own.isCovered(lookFor)) {
            if (++waits > 40) {
                rollback();
                phase = Phase.AWAIT_HEAD;
            }
            return;
        }
        boolean more = hasMore();
        if (!certain) {
            rollback();
            phase = Phase.AWAIT_HEAD;
        } else if (!more) {
            phase = Phase.TURN;
        } else if (isHead()) {
            nextRound();
        } else {
            rollback();
            phase = Phase.AWAIT_HEAD;
        }
    }

    private void turn() {
        if (!isHead() && !world.bugs.contains(Bug.COMMITTED_OUT_OF_ORDER)) {
            return;
        }
        if (!isHead() && session.running.size() < 2) {
            return;
        }
        commit();
    }

    private void commit() {
        long position = group.isBarrier() ? group.first() - 1 : last;
        boolean apart = world.bugs.contains(Bug.POSITION_APART) && !group.isBarrier();
        boolean forgotten = world.bugs.contains(Bug.UNDO_FORGOTTEN);
        List<Long> numbers = losers.stream().map(Doomed::number).toList();
        session.own.undoing(losers, last);
        world.trace("n" + node.number + " commits " + (group.isSettling() ? "what it had rolled back: " + last : group)
                + (numbers.isEmpty() ? "" : " and undoes " + numbers));
        node.model().undone(numbers, position);
        world.statistics.undone += numbers.size();
        node.database()
                .commitApplied(
                        transaction,
                        apart ? node.database().position() : position,
                        group.isSettling() ? work.get(0).position() : group.position(),
                        forgotten ? List.of() : numbers,
                        last,
                        session.own.settledNumber());
        transaction = null;
        losers = List.of();
        session.capture();
        if (group.isBarrier()) {
            phase = Phase.START;
            return;
        }
        if (group.isSettling()) {
            world.statistics.reapplied++;
            settled++;
            phase = Phase.SETTLE;
            node.check();
            return;
        }
        if (apart) {
            phase = Phase.SAVE_POSITION;
            return;
        }
        done();
    }

    private void ddl() {
        for (Certified c : group.work()) {
            Table table = Table.ALL[c.writeSet().payload()[0]];
            if (node.database().isBusy(table)) {
                // It waits for the clients that use the table; those that wait too long are ended.
                if (++waits > PATIENCE) {
                    node.database().clients().forEach(node.database()::rollback);
                }
                return;
            }
            node.database().ddlApplied(table, c.seqno());
        }
        phase = Phase.SAVE_POSITION;
    }

    private void savePosition() {
        Database.Transaction t = node.database().begin(false);
        node.database().commitApplied(t, group.last(), group.position(), List.of(), 0, 0);
        world.trace("n" + node.number + " saves position " + group.last());
        session.capture();
        done();
    }

    private void done() {
        over = true;
        if (isHead()) {
            session.schedule.committed(group);
        }
        session.own.applied(session.schedule.committed());
        node.check();
        session.finished(this);
    }

    @Override
    public String toString() {
        return phase + " " + group + (isHead() ? " head" : "") + " losers " + losers.size();
    }
}
