// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/**
 * What this node has gone through since its service began, to receive what it missed: the counter {@code
 * quorate.join.steps} with a tag {@code step}, such as {@code copy_completed}.
 */
public final class JoinCounts {
    public enum Step {
        /** Writesets are asked for at other nodes, for whatever reason. */
        TRANSFER_BEGUN,
        TRANSFER_COMPLETED,
        /** What is on this node's disk of the order proved damaged, and is fetched again. */
        CACHE_DAMAGED,
        /** It catches up slower than a full copy would come, and changes over to one. */
        COPY_PREFERRED,
        /** From here on the server's own data goes. Not again when a copy goes on after its service ended. */
        COPY_BEGUN,
        /** MySQL's CLONE ended before it was complete. */
        COPY_BROKEN_OFF,
        /** A statement changed tables while a stream read them: what had come is thrown away. */
        COPY_BEGUN_ANEW,
        /** A donor didn't give all of a piece of a stream; another one is asked, or it once more. */
        PIECE_BROKEN_OFF,
        COPY_COMPLETED
    }

    private final Map<Step, Counter> counters = new EnumMap<>(Step.class);

    public JoinCounts(MeterRegistry registry) {
        for (Step step : Step.values()) {
            counters.put(
                    step,
                    Counter.builder("quorate.join.steps")
                            .description("what the node went through to receive what it missed")
                            .tag("step", step.name().toLowerCase(Locale.ROOT))
                            .register(registry));
        }
    }

    public void count(Step step) {
        counters.get(step).increment();
    }
}
