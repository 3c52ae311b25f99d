// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;
import io.quorate.core.LogPosition;
import io.quorate.core.OrderedFirst;
import io.quorate.core.OwnWrites.Doomed;
import io.quorate.core.OwnWrites.Losers;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what a worker does with the group that it has taken. A group of rows is one database transaction:
 *
 * <ol>
 *   <li>The losers are chosen: the transactions that clients have committed here and that have to be undone before the
 *       group can be applied. Only the head, the group that all others wait for, undoes losers, because a group before
 *       this one may have to undo the same.
 *   <li>Own prepared transactions that are in the way are rolled back, the losers are taken back and noted as undone,
 *       and the writesets that passed are applied. The position is the first thing that the transaction writes.
 *   <li>Now the group holds its locks, and looks whether a client has meanwhile committed something that has to be
 *       undone, too. To know that, the capture must have read that far. In that case the head goes back to a savepoint
 *       rather than to the start: InnoDB keeps the locks of rows, so the next round finds less to undo. The position
 *       comes before the savepoint, because an engine that had no part in the transaction when it was set is rolled
 *       back altogether, locks and all. The number of rounds has no limit of its own: each takes locks that the next
 *       one keeps, and after a hundred rounds clients are kept from writing.
 *   <li>The group waits for its turn and commits. If it is asked to yield meanwhile, it rolls back.
 * </ol>
 *
 * <p>A group that was rolled back is executed again when everything before it is committed. So is a group that failed,
 * if the reason may pass (locks, a server that is read-only) or if the group wasn't the head. After any other failure
 * of the head its writesets are applied one by one: either the failure was an effect of the grouping, or the writeset
 * at fault is known then. A writeset that mixes engines with and without transactions runs outside of a transaction,
 * and the position is saved after it. If a row is missing, the writeset is tried once more in another sequence ({@link
 * ChildrenFirst}).
 *
 * <p>A barrier is a statement that commits by itself. The losers that it dooms are undone before it, in a transaction
 * of its own, until there are no more of them. Losers that leave what the statement leaves need not be undone: they are
 * noted as such with the position after it. Nor need those that the order brings again later. If rows conflict with
 * the statement, what is undone after it may not fit its tables any more; so its tables are locked before it is looked
 * whether there are losers, and clients that use them wait. They aren't locked while losers are undone, and clients may
 * commit new ones; if there are many, if clients get in the way, or after five such rounds, clients are kept from
 * writing to the server. So they are where the tables can't be locked. If the server refuses the statement because of
 * what it holds, and no more losers explain that, the other nodes are asked: either all of them leave it out ({@link
 * Verdicts}), or this server is the odd one and the applier ends.
 *
 * <p>In a group of own prepared transactions one after the other is settled; the position follows when there is time. A
 * transaction that passed and is neither prepared nor committed here any more is applied like a foreign one.
 *
 * <p>This class only decides: {@link #next} says what is to be done, and the worker reports the result by {@link
 * #done}, {@link #answered} or {@link #failed}. One object for each group; one thread.
 */
public final class ApplyCourse {
    private static final Logger log = LoggerFactory.getLogger(ApplyCourse.class);
    /**
     * The pause while the order has still to tell who loses. The order doesn't wait for the applier, so the number of
     * pauses needs no limit.
     */
    private static final long UNCERTAIN_MILLIS = 10;

    private static final int ROUNDS_IN_PEACE = 100;

    /** The same before a statement that commits by itself: nothing keeps the locks of one round for the next. */
    private static final int ROUNDS_BEFORE_BARRIER = 5;

    /** With more losers at a time clients make them faster than they can be undone. */
    private static final int LOSERS_IN_PEACE = 16;

    /** The register of own transactions. */
    public interface Register {
        /** As {@link io.quorate.core.OwnWrites#toUndo}. */
        Losers toUndo(Collection<Certified> group, Collection<Doomed> chosen);

        /** Called right before the commit that undoes these losers. */
        void undoing(Collection<Doomed> losers, long seqno);

        /** Called when that commit has failed. */
        void notUndone(Collection<Doomed> losers);
    }

    /** The place of the group among the others. None of these calls waits. */
    public interface Place {
        /** Whether all groups before this one are committed. */
        boolean isHead();

        /** The order's position that belongs to everything committed so far. */
        LogPosition committedPosition();

        /** Whether a session keeps all others from writing, so that waiting for it has no bound ({@link Lockouts}). */
        boolean isLockedOut();

        /** Makes every running group except the head give up its locks. */
        void othersYield();

        /**
         * Says whether clients are to be kept from writing, because they commit losers faster than these can be undone.
         */
        void holdClients(boolean hold);

        /** Unlocks what {@link ApplyStep#LOCK_TABLES} has locked. */
        void unlockTables();

        /** Counts something for the statistics. */
        void count(Happening what);
    }

    /** What is counted. */
    public enum Happening {
        /** The group is executed again, or in another round. */
        RETRIED,
        YIELDED,
        MET_LOCKS,
        MET_READ_ONLY,
        CAPTURE_BEHIND
    }

    /** A seqno, and the order's position that belongs to it. */
    public record Position(long seqno, LogPosition log) {}

    private final Group group;
    private final UUID server;
    private final Register register;
    private final Place place;
    private final Patience patience;
    private ApplyStep step;
    private long pauseMillis = -1;
    private Attempt attempt;
    /** Which writeset of the group's work is being handled by itself. */
    private int index;

    private SQLException failure;
    private ApplyStep failedAt;
    private ApplyStep afterRollback;
    /** The failure of a writeset that is tried in another sequence; null while none is. */
    private SQLException missingRow;

    /**
     * Losers of a barrier that leave what its definition leaves. They are noted as undone when it has been run, and not
     * before: they would be what they were if it became void.
     */
    private List<Doomed> alike = List.of();

    /** Losers of a barrier that the order brings again after it: they stay ({@link OrderedLater}). */
    private List<Doomed> later = List.of();

    /** Whether the server has refused a barrier for what a client has committed after the losers were chosen. */
    private boolean isRefusalExplained;

    private boolean holding;
    /** Whether the definition's tables are locked. */
    private boolean locked;

    /** How often losers were to be undone before the barrier. */
    private int roundsBefore;

    private boolean positionSaved = true;

    /** @param server the UUID of the server to apply to */
    public ApplyCourse(Group group, UUID server, Register register, Place place, Patience patience) {
        this.group = group;
        this.server = server;
        this.register = register;
        this.place = place;
        this.patience = patience;
        patience.begin();
        if (group.isBarrier() || group.isSettling()) {
            this.step = ApplyStep.AWAIT_HEAD;
        } else {
            this.step = ApplyStep.CHOOSE;
            begin(new Attempt(group.work(), whole(), false, register));
        }
    }

    private Position whole() {
        return new Position(group.last(), group.position());
    }

    public ApplyStep at() {
        return step;
    }

    public long pauseMillis() {
        return pauseMillis;
    }

    /** The writesets of the transaction; at {@link ApplyStep#APPLY} only those that passed. */
    public List<Certified> writeSets() {
        return step == ApplyStep.APPLY ? attempt.passed() : attempt.writeSets();
    }

    /** The writeset that is being handled by itself. */
    public Certified writeSet() {
        return group.work().get(index);
    }

    /** The losers that are undone in the transaction, the latest first. */
    public List<Doomed> losers() {
        if (step == ApplyStep.SAVE_POSITION) {
            return alike;
        }
        List<Doomed> all = attempt == null ? List.of() : attempt.losers();
        return alike.isEmpty()
                ? all
                : all.stream()
                        .filter(loser -> !alike.contains(loser) && !later.contains(loser))
                        .toList();
    }

    /** The seqno at which the losers count as undone. */
    public long undoneAt() {
        return group.isBarrier() ? group.last() : attempt.position().seqno;
    }

    /** The position that this step has to write before anything else; null when an earlier step has written it. */
    public Position position() {
        boolean before =
                switch (step) {
                    case TAKE_BACK -> !group.isBarrier();
                    case APPLY -> attempt.isInRounds();
                    default -> false;
                };
        return before ? null : attempt.position();
    }

    /** Why the server refuses the definition about which the others are asked. */
    public String refusal() {
        return ApplyErrors.describe(failure);
    }

    public boolean positionSaved() {
        return positionSaved;
    }

    /** Whether the rows of children are to be applied before those of their parents. */
    boolean childrenFirst() {
        return missingRow != null;
    }

    /** What is to be done now. When asked again, the answer is the same until the step is done. */
    public ApplyStep next() {
        if (pauseMillis < 0 && step == ApplyStep.CHOOSE) {
            choose();
        }
        return pauseMillis >= 0 ? ApplyStep.PAUSE : step;
    }

    /** The step is done. */
    public void done() {
        if (pauseMillis >= 0) {
            pauseMillis = -1;
            return;
        }
        switch (step) {
            case AWAIT_HEAD -> atHead();
            case SET_SAVEPOINT -> go(ApplyStep.CLEAR_WAY);
            case CLEAR_WAY -> wayIsClear();
            case TAKE_BACK -> go(ApplyStep.NOTE_UNDONE);
            case NOTE_UNDONE -> go(group.isBarrier() ? ApplyStep.LOOK : ApplyStep.APPLY);
            case APPLY -> go(ApplyStep.LOOK);
            case COMMIT -> committed();
            case BACK_TO_SAVEPOINT -> nextRound();
            case ROLL_BACK -> rolledBack();
            case CLEAR_PREPARED -> go(failedAt);
            case SAVE_POSITION -> committed();
            default -> throw new IllegalStateException(step + " is a question");
        }
    }

    /** The answer to a step that is a question. */
    public void answered(boolean yes) {
        switch (step) {
            case LOOK -> looked(yes);
            case AWAIT_TURN -> {
                if (yes) {
                    commit();
                } else {
                    place.count(Happening.YIELDED);
                    rollBack(ApplyStep.AWAIT_HEAD);
                }
            }
            case EXPLAIN -> {
                if (yes) {
                    explain();
                }
            }
            case LOCK_TABLES -> {
                locked = yes;
                if (!yes) {
                    hold(true);
                }
                go(ApplyStep.AWAIT_CAPTURE);
            }
            case AWAIT_CAPTURE -> {
                if (yes) {
                    captured();
                }
            }
            case SETTLE -> settled(yes);
            case RUN_ALONE -> ran(yes);
            default -> throw new IllegalStateException(step + " is no question");
        }
    }

    /**
     * The answer to {@link ApplyStep#COMPARE}.
     *
     * @param thatLeaveNoDifference those of which nothing differs once the definition has been run
     * @param thatAreOrderedLater those that stay until then; none without any of the others
     */
    public void answered(List<Doomed> thatLeaveNoDifference, List<Doomed> thatAreOrderedLater) {
        alike = thatLeaveNoDifference;
        later = thatAreOrderedLater;
        if (losers().isEmpty()) {
            unlock();
            runNext();
        } else {
            takeBackBeforeBarrier();
        }
    }

    /** The answer to {@link ApplyStep#ASK_OTHERS}. */
    public void answered(Verdicts.Verdict verdict) {
        switch (verdict) {
            case OPEN -> {
                // It is asked again.
            }
            case STANDS -> throw ApplyErrors.refused(writeSet(), failure);
            case VOID -> {
                log.warn("{} is void: {}", writeSet().writeSet().gtid(), ApplyErrors.describe(failure));
                failure = null;
                go(ApplyStep.RUN_ALONE);
            }
        }
    }

    private void go(ApplyStep next) {
        step = ApplyStep.NEXT.step(step, next);
    }

    // An attempt, of the group or of one writeset of it.

    private void begin(Attempt next) {
        attempt = next;
        attempt.begin(next.isAlone() || place.isHead());
    }

    private void beginAlone() {
        missingRow = null;
        Certified one = writeSet();
        boolean last = index == group.work().size() - 1;
        Position position = last ? whole() : new Position(one.seqno(), one.position());
        patience.begin();
        begin(new Attempt(List.of(one), position, true, register));
        go(ApplyStep.CHOOSE);
    }

    private void atHead() {
        if (group.isBarrier()) {
            Position before = new Position(group.first() - 1, place.committedPosition());
            begin(new Attempt(group.work(), before, false, register));
            go(ApplyStep.CLEAR_WAY);
        } else if (group.isSettling()) {
            go(ApplyStep.SETTLE);
        } else {
            begin(attempt);
            go(ApplyStep.CHOOSE);
        }
    }

    private void wayIsClear() {
        if (group.isBarrier()) {
            lookBeforeBarrier();
        } else {
            go(losers().isEmpty() ? ApplyStep.APPLY : ApplyStep.TAKE_BACK);
        }
    }

    private void choose() {
        if (!attempt.choose()) {
            pauseMillis = UNCERTAIN_MILLIS;
        } else if (group.isBarrier()) {
            chooseBeforeBarrier();
        } else if (attempt.hasToWait()) {
            tryAgain();
        } else {
            go(attempt.beginsRounds() ? ApplyStep.SET_SAVEPOINT : ApplyStep.CLEAR_WAY);
        }
    }

    private void looked(boolean captured) {
        switch (captured ? attempt.outlook() : Attempt.Outlook.UNKNOWN) {
            case CLEAR -> go(ApplyStep.AWAIT_TURN);
            case UNKNOWN -> rollBack(ApplyStep.AWAIT_CAPTURE);
            case MORE -> {
                if (attempt.isInRounds()) {
                    go(ApplyStep.BACK_TO_SAVEPOINT);
                } else {
                    rollBack(ApplyStep.AWAIT_HEAD);
                }
            }
        }
    }

    private void nextRound() {
        place.count(Happening.RETRIED);
        int round = attempt.nextRound();
        if (round % ROUNDS_IN_PEACE == 0) {
            log.warn("clients still get in the way of {} after {} rounds", group, round);
            hold(true);
        }
        go(ApplyStep.CHOOSE);
    }

    private void commit() {
        register.undoing(losers(), undoneAt());
        go(ApplyStep.COMMIT);
    }

    private void committed() {
        if (step == ApplyStep.COMMIT && group.isBarrier()) {
            lookBeforeBarrier();
        } else if (!attempt.isAlone()) {
            finish();
        } else {
            nextAlone();
        }
    }

    private void rollBack(ApplyStep then) {
        afterRollback = then;
        go(ApplyStep.ROLL_BACK);
    }

    private void rolledBack() {
        if (group.isBarrier()) {
            // Clients have got in the way, and may go on to.
            hold(true);
        }
        if (failure != null) {
            rolledBackAfterFailure();
        } else if (afterRollback == ApplyStep.AWAIT_CAPTURE) {
            place.count(Happening.CAPTURE_BEHIND);
            log.warn("the capture of this server's binlog is behind or away; {} waits for it", group);
            go(ApplyStep.AWAIT_CAPTURE);
        } else {
            tryAgain();
        }
    }

    private void captured() {
        if (group.isBarrier()) {
            begin(attempt);
            go(ApplyStep.CHOOSE);
        } else {
            tryAgain();
        }
    }

    /** Begins again, now that no transaction is open any more. */
    private void tryAgain() {
        place.count(Happening.RETRIED);
        attempt.rolledBack();
        if (attempt.isAlone() || group.isBarrier()) {
            begin(attempt);
            go(ApplyStep.CHOOSE);
        } else {
            go(ApplyStep.AWAIT_HEAD);
        }
    }

    private void finish() {
        hold(false);
        patience.cameThrough();
        go(ApplyStep.DONE);
    }

    /** Keeps clients from writing to the server, or lets them; its tables are locked no more. */
    private void hold(boolean hold) {
        unlock();
        if (hold != holding) {
            holding = hold;
            place.holdClients(hold);
        }
    }

    private void unlock() {
        if (locked) {
            locked = false;
            place.unlockTables();
        }
    }

    // One writeset after the other.

    private void nextAlone() {
        index++;
        if (index == group.work().size()) {
            finish();
        } else if (group.isSettling()) {
            patience.begin();
            go(ApplyStep.SETTLE);
        } else {
            beginAlone();
        }
    }

    private void settled(boolean there) {
        positionSaved = !there;
        if (there) {
            nextAlone();
        } else {
            beginAlone();
        }
    }

    private void ran(boolean hasRun) {
        if (!group.isBarrier()) {
            go(ApplyStep.SAVE_POSITION);
        } else if (!hasRun && !alike.isEmpty()) {
            alike = List.of();
            later = List.of();
            takeBackBeforeBarrier();
        } else {
            index++;
            runNext();
        }
    }

    // Before a statement that commits by itself.

    private void lookBeforeBarrier() {
        boolean closes =
                !holding && group.hasWork() && TableClosing.isDueTo(writeSet().writeSet());
        go(closes ? ApplyStep.LOCK_TABLES : ApplyStep.AWAIT_CAPTURE);
    }

    private void chooseBeforeBarrier() {
        alike = List.of();
        later = List.of();
        if (losers().isEmpty()) {
            runNext();
        } else if (group.hasWork()) {
            go(ApplyStep.COMPARE);
        } else {
            takeBackBeforeBarrier();
        }
    }

    /** What undoes losers needs their tables. Clients who write to these meanwhile may have to lose, too. */
    private void takeBackBeforeBarrier() {
        roundsBefore++;
        hold(holding || roundsBefore > ROUNDS_BEFORE_BARRIER || losers().size() > LOSERS_IN_PEACE);
        go(ApplyStep.TAKE_BACK);
    }

    private void runNext() {
        patience.begin();
        if (index < group.work().size()) {
            go(ApplyStep.RUN_ALONE);
        } else if (group.hasWork()) {
            attempt = new Attempt(group.work(), whole(), false, register);
            if (!alike.isEmpty()) {
                register.undoing(alike, undoneAt());
            }
            go(ApplyStep.SAVE_POSITION);
        } else {
            positionSaved = false;
            finish();
        }
    }

    // Failures.

    /**
     * The step failed.
     *
     * @throws SQLException {@code e} itself, when the connection is lost or nothing is known that would help
     * @throws io.quorate.core.QuorateException when this node can't go on
     */
    public void failed(SQLException e) throws SQLException {
        if (step == ApplyStep.COMMIT || step == ApplyStep.SAVE_POSITION) {
            register.notUndone(losers());
        }
        if (SqlErrors.of(e) == SqlErrors.CONNECTION) {
            throw e;
        }
        switch (step) {
            case CLEAR_WAY, AWAIT_CAPTURE, EXPLAIN -> {
                if (group.isBarrier()) {
                    throw e;
                }
                failedInTransaction(e);
            }
            case SET_SAVEPOINT, TAKE_BACK, NOTE_UNDONE, APPLY, LOOK, COMMIT, BACK_TO_SAVEPOINT ->
                failedInTransaction(e);
            case LOCK_TABLES -> {
                pauseMillis = patience.pauseMillis(e, group, place);
                failedAt = step;
                go(ApplyStep.CLEAR_PREPARED);
            }
            case SETTLE, RUN_ALONE -> {
                if (locked) {
                    // Not everything can be run under locks.
                    hold(true);
                    go(ApplyStep.AWAIT_CAPTURE);
                    return;
                }
                if (group.isBarrier() && mayBeVotedOn(e)) {
                    // Perhaps only for what clients have committed since the losers were chosen.
                    hold(holding || isRefusalExplained);
                    failure = e;
                    failedAt = step;
                    go(ApplyStep.EXPLAIN);
                    return;
                }
                if (!Patience.mayPass(e)) {
                    throw ApplyErrors.apply(writeSet(), e);
                }
                pauseMillis = patience.pauseMillis(e, group, place);
                if (group.isBarrier()) {
                    // A backup may keep the statement waiting for hours.
                    hold(false);
                    failedAt = step;
                    go(ApplyStep.CLEAR_PREPARED);
                }
            }
            case CLEAR_PREPARED -> {
                log.warn(
                        "can't roll back what is prepared here, and may be in the way of {}: {}",
                        group,
                        e.getMessage());
                go(failedAt);
            }
            default -> throw e;
        }
    }

    /**
     * Whether the others may refuse the definition too. If a client has run it on a server, that must be because of
     * what the servers hold; if it is ordered first, it may be because of the statement itself.
     */
    private boolean mayBeVotedOn(SQLException e) {
        return SqlErrors.isRefusal(e) || (OrderedFirst.is(writeSet().writeSet()) && !Patience.mayPass(e));
    }

    private void failedInTransaction(SQLException e) {
        failure = e;
        boolean executing =
                switch (step) {
                    case CLEAR_WAY, TAKE_BACK, NOTE_UNDONE, APPLY, LOOK -> true;
                    default -> false;
                };
        failedAt = step == ApplyStep.EXPLAIN ? failedAt : step;
        if (executing && attempt.isInRounds() && !Patience.mayPass(e)) {
            go(ApplyStep.EXPLAIN);
        } else {
            go(ApplyStep.ROLL_BACK);
        }
    }

    /**
     * Finds out whether the step failed because a client has meanwhile committed something that has to be undone first.
     */
    private void explain() {
        boolean explained = attempt.hasMore();
        if (!group.isBarrier()) {
            failure = explained ? null : failure;
            go(explained ? ApplyStep.BACK_TO_SAVEPOINT : ApplyStep.ROLL_BACK);
        } else if (explained) {
            failure = null;
            isRefusalExplained = true;
            go(ApplyStep.AWAIT_CAPTURE);
        } else if (failedAt == ApplyStep.RUN_ALONE) {
            hold(false);
            go(ApplyStep.ASK_OTHERS);
        } else {
            throw ApplyErrors.undo(server, losers(), group.work().get(0), failure);
        }
    }

    private void rolledBackAfterFailure() {
        SQLException e = failure;
        pauseMillis = patience.pauseMillis(e, group, place);
        if (group.isBarrier() && !Patience.mayPass(e)) {
            go(ApplyStep.EXPLAIN);
            return;
        }
        failure = null;
        if (group.isBarrier()) {
            go(ApplyStep.AWAIT_CAPTURE);
        } else if (!attempt.isHead() || Patience.mayPass(e)) {
            tryAgain();
        } else if (attempt.isAlone()) {
            failedAlone(e);
        } else if (group.hasWork()) {
            log.warn("{} failed ({}); applying its writesets one by one", group, ApplyErrors.describe(e));
            beginAlone();
        } else {
            log.warn("position {} can't be written yet: {}", group.last(), ApplyErrors.describe(e));
            positionSaved = false;
            finish();
        }
    }

    private void failedAlone(SQLException e) {
        if (failedAt == ApplyStep.TAKE_BACK) {
            throw ApplyErrors.undo(server, losers(), writeSet(), e);
        }
        if (SqlErrors.of(e) != SqlErrors.MIXED_ENGINES) {
            inAnotherSequence(e);
            return;
        }
        patience.begin();
        go(ApplyStep.RUN_ALONE);
    }

    private void inAnotherSequence(SQLException e) {
        boolean untried = missingRow == null && failedAt == ApplyStep.APPLY && SqlErrors.isMissingRow(e);
        if (!untried || !ChildrenFirst.mayMatter(writeSet())) {
            throw ApplyErrors.apply(writeSet(), missingRow == null ? e : missingRow);
        }
        missingRow = e;
        patience.begin();
        tryAgain();
    }
}
