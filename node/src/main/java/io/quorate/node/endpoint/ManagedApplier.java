// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.applier.ApplierStats;
import io.quorate.node.member.Standing;
import io.quorate.node.server.ApplyProgress;
import io.quorate.node.server.Server;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.jmx.export.annotation.ManagedAttribute;
import org.springframework.jmx.export.annotation.ManagedMetric;
import org.springframework.jmx.export.annotation.ManagedResource;
import org.springframework.jmx.support.MetricType;
import org.springframework.stereotype.Component;

/** {@code io.quorate:type=Applier}: what this node's server gets of the other nodes' transactions. */
@Component
@ManagedResource(
        objectName = "io.quorate:type=Applier",
        description = "what this node's server gets of the other nodes' transactions; counters begin again with each"
                + " session with the server")
public class ManagedApplier {
    private final Server server;
    private final Standing standing;
    private final ApplyProgress progress;

    ManagedApplier(Server server, Standing standing, ApplyProgress progress) {
        this.server = server;
        this.standing = standing;
        this.progress = progress;
    }

    private long stat(ToLongFunction<ApplierStats> which) {
        ApplierStats stats = server.applierStats();
        return stats == null ? 0 : which.applyAsLong(stats);
    }

    @ManagedMetric(description = "the server holds everything up to this seqno", unit = "seqno")
    public long getLastApplied() {
        return progress.lastApplied();
    }

    @ManagedMetric(description = "writesets ordered and not applied", unit = "writesets")
    public long getQueue() {
        return standing.behind();
    }

    @ManagedAttribute(description = "why so many wait; null when they are few")
    public @Nullable String getCause() {
        return standing.report().cause();
    }

    @ManagedMetric(description = "writesets applied a second, lately", unit = "1/s")
    public long getAppliedPerSecond() {
        return standing.report().appliedPerSecond();
    }

    @ManagedMetric(description = "groups being executed", unit = "groups")
    public long getExecuting() {
        return stat(ApplierStats::executing);
    }

    @ManagedMetric(description = "transactions of the applier", unit = "transactions", metricType = MetricType.COUNTER)
    public long getGroups() {
        return stat(ApplierStats::groups);
    }

    @ManagedMetric(description = "groups executed again", unit = "groups", metricType = MetricType.COUNTER)
    public long getRetries() {
        return stat(ApplierStats::retries);
    }

    @ManagedMetric(description = "lock waits and deadlocks met", unit = "waits", metricType = MetricType.COUNTER)
    public long getLockWaits() {
        return stat(ApplierStats::lockWaits);
    }

    @ManagedMetric(
            description = "client sessions ended for their locks",
            unit = "sessions",
            metricType = MetricType.COUNTER)
    public long getBlockersKilled() {
        return stat(ApplierStats::blockersKilled);
    }

    @ManagedMetric(
            description = "own transactions undone because they lost",
            unit = "transactions",
            metricType = MetricType.COUNTER)
    public long getUndone() {
        return stat(ApplierStats::undone);
    }
}
