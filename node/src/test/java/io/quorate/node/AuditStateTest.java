// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.answer.Difference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

class AuditStateTest {
    private final AuditState begun = AuditState.begin("now", null);

    private static Difference difference(String table) {
        return new Difference(table, "1", Map.of("n1", "a", "n2", "b", "n3", "a"), "a", Map.of(), null);
    }

    @Test
    void runsUntilItIsEnded() {
        assertThat(begun.isRunning()).isTrue();
        AuditState ended = begun.end("later", true);
        assertThat(ended.isRunning()).isFalse();
        assertThat(ended.stopped()).isTrue();
        assertThat(ended.started()).isEqualTo("now");
    }

    @Test
    void goesThroughTablesStretchByStretch() {
        AuditState state = begun.planned(3, 1000)
                .at("s.a", 0)
                .compared("k", 20, List.of("n1", "n2"), List.of("n3"))
                .compared(null, 5, List.of("n1", "n3"), List.of())
                .worked(7);
        assertThat(state.rows()).isEqualTo(25);
        assertThat(state.nodes()).containsExactly("n1", "n2", "n3");
        assertThat(state.missed()).isEqualTo(Map.of("n3", 1L));
        assertThat(state.seconds()).isEqualTo(7);
        AuditState next = state.compared("x", 1, List.of(), List.of("n3")).at("s.b", 1);
        assertThat(next.from()).as("the next table is begun at its beginning").isNull();
        assertThat(next.tablesDone()).isEqualTo(1);
        assertThat(next.missed()).isEqualTo(Map.of("n3", 2L));
    }

    @Test
    void isNotChangedByWhatIsMadeOfIt() {
        AuditState one = begun.leftOut("s.a", "no key").compared("k", 1, List.of("n1"), List.of("n2"));
        one.leftOut("s.b", "no key").with(List.of(difference("s.c"))).compared("l", 1, List.of("n3"), List.of("n2"));
        assertThat(one.left()).containsOnlyKeys("s.a");
        assertThat(one.differences()).isEmpty();
        assertThat(one.nodes()).containsExactly("n1");
        assertThat(one.missed()).isEqualTo(Map.of("n2", 1L));
    }

    @Test
    void countsAllThatDiffersAndKeepsTheFirst() {
        List<Difference> many = new ArrayList<>(Collections.nCopies(700, difference("s.a")));
        AuditState state = begun.with(many).with(many);
        assertThat(state.found()).isEqualTo(1400);
        assertThat(state.differences()).hasSize(AuditState.DIFFERENCES_MAX);
        assertThat(state.with(many).differences()).hasSize(AuditState.DIFFERENCES_MAX);
    }

    @Test
    void oddIsWhoeverHasAnotherVersion() {
        assertThat(difference("s.a").odd("a")).containsExactly("n2");
        assertThat(difference("s.a").odd("b")).containsExactlyInAnyOrder("n1", "n3");
        assertThat(difference("s.a").outcome("repaired").outcome()).isEqualTo("repaired");
    }

    @Test
    void comesBackFromItsFileAsItWas() {
        AuditState state = begun.planned(2, 10)
                .at("s.a", 1)
                .compared("k", 3, List.of("n1"), List.of("n2"))
                .leftOut("s.b", "no key")
                .with(List.of(difference("s.c")))
                .repaired(List.of(difference("s.c").outcome("repaired")))
                .end("later", false);
        JsonMapper json = JsonMapper.shared();
        assertThat(json.readValue(json.writeValueAsString(state), AuditState.class)).isEqualTo(state);
    }
}
