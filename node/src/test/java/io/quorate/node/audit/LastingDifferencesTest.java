// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.answer.Difference;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LastingDifferencesTest {
    private static final Map<String, String> ONE = Map.of("a", "1", "b", "1");
    private static final Map<String, String> OTHER = Map.of("a", "1", "b", "2");
    private static final Map<String, Map<String, String>> ODD = Map.of("n1", ONE, "n2", ONE, "n3", OTHER);

    private final LastingDifferences differences = new LastingDifferences();

    @Test
    void oneLookAtEqualNodesIsEnough() {
        differences.look(Map.of("n1", ONE, "n2", ONE));
        assertThat(differences.isCertain()).isTrue();
        assertThat(differences.get()).isEmpty();
    }

    @Test
    void nothingIsCertainBeforeALook() {
        assertThat(differences.isCertain()).isFalse();
        assertThatThrownBy(differences::get).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void whatDiffersInTheSameWayEveryTimeIsADifference() {
        for (int i = 0; i < LastingDifferences.LOOKS; i++) {
            assertThat(differences.isCertain()).isFalse();
            differences.look(ODD);
        }
        assertThat(differences.isCertain()).isTrue();
        assertThat(differences.get()).isEqualTo(Map.of("b", Map.of("n1", "1", "n2", "1", "n3", "2")));
    }

    @Test
    void whatIsEqualAtAnyLookIsNone() {
        differences.look(ODD);
        differences.look(Map.of("n1", OTHER, "n2", OTHER, "n3", OTHER));
        assertThat(differences.isCertain()).isTrue();
        assertThat(differences.get()).isEmpty();
    }

    @Test
    void whatDiffersInAnotherWayEachTimeIsOnItsWay() {
        differences.look(ODD);
        differences.look(Map.of("n1", OTHER, "n2", ONE, "n3", ONE));
        assertThat(differences.get()).isEmpty();
    }

    @Test
    void oneThatStaysIsToldFromThoseThatPass() {
        Map<String, String> behind = Map.of("b", "2");
        differences.look(Map.of("n1", ONE, "n2", behind));
        differences.look(Map.of("n1", ONE, "n2", OTHER));
        differences.look(Map.of("n1", ONE, "n2", OTHER));
        assertThat(differences.get()).containsOnlyKeys("b");
    }

    @Test
    void whatIsNotThereIsAVersionToo() {
        for (int i = 0; i < LastingDifferences.LOOKS; i++) {
            differences.look(Map.of("n1", ONE, "n2", Map.of("a", "1")));
        }
        assertThat(differences.get()).isEqualTo(Map.of("b", Map.of("n1", "1", "n2", Difference.ABSENT)));
    }

    @Test
    void theMajorityIsMoreThanHalfOfTheNodes() {
        assertThat(LastingDifferences.majority(Map.of("n1", "x", "n2", "x", "n3", "y")))
                .isEqualTo("x");
        assertThat(LastingDifferences.majority(Map.of("n1", "x", "n2", "y"))).isNull();
        assertThat(LastingDifferences.majority(Map.of("n1", "x", "n2", "y", "n3", "z")))
                .isNull();
        assertThat(LastingDifferences.majority(Map.of("n1", "x", "n2", "x", "n3", "y", "n4", "y")))
                .isNull();
    }
}
