// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.core.NodeState;
import io.quorate.core.answer.NodeStatus;
import io.quorate.node.member.Standing;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.stereotype.Component;

/**
 * Up while the node is SYNCED or will become so by itself; out of service while it has no majority; down when somebody
 * must act.
 */
@Component("quorate")
class NodeHealth extends AbstractHealthIndicator {
    private final Standing standing;

    NodeHealth(Standing standing) {
        this.standing = standing;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        NodeStatus status = standing.status();
        NodeState state = NodeState.valueOf(status.state());
        switch (state) {
            case INCONSISTENT -> builder.down();
            case NON_PRIMARY -> builder.outOfService();
            default -> builder.up();
        }
        builder.withDetail("state", status.state())
                .withDetail("primaryComponent", status.primaryComponent())
                .withDetail("lastOrdered", status.lastOrdered())
                .withDetail("lastApplied", status.lastApplied());
        if (!status.reason().isEmpty()) {
            builder.withDetail("reason", status.reason());
        }
    }
}
