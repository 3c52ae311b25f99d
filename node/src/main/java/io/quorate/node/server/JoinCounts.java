// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/**
 * Counts the steps by which this node has received what it missed, since its service started: the counter {@code
 * quorate.join.steps} with a tag {@code step}, such as {@code copy_completed}.
 */
public final class JoinCounts {
    public enum Step {
        /** The node begins to ask other nodes for writesets, for whatever reason. */
        TRANSFER_BEGUN,
        TRANSFER_COMPLETED,
        /** The part of the order that this node keeps on its disk proved damaged, and is fetched again. */
        CACHE_DAMAGED,
        /** The node catches up more slowly than a full copy would come, and changes over to a copy. */
        COPY_PREFERRED,
        /**
         * A full copy begins: from here on the server's own data is lost. Not counted again when a copy goes on after
         * the service was restarted.
         */
        COPY_BEGUN,
        /** MySQL's CLONE ended before it was complete. */
        COPY_BROKEN_OFF,
        /** A statement altered tables while a stream read them: what had come is thrown away. */
        COPY_BEGUN_ANEW,
        /** A donor didn't give all of a piece of a stream; another donor is asked, or the same one once more. */
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
