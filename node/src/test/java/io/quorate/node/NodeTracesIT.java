// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.NodeState;
import io.quorate.sandbox.MySqlServer;
import io.quorate.sandbox.TraceCollector;
import io.quorate.sandbox.TraceCollector.Span;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Traces of one node whose clients wait for the verdict; {@code ReplicationIT} has those of three. */
@Timeout(180)
class NodeTracesIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Test
    void eachStageBeginsWhereTheOneBeforeEnds(@TempDir Path directory) throws Exception {
        try (MySqlServer mysql = MySqlServer.builder().relaxed().start();
                TraceCollector collector = TraceCollector.start()) {
            Map<String, String> keys = new HashMap<>(LocalNode.beside(mysql));
            keys.put("quorate.commit-mode", "after-sync");
            keys.put("quorate.tracing.endpoint", collector.endpoint());
            keys.put("quorate.tracing.sample", "1");
            Node node = LocalNode.start("traces", directory.resolve("data"), keys);
            try {
                LocalNode.awaitState(node, NodeState.SYNCED);
                while (!mysql.queryOne("SELECT @@read_only").equals("0")) {
                    Thread.sleep(20);
                }
                mysql.execute("CREATE DATABASE traced");
                Span root = collector
                        .await(
                                span -> span.name().equals("transaction")
                                        && span.attributes().containsKey("quorate.seqno"),
                                1,
                                LIMIT)
                        .get(0);
                List<Span> stages =
                        collector
                                .await(span -> span.traceId().equals(root.traceId()) && !span.equals(root), 4, LIMIT)
                                .stream()
                                .sorted(Comparator.comparing(Span::startNanos).thenComparing(Span::endNanos))
                                .toList();
                assertThat(stages)
                        .extracting(Span::name)
                        .containsExactly("captured", "proposed", "ordered", "acknowledged");
                assertThat(stages).allMatch(stage -> stage.parentId().equals(root.id()));
                assertThat(stages.get(0).startNanos()).isEqualTo(root.startNanos());
                for (int i = 1; i < stages.size(); i++) {
                    assertThat(stages.get(i).startNanos())
                            .isEqualTo(stages.get(i - 1).endNanos());
                }
                assertThat(stages.get(3).endNanos()).isEqualTo(root.endNanos());
                assertThat(root.attributes())
                        .containsEntry("quorate.cluster", "traces")
                        .containsEntry("quorate.node", "n1")
                        .containsEntry("quorate.verdict", "passed");
            } finally {
                node.stop();
            }
        }
    }
}
