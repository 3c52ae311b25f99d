// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.core.QuorateException;
import io.quorate.core.answer.AuditAnswer;
import io.quorate.core.answer.AuditOutcome;
import io.quorate.node.audit.Audit;
import io.quorate.node.audit.AuditState;
import io.quorate.node.member.Standing;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.stereotype.Component;

/**
 * {@code /actuator/audit}: the audit that this node carries out or carried out last; a POST begins one, stops it or
 * repairs what it has found.
 */
@Component
@Endpoint(id = "audit")
class AuditEndpoint {
    private final Audit audit;
    private final Standing standing;

    AuditEndpoint(Audit audit, Standing standing) {
        this.audit = audit;
        this.standing = standing;
    }

    @ReadOperation
    AuditAnswer audit() {
        AuditState state = audit.state();
        return new AuditAnswer(standing.status().name(), audit.waits(), state == null ? null : state.answer());
    }

    /**
     * @param action {@code start}, {@code stop} or {@code repair}
     * @param table for start: {@code schema.table}; without it, all tables
     * @param trusted for repair: the node whose rows are right; without it, the rows of the majority are
     * @param apply for repair: {@code true} to do it; otherwise the answer only says what would be done
     */
    @WriteOperation
    AuditOutcome change(String action, @Nullable String table, @Nullable String trusted, @Nullable Boolean apply) {
        try {
            return switch (action) {
                case "start" -> AuditOutcome.of(audit.start(table));
                case "stop" -> AuditOutcome.of(audit.stop());
                case "repair" -> AuditOutcome.repaired(audit.repair(trusted, apply != null && apply));
                default -> AuditOutcome.of("an action is start, stop or repair, not " + action);
            };
        } catch (QuorateException e) {
            return AuditOutcome.of(e.getMessage());
        }
    }
}
