// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.conflict;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

class ConflictCountersTest {
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final ConflictCounters counters = new ConflictCounters(meters);

    private double counted(String table, String cause) {
        return meters.get(ConflictCounters.NAME)
                .tag("table", table)
                .tag("cause", cause)
                .counter()
                .count();
    }

    @Test
    void countsByTableAndReason() {
        counters.count("shop.item", "CONFLICT");
        counters.count("shop.item", "CONFLICT");
        counters.count("shop.item", "VOID");
        assertThat(counted("shop.item", "CONFLICT")).isEqualTo(2);
        assertThat(counted("shop.item", "VOID")).isEqualTo(1);
        assertThat(meters.getMeters()).extracting(Meter::getId).allSatisfy(id -> assertThat(id.getDescription())
                .isNotBlank());
    }

    @Test
    void tablesWithoutEndDontMakeMetersWithoutEnd() {
        for (int i = 0; i < 3 * ConflictCounters.TABLES_MAX; i++) {
            counters.count("shop.t" + i, "CONFLICT");
        }
        assertThat(meters.getMeters()).hasSize(ConflictCounters.TABLES_MAX + 1);
        assertThat(counted(ConflictCounters.OTHER, "CONFLICT")).isEqualTo(2 * ConflictCounters.TABLES_MAX);
        counters.count("shop.t0", "CONFLICT");
        assertThat(counted("shop.t0", "CONFLICT")).isEqualTo(2);
    }
}
