// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AdmittedTest {
    private static final Instant NOW = Instant.parse("2026-11-27T00:00:00Z");
    private static final Predicate<String> MEMBERS = Set.of("n1", "n2")::contains;

    @TempDir
    Path directory;

    private final List<MemberReport> present = new ArrayList<>();

    private Admitted at(Duration later) throws IOException {
        return new Admitted(directory.resolve("admitted"), () -> present, Clock.fixed(NOW.plus(later), ZoneOffset.UTC));
    }

    @Test
    void nobodyIsAGuestUnlessAdmitted() throws IOException {
        Admitted admitted = at(Duration.ZERO);
        assertThat(admitted.isGuest("n4", MEMBERS)).isFalse();
        admitted.admit(List.of("n4"), Duration.ofHours(1));
        assertThat(admitted.isGuest("n4", MEMBERS)).isTrue();
        assertThat(admitted.isGuest("n5", MEMBERS)).isFalse();
    }

    @Test
    void itIsKeptAndPasses() throws IOException {
        at(Duration.ZERO).admit(List.of("n4"), Duration.ofHours(1));
        assertThat(at(Duration.ofMinutes(59)).isGuest("n4", MEMBERS)).isTrue();
        assertThat(at(Duration.ofMinutes(61)).isGuest("n4", MEMBERS)).isFalse();
    }

    @Test
    void itIsUsedUpByBecomingAMember() throws IOException {
        Admitted admitted = at(Duration.ZERO);
        admitted.admit(List.of("n4", "n5"), Duration.ofHours(1));
        admitted.used(List.of("n1", "n2", "n4"));
        assertThat(admitted.isGuest("n4", MEMBERS)).isFalse();
        assertThat(at(Duration.ZERO).report()).containsOnlyKeys("n5");
    }

    @Test
    void aMembersWordCountsAndNobodyElses() throws IOException {
        Admitted admitted = at(Duration.ZERO);
        long later = NOW.getEpochSecond() + 60;
        present.add(reporting("n9", Map.of("n4", later)));
        assertThat(admitted.isGuest("n4", MEMBERS)).isFalse();
        present.add(reporting("n2", Map.of("n4", later)));
        assertThat(admitted.isGuest("n4", MEMBERS)).isTrue();
        assertThat(at(Duration.ofSeconds(61)).isGuest("n4", MEMBERS)).isFalse();
    }

    @Test
    void thereIsALimit() throws IOException {
        Admitted admitted = at(Duration.ZERO);
        List<String> many = IntStream.range(0, Admitted.ADMITTED_MAX + 1)
                .mapToObj(i -> "x" + i)
                .toList();
        assertThatThrownBy(() -> admitted.admit(many, Duration.ofHours(1))).hasMessageContaining("at once");
        assertThat(admitted.report()).isEmpty();
    }

    private static MemberReport reporting(String node, Map<String, Long> admitted) {
        return new MemberReport(
                node, "d", 1, "", null, null, "SYNCED", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, null, false, 0L, 0L, null,
                null, null, null, admitted, null, null, null, null);
    }
}
