// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.cli.Answers;
import io.quorate.core.answer.AuditAnswer;
import io.quorate.core.answer.AuditOutcome;
import io.quorate.core.answer.ClusterAnswer;
import io.quorate.core.answer.ClusterHealth;
import io.quorate.core.answer.ConflictAnswer;
import io.quorate.core.answer.ConflictsAnswer;
import io.quorate.core.answer.Difference;
import io.quorate.core.answer.MembersAnswer;
import io.quorate.core.answer.NodeStatus;
import io.quorate.core.answer.Outcome;
import io.quorate.core.answer.RecoveryAnswer;
import io.quorate.core.answer.TransferAnswer;
import io.quorate.node.audit.AuditState;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.endpoint.jmx.JacksonJmxOperationResponseMapper;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The command line can read what the endpoints write, and JMX shows the same. */
class AnswersTest {
    /** Of the service, only its JSON, with the service's configuration. */
    private static ConfigurableApplicationContext service;

    private static JsonMapper json;

    @BeforeAll
    static void configure() {
        service = new SpringApplicationBuilder(JacksonAutoConfiguration.class)
                .web(WebApplicationType.NONE)
                .run("--spring.jmx.enabled=false");
        json = service.getBean(JsonMapper.class);
    }

    @AfterAll
    static void close() {
        service.close();
    }

    private static Map<String, String> values(String... columnsAndValues) {
        Map<String, String> values = new LinkedHashMap<>();
        for (int i = 0; i < columnsAndValues.length; i += 2) {
            values.put(columnsAndValues[i], columnsAndValues[i + 1]);
        }
        return values;
    }

    static Stream<Record> answers() {
        NodeStatus status = new NodeStatus(
                "n1",
                "JOINER",
                true,
                "receiving",
                "n2",
                "127.0.0.1:25001",
                "8.0.33",
                "127.0.0.1:25201",
                12,
                11,
                5,
                "clients are slowed to 90 commits/s for n2",
                false,
                true,
                4711);
        Difference row = new Difference(
                "shop.item",
                "7",
                Map.of("n1", "ab", "n2", Difference.ABSENT),
                null,
                Map.of("n1", values("id", "7", "note", null)),
                "n2 repaired");
        Difference table = new Difference("shop.t", null, Map.of("n1", "(a int)"), "(a int)", Map.of(), null);
        ConflictAnswer.Met met = new ConflictAnswer.Met("shop.item", "PRIMARY", values("id", "7", "k", null));
        ConflictAnswer.Transaction loser = new ConflictAnswer.Transaction(
                9,
                "uuid",
                "uuid:4",
                "2026-01-01T00:00:00Z",
                77,
                "app@localhost",
                1,
                List.of(new ConflictAnswer.Row("shop.item", null, values("id", "7", "note", null))),
                null);
        ConflictAnswer.Transaction winner = new ConflictAnswer.Transaction(
                8, "uuid2", "uuid2:1", "2026-01-01T00:00:00Z", 3, null, 0, List.of(), "DROP TABLE t");
        ConflictAnswer conflict = new ConflictAnswer(9, "CONFLICT", List.of(met), "undone here", loser, winner);
        ConflictsAnswer.Mismatch mismatch = new ConflictsAnswer.Mismatch("2026-01-01T00:00:00Z", "{a=1}");
        return Stream.of(
                status,
                NodeStatus.unreachable("n3", null),
                new ClusterAnswer(
                        "shop",
                        "n1",
                        "SYNCED",
                        "",
                        true,
                        12,
                        11,
                        new ClusterAnswer.Cache(1, 12, 3000, 1 << 30, 60, 50, -1),
                        List.of("shop.nokey"),
                        List.of("mind this"),
                        List.of(status)),
                new MembersAnswer(
                        new ClusterHealth(ClusterHealth.Level.ATTENTION, "1 of 2 members is up"),
                        "n1",
                        null,
                        List.of(
                                new MembersAnswer.Member(
                                        "n1", "h:1", 2, true, "SYNCED", null, null, 12L, 11L, 3L, 2L, 1L, "busy", 4L,
                                        1500L, true, true, true, 700L, "n2", false, "h:2", "9.7.4", "h:3"),
                                new MembersAnswer.Member(
                                        "n2", "h:4", 1, false, "ABSENT", 44L, -1L, null, null, null, null, null, null,
                                        null, null, null, false, false, null, null, true, null, null, null)),
                        List.of("n7"),
                        List.of("mind that")),
                new TransferAnswer(
                        "n1",
                        "JOINER",
                        "receiving",
                        new TransferAnswer.Receiving("WRITESETS", List.of("n2", "n3"), 10, 20, 3000, 5, 4000),
                        "n2",
                        new TransferAnswer.Copying("FILE COPY", 1L << 40, 7, 8, -1),
                        "CLONE",
                        "n2",
                        true,
                        1L << 33,
                        List.of(new TransferAnswer.Given("n4", 1, 10, 5)),
                        99,
                        3),
                new TransferAnswer("n1", "SYNCED", "", null, null, null, null, null, null, null, List.of(), 0, 0),
                new AuditAnswer("n1", "", null),
                new AuditAnswer(
                        "n1",
                        "n2 comes and goes",
                        new AuditAnswer.Audit(
                                "2026-01-01T00:00:00Z",
                                null,
                                false,
                                "shop.item",
                                "shop.item",
                                "(7)",
                                List.of("n1", "n2"),
                                4,
                                3,
                                1000,
                                1200,
                                6,
                                Map.of("shop.t", "its definition isn't the same on all nodes"),
                                Map.of("n3", 5L),
                                2,
                                List.of(row, table))),
                AuditOutcome.of("no audit is running"),
                AuditOutcome.repaired(List.of(row)),
                new ConflictsAnswer.Brief(
                        "n1",
                        List.of(
                                new ConflictsAnswer.Line(
                                        9,
                                        "CONFLICT",
                                        List.of(met),
                                        "uuid:4",
                                        "when",
                                        "app",
                                        1,
                                        8L,
                                        "uuid2:1",
                                        "undone"),
                                new ConflictsAnswer.Line(
                                        10, "TOO_OLD", List.of(), "uuid:5", "when", null, 1, null, null, "undone")),
                        List.of(mismatch)),
                new ConflictsAnswer.Full("n1", List.of(conflict), List.of()),
                conflict,
                new ConflictAnswer(10, "TOO_OLD", List.of(), "never applied here", loser, null),
                new RecoveryAnswer(
                        "n1",
                        "shop",
                        "0f9c",
                        false,
                        12,
                        "3:17",
                        2L,
                        14,
                        List.of("n2"),
                        List.of(
                                new RecoveryAnswer.Missing("n3", 30L, 14L),
                                new RecoveryAnswer.Missing("n4", null, null))),
                Outcome.of(null),
                Outcome.of("n9 is no member"));
    }

