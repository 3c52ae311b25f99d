// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.quorate.core.Gtid;
import io.quorate.core.QuorateException;
import io.quorate.sandbox.Ports;
import io.quorate.sandbox.TraceCollector;
import io.quorate.sandbox.TraceCollector.Span;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/** What a collector gets. */
@Timeout(60)
class OtlpSenderTest {
    private static final Duration LIMIT = Duration.ofSeconds(50);
    private static final Gtid GTID = new Gtid(UUID.fromString("3e11fa47-71ca-11e1-9e33-c80aa9429562"), 23);
    private static final TraceIds TRACE = TraceIds.of(GTID);

    private final Counter dropped = new SimpleMeterRegistry().counter("dropped");

    private OtlpSender sender(String endpoint) {
        return new OtlpSender(endpoint, "shop", "n1", dropped, (thread, cause) -> {
            throw new AssertionError(thread, cause);
        });
    }

    private static TracedSpan root(Boolean verdict) {
        return new TracedSpan(
                TRACE, TracedSpan.TRANSACTION, TRACE.root(), 0, 1000, 3000, GTID, verdict == null ? 0 : 17, verdict);
    }

    private static TracedSpan apply() {
        return new TracedSpan(
                TRACE, TracedSpan.APPLY, TRACE.span("apply n1"), TRACE.root(), 2000, 4000, GTID, 17, true);
    }

    @Test
    void aCollectorGetsThem() throws Exception {
        try (TraceCollector collector = TraceCollector.start();
                OtlpSender sender = sender(collector.endpoint())) {
            sender.accept(root(true));
            sender.accept(apply());
            List<Span> spans = collector.await(span -> true, 2, LIMIT);
            Map<String, String> attributes = Map.of(
                    "service.name", "quorate",
                    "service.namespace", "shop",
                    "service.instance.id", "n1",
                    "quorate.cluster", "shop",
                    "quorate.node", "n1",
                    "quorate.gtid", GTID.toString(),
                    "quorate.seqno", "17",
                    "quorate.verdict", "passed");
            String rootId = TraceIds.hex(TRACE.root());
            assertThat(spans)
                    .containsExactly(
                            new Span(TRACE.trace(), rootId, "", "transaction", 1_000_000, 3_000_000, attributes),
                            new Span(
                                    TRACE.trace(),
                                    TraceIds.hex(TRACE.span("apply n1")),
                                    rootId,
                                    "apply",
                                    2_000_000,
                                    4_000_000,
                                    attributes));
        }
        assertThat(dropped.count()).isZero();
    }

    @Test
    void whatIsNotKnownIsLeftOut() throws Exception {
        try (TraceCollector collector = TraceCollector.start();
                OtlpSender sender = sender(collector.endpoint())) {
            sender.accept(root(null));
            sender.accept(root(false));
            List<Span> spans = collector.await(span -> true, 2, LIMIT);
            assertThat(spans.get(0).attributes()).doesNotContainKeys("quorate.seqno", "quorate.verdict");
            assertThat(spans.get(1).attributes()).containsEntry("quorate.verdict", "lost");
        }
    }

    @Test
    void whatIsInTheQueueWhenTheNodeEndsIsSent() throws Exception {
        try (TraceCollector collector = TraceCollector.start()) {
            try (OtlpSender sender = sender(collector.endpoint())) {
                for (int i = 0; i < 1000; i++) {
                    sender.accept(apply());
                }
            }
            assertThat(collector.await(span -> true, 1000, LIMIT)).hasSize(1000);
        }
        assertThat(dropped.count()).isZero();
    }

    @Test
    void whatCannotBeSentIsCountedAndSaid() throws Exception {
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        Logger log = (Logger) LoggerFactory.getLogger(OtlpSender.class);
        log.addAppender(lines);

        try (OtlpSender nobody = sender("http://127.0.0.1:" + Ports.freeBlock(0) + "/v1/traces")) {
            nobody.accept(apply());
            awaitDropped(1);
        }
        try (TraceCollector collector = TraceCollector.start();
                OtlpSender elsewhere = sender(collector.endpoint() + "/wrong")) {
            elsewhere.accept(apply());
            elsewhere.accept(apply());
            awaitDropped(3);
        }
        log.detachAppender(lines);
        // Both senders are closed, so their lines are there.
        assertThat(lines.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .anyMatch(line -> line.contains("no connection; is it up, and is that its address?"))
                .anyMatch(line -> line.contains("HTTP 404"));
    }

    /** The one that hands in is a thread that commits or applies. */
    @Test
    void aCollectorThatDoesNotAnswerKeepsNobodyWaiting() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                OtlpSender sender = sender("http://127.0.0.1:" + silent.getLocalPort() + "/v1/traces")) {
            // One batch is under way, and the queue holds so many.
            for (int i = 0; i < 2 * OtlpSender.QUEUE_MAX; i++) {
                sender.accept(apply());
            }
            assertThat(dropped.count()).isPositive();
        }
    }

    @Test
    void whatIsNoUrlIsRefused() {
        assertThatThrownBy(() -> sender("http://a|b"))
                .isInstanceOf(QuorateException.class)
                .hasMessageContaining("quorate.tracing.endpoint");
    }

    private void awaitDropped(int count) throws InterruptedException {
        while (dropped.count() < count) {
            Thread.sleep(10);
        }
        assertThat(dropped.count()).isEqualTo(count);
    }
}
