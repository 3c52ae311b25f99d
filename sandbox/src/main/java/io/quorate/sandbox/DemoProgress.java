// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;

/**
 * The demo's live line: per node, what its clients committed, what it knows to be ordered, what its server has, and the
 * lag.
 */
final class DemoProgress {
    private final List<SandboxNode> nodes;
    private final Map<String, LongAdder> committed;
    private final Heartbeats heartbeats;
    private final long before;

    /** @param before what is ordered and applied up to this seqno does not count */
    DemoProgress(List<SandboxNode> nodes, Map<String, LongAdder> committed, Heartbeats heartbeats, long before) {
        this.nodes = nodes;
        this.committed = committed;
        this.heartbeats = heartbeats;
        this.before = before;
    }

    String line(int second) {
        StringBuilder line = new StringBuilder(200).append(String.format("%3d s", second));
        List<Optional<NodeReport>> reports =
                nodes.parallelStream().map(SandboxNode::report).toList();
        for (int i = 0; i < nodes.size(); i++) {
            String name = nodes.get(i).name();
            Optional<NodeReport> report = reports.get(i);
            line.append(String.format(
                    " | %s committed %d ordered %s applied %s lag %d ms",
                    name,
                    committed.get(name).sum(),
                    report.map(r -> Long.toString(r.lastOrdered() - before)).orElse("?"),
                    report.map(r -> Long.toString(r.lastApplied() - before)).orElse("?"),
                    heartbeats.lastMillis(name)));
        }
        return line.toString();
    }

    /** One node in words, for the message of a failure. */
    static String state(SandboxNode node) {
        return node.report()
                .map(r -> "it is " + r.state() + (r.reason().isEmpty() ? "" : ", " + r.reason()) + ", ordered "
                        + r.lastOrdered() + ", applied " + r.lastApplied())
                .orElse("its service doesn't answer");
    }
}
