// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.answer.Difference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

class AuditStateTest {
    private static final Difference DIFFERENCE = LastingDifferences.ofRow(
            "s.t",
            "7",
            Map.of("n1", "x", "n2", "x", "n3", Difference.ABSENT),
            Map.of("n1", Map.of("id", "7"), "n2", Map.of("id", "7")));

    private final AuditState begun = AuditState.begin("2026-01-01T00:00:00Z", null);

    @Test
    void oneThatWasBegunRunsUntilItIsEnded() {
        assertThat(begun.isRunning()).isTrue();
        assertThat(begun.end("2026-01-02T00:00:00Z", true))
                .matches(ended -> !ended.isRunning() && ended.stopped())
                .isEqualTo(begun.end("2026-01-02T00:00:00Z", true));
    }

    @Test
    void aChangeLeavesTheOneBeforeAsItWas() {
        AuditState before = begun.at("s.t", 3).compared("a", 10, List.of("n1"), List.of("n2"));
        AuditState copy = before.with(List.of());
        var unused = before.compared("b", 5, List.of("n3"), List.of("n2", "n4"))
                .leftOut("s.u", "a view")
                .with(List.of(DIFFERENCE))
                .worked(9)
                .at("s.v", 4);
        assertThat(before).isEqualTo(copy);
    }

    @Test
    void whatWasComparedAddsUpAndSoDoesWhoWasMissing() {
        AuditState state = begun.at("s.t", 0)
                .compared("a", 10, List.of("n1", "n2"), List.of("n3"))
                .compared("b", 5, List.of("n1", "n3"), List.of("n2"))
                .compared(null, 1, List.of("n1"), List.of("n2", "n3"));
        assertThat(state.rows()).isEqualTo(16);
        assertThat(state.from()).isNull();
        assertThat(state.nodes()).containsExactly("n1", "n2", "n3");
        assertThat(state.missed()).isEqualTo(Map.of("n2", 2L, "n3", 2L));
    }

    @Test
    void theNextTableBeginsAtItsBeginning() {
        AuditState next =
                begun.at("s.t", 0).compared("a", 10, List.of("n1"), List.of()).at("s.u", 1);
        assertThat(next.table()).isEqualTo("s.u");
        assertThat(next.from()).isNull();
        assertThat(next.tablesDone()).isOne();
        assertThat(next.rows()).isEqualTo(10);
    }

    @Test
    void ofTooManyDifferencesTheFirstAreKeptAndAllAreCounted() {
        int most = AuditState.DIFFERENCES_MAX;
        AuditState state = begun.with(Collections.nCopies(most - 1, DIFFERENCE))
                .with(List.of(DIFFERENCE, DIFFERENCE, DIFFERENCE))
                .with(List.of(DIFFERENCE));
        assertThat(state.found()).isEqualTo(most + 3);
        assertThat(state.differences()).hasSize(most);
    }

    @Test
    void theOddNodesAreThoseWithAnotherVersionThanTheRightOne() {
        assertThat(DIFFERENCE.right()).isEqualTo("x");
        assertThat(DIFFERENCE.odd("x")).containsExactly("n3");
        assertThat(DIFFERENCE.odd(Difference.ABSENT)).containsExactlyInAnyOrder("n1", "n2");
    }

    @Test
    void whatBecameOfDifferencesReplacesThem() {
        AuditState state = begun.with(List.of(DIFFERENCE)).repaired(List.of(DIFFERENCE.outcome("n3 repaired")));
        assertThat(state.found()).isOne();
        assertThat(state.differences()).extracting(Difference::outcome).containsExactly("n3 repaired");
    }

    @Test
    void itsSummarySaysWhetherThereIsSomethingToLookAt() {
        AuditState state =
                begun.compared(null, 12, List.of("n1", "n2"), List.of()).at(null, 3);
        assertThat(state.end("2026-01-02T00:00:00Z", false).summary())
                .isEqualTo("ended: 12 rows of 3 tables compared on [n1, n2], no difference");
        assertThat(state.with(List.of(DIFFERENCE))
                        .end("2026-01-02T00:00:00Z", true)
                        .summary())
                .startsWith("stopped: ")
                .endsWith("1 differences; quorate audit show");
    }

    @Test
    void itsFileHasAllOfIt(@TempDir Path directory) throws Exception {
        AuditFile file = new AuditFile(directory, JsonMapper.builder().build());
        assertThat(file.read()).isNull();
        AuditState state = begun.planned(3, 100)
                .at("s.t", 1)
                .compared("a", 10, List.of("n1", "n2"), List.of("n3"))
                .leftOut("s.u", "a view")
                .with(List.of(DIFFERENCE))
                .worked(4);
        file.write(state);
        assertThat(new AuditFile(directory, JsonMapper.builder().build()).read())
                .isEqualTo(state);
    }

    @Test
    void aFileThatIsUnreadableIsPutAside(@TempDir Path directory) throws Exception {
        Files.writeString(directory.resolve("audit.json"), "{\"started\":");
        assertThat(new AuditFile(directory, JsonMapper.builder().build()).read())
                .isNull();
        assertThat(directory.resolve("audit.json")).doesNotExist();
        assertThat(directory.resolve("audit.json.damaged")).hasContent("{\"started\":");
    }
}
