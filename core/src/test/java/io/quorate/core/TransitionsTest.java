// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TransitionsTest {
    private enum Light {
        RED,
        AMBER,
        GREEN,
        BROKEN
    }

    private static final Transitions<Light> NEXT = Transitions.of(Map.of(
            Light.BROKEN, Set.of(),
            Light.GREEN, Set.of(Light.BROKEN, Light.AMBER),
            Light.AMBER, Set.of(Light.RED),
            Light.RED, Set.of(Light.GREEN)));

    @Test
    void stepsToWhatTheTableHas() {
        assertThat(NEXT.step(Light.RED, Light.GREEN)).isEqualTo(Light.GREEN);
        assertThat(NEXT.allows(Light.GREEN, Light.RED)).isFalse();
        assertThatThrownBy(() -> NEXT.step(Light.GREEN, Light.RED))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("from GREEN to RED");
        assertThatThrownBy(() -> NEXT.step(Light.BROKEN, Light.BROKEN)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void printsAsDeclared() {
        assertThat(NEXT).hasToString("""
                RED: GREEN
                AMBER: RED
                GREEN: AMBER BROKEN
                BROKEN:
                """);
    }

    @Test
    void everyStepIsInTheTable() {
        assertThatThrownBy(() -> Transitions.of(Map.of(Light.RED, Set.of(Light.AMBER), Light.AMBER, Set.of(Light.RED))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("[GREEN, BROKEN]");
    }
}
