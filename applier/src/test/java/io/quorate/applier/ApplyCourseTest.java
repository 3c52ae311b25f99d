// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static io.quorate.applier.ApplyStep.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.LogPosition;
import io.quorate.core.OwnWrites.Doomed;
import io.quorate.core.OwnWrites.Losers;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSet;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ApplyCourseTest {
    private static final int CHECK_VIOLATED = 3819;
    private static final int DISK_FULL = 1021;
    private static final int LOCK_WAIT = 1205;
    private static final int READ_ONLY = 1290;
    private static final int DUPLICATE = 1062;
    private static final int GONE = 2013;
    private static final int MIXED = 1785;
    private static final int NOT_LOCKED = 1100;

    private final Group rows = new Group(1, new LogPosition(1, 1), 0);
    private final List<String> said = new ArrayList<>();
    /** What the register answers, the last of them again and again. */
    private final Deque<Losers> losers = new ArrayDeque<>(List.of(Losers.NONE));

    private boolean head = true;
    private boolean lockedOut;
    /** The losers that have left what the statement leaves. */
    private final List<Doomed> alike = new ArrayList<>();

    private final List<Doomed> later = new ArrayList<>();

    private ApplyCourse course;

    ApplyCourseTest() {
        rows.add(Records.rows(1, 0, 10), Duty.EXECUTE);
        rows.add(Records.rows(2, 0, 10), Duty.EXECUTE);
    }

    private static Losers doomed(long... numbers) {
        return new Losers(
                LongStream.of(numbers)
                        .mapToObj(number -> new Doomed(number, 0, null))
                        .toList(),
                true);
    }

    private static Group of(Certified one, Duty duty) {
        Group group = new Group(one.seqno(), one.position(), 0);
        group.add(one, duty);
        return group;
    }

    private void say(Losers... answers) {
        losers.clear();
        losers.addAll(List.of(answers));
    }

    private void begin(Group group) {
        ApplyCourse.Register register = new ApplyCourse.Register() {
            @Override
            public Losers toUndo(Collection<Certified> all, Collection<Doomed> chosen) {
                return losers.size() > 1 ? losers.poll() : losers.peek();
            }

            @Override
            public void undoing(Collection<Doomed> undone, long seqno) {
                said.add("undoing " + undone.size() + " at " + seqno);
            }

            @Override
            public void notUndone(Collection<Doomed> undone) {
                said.add("not undone " + undone.size());
            }
        };
        ApplyCourse.Place place = new ApplyCourse.Place() {
            @Override
            public boolean isHead() {
                return head;
            }

            @Override
            public LogPosition committedPosition() {
                return LogPosition.START;
            }

            @Override
            public boolean isLockedOut() {
                return lockedOut;
            }

            @Override
            public void othersYield() {
                said.add("others yield");
            }

            @Override
            public void holdClients(boolean hold) {
                said.add("hold " + hold);
            }

            @Override
            public void unlockTables() {
                said.add("unlock");
            }

            @Override
            public void count(ApplyCourse.Happening what) {
                said.add(what.toString());
            }
        };
        course = new ApplyCourse(group, UUID.randomUUID(), register, place, new Patience(3));
    }

    /** Goes through these steps, each of which succeeds: questions are answered with yes. */
    private void goes(ApplyStep... steps) {
        for (ApplyStep step : steps) {
            assertThat(course.next()).isEqualTo(step);
            switch (step) {
                case LOCK_TABLES, LOOK, EXPLAIN, AWAIT_CAPTURE, AWAIT_TURN, SETTLE, RUN_ALONE -> course.answered(true);
                case DONE -> {}
                case COMPARE -> course.answered(alike, later);
                default -> course.done();
            }
        }
    }

    private void answers(ApplyStep step, boolean yes) {
        assertThat(course.next()).isEqualTo(step);
        course.answered(yes);
    }

    private void fails(ApplyStep step, int code) throws SQLException {
        assertThat(course.next()).isEqualTo(step);
        course.failed(new SQLException("on purpose", "HY000", code));
    }

    @Test
    void aGroupIsOneTransactionWithItsPositionFirst() {
        begin(rows);
        goes(CLEAR_WAY);
        assertThat(course.next()).isEqualTo(APPLY);
        assertThat(course.position().seqno()).isEqualTo(2);
        assertThat(course.writeSets()).hasSize(2);
        goes(APPLY, LOOK, AWAIT_TURN, COMMIT, DONE);
        assertThat(course.positionSaved()).isTrue();
        assertThat(said).containsExactly("undoing 0 at 2");
    }

    @Test
    void theHeadUndoesInTheSameTransactionAfterASavepoint() {
        say(doomed(7));
        begin(rows);
        goes(SET_SAVEPOINT, CLEAR_WAY);
        assertThat(course.next()).isEqualTo(TAKE_BACK);
        assertThat(course.position()).as("written before").isNull();
        goes(TAKE_BACK, NOTE_UNDONE);
        assertThat(course.next()).isEqualTo(APPLY);
        assertThat(course.position()).isNull();
        goes(APPLY, LOOK, AWAIT_TURN, COMMIT, DONE);
        assertThat(said).containsExactly("undoing 1 at 2");
    }

    @Test
    void onlyTheHeadUndoes() {
        head = false;
        say(doomed(7));
        begin(rows);
        assertThat(course.next()).isEqualTo(AWAIT_HEAD);
        head = true;
        goes(AWAIT_HEAD, SET_SAVEPOINT, CLEAR_WAY, TAKE_BACK, NOTE_UNDONE, APPLY, LOOK, AWAIT_TURN, COMMIT, DONE);
    }

    @Test
    void whatClientsCommittedMeanwhileIsUndoneInAnotherRound() {
        say(doomed(7), doomed(8, 7));
        begin(rows);
        goes(SET_SAVEPOINT, CLEAR_WAY, TAKE_BACK, NOTE_UNDONE, APPLY, LOOK, BACK_TO_SAVEPOINT, CLEAR_WAY);
        assertThat(course.losers()).hasSize(2);
        goes(TAKE_BACK, NOTE_UNDONE, APPLY, LOOK, AWAIT_TURN, COMMIT, DONE);
    }

    @Test
    void withoutASavepointItIsRolledBackAndComesAgainAsTheHead() {
        head = false;
        say(Losers.NONE, doomed(7));
        begin(rows);
        goes(CLEAR_WAY, APPLY, LOOK, ROLL_BACK);
        head = true;
        goes(AWAIT_HEAD, SET_SAVEPOINT);
    }

    @Test
    void whatTheOrderHasStillToTellIsWaitedFor() {
        say(new Losers(List.of(), false), Losers.NONE);
        begin(rows);
        goes(PAUSE, CLEAR_WAY);
    }

    @Test
    void aCaptureThatIsBehindIsWaitedForWithoutLocks() {
        begin(rows);
        goes(CLEAR_WAY, APPLY);
        answers(LOOK, false);
        goes(ROLL_BACK);
        answers(AWAIT_CAPTURE, false);
        goes(AWAIT_CAPTURE, AWAIT_HEAD, SET_SAVEPOINT, CLEAR_WAY, APPLY, LOOK, AWAIT_TURN, COMMIT, DONE);
        assertThat(said).contains("CAPTURE_BEHIND");
    }

    @Test
    void aGroupThatIsAskedToYieldDoes() {
        begin(rows);
        goes(CLEAR_WAY, APPLY, LOOK);
        answers(AWAIT_TURN, false);
        goes(ROLL_BACK, AWAIT_HEAD, SET_SAVEPOINT);
        assertThat(said).containsExactly("YIELDED", "RETRIED");
    }

    @Test
    void locksAreTriedAgainUntilItWasTooOften() throws SQLException {
        begin(rows);
        goes(CLEAR_WAY);
        fails(APPLY, LOCK_WAIT);
        goes(ROLL_BACK, PAUSE, AWAIT_HEAD, SET_SAVEPOINT, CLEAR_WAY);
        assertThat(said).containsExactly("MET_LOCKS", "others yield", "RETRIED");
        fails(APPLY, LOCK_WAIT);
        goes(ROLL_BACK, PAUSE, AWAIT_HEAD, SET_SAVEPOINT, CLEAR_WAY);
        fails(APPLY, LOCK_WAIT);
        assertThatThrownBy(() -> goes(ROLL_BACK))
                .isInstanceOf(QuorateException.class)
                .hasMessageContaining("met locks 3 times");
    }

    @Test
    void whoKeepsEverybodyFromWritingIsWaitedForWithoutABound() throws SQLException {
        lockedOut = true;
        begin(rows);
        goes(CLEAR_WAY);
        for (int i = 0; i < 50; i++) {
            fails(APPLY, LOCK_WAIT);
            goes(ROLL_BACK, PAUSE, AWAIT_HEAD, SET_SAVEPOINT, CLEAR_WAY);
        }
        goes(APPLY);
    }

    @Test
    void aReadOnlyServerIsWaitedForWithoutABound() throws SQLException {
        begin(rows);
        goes(CLEAR_WAY);
        for (int i = 0; i < 50; i++) {
            fails(APPLY, READ_ONLY);
            goes(ROLL_BACK, PAUSE, AWAIT_HEAD, SET_SAVEPOINT, CLEAR_WAY);
        }
        goes(APPLY);
    }

    @Test
    void aLostConnectionEndsItAndACommitThatFailedUndidNothing() {
        begin(rows);
        goes(CLEAR_WAY, APPLY, LOOK, AWAIT_TURN);
        assertThatThrownBy(() -> fails(COMMIT, GONE)).isInstanceOf(SQLException.class);
        assertThat(said).endsWith("not undone 0");
    }

    @Test
    void aFailureThatWhatAClientCommittedExplainsIsAnotherRound() throws SQLException {
        say(doomed(7), doomed(8, 7));
        begin(rows);
        goes(SET_SAVEPOINT, CLEAR_WAY, TAKE_BACK, NOTE_UNDONE);
        fails(APPLY, DUPLICATE);
        answers(EXPLAIN, false);
        goes(EXPLAIN, BACK_TO_SAVEPOINT, CLEAR_WAY, TAKE_BACK);
    }

    @Test
    void theWriteSetAtFaultIsFoundOneByOne() throws SQLException {
        begin(rows);
        goes(CLEAR_WAY);
        fails(APPLY, DUPLICATE);
        goes(ROLL_BACK, SET_SAVEPOINT, CLEAR_WAY, APPLY, LOOK, AWAIT_TURN);
        assertThat(course.position().seqno()).isEqualTo(1);
        goes(COMMIT, SET_SAVEPOINT, CLEAR_WAY);
        fails(APPLY, MIXED);
        goes(EXPLAIN, ROLL_BACK, RUN_ALONE);
        assertThat(course.next()).isEqualTo(SAVE_POSITION);
        assertThat(course.position().seqno()).isEqualTo(2);
        goes(SAVE_POSITION, DONE);
    }

    @Test
    void aStatementUndoesBeforeItAndLooksAgainBeforeThatCommits() {
        say(doomed(7), doomed(8, 7), doomed(8, 7), doomed(8, 7), Losers.NONE);
        begin(of(Records.ddl(5), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY, AWAIT_CAPTURE, COMPARE);
        assertThat(course.next()).isEqualTo(TAKE_BACK);
        assertThat(course.position().seqno()).isEqualTo(4);
        assertThat(course.undoneAt()).isEqualTo(5);
        // A client has built on it meanwhile.
        goes(TAKE_BACK, NOTE_UNDONE, LOOK, ROLL_BACK, COMPARE, TAKE_BACK, NOTE_UNDONE, LOOK, AWAIT_TURN, COMMIT);
        goes(AWAIT_CAPTURE, RUN_ALONE, SAVE_POSITION, DONE);
        assertThat(said).containsExactly("hold true", "RETRIED", "undoing 2 at 5", "hold false");
    }

    /** What they commit once the losers are chosen would have to be undone in a table of another shape. */
    @Test
    void clientsWaitForTheTablesOfADefinitionThatRowsConflictWith() {
        begin(of(definition(KeyType.EXCLUSIVE), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY, LOCK_TABLES, AWAIT_CAPTURE, RUN_ALONE, SAVE_POSITION, DONE);
        assertThat(said).containsExactly("unlock");
    }

    @Test
    void clientsAreKeptFromWritingAnywhereWhereTheTablesCantBeLocked() {
        begin(of(definition(KeyType.EXCLUSIVE), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY);
        answers(LOCK_TABLES, false);
        assertThat(said).containsExactly("hold true");
        goes(AWAIT_CAPTURE, RUN_ALONE, SAVE_POSITION, DONE);
        assertThat(said).containsExactly("hold true", "hold false");
    }

    /** The transaction that undoes them wants to write to the tables. */
    @Test
    void losersAreUndoneWithoutTheLocks() {
        say(doomed(7), doomed(7), Losers.NONE);
        begin(of(definition(KeyType.EXCLUSIVE), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY, LOCK_TABLES, AWAIT_CAPTURE);
        goes(COMPARE);
        assertThat(said).containsExactly("unlock");
        goes(TAKE_BACK, NOTE_UNDONE, LOOK, AWAIT_TURN, COMMIT);
        goes(LOCK_TABLES, AWAIT_CAPTURE, RUN_ALONE, SAVE_POSITION, DONE);
        assertThat(said).containsExactly("unlock", "undoing 1 at 5", "unlock");
    }

    @Test
    void clientsWhoGoOnToMakeLosersAreKeptFromWritingInTheEnd() {
        say(Stream.concat(Stream.generate(() -> doomed(7)).limit(12), Stream.of(Losers.NONE))
                .toArray(Losers[]::new));
        begin(of(definition(KeyType.EXCLUSIVE), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY);
        for (int round = 0; round < 5; round++) {
            goes(LOCK_TABLES, AWAIT_CAPTURE, COMPARE, TAKE_BACK, NOTE_UNDONE, LOOK, AWAIT_TURN, COMMIT);
        }
        assertThat(said).doesNotContain("hold true");
        goes(LOCK_TABLES, AWAIT_CAPTURE, COMPARE);
        assertThat(said).contains("hold true");
        goes(TAKE_BACK, NOTE_UNDONE, LOOK, AWAIT_TURN, COMMIT, AWAIT_CAPTURE, RUN_ALONE, SAVE_POSITION, DONE);
        assertThat(said).endsWith("hold false");
    }

    @Test
    void clientsWhoMakeManyLosersAreKeptFromWritingAtOnce() {
        say(doomed(LongStream.range(0, 17).toArray()), Losers.NONE);
        begin(of(definition(KeyType.EXCLUSIVE), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY, LOCK_TABLES, AWAIT_CAPTURE, COMPARE);
        assertThat(said).containsExactly("unlock", "hold true");
    }

    @Test
    void losersThatLeaveWhatTheStatementLeavesAreNotedOnceItHasRun() {
        say(doomed(7), Losers.NONE);
        alike.addAll(doomed(7).doomed());
        begin(of(definition(KeyType.EXCLUSIVE), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY, LOCK_TABLES, AWAIT_CAPTURE, COMPARE, RUN_ALONE);
        assertThat(course.next()).isEqualTo(SAVE_POSITION);
        assertThat(course.losers()).isEqualTo(alike);
        assertThat(course.position().seqno()).isEqualTo(5);
        assertThat(course.undoneAt()).isEqualTo(5);
        goes(SAVE_POSITION, DONE);
        assertThat(said).containsExactly("unlock", "undoing 1 at 5");
    }

    /** Rows of a table that a client has made as another node's did. */
    @Test
    void onlyWhatElseLosesIsUndoneBefore() {
        say(doomed(8, 7), doomed(8, 7), doomed(7), Losers.NONE);
        alike.addAll(doomed(7).doomed());
        begin(of(Records.ddl(5), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY, AWAIT_CAPTURE, COMPARE);
        assertThat(course.losers()).isEqualTo(doomed(8).doomed());
        goes(TAKE_BACK, NOTE_UNDONE, LOOK, AWAIT_TURN, COMMIT, AWAIT_CAPTURE, COMPARE, RUN_ALONE, SAVE_POSITION, DONE);
        assertThat(said).containsExactly("undoing 1 at 5", "undoing 1 at 5");
    }

    /** Of the same script, of which this server has run more than has come from the other node. */
    @Test
    void whatIsOrderedLaterStays() {
        say(doomed(9, 8, 7), doomed(9, 8, 7), doomed(9, 7), Losers.NONE);
        alike.addAll(doomed(7).doomed());
        later.addAll(doomed(9).doomed());
        begin(of(Records.ddl(5), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY, AWAIT_CAPTURE, COMPARE);
        assertThat(course.losers()).isEqualTo(doomed(8).doomed());
        goes(TAKE_BACK, NOTE_UNDONE, LOOK, AWAIT_TURN, COMMIT, AWAIT_CAPTURE, COMPARE, RUN_ALONE);
        assertThat(course.next()).isEqualTo(SAVE_POSITION);
        assertThat(course.losers()).isEqualTo(alike);
        goes(SAVE_POSITION, DONE);
    }

    @Test
    void theyDifferAfterAllIfTheStatementIsVoid() {
        say(doomed(7));
        alike.addAll(doomed(7).doomed());
        begin(of(Records.ddl(5), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY, AWAIT_CAPTURE, COMPARE);
        answers(RUN_ALONE, false);
        assertThat(course.next()).isEqualTo(TAKE_BACK);
        assertThat(course.losers()).isEqualTo(alike);
        assertThat(said).isEmpty();
    }

    @Test
    void theyAreNotUndoneIfThatIsNotCommitted() throws SQLException {
        say(doomed(7), Losers.NONE);
        alike.addAll(doomed(7).doomed());
        begin(of(Records.ddl(5), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY, AWAIT_CAPTURE, COMPARE, RUN_ALONE);
        assertThatThrownBy(() -> fails(SAVE_POSITION, GONE)).isInstanceOf(SQLException.class);
        assertThat(said).containsExactly("undoing 1 at 5", "not undone 1");
    }

    @Test
    void whatCantBeRunUnderLocksIsRunWhileClientsAreKeptFromWriting() throws SQLException {
        begin(of(definition(KeyType.EXCLUSIVE), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY, LOCK_TABLES, AWAIT_CAPTURE);
        fails(RUN_ALONE, NOT_LOCKED);
        assertThat(said).containsExactly("unlock", "hold true");
        goes(AWAIT_CAPTURE, RUN_ALONE, SAVE_POSITION, DONE);
    }

    @Test
    void tablesInUseAreWaitedForAndWhatIsPreparedIsRolledBack() throws SQLException {
        begin(of(definition(KeyType.EXCLUSIVE), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY);
        fails(LOCK_TABLES, LOCK_WAIT);
        goes(PAUSE, CLEAR_PREPARED, LOCK_TABLES, AWAIT_CAPTURE, RUN_ALONE, SAVE_POSITION, DONE);
        assertThat(said).containsExactly("MET_LOCKS", "others yield", "unlock");
    }

    @Test
    void clientsGoOnBesideADefinitionThatRowsFit() {
        begin(of(definition(KeyType.UPDATE), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY, AWAIT_CAPTURE, RUN_ALONE, SAVE_POSITION, DONE);
        assertThat(said).isEmpty();
    }

    /** A backup may keep the statement waiting for hours. */
    @Test
    void clientsMayWriteWhileADefinitionWaitsForLocks() throws SQLException {
        begin(of(definition(KeyType.EXCLUSIVE), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY);
        answers(LOCK_TABLES, false);
        goes(AWAIT_CAPTURE);
        fails(RUN_ALONE, LOCK_WAIT);
        assertThat(said).contains("hold true", "hold false");
    }

    private static Certified definition(KeyType type) {
        Keys keys = new Keys(new long[] {100}, new byte[] {(byte) type.ordinal()});
        return Records.certified(
                5, 4, new WriteSet(new Gtid(Records.ORIGIN, 5), 0, 0, WriteSet.Kind.DDL, keys, new byte[10]));
    }

    @Test
    void aStatementThatMeetsLocksHasWhatIsPreparedRolledBack() throws SQLException {
        begin(of(Records.ddl(5), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY, AWAIT_CAPTURE);
        fails(RUN_ALONE, LOCK_WAIT);
        goes(PAUSE, CLEAR_PREPARED);
        fails(RUN_ALONE, LOCK_WAIT);
        goes(PAUSE);
        fails(CLEAR_PREPARED, DUPLICATE);
        goes(RUN_ALONE, SAVE_POSITION, DONE);
    }

    @Test
    void aStatementThatTheServerRefusesIsPassedOverOnceTheOthersHaveFoundItVoid() throws SQLException {
        begin(of(Records.ddl(5), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY, AWAIT_CAPTURE);
        fails(RUN_ALONE, DUPLICATE);
        goes(EXPLAIN);
        assertThat(course.next()).isEqualTo(ASK_OTHERS);
        course.answered(Verdicts.Verdict.OPEN);
        assertThat(course.next()).isEqualTo(ASK_OTHERS);
        course.answered(Verdicts.Verdict.VOID);
        goes(RUN_ALONE, SAVE_POSITION, DONE);
    }

    /** A client committed it after the losers were chosen; it loses, and isn't what others have to be asked about. */
    @Test
    void aStatementThatALoserStandsAgainstRunsOnceThatIsUndone() throws SQLException {
        say(Losers.NONE, doomed(7), doomed(7), doomed(7), Losers.NONE);
        begin(of(Records.ddl(5), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY, AWAIT_CAPTURE);
        fails(RUN_ALONE, DUPLICATE);
        answers(EXPLAIN, false);
        goes(EXPLAIN, AWAIT_CAPTURE, COMPARE, TAKE_BACK, NOTE_UNDONE, LOOK, AWAIT_TURN, COMMIT);
        goes(AWAIT_CAPTURE, RUN_ALONE, SAVE_POSITION, DONE);
        assertThat(said).containsExactly("undoing 1 at 5");
    }

    /** The client's commit became visible only after it was looked. */
    @Test
    void clientsGoOnUnlessTheStatementIsRefusedAgain() throws SQLException {
        say(Losers.NONE, doomed(7));
        alike.addAll(doomed(7).doomed());
        begin(of(Records.ddl(5), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY, AWAIT_CAPTURE);
        fails(RUN_ALONE, DUPLICATE);
        goes(EXPLAIN, AWAIT_CAPTURE, COMPARE);
        assertThat(course.next()).isEqualTo(RUN_ALONE);
        assertThat(said).isEmpty();
        fails(RUN_ALONE, DUPLICATE);
        assertThat(said).containsExactly("hold true");
    }

    @Test
    void aStatementThatTheServerRefusesAndOthersRanShowsThatItHoldsSomethingElse() throws SQLException {
        begin(of(Records.record(5, 4, WriteSet.Kind.DDL, new byte[0]), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY, AWAIT_CAPTURE);
        fails(RUN_ALONE, CHECK_VIOLATED);
        goes(EXPLAIN);
        assertThat(course.next()).isEqualTo(ASK_OTHERS);
        assertThat(said).isEmpty();
        assertThatThrownBy(() -> course.answered(Verdicts.Verdict.STANDS))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DEFINITION_REFUSED));
    }

    /** A full disk is nothing that others could say anything about. */
    @Test
    void aStatementThatFailsForTheServersOwnSakeIsNoQuestionToOthers() {
        begin(of(Records.record(5, 4, WriteSet.Kind.DDL, new byte[0]), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY, AWAIT_CAPTURE);
        assertThatThrownBy(() -> fails(RUN_ALONE, DISK_FULL))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.SERVER_UNABLE));
    }

    @Test
    void aStatementsUndoThatNothingExplainsEndsIt() throws SQLException {
        say(doomed(7));
        begin(of(Records.ddl(5), Duty.EXECUTE));
        goes(AWAIT_HEAD, CLEAR_WAY, AWAIT_CAPTURE, COMPARE);
        fails(TAKE_BACK, DUPLICATE);
        goes(ROLL_BACK);
        assertThatThrownBy(() -> goes(EXPLAIN)).isInstanceOfSatisfying(QuorateException.class, e -> assertThat(e.code())
                .isEqualTo(ErrorCode.UNDO_MISMATCH));
    }

    @Test
    void whatWasPreparedSettlesAndIsAppliedWhereItIsGone() {
        begin(of(Records.rows(5, 0, 10), Duty.SETTLE));
        goes(AWAIT_HEAD, SETTLE, DONE);
        assertThat(course.positionSaved()).isFalse();
        begin(of(Records.rows(5, 0, 10), Duty.SETTLE));
        goes(AWAIT_HEAD);
        answers(SETTLE, false);
        goes(SET_SAVEPOINT, CLEAR_WAY, APPLY, LOOK, AWAIT_TURN, COMMIT, DONE);
        assertThat(course.positionSaved()).isTrue();
    }

    @Test
    void aPositionThatCantBeWrittenIsNotSaidToBe() throws SQLException {
        begin(new Group(7, new LogPosition(1, 7), 0));
        goes(CLEAR_WAY, APPLY, LOOK, AWAIT_TURN);
        fails(COMMIT, DUPLICATE);
        goes(ROLL_BACK, DONE);
        assertThat(course.positionSaved()).isFalse();
    }

    @Test
    void itsStepsFollowOneAnotherAsTheTableSays() {
        assertThat(ApplyStep.NEXT).hasToString("""
                PAUSE:
                AWAIT_HEAD: CHOOSE CLEAR_WAY SETTLE
                CHOOSE: AWAIT_HEAD SET_SAVEPOINT CLEAR_WAY COMPARE TAKE_BACK RUN_ALONE DONE
                SET_SAVEPOINT: CLEAR_WAY ROLL_BACK
                CLEAR_WAY: TAKE_BACK APPLY EXPLAIN ROLL_BACK LOCK_TABLES AWAIT_CAPTURE
                COMPARE: TAKE_BACK RUN_ALONE
                TAKE_BACK: NOTE_UNDONE EXPLAIN ROLL_BACK
                NOTE_UNDONE: APPLY LOOK EXPLAIN ROLL_BACK
                APPLY: LOOK EXPLAIN ROLL_BACK
                LOOK: AWAIT_TURN BACK_TO_SAVEPOINT EXPLAIN ROLL_BACK
                AWAIT_TURN: COMMIT ROLL_BACK
                COMMIT: CHOOSE ROLL_BACK LOCK_TABLES AWAIT_CAPTURE SETTLE DONE
                BACK_TO_SAVEPOINT: CHOOSE ROLL_BACK
                EXPLAIN: BACK_TO_SAVEPOINT ROLL_BACK AWAIT_CAPTURE ASK_OTHERS
                ROLL_BACK: AWAIT_HEAD CHOOSE EXPLAIN AWAIT_CAPTURE RUN_ALONE DONE
                LOCK_TABLES: AWAIT_CAPTURE CLEAR_PREPARED
                AWAIT_CAPTURE: AWAIT_HEAD CHOOSE ROLL_BACK
                SETTLE: CHOOSE SETTLE DONE
                RUN_ALONE: TAKE_BACK EXPLAIN AWAIT_CAPTURE RUN_ALONE CLEAR_PREPARED SAVE_POSITION
                ASK_OTHERS: RUN_ALONE
                CLEAR_PREPARED: LOCK_TABLES RUN_ALONE
                SAVE_POSITION: CHOOSE SETTLE DONE
                DONE:
                """);
    }
}
