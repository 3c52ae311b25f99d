// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.core.answer.AuditAnswer;
import io.quorate.core.answer.AuditOutcome;
import io.quorate.core.answer.Difference;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.jmx.export.annotation.ManagedAttribute;
import org.springframework.jmx.export.annotation.ManagedMetric;
import org.springframework.jmx.export.annotation.ManagedOperation;
import org.springframework.jmx.export.annotation.ManagedOperationParameter;
import org.springframework.jmx.export.annotation.ManagedResource;
import org.springframework.stereotype.Component;

/** {@code io.quorate:type=Audit}: the audit that this node does, or did last. */
@Component
@ManagedResource(objectName = "io.quorate:type=Audit", description = "the audit that this node does, or did last")
public class ManagedAudit {
    private final AuditEndpoint audit;

    ManagedAudit(AuditEndpoint audit) {
        this.audit = audit;
    }

    private AuditAnswer.@Nullable Audit look() {
        return audit.audit().audit();
    }

    private long number(ToLongFunction<AuditAnswer.Audit> which) {
        AuditAnswer.Audit look = look();
        return look == null ? 0 : which.applyAsLong(look);
    }

    @ManagedAttribute(description = "whether one is under way")
    public boolean isRunning() {
        AuditAnswer.Audit look = look();
        return look != null && look.ended() == null;
    }

    @ManagedAttribute(description = "what it waits for; empty when it works")
    public String getWaitsFor() {
        return audit.audit().waitsFor();
    }

    @ManagedAttribute(description = "when the last one ended, by this node's clock; null without one")
    public @Nullable String getEnded() {
        AuditAnswer.Audit look = look();
        return look == null ? null : look.ended();
    }

    @ManagedMetric(description = "tables that there are to be compared", unit = "tables")
    public long getTables() {
        return number(AuditAnswer.Audit::tables);
    }

    @ManagedMetric(description = "tables that have been compared", unit = "tables")
    public long getTablesDone() {
        return number(AuditAnswer.Audit::tablesDone);
    }

    @ManagedMetric(description = "rows that have been compared", unit = "rows")
    public long getRows() {
        return number(AuditAnswer.Audit::rows);
    }

    @ManagedMetric(description = "rows and tables that differ", unit = "differences")
    public long getFound() {
        return number(AuditAnswer.Audit::found);
    }

    @ManagedAttribute(description = "the first of them, for people")
    public List<String> getDifferences() {
        AuditAnswer.Audit look = look();
        return look == null
                ? List.of()
                : look.differences().stream().map(Difference::toString).toList();
    }

    @ManagedOperation(description = "begins one")
    @ManagedOperationParameter(name = "table", description = "SCHEMA.TABLE; empty for all tables")
    public void start(@Nullable String table) {
        change("start", Operations.given(table), null, false);
    }

    @ManagedOperation(description = "ends it")
    public void stop() {
        change("stop", null, null, false);
    }

    @ManagedOperation(description = "repairs what it has found; the answer says what becomes of each row")
    @ManagedOperationParameter(
            name = "trusted",
            description = "the node whose rows are right; empty for those of the majority")
    @ManagedOperationParameter(
            name = "apply",
            description = "true to do it; otherwise the answer only says what would be done")
    public List<String> repair(@Nullable String trusted, boolean apply) {
        List<Difference> all =
                change("repair", null, Operations.given(trusted), apply).differences();
        return all == null ? List.of() : all.stream().map(Difference::toString).toList();
    }

    private AuditOutcome change(String action, @Nullable String table, @Nullable String trusted, boolean apply) {
        AuditOutcome outcome = audit.change(action, table, trusted, apply);
        Operations.require(outcome.refusal());
        return outcome;
    }
}
