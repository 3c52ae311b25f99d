// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.fuzz.Fuzz;
import io.quorate.transport.AdmissionPlan.Holds;
import io.quorate.transport.Lives;
import io.quorate.transport.TransportSettings.Peer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Matcher;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** What others say of themselves takes no more room than members need, whoever says it and how often. */
class MembersTest {
    private static final List<Peer> CONFIGURED =
            List.of(new Peer("n1", "10.0.0.1", 1, 2), new Peer("n2", "10.0.0.2", 1, 2));

    @TempDir
    Path directory;

    private final JsonMapper json = JsonMapper.shared();

    private Path file() {
        return directory.resolve("peers.properties");
    }

    private Members members() throws Exception {
        Members members = new Members(file(), json);
        members.know(CONFIGURED);
        return members;
    }

    /** Otherwise a member could have entries of another one refused, by calling that one's server its own. */
    @Test
    void aServerIsBesideTheNodeThatSaidSoFirstForAsLongAsItDoes() throws Exception {
        Members members = members();
        UUID server = new UUID(1, 2);
        UUID another = new UUID(3, 4);
        assertThat(members.otherOf(server, "n2")).isNull();
        members.heard(beside("n1", server));
        members.heard(beside("n2", server));
        assertThat(members.otherOf(server, "n2")).isEqualTo("n1");
        assertThat(members.otherOf(server, "n1")).isNull();
        assertThat(members.otherOf(another, "n2")).isNull();
        members.heard(beside("n1", another));
        assertThat(members.otherOf(server, "n2")).as("n1 has another one now").isNull();
        members.heard(beside("n2", server));
        assertThat(members.otherOf(server, "n1")).isEqualTo("n2");
        assertThat(members.otherOf(another, "n2")).isEqualTo("n1");
    }

    private static MemberReport beside(String node, UUID server) {
        return report(node, 1, server.toString());
    }

    private static MemberReport report(String node, int generation) {
        return report(node, generation, null);
    }

    private static MemberReport report(String node, int generation, String server) {
        return new MemberReport(
                node,
                "d-" + generation,
                generation,
                "",
                "h:1",
                "h:2",
                "SYNCED",
                10,
                9,
                0,
                0,
                1,
                10,
                0,
                -1,
                3,
                40,
                1,
                null,
                false,
                2L,
                30L,
                null,
                null,
                null,
                null,
                null,
                server,
                null,
                null,
                null);
    }

    private byte[] bytes(MemberReport report) {
        return json.writeValueAsBytes(report);
    }

    private byte[] with(String field, String value) {
        String text = json.writeValueAsString(report("n2", 1));
        String changed =
                text.replaceFirst("\"" + field + "\":[^,}]*", Matcher.quoteReplacement("\"" + field + "\":" + value));
        assertThat(changed).as(field).isNotEqualTo(text);
        return changed.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void strangersAreNotWrittenDownAndOnlyAFewAreKept() throws Exception {
        Members members = members();
        for (int i = 0; i < 500; i++) {
            members.heard("stranger-" + i, bytes(report("stranger-" + i, 1)));
        }
        assertThat(members.all()).hasSize(Members.STRANGERS_MAX);
        assertThat(members.present()).as("they don't count").isEmpty();
        assertThat(file()).doesNotExist();
        members.heard("n2", bytes(report("n2", 1)));
        assertThat(members.present()).extracting(MemberReport::node).containsExactly("n2");
        assertThat(members.directories()).containsOnly(Map.entry("n2#1", "d-1"));
        assertThat(file()).as("whoever hears a report waits for no disk").doesNotExist();
        members.keep();
        assertThat(file()).content().contains("d-1");
    }

    @Test
    void aMemberCanNotMakeTheFileGrow() throws Exception {
        Members members = members();
        members.generation("n2", 3);
        for (int generation = 1; generation < 400; generation++) {
            members.heard("n2", bytes(report("n2", generation)));
        }
        assertThat(members.directories()).hasSizeLessThanOrEqualTo(5).containsEntry("n2#3", "d-3");
        members.generation("n2", 400);
        members.heard("n2", bytes(report("n2", 400)));
        assertThat(members.directories()).hasSizeLessThanOrEqualTo(5).containsEntry("n2#400", "d-400");
        members.keep();
        assertThat(new Members(file(), json).directories()).isEqualTo(members.directories());
    }

    @Test
    void whoBecomesAMemberIsNoStrangerAnyMore() throws Exception {
        Members members = members();
        members.heard("n3", bytes(report("n3", 1)));
        assertThat(members.present()).isEmpty();
        members.generation("n3", 1);
        members.heard("n3", bytes(report("n3", 1)));
        assertThat(members.present()).extracting(MemberReport::node).containsExactly("n3");
        assertThat(members.directories()).containsEntry("n3#1", "d-1").containsEntry("#n3", "1");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "node:\"n3\"",
                "node:\"n2\\n2026-01-01 ERROR\"",
                "node:null",
                "directory:\"../x\"",
                "generation:-1",
                "generation:2000000000",
                "mysql:\"h 3306\"",
                "mysql:\"h\\u0000:3306\"",
                "state:\"no state\"",
                "state:null",
                "ordered:-9",
                "ordered:9223372036854775807",
                "applied:1e99",
                "cacheLast:9223372036854775807",
                "logIndex:-5",
                "waitingMillis:-100",
                "zone:null"
            })
    void whatCanNotBeIsNotTaken(String changed) throws Exception {
        Members members = members();
        int colon = changed.indexOf(':');
        members.heard("n2", with(changed.substring(0, colon), changed.substring(colon + 1)));
        assertThat(members.all()).isEmpty();
        assertThat(file()).doesNotExist();
    }

