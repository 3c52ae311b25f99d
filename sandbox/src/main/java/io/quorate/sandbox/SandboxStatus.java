// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import io.quorate.core.answer.MixedVersions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A local cluster at a glance, as {@code quorate sandbox status --json} prints it.
 *
 * @param primaryComponent whether any node has a majority
 * @param advice what to mind, for people; empty when there is nothing
 */
public record SandboxStatus(String cluster, boolean primaryComponent, List<String> advice, List<Node> nodes) {
    /** The service doesn't run. */
    public static final String STOPPED = "STOPPED";
    /** The service runs and doesn't answer. */
    public static final String UNREACHABLE = "UNREACHABLE";

    /**
     * @param state what the service says, or one of {@link #STOPPED} and {@link #UNREACHABLE}
     * @param mysql host and port, null with an arbitrator
     * @param version of its server, null when the service doesn't say
     * @param http host and port
     * @param lastOrdered null when the service doesn't answer, as is {@code lastApplied}
     * @param reason why it isn't SYNCED, and how long that will take; when it is, why its clients are slowed; or empty
     * @param servicePid null when it doesn't run, as is {@code mysqldPid}
     */
    public record Node(
            String name,
            String state,
            String mysql,
            String version,
            String http,
            Long lastOrdered,
            Long lastApplied,
            String reason,
            Long servicePid,
            Long mysqldPid) {}

    static SandboxStatus of(String cluster, List<SandboxNode> nodes) {
        List<Optional<NodeReport>> reports =
                nodes.parallelStream().map(SandboxNode::report).toList();
        boolean primary = reports.stream().flatMap(Optional::stream).anyMatch(NodeReport::primaryComponent);
        List<Node> rows = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++) {
            rows.add(row(nodes.get(i), reports.get(i)));
        }
        List<String> advice = MixedVersions.advice(rows, Node::name, Node::version);
        return new SandboxStatus(cluster, primary, advice, List.copyOf(rows));
    }

    private static Node row(SandboxNode node, Optional<NodeReport> report) {
        Long servicePid = node.servicePid().isPresent() ? node.servicePid().getAsLong() : null;
        long mysqldPid = node.mysql().pid();
        return new Node(
                node.name(),
                report.map(NodeReport::state).orElse(servicePid == null ? STOPPED : UNREACHABLE),
                node.hasServer() ? node.host() + ":" + node.ports().mysql() : null,
                report.map(NodeReport::version).orElse(null),
                node.host() + ":" + node.ports().http(),
                report.map(NodeReport::lastOrdered).orElse(null),
                report.map(NodeReport::lastApplied).orElse(null),
                report.map(NodeReport::notice).orElse(""),
                servicePid,
                mysqldPid < 0 ? null : mysqldPid);
    }
}
