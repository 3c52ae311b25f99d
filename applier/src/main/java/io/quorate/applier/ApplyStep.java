// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Transitions;
import java.util.Map;
import java.util.Set;

/** What a worker has to do next with its group, as {@link ApplyCourse} decides. */
public enum ApplyStep {
    /** Wait for {@link ApplyCourse#pauseMillis}; may come before any other step. */
    PAUSE,
    /** Wait, without locks, until all groups before this one are committed. */
    AWAIT_HEAD,
    /** Choose what is to be undone. The course does this itself; a worker never gets this step. */
    CHOOSE,
    /** Begin with the {@link ApplyCourse#position}, and set a savepoint after it. */
    SET_SAVEPOINT,
    /** Roll back prepared transactions of this server that are in the way of the {@link ApplyCourse#writeSets}. */
    CLEAR_WAY,
    /**
     * Compare what the {@link ApplyCourse#losers} have left with what the {@link ApplyCourse#writeSet}, a definition,
     * leaves. A question: of which is that the same, or overwritten, and which come later in the order?
     */
    COMPARE,
    /** Take back what the {@link ApplyCourse#losers} wrote. */
    TAKE_BACK,
    /**
     * Note, in the same transaction, that the {@link ApplyCourse#losers} are undone at {@link ApplyCourse#undoneAt}.
     */
    NOTE_UNDONE,
    /** Apply the {@link ApplyCourse#writeSets}. */
    APPLY,
    /** With all locks held, wait until the capture has read what is committed by now. A question: has it? */
    LOOK,
    /** Wait for the group's turn. A question: may the group commit? If not, it has to yield. */
    AWAIT_TURN,
    COMMIT,
    BACK_TO_SAVEPOINT,
    /** As {@link #LOOK}, after a failure, to find out whether a client's commit explains it. */
    EXPLAIN,
    ROLL_BACK,
    /**
     * Lock the tables of the {@link ApplyCourse#writeSet}, a definition, so that clients wait who want to use them. A
     * question: could they be locked?
     */
    LOCK_TABLES,
    /** As {@link #LOOK}, without locks of rows. */
    AWAIT_CAPTURE,
    /**
     * Carry out the verdict on the {@link ApplyCourse#writeSet}. A question: is that done? If not, it has to be
     * applied.
     */
    SETTLE,
    /**
     * Run the {@link ApplyCourse#writeSet} outside of a transaction. A question: has it been run? If not, it is void
     * and passed over.
     */
    RUN_ALONE,
    /** The server refuses the {@link ApplyCourse#writeSet}, a definition. Ask the other nodes what becomes of it. */
    ASK_OTHERS,
    /**
     * Roll back everything that is prepared here: one of these transactions may hold the table, and the server doesn't
     * say which.
     */
    CLEAR_PREPARED,
    /**
     * Write the {@link ApplyCourse#position}, note that the {@link ApplyCourse#losers}, if any, are undone, and commit
     * both.
     */
    SAVE_POSITION,
    /** The group is in the database; its position is there too if {@link ApplyCourse#positionSaved}. */
    DONE;

    static final Transitions<ApplyStep> NEXT = Transitions.of(Map.ofEntries(
            Map.entry(PAUSE, Set.of()),
            Map.entry(AWAIT_HEAD, Set.of(CHOOSE, CLEAR_WAY, SETTLE)),
            Map.entry(CHOOSE, Set.of(AWAIT_HEAD, SET_SAVEPOINT, CLEAR_WAY, COMPARE, TAKE_BACK, RUN_ALONE, DONE)),
            Map.entry(COMPARE, Set.of(TAKE_BACK, RUN_ALONE)),
            Map.entry(SET_SAVEPOINT, Set.of(CLEAR_WAY, ROLL_BACK)),
            Map.entry(CLEAR_WAY, Set.of(TAKE_BACK, APPLY, LOCK_TABLES, AWAIT_CAPTURE, EXPLAIN, ROLL_BACK)),
            Map.entry(LOCK_TABLES, Set.of(AWAIT_CAPTURE, CLEAR_PREPARED)),
            Map.entry(TAKE_BACK, Set.of(NOTE_UNDONE, EXPLAIN, ROLL_BACK)),
            Map.entry(NOTE_UNDONE, Set.of(APPLY, LOOK, EXPLAIN, ROLL_BACK)),
            Map.entry(APPLY, Set.of(LOOK, EXPLAIN, ROLL_BACK)),
            Map.entry(LOOK, Set.of(AWAIT_TURN, BACK_TO_SAVEPOINT, EXPLAIN, ROLL_BACK)),
            Map.entry(AWAIT_TURN, Set.of(COMMIT, ROLL_BACK)),
            Map.entry(COMMIT, Set.of(CHOOSE, LOCK_TABLES, AWAIT_CAPTURE, SETTLE, DONE, ROLL_BACK)),
            Map.entry(BACK_TO_SAVEPOINT, Set.of(CHOOSE, ROLL_BACK)),
            Map.entry(EXPLAIN, Set.of(BACK_TO_SAVEPOINT, AWAIT_CAPTURE, ASK_OTHERS, ROLL_BACK)),
            Map.entry(ROLL_BACK, Set.of(AWAIT_HEAD, CHOOSE, AWAIT_CAPTURE, EXPLAIN, RUN_ALONE, DONE)),
            Map.entry(AWAIT_CAPTURE, Set.of(AWAIT_HEAD, CHOOSE, ROLL_BACK)),
            Map.entry(SETTLE, Set.of(SETTLE, CHOOSE, DONE)),
            Map.entry(RUN_ALONE, Set.of(RUN_ALONE, CLEAR_PREPARED, EXPLAIN, AWAIT_CAPTURE, TAKE_BACK, SAVE_POSITION)),
            Map.entry(ASK_OTHERS, Set.of(RUN_ALONE)),
            Map.entry(CLEAR_PREPARED, Set.of(LOCK_TABLES, RUN_ALONE)),
            Map.entry(SAVE_POSITION, Set.of(CHOOSE, SETTLE, DONE)),
            Map.entry(DONE, Set.of())));

    /** Whether the worker does nothing on its connection during this step. */
    public boolean waits() {
        return this == PAUSE || this == AWAIT_HEAD || this == AWAIT_TURN || this == DONE;
    }
}