    @ParameterizedTest
    @MethodSource("answers")
    void theCommandLineReadsWhatAnEndpointWrites(Record answer) {
        assertThat((Record) Answers.read(json.writeValueAsString(answer), answer.getClass()))
                .isEqualTo(answer);
    }

    /**
     * An answer's fields in JSON are the components of its record, which readers of all versions rely on; they come in
     * the same order, for people.
     */
    @ParameterizedTest
    @MethodSource("answers")
    void fieldsAreTheRecordsComponents(Record answer) {
        List<String> components = Arrays.stream(answer.getClass().getRecordComponents())
                .map(java.lang.reflect.RecordComponent::getName)
                .toList();
        JsonNode written = json.readTree(json.writeValueAsString(answer));
        assertThat(written.propertyNames()).containsExactlyElementsOf(components);
    }

    @ParameterizedTest
    @MethodSource("answers")
    void jmxShowsTheSame(Record answer) {
        Object shown = new JacksonJmxOperationResponseMapper(json).mapResponse(answer);
        assertThat(shown).isInstanceOf(Map.class);
        assertThat(json.readTree(json.writeValueAsString(shown)))
                .isEqualTo(json.readTree(json.writeValueAsString(answer)));
    }

    @Test
    void aRunningAuditIsToldWithAllThatIsKnownOfIt() {
        AuditState state = AuditState.begin("2026-01-01T00:00:00Z", "shop.item")
                .planned(4, 1200)
                .at("shop.item", 3)
                .compared("(7)", 1000, List.of("n2", "n1"), List.of("n3"))
                .worked(6)
                .leftOut("shop.t", "no key")
                .with(List.of(new Difference("shop.item", "7", Map.of(), null, Map.of(), null)));
        JsonNode kept = json.readTree(json.writeValueAsString(state));
        assertThat(json.readTree(json.writeValueAsString(state.answer()))).isEqualTo(kept);
    }
}
