// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static io.quorate.core.KeyType.EXCLUSIVE;
import static io.quorate.core.KeyType.REFERENCE;
import static io.quorate.core.KeyType.SHARED;
import static io.quorate.core.KeyType.UPDATE;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class OwnWritesTest {
    private static final UUID HERE = new UUID(1, 1);
    private static final UUID THERE = new UUID(2, 2);
    private static final long ROW = 77;
    private static final long OTHER = 78;
    private static final long TABLE = 50;

    private final OwnWrites own = new OwnWrites(0, Map.of(), c -> true);
    private long last;

    private WriteSet captured(long lastSeen, KeyType type, long... hashes) {
        return own.captured(writeSet(HERE, ++last, lastSeen, type, hashes));
    }

    private static WriteSet writeSet(UUID origin, long number, long lastSeen, KeyType type, long... hashes) {
        KeysBuilder keys = new KeysBuilder();
        for (long hash : hashes) {
            keys.add(hash, type);
        }
        return new WriteSet(
                new Gtid(origin, number), lastSeen, 0, WriteSet.Kind.ROWS, keys.build(), new byte[] {(byte) number});
    }

    private static Certified winner(long seqno, KeyType type, long... hashes) {
        return certified(seqno, Verdict.PASSED, writeSet(THERE, seqno, 0, type, hashes));
    }

    private static Certified certified(long seqno, Verdict verdict, WriteSet w) {
        return new Certified(seqno, verdict, 0, 0, LogPosition.START, true, w);
    }

    private List<Long> toUndo(Certified... group) {
        return own.toUndo(List.of(group), List.of()).doomed().stream()
                .map(OwnWrites.Doomed::number)
                .toList();
    }

    @Test
    void aLoserIsKnownByTheKeysOfTheWinner() {
        captured(0, UPDATE, ROW);
        captured(0, UPDATE, OTHER);
        assertThat(toUndo(winner(1, UPDATE, ROW))).containsExactly(1L);
        assertThat(toUndo(winner(1, REFERENCE, ROW))).isEmpty();
        assertThat(toUndo(winner(1, UPDATE, 99))).isEmpty();
    }

    @Test
    void allThatWasBuiltOnItGoesWithItTheLatestFirst() {
        captured(0, UPDATE, ROW);
        captured(0, UPDATE, OTHER);
        WriteSet third = captured(0, UPDATE, ROW, 9);
        WriteSet fourth = captured(0, UPDATE, 9);
        assertThat(third.builtOn()).containsExactly(1);
        assertThat(fourth.builtOn()).containsExactly(3);
        assertThat(toUndo(winner(1, UPDATE, ROW))).containsExactly(4L, 3L, 1L);
    }

    @Test
    void onlyTheLatestOfAChainIsNamedButEveryReference() {
        captured(0, UPDATE, ROW);
        captured(0, UPDATE, ROW);
        captured(0, REFERENCE, ROW);
        captured(0, REFERENCE, ROW);
        captured(0, UPDATE, ROW);
        assertThat(captured(0, UPDATE, ROW).builtOn()).containsExactly(5);
        assertThat(captured(0, EXCLUSIVE, ROW).builtOn()).containsExactly(3, 4, 6);
        assertThat(captured(0, UPDATE, ROW).builtOn()).containsExactly(7);
    }

    @Test
    void whatCommittedAfterAnUndoIsFreeOfIt() {
        captured(0, UPDATE, ROW);
        List<OwnWrites.Doomed> losers =
                own.toUndo(List.of(winner(5, UPDATE, ROW)), List.of()).doomed();
        own.undoing(losers, 7);
        assertThat(captured(6, UPDATE, ROW).builtOn()).as("before it").containsExactly(1);
        assertThat(captured(7, UPDATE, ROW).builtOn()).as("after it").containsExactly(2);
        assertThat(toUndo(winner(5, UPDATE, ROW))).as("not twice").containsExactly(3L, 2L);
        own.notUndone(losers);
        assertThat(toUndo(winner(5, UPDATE, ROW))).containsExactly(3L, 2L, 1L);
    }

    /** Found by the simulation. */
    @Test
    void whatStandsOnAnUndoneOneByItsKeyGoesWithWhatLiesBelow() {
        captured(0, UPDATE, ROW);
        captured(0, EXCLUSIVE, ROW, OTHER);
        // The second is undone; a third commits unseen, without needing its lock.
        own.undoing(own.toUndo(List.of(winner(5, UPDATE, OTHER)), List.of()).doomed(), 5);
        assertThat(captured(4, EXCLUSIVE, ROW).builtOn()).containsExactly(2);
        assertThat(toUndo(winner(6, UPDATE, ROW))).containsExactly(3L, 1L);
    }

    /** Found by the simulation. */
    @Test
    void whatIsChosenTakesAlongWhatWasBuiltOnIt() {
        captured(0, UPDATE, ROW);
        captured(0, UPDATE, ROW);
        List<OwnWrites.Doomed> chosen = List.of(new OwnWrites.Doomed(1, 0, null));
        assertThat(own.toUndo(List.of(winner(5, UPDATE, OTHER)), chosen).doomed())
                .hasSize(2);
    }

    @Test
    void whatHasPassedIsNoLongerOpen() {
        WriteSet w = captured(0, UPDATE, ROW);
        own.ordered(List.of(certified(4, Verdict.PASSED, w)), 1, 0);
        assertThat(toUndo(winner(5, UPDATE, ROW))).isEmpty();
        assertThat(captured(0, UPDATE, ROW).builtOn()).isEmpty();
    }

    @Test
    void whatFailedUnseenIsUndoneInItsPlaceAndReadFromTheRecord() {
        WriteSet w = captured(0, UPDATE, ROW);
        Certified failed = certified(4, Verdict.TOO_OLD, w);
        own.ordered(List.of(failed), 1, 0);
        assertThat(own.toUndo(List.of(failed), List.of()).doomed()).containsExactly(new OwnWrites.Doomed(1, 4, null));
        own.undoing(own.toUndo(List.of(failed), List.of()).doomed(), 4);
        own.applied(4);
        assertThat(own.size()).as("until the capture has passed the undo").isEqualTo(1);
        own.covered(2, 4);
        assertThat(own.size()).as("until that is ordered").isEqualTo(1);
        own.ordered(List.of(), 1, 4);
        assertThat(own.size()).isZero();
        assertThat(own.settledNumber()).isEqualTo(1);
    }

    @Test
    void aNewSessionKnowsWhatFailedAndWhatWasUndone() {
        OwnWrites next = new OwnWrites(3, Map.of(2L, 3L), c -> c.seqno() != 6);
        WriteSet first = writeSet(HERE, 1, 0, UPDATE, ROW);
        WriteSet second = writeSet(HERE, 2, 0, UPDATE, OTHER);
        WriteSet lost = writeSet(HERE, 3, 0, UPDATE, 9);
        next.ordered(
                List.of(
                        certified(4, Verdict.CONFLICT, first),
                        certified(5, Verdict.CONFLICT, second),
                        certified(6, Verdict.CONFLICT, lost)),
                3,
                0);
        assertThat(next.toUndo(List.of(winner(4, UPDATE, ROW, OTHER, 9)), List.of())
                        .doomed())
                .containsExactly(new OwnWrites.Doomed(1, 4, null));
        assertThat(next.captured(writeSet(HERE, 3, 0, UPDATE, ROW)).builtOn())
                .as("ordered already")
                .isEmpty();
        assertThat(next.captured(writeSet(HERE, 4, 3, UPDATE, ROW, OTHER)).builtOn())
                .containsExactly(1);
    }

    /** Found by the simulation: what is captured again may have been built on what is undone by now. */
    @Test
    void aNewSessionKnowsWhatWasUndoneBeforeForWhatHadNotSeenIt() {
        OwnWrites next = new OwnWrites(8, Map.of(1L, 3L), c -> true);
        next.ordered(
                List.of(
                        certified(4, Verdict.CONFLICT, writeSet(HERE, 1, 0, UPDATE, ROW)),
                        certified(8, Verdict.CONFLICT, writeSet(HERE, 2, 0, UPDATE, OTHER))),
                2,
                0);
        assertThat(next.toUndo(List.of(winner(9, UPDATE, ROW, OTHER)), List.of())
                        .doomed())
                .isEmpty();
        assertThat(next.captured(writeSet(HERE, 3, 2, UPDATE, ROW)).builtOn()).containsExactly(1);
        assertThat(next.captured(writeSet(HERE, 4, 3, UPDATE, 9)).builtOn()).isEmpty();
        assertThat(next.captured(writeSet(HERE, 5, 7, UPDATE, OTHER)).builtOn()).containsExactly(2);
        next.failedUnknown(9);
        assertThat(next.captured(writeSet(HERE, 6, 8, UPDATE, 10)).isBuiltOnAll())
                .isTrue();
        assertThat(next.captured(writeSet(HERE, 7, 9, UPDATE, 11)).builtOn()).isEmpty();
    }

    /** Found by the simulation: an earlier copy of it, that knew, may be ordered already. */
    @Test
    void whatIsOnlyGuessedToBeBuiltOnALoserIsNotUndoneBeforeTheOrderHasTold() {
        captured(0, UPDATE, ROW);
        own.failedUnknown(9);
        WriteSet guessed = captured(1, UPDATE, OTHER);
        assertThat(own.toUndo(List.of(winner(5, UPDATE, 99)), List.of()).certain())
                .isTrue();
        assertThat(own.toUndo(List.of(winner(5, UPDATE, ROW)), List.of()).certain())
                .isFalse();
        own.ordered(List.of(certified(11, Verdict.BUILT_ON_FAILED, guessed)), 2, 1);
        assertThat(own.toUndo(List.of(winner(5, UPDATE, ROW)), List.of()).certain())
                .isTrue();
    }

    @Test
    void aTableTakenExclusivelyMeetsWhoWroteInIt() {
        captured(0, SHARED, TABLE);
        captured(0, SHARED, 6);
        assertThat(toUndo(winner(1, EXCLUSIVE, TABLE))).containsExactly(1L);
        assertThat(toUndo(winner(1, SHARED, TABLE))).isEmpty();
    }

    /** Others don't lose against it; but these rows fit no definition before it. */
    @Test
    void aTableThatIsDefinedAnewCarriesTheRowsThatFollowHere() {
        captured(0, SHARED, TABLE);
        captured(0, UPDATE, TABLE);
        captured(0, UPDATE, TABLE);
        assertThat(captured(0, SHARED, TABLE).builtOn()).containsExactly(3);
        assertThat(toUndo(winner(1, UPDATE, TABLE))).containsExactly(4L, 3L, 2L);
    }

    @Test
    void rowsStandBesideATableThatIsDefinedAnewElsewhere() {
        captured(0, SHARED, TABLE);
        assertThat(toUndo(winner(1, UPDATE, TABLE))).isEmpty();
        captured(0, UPDATE, TABLE);
        assertThat(toUndo(winner(1, SHARED, TABLE))).isEmpty();
        assertThat(toUndo(winner(1, EXCLUSIVE, TABLE))).containsExactly(2L, 1L);
    }

    @Test
    void everythingMeetsEverything() {
        captured(0, UPDATE, ROW);
        WriteSet all = captured(0, EXCLUSIVE, Keys.EVERYTHING);
        assertThat(all.isBuiltOnAll()).isTrue();
        assertThat(captured(0, UPDATE, OTHER).builtOn()).containsExactly(2);
        assertThat(toUndo(winner(1, UPDATE, 99))).containsExactly(3L, 2L);
        assertThat(toUndo(winner(1, EXCLUSIVE, Keys.EVERYTHING))).containsExactly(3L, 2L, 1L);
    }

    @Test
    void moreThanAListHoldsMeansAll() {
        for (int i = 0; i < 100; i++) {
            captured(0, REFERENCE, ROW);
        }
        assertThat(captured(0, EXCLUSIVE, ROW).isBuiltOnAll()).isTrue();
    }

    @Test
    void isCoveredByTheCaptureOrByTheOrder() {
        own.covered(3, 0);
        assertThat(own.isCovered(3)).isTrue();
        assertThat(own.isCovered(4)).isFalse();
        own.ordered(List.of(), 4, 0);
        assertThat(own.isCovered(4)).isTrue();
    }

    /** An index or a constraint: rows fit without it. */
    @Test
    void rowsAreNotBuiltOnADefinitionThatKeepsTheColumns() {
        captured(0, UPDATE, ROW);
        define(EXCLUSIVE, Keys.KEEPS_COLUMNS);
        assertThat(captured(0, SHARED, TABLE).builtOn()).isEmpty();
        define(EXCLUSIVE);
        assertThat(captured(0, SHARED, TABLE).builtOn())
                .as("and on the row from before it")
                .containsExactly(3, 4);
        assertThat(captured(0, SHARED, TABLE, Keys.fitsFormer(TABLE)).builtOn()).doesNotContain(4);
        assertThat(define(EXCLUSIVE, Keys.KEEPS_COLUMNS).builtOn())
                .as("a definition on a definition")
                .containsExactly(4);
        assertThat(captured(0, SHARED, TABLE).builtOn()).contains(4).doesNotContain(7);
    }

    /** A late row of another node may hold the same value, and has no key of the new index. */
    @Test
    void rowsUnderADefinitionLoseAgainstLateRowsOfItsTableUntilItsPlaceIsPassed() {
        define(EXCLUSIVE, Keys.KEEPS_COLUMNS);
        WriteSet under = captured(3, SHARED, TABLE);
        assertThat(under.keys()).isEqualTo(keys(UPDATE, TABLE, Keys.guarded(TABLE), Keys.NO_ROWS_BEFORE));
        assertThat(under.builtOn()).isEmpty();
        assertThat(toUndo(winner(4, SHARED, TABLE))).containsExactly(2L);
        assertThat(captured(3, SHARED, OTHER).keys()).isEqualTo(keys(SHARED, OTHER));
        own.ordered(List.of(certified(6, Verdict.PASSED, definition(1))), 1, 0);
        assertThat(captured(5, SHARED, TABLE).keys().contains(Keys.NO_ROWS_BEFORE))
                .isTrue();
        assertThat(captured(6, SHARED, TABLE).keys()).isEqualTo(keys(SHARED, TABLE));
    }

    /** A late row of the child has no key of its parent, because there was no foreign key where it was written. */
    @Test
    void rowsOfAParentLoseAgainstLateRowsOfTheChildUnderANewForeignKey() {
        Keys both = writeSet(HERE, ++last, 0, EXCLUSIVE, TABLE, OTHER).keys();
        own.captured(new WriteSet(new Gtid(HERE, last), 0, 0, WriteSet.Kind.DDL, both, new byte[] {1}));
        Keys parents = captured(3, SHARED, OTHER).keys();
        assertThat(parents.contains(Keys.guarded(OTHER))).isTrue();
        assertThat(parents.contains(TABLE)).isTrue();
        assertThat(parents.contains(Keys.guarded(TABLE))).isTrue();
        assertThat(captured(3, SHARED, TABLE).keys().contains(OTHER)).isFalse();
        assertThat(toUndo(winner(4, SHARED, TABLE))).containsExactlyInAnyOrder(2L, 3L);
    }

    @Test
    void aDefinitionThatFailsOrThatLosesAgainstLateRowsItselfGuardsNothing() {
        define(EXCLUSIVE, Keys.NO_ROWS_BEFORE);
        assertThat(captured(0, SHARED, TABLE).keys()).isEqualTo(keys(SHARED, TABLE));
        define(EXCLUSIVE, Keys.KEEPS_COLUMNS);
        own.ordered(List.of(certified(6, Verdict.CONFLICT, definition(3))), 3, 0);
        assertThat(captured(0, SHARED, TABLE).keys()).isEqualTo(keys(SHARED, TABLE));
    }

    /** Found by the simulation: rows that were undone under a guard passed, captured again by another session. */
    @Test
    void whatIsGuardedDoesNotDependOnWhenItIsRead() {
        WriteSet definition = define(EXCLUSIVE, Keys.KEEPS_COLUMNS);
        WriteSet under = captured(3, SHARED, TABLE);
        OwnWrites next = new OwnWrites(7, Map.of(), c -> true);
        next.ordered(List.of(certified(6, Verdict.PASSED, definition)), 1, 0);
        next.applied(7);
        WriteSet again = new WriteSet(
                under.gtid(), under.lastSeen(), 0, WriteSet.Kind.ROWS, keys(SHARED, TABLE), under.payload());
        assertThat(next.captured(again).keys()).isEqualTo(under.keys());
        OwnWrites repaired = new OwnWrites(7, Map.of(), c -> false);
        repaired.ordered(List.of(certified(6, Verdict.PASSED, definition)), 1, 0);
        assertThat(repaired.captured(again).keys())
                .as("a definition that the server has lost")
                .isEqualTo(again.keys());
    }

    /** Found by the simulation: after a restart its keys are those of the order. */
    @Test
    void aDefinitionIsNotBuiltOnGuardedRowsThatFailed() {
        define(EXCLUSIVE, Keys.KEEPS_COLUMNS);
        WriteSet under = captured(0, SHARED, TABLE);
        OwnWrites next = new OwnWrites(0, Map.of(), c -> true);
        next.ordered(List.of(certified(7, Verdict.CONFLICT, under)), 2, 0);
        assertThat(next.captured(new WriteSet(
                                new Gtid(HERE, 3), 0, 0, WriteSet.Kind.DDL, keys(EXCLUSIVE, TABLE), new byte[] {3}))
                        .builtOn())
                .isEmpty();
    }

    @Test
    void whatIsUnseenOfOtherTablesIsAConflictForGuardedRowsToo() {
        define(EXCLUSIVE, Keys.KEEPS_COLUMNS);
        captured(0, SHARED, TABLE, OTHER);
        captured(0, SHARED, OTHER);
        assertThat(toUndo(winner(4, UPDATE, OTHER))).containsExactly(2L);
        assertThat(toUndo(winner(4, SHARED, OTHER))).isEmpty();
    }

    /** Its undo brings back a value that the index took for free. */
    @Test
    void rowsUnderADefinitionAreBuiltOnOpenRowsFromBeforeIt() {
        captured(0, SHARED, TABLE);
        captured(0, SHARED, OTHER);
        define(EXCLUSIVE, Keys.KEEPS_COLUMNS);
        assertThat(captured(0, SHARED, TABLE).builtOn()).containsExactly(1);
    }

    private static Keys keys(KeyType type, long first, long... marks) {
        KeysBuilder keys = new KeysBuilder();
        keys.add(first, type);
        for (long mark : marks) {
            keys.add(mark, SHARED);
        }
        return keys.build();
    }

    private static WriteSet definition(long number) {
        return new WriteSet(
                new Gtid(HERE, number), 0, 0, WriteSet.Kind.DDL, keys(EXCLUSIVE, TABLE), new byte[] {(byte) number});
    }

    private WriteSet define(KeyType type, long... marks) {
        KeysBuilder keys = new KeysBuilder();
        keys.add(TABLE, type);
        for (long mark : marks) {
            keys.add(mark, SHARED);
        }
        return own.captured(
                new WriteSet(new Gtid(HERE, ++last), 0, 0, WriteSet.Kind.DDL, keys.build(), new byte[] {(byte) last}));
    }
}
