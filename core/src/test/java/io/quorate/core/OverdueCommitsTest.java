// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class OverdueCommitsTest {
    private static final Gtid ONE = new Gtid(UUID.randomUUID(), 1);
    private static final Gtid TWO = new Gtid(ONE.source(), 2);
    private final OverdueCommits overdue = new OverdueCommits(1000);

    @Test
    void namesEachCommitOnceThatWaitsWhileTheCaptureStandsStill() {
        assertThat(overdue.look(Map.of(ONE, 7L), 5, 0)).isEmpty();
        assertThat(overdue.look(Map.of(ONE, 7L, TWO, 8L), 5, 900)).isEmpty();
        assertThat(overdue.look(Map.of(ONE, 7L, TWO, 8L), 5, 1000)).containsExactly(Map.entry(ONE, 7L));
        assertThat(overdue.look(Map.of(ONE, 7L, TWO, 8L), 5, 1900)).containsExactly(Map.entry(TWO, 8L));
        assertThat(overdue.look(Map.of(ONE, 7L, TWO, 8L), 5, 9000)).isEmpty();
    }

    @Test
    void waitsForACaptureThatGoesOnReading() {
        for (int read = 0; read < 20; read++) {
            assertThat(overdue.look(Map.of(ONE, 7L), read, read * 900L)).isEmpty();
        }
    }

    @Test
    void aSessionThatBeginsAnotherCommitWaitsAnew() {
        overdue.look(Map.of(ONE, 7L), 5, 0);
        assertThat(overdue.look(Map.of(TWO, 7L), 5, 1500)).isEmpty();
    }
}
