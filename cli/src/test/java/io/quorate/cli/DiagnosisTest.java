// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.answer.AuditAnswer;
import io.quorate.core.answer.ClusterAnswer;
import io.quorate.core.answer.MembersAnswer;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What looks wrong, and what doesn't. */
class DiagnosisTest {
    private static final String CLUSTER = "{\"node\":\"n1\",\"state\":\"SYNCED\"%s}";
    private static final String MEMBERS = "{\"leader\":\"n1\",\"members\":[{\"name\":\"n1\"%s}]}";

    private static Diagnosis.Said said(String ofCluster, String ofMember, Map<String, Double> metrics) {
        return new Diagnosis.Said(
                Answers.read(CLUSTER.formatted(ofCluster), ClusterAnswer.class),
                Answers.read(MEMBERS.formatted(ofMember), MembersAnswer.class),
                Answers.read("{}", AuditAnswer.class),
                metrics);
    }

    private static List<String> of(String ofCluster, String ofMember, Map<String, Double> metrics) {
        return Diagnosis.of(List.of(said(ofCluster, ofMember, metrics)), List.of());
    }

    @Test
    void nothingIsFoundWhereNothingIs() {
        assertThat(of("", "", Map.of())).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\u0000',
            value = {
                "\"reason\":\"it waits\" | n1 is SYNCED: it waits",
                "\"tablesWithoutKey\":[\"a.b\",\"a.c\"] | a.b, a.c. Give them primary keys",
                "\"advice\":[\"mind this\"] | mind this",
                "\"nodes\":[{\"name\":\"n1\",\"insecure\":true}] | quorate.insecure",
                "\"nodes\":[{\"name\":\"n1\",\"slowed\":\"to 5/s for n2\"}] | n1: to 5/s for n2",
                "\"cache\":{\"bytes\":9,\"spanSecondsWhenFull\":600} | in the last 10 minutes"
            })
    void whatANodeSaysOfItself(String says, String found) {
        assertThat(of("," + says, "", Map.of())).singleElement().asString().contains(found);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\u0000',
            value = {
                "\"lagMillis\":9000,\"cause\":\"a lock\" | n1 is 9 s behind. Its reason: a lock",
                "\"leftBehind\":true,\"lagMillis\":9000 | nobody waits for n1",
                "\"desynced\":true | quorate resync",
                "\"drained\":true | quorate drain --end",
                "\"canReturnForSeconds\":0 | it will need a copy",
                "\"canReturnForSeconds\":120 | for 2 more minutes"
            })
    void whatItSaysOfAMember(String says, String found) {
        assertThat(of("", "," + says, Map.of())).singleElement().asString().contains(found);
    }

    @ParameterizedTest
    @CsvSource({
        "quorate_tls_expires_seconds, -1, has expired",
        "quorate_tls_expires_seconds, 172800, expires in 2 days",
        "quorate_capture_connected, 0, doesn't read its server's binlog",
        "quorate_certification_conflicts_total, 200, 100.0% of all transactions"
    })
    void whatItsMetricsSay(String metric, double value, String found) {
        assertThat(of("", "", Map.of(metric, value))).singleElement().asString().contains(found);
        assertThat(of("", "", Map.of(metric, metric.contains("conflicts") ? 50 : 1e9)))
                .isEmpty();
    }

    @Test
    void aServiceThatWasJustRestartedIsNotJudgedByWhatItReceivedAtOnce() {
        String cache = ",\"cache\":{\"bytes\":9,\"spanSecondsWhenFull\":60}";
        assertThat(of(cache, "", Map.of("process_uptime_seconds", 20.0, "quorate_capture_connected", 0.0)))
                .isEmpty();
        assertThat(of(cache, "", Map.of("process_uptime_seconds", 2000.0))).hasSize(1);
    }

    /** G1 bounds one of its parts by the whole heap, and the others not at all. */
    @ParameterizedTest
    @CsvSource({"1.2E8, false", "5.9E8, true"})
    void howFullTheHeapIs(String used, boolean found) {
        Map<String, Double> metrics = DoctorCommand.sums("""
                # TYPE jvm_memory_max_bytes gauge
                jvm_memory_max_bytes{area="heap",id="G1 Eden Space"} -1.0
                jvm_memory_max_bytes{area="heap",id="G1 Old Gen"} 6.4E8
                jvm_memory_max_bytes{area="heap",id="G1 Survivor Space"} -1.0
                jvm_memory_max_bytes{area="nonheap",id="Metaspace"} -1.0
                jvm_memory_used_bytes{area="heap",id="G1 Eden Space"} 3.0E7
                jvm_memory_used_bytes{area="heap",id="G1 Old Gen"} %s
                jvm_memory_used_bytes{area="nonheap",id="Metaspace"} 9.0E8
                """.formatted(used));
        assertThat(of("", "", metrics).toString().contains("its heap is full but for 19 MB"))
                .isEqualTo(found);
    }

    @Test
    void twoThatRunEventsAndTwoLeaders() {
        Diagnosis.Said n1 = new Diagnosis.Said(
                Answers.read(CLUSTER.formatted(""), ClusterAnswer.class),
                Answers.read(
                        "{\"leader\":\"n1\",\"members\":[{\"name\":\"n1\",\"runsEvents\":true},"
                                + "{\"name\":\"n2\",\"runsEvents\":true}]}",
                        MembersAnswer.class),
                null,
                Map.of());
        Diagnosis.Said n2 = new Diagnosis.Said(
                Answers.read("{\"node\":\"n2\",\"state\":\"SYNCED\"}", ClusterAnswer.class),
                Answers.read("{\"leader\":\"n2\",\"members\":[]}", MembersAnswer.class),
                null,
                Map.of());
        assertThat(Diagnosis.of(List.of(n1, n2), List.of("db3:8080: no node answers")))
                .hasSize(3)
                .anyMatch(each -> each.contains("on at n1 and n2"))
                .anyMatch(each -> each.contains("different leaders (n1, n2)"))
                .anyMatch(each -> each.contains("no answer: db3:8080"));
    }
}
