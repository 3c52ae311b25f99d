// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AnswerTest {
    /** As a reader makes it of an answer that has none of the fields. */
    private static Record ofNothing(Class<?> type) throws ReflectiveOperationException {
        Class<?>[] types = Arrays.stream(type.getRecordComponents())
                .map(RecordComponent::getType)
                .toArray(Class<?>[]::new);
        Constructor<?> constructor = type.getDeclaredConstructor(types);
        Object[] zeros = Arrays.stream(types)
                .map(t -> t.isPrimitive() ? Array.get(Array.newInstance(t, 1), 0) : null)
                .toArray();
        return (Record) constructor.newInstance(zeros);
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                AuditAnswer.class,
                AuditAnswer.Audit.class,
                ClusterAnswer.class,
                ConflictAnswer.class,
                ConflictAnswer.Transaction.class,
                ConflictsAnswer.Brief.class,
                ConflictsAnswer.Full.class,
                ConflictsAnswer.Line.class,
                Difference.class,
                MembersAnswer.class,
                MembersAnswer.Member.class,
                RecoveryAnswer.class,
                TransferAnswer.class,
                TransferAnswer.Receiving.class
            })
    void listsThatAreLeftOutAreEmpty(Class<?> type) throws ReflectiveOperationException {
        Record answer = ofNothing(type);
        for (RecordComponent component : type.getRecordComponents()) {
            if (component.getType() == List.class) {
                assertThat(component.getAccessor().invoke(answer))
                        .as(component.getName())
                        .isEqualTo(List.of());
            }
        }
    }

    @Test
    void whoDoesNotSayItsNameHasAnEmptyOne() {
        assertThat(new MembersAnswer(null, null, null, null, null, null).node()).isEmpty();
        assertThat(new NodeStatus(null, null, false, null, null, null, null, null, 0, 0, 0, null, false, false, 0))
                .extracting(NodeStatus::name, NodeStatus::state, NodeStatus::reason, NodeStatus::leader)
                .containsExactly("", "", "", null);
    }

    @Test
    void whatWasRefusedWasNotDone() {
        assertThat(Outcome.of(null)).isEqualTo(new Outcome(true, null));
        assertThat(Outcome.of("n9 is no member")).isEqualTo(new Outcome(false, "n9 is no member"));
        assertThat(AuditOutcome.of("no audit is running").done()).isFalse();
        assertThat(AuditOutcome.repaired(List.of()).done()).isTrue();
    }

    @Test
    void nodesWithAnotherVersionAreOdd() {
        Difference difference = new Difference(
                "shop.item", "7", Map.of("n1", "ab", "n2", "ab", "n3", Difference.ABSENT), "ab", Map.of(), null);
        assertThat(difference.odd("ab")).containsExactly("n3");
        assertThat(difference.outcome("n3 repaired").outcome()).isEqualTo("n3 repaired");
    }
}
