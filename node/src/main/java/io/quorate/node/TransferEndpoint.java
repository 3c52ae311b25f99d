// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.sst.CopyProgress;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.stereotype.Component;

/** {@code /actuator/transfer}: what this node receives from others, and what it gives them; a POST holds it up. Also in JMX. */
@Component
@Endpoint(id = "transfer")
class TransferEndpoint {
    private final Node node;

    TransferEndpoint(Node node) {
        this.node = node;
    }

    @ReadOperation
    Map<String, Object> transfer() {
        NodeStatus self = node.status();
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("node", self.name());
        answer.put("state", self.state());
        answer.put("reason", self.reason());
        answer.put("receiving", node.rejoin().look());
        answer.put("waitsFor", node.rejoin().obstacle());
        FullCopy copy = node.copy();
        if (copy != null && copy.isPending()) {
            answer.put("copying", copy.look() == null ? CopyProgress.NONE : copy.look());
            answer.put("method", copy.method());
            answer.put("copyFrom", copy.donor());
            answer.put("waitsFor", copy.obstacle());
            answer.put("paused", copy.budget().isPaused());
            answer.put("bytesPerSecondMax", copy.budget().perSecond());
        }
        answer.put("giving", node.donor().running());
        answer.put("bytesGiven", node.donor().bytes() + node.streamSource().bytes());
        answer.put("heldMillis", node.streamSource().heldMillis());
        return answer;
    }

    /**
     * @param action {@code pause}, {@code resume}, {@code throttle} or {@code cancel}, of a full copy
     * @param bytesPerSecond of throttle: what it may take, 0 for as much as there is; until the service ends
     */
    @WriteOperation
    Map<String, Object> change(String action, @Nullable Long bytesPerSecond) throws IOException, InterruptedException {
        FullCopy copy = node.copy();
        String refusal = copy == null || !copy.isPending() ? "no full copy is under way" : null;
        if (refusal == null) {
            switch (action) {
                case "pause" -> refusal = copy.pause(true);
                case "resume" -> refusal = copy.pause(false);
                case "throttle" -> copy.budget().perSecond(bytesPerSecond == null ? 0 : Math.max(0, bytesPerSecond));
                case "cancel" -> refusal = node.cancelCopy();
                default -> refusal = "an action is pause, resume, throttle or cancel, not " + action;
            }
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("done", refusal == null);
        answer.put("refusal", refusal);
        return answer;
    }
}
