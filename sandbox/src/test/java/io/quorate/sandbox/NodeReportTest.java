// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NodeReportTest {
    @Test
    void takesWhatItKnowsFromAnAnswerThatSaysMore() {
        NodeReport report = NodeReport.parse("""
                {"name":"n1","state":"SYNCED","primaryComponent":true,"reason":"","leader":"n2","lastOrdered":12,
                 "lastApplied":11,"version":"8.0.33","future":{"a":[1]}}""");
        assertThat(report).isEqualTo(new NodeReport("SYNCED", true, "", "", 12, 11, "8.0.33"));
        assertThat(report.isSynced()).isTrue();
    }

    @Test
    void isNotSyncedWithoutAMajority() {
        assertThat(NodeReport.parse("{\"state\":\"SYNCED\",\"primaryComponent\":false}")
                        .isSynced())
                .isFalse();
        assertThat(NodeReport.parse("{}").state()).isEqualTo("UNKNOWN");
    }

    @Test
    void ordersMeasuredValues() {
        Percentiles lags = new Percentiles(100);
        assertThat(lags.at(95)).isZero();
        for (int i = 1; i <= 300; i++) {
            lags.add(i);
        }
        assertThat(lags.count()).isEqualTo(100);
        assertThat(lags.at(50)).isEqualTo(50);
        assertThat(lags.at(95)).isEqualTo(95);
        assertThat(lags.at(100)).isEqualTo(100);
    }
}
