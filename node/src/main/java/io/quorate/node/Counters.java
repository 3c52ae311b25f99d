// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.micrometer.core.instrument.MeterRegistry;
import io.quorate.node.server.AckStats;
import io.quorate.node.server.ApplyProgress;
import io.quorate.node.server.JoinCounts;
import io.quorate.node.server.KeylessTables;
import io.quorate.node.server.Refusals;

/** What the rooms of a node count and note, and what the node's metrics show. */
record Counters(ApplyProgress progress, KeylessTables keyless, JoinCounts joins, Refusals refusals, AckStats acks) {
    Counters(MeterRegistry meters) {
        this(new ApplyProgress(), new KeylessTables(), new JoinCounts(meters), new Refusals(), new AckStats(meters));
    }
}
