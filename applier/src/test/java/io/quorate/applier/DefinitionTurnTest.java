// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.Keys;
import io.quorate.core.OrderedFirst;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What is left of each step after a crash stays in the server's sets. */
class DefinitionTurnTest {
    private static final Verdicts VOID = verdicts(true);
    private static final Verdicts UNASKED = verdicts(false);

    private final Set<Long> gtids = new HashSet<>();
    private final Set<Long> notes = new HashSet<>();
    private final List<String> did = new ArrayList<>();

    private static Verdicts verdicts(boolean isVoid) {
        return new Verdicts() {
            @Override
            public boolean isVoid(long seqno) {
                return isVoid;
            }

            @Override
            public Verdict onRefused(long seqno) {
                return Verdict.STANDS;
            }
        };
    }

    private DefinitionTurn.Server at(long seqno) {
        return new DefinitionTurn.Server() {
            @Override
            public boolean hasGtid() {
                return gtids.contains(seqno);
            }

            @Override
            public void requireWhole() {
                did.add("whole");
            }

            @Override
            public void run() {
                did.add("run");
                gtids.add(seqno);
            }

            @Override
            public boolean hasPassedOver(long definition) {
                return notes.contains(definition);
            }

            @Override
            public void notePassedOver(long definition) {
                did.add("note");
                notes.add(definition);
            }

            @Override
            public void useUpGtid(long definition) {
                did.add("use up");
                gtids.add(definition);
            }
        };
    }

    private static Certified definition(long seqno) {
        return Records.certified(
                seqno,
                seqno - 1,
                new WriteSet(
                        WriteSet.voids(seqno, new long[0], 0).gtid(), 0, 0, WriteSet.Kind.DDL, Keys.NONE, new byte[0]));
    }

    private static Certified verdict(long seqno, long definition) {
        return Records.certified(seqno, seqno - 1, WriteSet.voids(definition, new long[] {definition + 5}, 0));
    }

    @Test
    void runsOnceAndThenMustBeWhole() throws SQLException {
        DefinitionTurn.take(definition(1), UNASKED, at(1));
        DefinitionTurn.take(definition(1), UNASKED, at(1));
        assertThat(did).containsExactly("run", "whole");
    }

    @Test
    void isPassedOverWhenItIsVoidAlsoAfterACrashInBetween() throws SQLException {
        notes.add(1L);
        DefinitionTurn.take(definition(1), VOID, at(1));
        DefinitionTurn.take(definition(1), VOID, at(1));
        assertThat(did).containsExactly("use up");
        DefinitionTurn.take(verdict(2, 1), VOID, at(2));
    }

    @Test
    void whoHasRunAVoidOneFindsOutAtTheVerdict() throws SQLException {
        DefinitionTurn.take(definition(1), UNASKED, at(1));
        requireVoid(verdict(2, 1), 2);
        assertThatThrownBy(() -> DefinitionTurn.take(verdict(2, 1), VOID, at(2)))
                .isInstanceOfSatisfying(
                        QuorateException.class,
                        e -> assertThat(e.difference().seqnos()).containsExactlyInAnyOrder(1L, 6L));
    }

    /** A crash took the position that says so, and meanwhile the others have made it void. */
    @Test
    void whoHasRunOneBeforeItWasFoundVoidHasNotPassedItOver() throws SQLException {
        DefinitionTurn.take(definition(1), UNASKED, at(1));
        requireVoid(definition(1), 1);
        requireVoid(verdict(2, 1), 2);
        assertThat(notes).isEmpty();
    }

    private void requireVoid(Certified writeSet, long seqno) {
        assertThatThrownBy(() -> DefinitionTurn.take(writeSet, VOID, at(seqno)))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DEFINITION_VOID));
    }

    /** It isn't run anywhere; the one that was chosen has nothing to do for it. */
    @Test
    void whereAnotherServersTablesWereChosenThisOneDiffers() {
        UUID chosen = new UUID(0, 7);
        Certified choice = Records.certified(
                3, 2, OrderedFirst.definition(0, 1, 2, 0, OrderedFirst.trust(Keys.NONE, chosen), new byte[0]));
        assertThatThrownBy(() -> DefinitionTurn.take(choice, UNASKED, at(3)))
                .isInstanceOfSatisfying(QuorateException.class, e -> {
                    assertThat(e.code()).isEqualTo(ErrorCode.OTHERS_TRUSTED);
                    assertThat(e.difference().seqnos()).containsExactly(3L);
                });
        assertThat(new OwnWriteSets(chosen, TakenBack.NONE, Map.of()).duty(choice))
                .isEqualTo(Duty.NONE);
        assertThat(new OwnWriteSets(new UUID(0, 8), TakenBack.NONE, Map.of()).duty(choice))
                .isEqualTo(Duty.EXECUTE);
    }
}
