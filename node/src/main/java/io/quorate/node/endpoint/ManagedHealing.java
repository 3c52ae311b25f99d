// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.quorate.node.conflict.ConflictJournal;
import io.quorate.node.server.JoinCounts.Step;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.jmx.export.annotation.ManagedAttribute;
import org.springframework.jmx.export.annotation.ManagedMetric;
import org.springframework.jmx.export.annotation.ManagedOperation;
import org.springframework.jmx.export.annotation.ManagedOperationParameter;
import org.springframework.jmx.export.annotation.ManagedResource;
import org.springframework.jmx.support.MetricType;
import org.springframework.stereotype.Component;

/** {@code io.quorate:type=Healing}: what this node went through where its server lacked something, or differed. */
@Component
@ManagedResource(
        objectName = "io.quorate:type=Healing",
        description = "what this node went through where its server lacked something, or differed; counted since its"
                + " service began")
public class ManagedHealing {
    private final HealEndpoint heal;
    private final ConflictJournal journal;
    private final MeterRegistry meters;

    ManagedHealing(HealEndpoint heal, ConflictJournal journal, MeterRegistry meters) {
        this.heal = heal;
        this.journal = journal;
        this.meters = meters;
    }

    private long steps(Step step) {
        Counter counter = meters.find("quorate.join.steps")
                .tag("step", step.name().toLowerCase(Locale.ROOT))
                .counter();
        return counter == null ? 0 : (long) counter.count();
    }

    @ManagedMetric(description = "incremental transfers begun", unit = "transfers", metricType = MetricType.COUNTER)
    public long getTransfersBegun() {
        return steps(Step.TRANSFER_BEGUN);
    }

    @ManagedMetric(description = "incremental transfers completed", unit = "transfers", metricType = MetricType.COUNTER)
    public long getTransfersCompleted() {
        return steps(Step.TRANSFER_COMPLETED);
    }

    @ManagedMetric(
            description = "copies begun, of everything or of what differed",
            unit = "copies",
            metricType = MetricType.COUNTER)
    public long getCopiesBegun() {
        return steps(Step.COPY_BEGUN);
    }

    @ManagedMetric(description = "copies completed", unit = "copies", metricType = MetricType.COUNTER)
    public long getCopiesCompleted() {
        return steps(Step.COPY_COMPLETED);
    }

    @ManagedAttribute(description = "the latest findings that this node's server held something else than the order")
    public List<String> getMismatches() throws IOException {
        return journal.mismatches().stream().map(Object::toString).toList();
    }

    @ManagedOperation(description = "has this node's server get a copy of tables from another one")
    @ManagedOperationParameter(name = "tables", description = "SCHEMA.TABLE, several separated by commas")
    public void heal(String tables) throws InterruptedException {
        Operations.require(heal.heal(tables, false));
    }

    @ManagedOperation(description = "where all servers differ: has this one's tables be right")
    @ManagedOperationParameter(
            name = "tables",
            description = "SCHEMA.TABLE, several separated by commas; empty for all of which anything is known")
    public void trust(@Nullable String tables) throws InterruptedException {
        Operations.require(heal.heal(Operations.given(tables), true));
    }
}
