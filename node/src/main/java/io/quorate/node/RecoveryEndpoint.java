// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
import io.quorate.transport.RatisTotalOrder;
import io.quorate.transport.TransportSettings.Peer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.stereotype.Component;

/**
 * {@code /actuator/recovery}: what going on without the majority would lose, and, written to, doing so. {@code quorate
 * recover} asks for both.
 */
@Component
@Endpoint(id = "recovery")
class RecoveryEndpoint {
    private final Node node;

    RecoveryEndpoint(Node node) {
        this.node = node;
    }

    @ReadOperation
    Map<String, Object> recovery() {
        MemberRequest.Answer known = node.membership();
        Map<String, Members.Heard> heard = node.members().all();
        RatisTotalOrder running = node.running();
        long furthest = 0;
        List<Map<String, Object>> missing = new ArrayList<>();
        List<String> present = new ArrayList<>();
        for (Peer member : known.members()) {
            if (member.name().equals(known.node())) {
                continue;
            }
            Members.Heard last = heard.get(member.name());
            if (last != null && last.isFresh()) {
                present.add(member.name());
                continue;
            }
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("name", member.name());
            line.put("heardSecondsAgo", last == null ? null : last.ageSeconds());
            line.put("ordered", last == null ? null : last.report().ordered());
            missing.add(line);
            furthest = Math.max(furthest, last == null ? 0 : last.report().ordered());
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("node", known.node());
        answer.put("cluster", node.cluster());
        answer.put("life", known.lives().name());
        answer.put("majority", node.order().quorum().primary());
        answer.put("ordered", known.report().ordered());
        answer.put("logEnd", text(known.report().logEnd()));
        answer.put(
                "unconfirmedEntries",
                running == null
                        ? null
                        : Math.max(0, running.logEnd().index() - running.stats().committedIndex()));
        answer.put("furthestHeard", furthest);
        answer.put("present", present);
        answer.put("missing", missing);
        return answer;
    }

    private static String text(LogPosition end) {
        return end.term() + ":" + end.index();
    }

    /** @param action {@code force}: this node alone is the cluster from now on; {@code cluster} has to name it */
    @WriteOperation
    Map<String, Object> recover(String action, String cluster) {
        String refusal;
        try {
            refusal = !action.equals("force")
                    ? "an action is force, not " + action
                    : !cluster.equals(node.cluster())
                            ? "this node's cluster is " + node.cluster()
                            : node.recovery().force();
        } catch (QuorateException e) {
            refusal = e.getMessage();
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("done", refusal == null);
        answer.put("refusal", refusal);
        return answer;
    }
}
