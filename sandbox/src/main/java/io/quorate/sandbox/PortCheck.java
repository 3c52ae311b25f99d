// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Finds out, before anything starts, which ports other programs hold. */
final class PortCheck {
    private final List<SandboxNode> nodes;

    PortCheck(List<SandboxNode> nodes) {
        this.nodes = nodes;
    }

    /** Fails with a list of the ports that are not free and that something not running yet needs. */
    void requireFree() {
        List<String> taken = new ArrayList<>();
        for (SandboxNode node : nodes) {
            Map<Integer, String> needed = new LinkedHashMap<>();
            if (node.isServerDown()) {
                needed.put(node.ports().mysql(), "MySQL");
            }
            if (!node.isServiceAlive()) {
                needed.put(node.ports().http(), "HTTP");
                needed.put(node.ports().probe(), "probes");
                needed.put(node.ports().raft(), "Raft");
                needed.put(node.ports().channel(), "channel");
            }
            needed.forEach((port, use) -> {
                if (!Ports.isFree(port)) {
                    taken.add(port + " (" + use + " of " + node.name() + ")");
                }
            });
        }
        if (!taken.isEmpty()) {
            throw new SandboxException("in use by other programs: port " + String.join(", ", taken)
                    + "; end those programs, or choose other ports with --base-port");
        }
    }
}
