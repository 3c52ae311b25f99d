// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.transport.TransportSettings.Peer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

class ReportingTest {
    private final JsonMapper json = JsonMapper.shared();
    private final List<byte[]> sent = new ArrayList<>();
    private final List<MemberReport> looks = new ArrayList<>();
    private MemberReport now = report("n1", "SYNCED", 10);
    private final Reporting reporting = new Reporting(() -> now, sent::add, looks::add, json, (thread, cause) -> {});

    private static MemberReport report(String node, String state, long ordered) {
        return new MemberReport(
                node, "d", 1, "", null, "h:1", state, ordered, ordered, 0, 0, 1, ordered, 0, -1, 3, 40, 0, null, false,
                0L, 0L, null, null, null, null, null, null, null, null, null);
    }

    @Test
    void whatIsNewIsToldAtOnceAndWhatIsKnownEveryOtherTime() {
        reporting.report();
        assertThat(sent).hasSize(1);
        reporting.report();
        assertThat(sent).hasSize(1);
        reporting.report();
        assertThat(sent).hasSize(2);
        reporting.report();
        now = report("n1", "DONOR", 10);
        reporting.report();
        assertThat(sent).hasSize(3);
        assertThat(json.readValue(sent.get(2), MemberReport.class)).isEqualTo(now);
        assertThat(looks).as("each is looked at here").hasSize(5);
    }

    @Test
    void aReportThatFailedIsMadeAgain() {
        List<MemberReport> none = new ArrayList<>();
        Reporting failing = new Reporting(
                () -> {
                    throw new IllegalStateException("on purpose");
                },
                sent::add,
                none::add,
                json,
                (thread, cause) -> {});
        failing.report();
        assertThat(sent).isEmpty();
        assertThat(none).isEmpty();
    }

    /** Between the two that say the same, the node has been asked, and has said something else. */
    @Test
    void whoHearsTheSameAgainKnowsItForWhatIsTheCaseNow(@TempDir Path directory) throws Exception {
        Members members = new Members(directory.resolve("peers.properties"), json);
        members.know(List.of(new Peer("n2", "h", 1, 2)));
        byte[] bytes = json.writeValueAsBytes(report("n2", "SYNCED", 10));
        members.heard("n2", bytes);
        Members.Heard first = members.all().get("n2");
        members.heard(report("n2", "JOINED", 10));
        members.heard("n2", bytes.clone());
        Members.Heard last = members.all().get("n2");
        assertThat(last.report().state()).isEqualTo("SYNCED");
        assertThat(last.report()).as("not read again").isSameAs(first.report());
        assertThat(last.nanos()).isGreaterThan(first.nanos());
        members.heard("n2", "no report".getBytes(StandardCharsets.UTF_8));
        assertThat(members.all().get("n2")).isEqualTo(last);
        members.forget();
        assertThat(members.all()).isEmpty();
    }
}
