// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.LogPosition;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

class MemberReportTest {
    private static MemberReport report(String node, String zone, String mysql, String state) {
        return new MemberReport(
                node, "d", 1, zone, null, mysql, state, 10, 9, 0, 0, 1, 10, 0, -1, 3, 40, 1, null, false, 2L, 30L, null,
                null, null, null, null, null, null, null, null);
    }

    @Test
    void whoIsInTheZoneComesFirstAndTheOthersStayAsTheyWere() {
        List<String> sorted = Stream.of(
                        report("n1", "far", "h:1", "SYNCED"),
                        report("n2", "near", "h:1", "SYNCED"),
                        report("n3", "", "h:1", "SYNCED"),
                        report("n4", "near", "h:1", "SYNCED"))
                .sorted(MemberReport.nearest("near"))
                .map(MemberReport::node)
                .toList();
        assertThat(sorted).containsExactly("n2", "n4", "n1", "n3");
    }

    @Test
    void withoutAZoneThoseWithoutOneAreNear() {
        assertThat(Stream.of(report("n1", "a", "h:1", "SYNCED"), report("n2", "", "h:1", "SYNCED"))
                        .min(MemberReport.nearest(""))
                        .map(MemberReport::node))
                .contains("n2");
    }

    @ParameterizedTest
    @CsvSource({
        "SYNCED, true",
        "DONOR, true",
        "JOINED, false",
        "JOINER, false",
        "NON_PRIMARY, false",
        "INCONSISTENT, false",
        "CONNECTED, false",
        "LEFT, false"
    })
    void onlyASyncedServerHoldsWhatTheOrderSays(String state, boolean synced) {
        assertThat(report("n1", "", "h:3306", state).hasSyncedServer()).isEqualTo(synced);
        assertThat(report("n1", "", null, state).hasSyncedServer())
                .as("an arbitrator")
                .isFalse();
    }

    @Test
    void ignoresWhatANewerVersionSaysBesides() throws Exception {
        JsonMapper json = JsonMapper.shared();
        MemberReport report = report("n1", "z", "h:1", "SYNCED");
        String text = json.writeValueAsString(report);
        String newer = text.substring(0, text.length() - 1) + ",\"mood\":\"good\"}";
        assertThat(json.readValue(newer, MemberReport.class)).isEqualTo(report);
        assertThat(report.logEnd()).isEqualTo(new LogPosition(3, 40));
    }

    @Test
    void anOlderVersionDoesNotSayHowManyCommitsWait() throws Exception {
        JsonMapper json = JsonMapper.shared();
        String text = json.writeValueAsString(report("n1", "z", "h:1", "SYNCED"));
        String older = text.replaceAll(",\"waiting\\w+\":\\d+", "");
        assertThat(older).isNotEqualTo(text).doesNotContain("waiting");
        MemberReport read = json.readValue(older, MemberReport.class);
        assertThat(read.waitingCommits()).isNull();
        assertThat(read.waitingMillis()).isNull();
    }
}
