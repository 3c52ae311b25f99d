// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.trace;

import io.micrometer.core.instrument.Counter;
import io.opentelemetry.exporter.internal.FailedExportException.HttpExportException;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.node.thread.FaultHandler;
import io.quorate.node.thread.OwnedThread;
import java.net.ConnectException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends spans to a collector, by OTLP over HTTP, on a thread of its own. Nobody waits for a collector: what finds no
 * room in the queue is dropped, and so is what couldn't be sent at the first try. Only the classes called {@code Otlp}
 * know OpenTelemetry's, which aren't loaded without them.
 */
final class OtlpSender implements Consumer<TracedSpan>, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(OtlpSender.class);

    static final int QUEUE_MAX = 4096;
    private static final int BATCH_MAX = 512;
    /** How long the first span of a batch waits for others. */
    private static final long GATHER_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long LINE_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final Duration ATTEMPT_MAX = Duration.ofSeconds(5);
    /** For what is in the queue when the node ends. */
    private static final Duration CLOSE_GRACE = Duration.ofSeconds(2);

    private final ArrayBlockingQueue<TracedSpan> queue = new ArrayBlockingQueue<>(QUEUE_MAX);
    private final String endpoint;
    private final OtlpSpan.Origin origin;
    private final SpanExporter exporter;
    private final Counter dropped;
    private final OwnedThread thread;
    private volatile boolean closing;
    /** When the log had a line about what couldn't be sent. The thread's own. */
    private long lineNanos = System.nanoTime() - LINE_NANOS;

    OtlpSender(String endpoint, String cluster, String node, Counter dropped, FaultHandler faults) {
        this.endpoint = endpoint;
        this.origin = OtlpSpan.Origin.of(cluster, node);
        this.dropped = dropped;
        this.exporter = exporter(endpoint);
        this.thread = OwnedThread.lasting("quorate-traces", this::run, faults).start();
    }

    private static SpanExporter exporter(String endpoint) {
        try {
            return OtlpHttpSpanExporter.builder()
                    .setEndpoint(endpoint)
                    .setConnectTimeout(ATTEMPT_MAX)
                    .setTimeout(ATTEMPT_MAX)
                    .setRetryPolicy(null)
                    .build();
        } catch (IllegalArgumentException e) {
            throw new QuorateException(
                    ErrorCode.CONFIGURATION, "quorate.tracing.endpoint is no URL: " + e.getMessage(), e);
        }
    }

    @Override
    public void accept(TracedSpan span) {
        if (!queue.offer(span)) {
            dropped.increment();
        }
    }

    private void run() throws InterruptedException {
        try {
            while (true) {
                boolean last = closing;
                List<SpanData> batch = gather();
                if (!batch.isEmpty()) {
                    send(batch);
                } else if (last) {
                    return;
                }
            }
        } finally {
            // An HTTP client that is closed waits for what is under way, unless it is interrupted.
            Thread.currentThread().interrupt();
            exporter.shutdown();
        }
    }

    /** What is there once the first has waited for others; nothing if there is none for a moment. */
    private List<SpanData> gather() throws InterruptedException {
        List<SpanData> batch = new ArrayList<>();
        long end = System.nanoTime() + LOOK_NANOS;
        while (batch.size() < BATCH_MAX) {
            long left = closing ? 0 : Math.min(LOOK_NANOS, end - System.nanoTime());
            TracedSpan next = queue.poll(left, TimeUnit.NANOSECONDS);
            if (next != null) {
                end = batch.isEmpty() ? System.nanoTime() + GATHER_NANOS : end;
                batch.add(new OtlpSpan(next, origin));
            } else if (closing || System.nanoTime() >= end) {
                break;
            }
        }
        return batch;
    }

    private void send(List<SpanData> batch) {
        CompletableResultCode sent;
        try {
            sent = exporter.export(batch);
        } catch (RuntimeException e) {
            sent = CompletableResultCode.ofExceptionalFailure(e);
        }
        // Longer than the attempt may take by itself; how long an answer's body may take it doesn't limit.
        sent.join(2 * ATTEMPT_MAX.toMillis(), TimeUnit.MILLISECONDS);
        if (!sent.isSuccess()) {
            dropped.increment(batch.size());
            tell(sent.isDone() ? reason(sent.getFailureThrowable()) : "no answer");
        }
    }

    private static String reason(@Nullable Throwable failure) {
        if (failure instanceof HttpExportException http && http.getResponse() != null) {
            return "HTTP " + http.getResponse().getStatusCode();
        }
        Throwable root = failure;
        while (root != null && root.getCause() != null) {
            if (root instanceof ConnectException) {
                // Below it is what the JDK met on its own channel, which says less.
                return "no connection; is it up, and is that its address?";
            }
            root = root.getCause();
        }
        return String.valueOf(root);
    }

    private void tell(String why) {
        long now = System.nanoTime();
        if (now - lineNanos >= LINE_NANOS) {
            lineNanos = now;
            log.warn("traces can't be sent to {}: {} ({} spans dropped so far)", endpoint, why, (long) dropped.count());
        }
    }

    @Override
    public void close() {
        thread.expectEnd();
        closing = true;
        thread.close(CLOSE_GRACE);
    }
}
