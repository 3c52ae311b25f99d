// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.QuorateException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.stereotype.Component;

/** {@code /actuator/audit}: the comparison of the nodes' servers that this node does or did last; a POST has it do something. */
@Component
@Endpoint(id = "audit")
class AuditEndpoint {
    private final Node node;

    AuditEndpoint(Node node) {
        this.node = node;
    }

    @ReadOperation
    Map<String, Object> audit() {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("node", node.status().name());
        answer.put("waitsFor", node.audit().waits());
        answer.put("audit", node.audit().state());
        return answer;
    }

    /**
     * @param action {@code start}, {@code stop} or {@code repair}
     * @param table of start: {@code schema.table}, all tables without it
     * @param trusted of repair: the node whose rows are right, those of the majority without it
     * @param apply of repair: {@code true} to do it, else it is only said what would be done
     */
    @WriteOperation
    Map<String, Object> change(
            String action, @Nullable String table, @Nullable String trusted, @Nullable Boolean apply) {
        Map<String, Object> answer = new LinkedHashMap<>();
        String refusal;
        try {
            refusal = switch (action) {
                case "start" -> node.audit().start(table);
                case "stop" -> node.audit().stop();
                case "repair" -> {
                    answer.put("differences", node.audit().repair(trusted, apply != null && apply));
                    yield null;
                }
                default -> "an action is start, stop or repair, not " + action;
            };
        } catch (QuorateException e) {
            refusal = e.getMessage();
        }
        answer.put("done", refusal == null);
        answer.put("refusal", refusal);
        return answer;
    }
}
