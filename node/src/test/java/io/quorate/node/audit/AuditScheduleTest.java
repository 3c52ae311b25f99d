// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class AuditScheduleTest {
    private static final Instant ENDED = Instant.parse("2026-01-01T00:00:00Z");
    private static final AuditState LAST =
            AuditState.begin("2025-12-31T00:00:00Z", null).end(ENDED.toString(), false);

    @Test
    void withoutAnIntervalNoneBeginsByItself() {
        AuditSchedule never = new AuditSchedule(Duration.ZERO, 1);
        assertThat(never.isDue(null, ENDED)).isFalse();
        assertThat(never.isDue(LAST, ENDED.plus(Duration.ofDays(1000)))).isFalse();
    }

    @Test
    void theFirstIsDueAtOnceAndOthersAfterTheInterval() {
        AuditSchedule daily = new AuditSchedule(Duration.ofDays(1), 1);
        assertThat(daily.isDue(null, ENDED)).isTrue();
        assertThat(daily.isDue(LAST, ENDED.plus(Duration.ofHours(24)))).isFalse();
        assertThat(daily.isDue(LAST, ENDED.plus(Duration.ofHours(24)).plusMillis(1)))
                .isTrue();
    }

    @Test
    void itRestsSoThatItsWorkIsItsShareOfTheTimeAndNeverLong() {
        assertThat(new AuditSchedule(Duration.ZERO, 1)
                        .restMillis(Duration.ofSeconds(5).toNanos()))
                .isZero();
        assertThat(new AuditSchedule(Duration.ZERO, 0.5)
                        .restMillis(Duration.ofSeconds(5).toNanos()))
                .isEqualTo(5000);
        assertThat(new AuditSchedule(Duration.ZERO, 0.2)
                        .restMillis(Duration.ofMillis(100).toNanos()))
                .isEqualTo(400);
        assertThat(new AuditSchedule(Duration.ZERO, 0.01)
                        .restMillis(Duration.ofMinutes(1).toNanos()))
                .isEqualTo(10_000);
    }
}
