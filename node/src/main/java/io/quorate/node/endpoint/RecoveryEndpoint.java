// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
import io.quorate.core.answer.Outcome;
import io.quorate.core.answer.RecoveryAnswer;
import io.quorate.core.answer.RecoveryAnswer.Missing;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.join.Join;
import io.quorate.node.member.Members;
import io.quorate.node.member.Membership;
import io.quorate.node.member.Standing;
import io.quorate.node.order.PausableOrder;
import io.quorate.transport.RatisTotalOrder;
import io.quorate.transport.TransportSettings.Peer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.stereotype.Component;

/**
 * {@code /actuator/recovery}: what would be lost if this node went on without the majority; a POST makes it do so.
 * {@code quorate recover} uses both.
 */
@Component
@Endpoint(id = "recovery")
class RecoveryEndpoint {
    private final Standing standing;
    private final Members members;
    private final PausableOrder order;
    private final Join join;
    private final NodeProperties properties;

    RecoveryEndpoint(Standing standing, Members members, PausableOrder order, Join join, NodeProperties properties) {
        this.standing = standing;
        this.members = members;
        this.order = order;
        this.join = join;
        this.properties = properties;
    }

    @ReadOperation
    RecoveryAnswer recovery() {
        Membership known = standing.membership();
        Map<String, Members.Heard> heard = members.all();
        long furthest = 0;
        List<Missing> missing = new ArrayList<>();
        List<String> present = new ArrayList<>();
        for (Peer member : known.members()) {
            if (member.name().equals(known.node())) {
                continue;
            }
            Members.Heard last = heard.get(member.name());
            if (last == null) {
                missing.add(new Missing(member.name(), null, null));
            } else if (last.isFresh()) {
                present.add(member.name());
            } else {
                long ordered = last.report().ordered();
                missing.add(new Missing(member.name(), last.ageSeconds(), ordered));
                furthest = Math.max(furthest, ordered);
            }
        }
        return new RecoveryAnswer(
                known.node(),
                properties.cluster(),
                known.lives().name(),
                order.quorum().primary(),
                known.report().ordered(),
                text(known.report().logEnd()),
                unconfirmed(order.running()),
                furthest,
                present,
                missing);
    }

    /**
     * How many entries at the end of the log no majority has confirmed; null while this node takes no part in the
     * order.
     */
    private static @Nullable Long unconfirmed(@Nullable RatisTotalOrder running) {
        return running == null
                ? null
                : Long.valueOf(
                        Math.max(0, running.logEnd().index() - running.stats().committedIndex()));
    }

    private static String text(LogPosition end) {
        return end.term() + ":" + end.index();
    }

    /**
     * @param action {@code force}: this node alone is the cluster from now on; {@code cluster} has to be the cluster's
     *     name
     */
    @WriteOperation
    Outcome recover(String action, String cluster) throws InterruptedException {
        if (!action.equals("force")) {
            return Outcome.of("an action is force, not " + action);
        }
        if (!cluster.equals(properties.cluster())) {
            return Outcome.of("this node's cluster is " + properties.cluster());
        }
        try {
            return Outcome.of(join.force());
        } catch (QuorateException e) {
            return Outcome.of(e.getMessage());
        }
    }
}
