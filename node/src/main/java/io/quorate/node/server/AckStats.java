// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.quorate.core.AckCourse.Cause;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** What commit mode {@code after-sync} costs clients: metrics, since the service was started. Any thread. */
public final class AckStats {
    private static final double[] PERCENTILES = {0.5, 0.99};

    private final Counter lost;
    private final Counter undecided;
    private final Timer captured;
    private final Timer proposed;
    private final Timer ordered;
    private final Timer acknowledged;

    public AckStats(MeterRegistry meters) {
        lost = ended(Cause.LOST, meters);
        undecided = ended(Cause.UNDECIDED, meters);
        captured = stage("captured", meters);
        proposed = stage("proposed", meters);
        ordered = stage("ordered", meters);
        acknowledged = stage("acknowledged", meters);
    }

    private static Counter ended(Cause cause, MeterRegistry meters) {
        return Counter.builder("quorate.commit.ended")
                .description("sessions of clients that were ended instead of getting OK")
                .tag("cause", cause.name().toLowerCase(Locale.ROOT))
                .register(meters);
    }

    private static Timer stage(String name, MeterRegistry meters) {
        return Timer.builder("quorate.commit.stage")
                .description("how long clients' commits took from the stage before to this one")
                .tag("stage", name)
                .publishPercentiles(PERCENTILES)
                .register(meters);
    }

    void ended(Cause cause) {
        (cause == Cause.LOST ? lost : undecided).increment();
    }

    void captured(long nanos) {
        captured.record(nanos, TimeUnit.NANOSECONDS);
    }

    void proposed(long nanos) {
        proposed.record(nanos, TimeUnit.NANOSECONDS);
    }

    void ordered(long nanos) {
        ordered.record(nanos, TimeUnit.NANOSECONDS);
    }

    void acknowledged(long nanos) {
        acknowledged.record(nanos, TimeUnit.NANOSECONDS);
    }
}
