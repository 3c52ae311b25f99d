// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.sst.CopyProgress;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.stereotype.Component;

/** {@code /actuator/transfer}: what this node receives from others, and what it gives them. Also in JMX. */
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
        }
        answer.put("giving", node.donor().running());
        answer.put("bytesGiven", node.donor().bytes());
        return answer;
    }
}