    @Test
    void whatIsShownIsOneLine() throws Exception {
        Members members = members();
        members.heard("n2", with("cause", "\"it lags\\n2026-01-01 ERROR \\u001b[31mlost\""));
        assertThat(members.all().get("n2").report().cause()).isEqualTo("it lags 2026-01-01 ERROR ?[31mlost");
    }

    @Test
    void aReportThatIsTooLongIsNotRead() throws Exception {
        Members members = members();
        members.heard("n2", with("cause", "\"" + "x".repeat(Members.REPORT_BYTES_MAX) + "\""));
        assertThat(members.all()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"n2#1=../x", "n2#0=d", "n 2#1=d", "\\#n2=x", "other=7", "n2#1=\\u00", "\\#n2=99999999"})
    void aBrokenFileIsRefusedWithTheWayOut(String line) throws Exception {
        Files.writeString(file(), line + "\n");
        assertThatThrownBy(this::members)
                .isInstanceOf(QuorateException.class)
                .hasMessageContaining("peers.properties")
                .hasMessageContaining("move it away");
    }

    @Test
    void aFileThatHasGrownTooLargeIsNotRead() throws Exception {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 40; i++) {
            lines.append("x".repeat(60))
                    .append(i)
                    .append("#1=")
                    .append("d".repeat(30_000))
                    .append('\n');
        }
        Files.writeString(file(), lines);
        assertThatThrownBy(this::members).isInstanceOf(QuorateException.class).hasMessageContaining("move it away");
    }

    @Test
    void reportsTamperedWith() throws Exception {
        Members members = members();
        Fuzz.of(List.of(bytes(report("n2", 1)), bytes(report("n2", 2)))).run(bytes -> members.heard("n2", bytes));
        assertThat(members.all()).hasSizeLessThanOrEqualTo(1);
        assertThat(members.directories()).hasSizeLessThanOrEqualTo(5);
    }

    @Test
    void filesTamperedWith() throws Exception {
        Members members = members();
        members.generation("n2", 2);
        members.heard("n2", bytes(report("n2", 2)));
        members.keep();
        Fuzz.of(List.of(Files.readAllBytes(file())))
                .refusing(QuorateException.class)
                .allocating(1000)
                .slowly(4)
                .run(bytes -> {
                    Files.write(file(), bytes);
                    new Members(file(), json);
                });
    }

    private static Membership membership(List<Peer> members) {
        return new Membership(
                "n2", "n1", members, new Lives(List.of()), Map.of("n2#1", "d"), Holds.NOTHING, report("n2", 1));
    }

    @Test
    void anAnswerAboutTheMembersIsTakenIfItCanBeOne() {
        assertThat(Plausible.membership("n2", membership(CONFIGURED))).isEqualTo(membership(CONFIGURED));
        List<Peer> many = new ArrayList<>();
        for (int i = 0; i <= Plausible.PEERS_MAX; i++) {
            many.add(new Peer("m" + i, "h", 1, 2));
        }
        assertThatThrownBy(() -> Plausible.membership("n2", membership(many))).hasMessageContaining("QRT-3004");
        assertThatThrownBy(() -> Plausible.membership("n1", membership(CONFIGURED)))
                .hasMessageContaining("QRT-3004");
        assertThatThrownBy(() -> Plausible.membership("n2", membership(List.of(new Peer("n3", "a b", 1, 2)))))
                .hasMessageContaining("neither a name nor an address");
    }

    @Test
    void answersAboutTheMembersTamperedWith() {
        Fuzz.of(List.of(json.writeValueAsBytes(membership(CONFIGURED))))
                .refusing(QuorateException.class)
                .refusing(JacksonException.class)
                .run(bytes -> Plausible.membership("n2", json.readValue(bytes, Membership.class)));
    }

    @Test
    void aReportOfVeryManyTablesIsToldWithoutThem() {
        List<byte[]> sent = new ArrayList<>();
        List<TableName> tables = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            tables.add(new TableName("shop", "table_" + i));
        }
        MemberReport r = report("n1", 1);
        MemberReport longer = new MemberReport(
                r.node(),
                r.directory(),
                r.generation(),
                r.zone(),
                r.http(),
                r.mysql(),
                "JOINER",
                10,
                9,
                0,
                0,
                1,
                10,
                0,
                -1,
                3,
                40,
                1,
                null,
                false,
                2L,
                30L,
                tables,
                true,
                null,
                null,
                null,
                null,
                null,
                null,
                null);
        new Reporting(() -> longer, sent::add, report -> {}, json, (thread, cause) -> {}).report();
        assertThat(sent).hasSize(1);
        assertThat(sent.get(0)).hasSizeLessThan(Members.REPORT_BYTES_MAX);
        assertThat(json.readValue(sent.get(0), MemberReport.class).notGiven()).isNull();
    }
}
