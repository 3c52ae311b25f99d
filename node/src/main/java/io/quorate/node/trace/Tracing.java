// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.trace;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.thread.FaultHandler;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * A node's traces, if its configuration has an endpoint for them.
 *
 * @param end sends what there still is
 */
public record Tracing(Traces traces, Runnable end) implements AutoCloseable {
    /** An arbitrator has none: it commits nothing and applies nothing. */
    public static Tracing open(NodeProperties properties, MeterRegistry meters, FaultHandler faults) {
        Counter dropped = Counter.builder("quorate.tracing.dropped")
                .description("spans that didn't reach the collector, and transactions that got none")
                .register(meters);
        String endpoint = properties.tracing().endpoint();
        if (endpoint.isEmpty() || properties.arbitrator()) {
            return new Tracing(Traces.OFF, () -> {});
        }
        OtlpSender sender = new OtlpSender(endpoint, properties.cluster(), properties.node(), dropped, faults);
        return new Tracing(
                new TraceCourse(
                        properties.tracing().sample(),
                        properties.node(),
                        () -> ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()),
                        sender,
                        dropped::increment),
                sender::close);
    }

    @Override
    public void close() {
        end.run();
    }
}
