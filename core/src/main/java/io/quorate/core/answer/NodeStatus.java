// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

/**
 * {@code /actuator/cluster/self}: what a node says of itself.
 *
 * @param name of the node
 * @param state a {@link io.quorate.core.NodeState}, or {@link #UNREACHABLE} for a peer that does not answer
 * @param primaryComponent whether it has a majority
 * @param reason why it is not SYNCED, empty when it is
 * @param leader the order's leader as this node knows it, null when there is none
 * @param mysql host:port of its server, null with an arbitrator
 * @param version of its server, as that says it; null when it isn't known
 * @param http host:port of its Actuator, null where others may not ask it
 * @param lastOrdered seqno of the last writeset the order handed to this node
 * @param lastApplied seqno up to which its server holds everything
 * @param applyLagMillis age of the last writeset applied from another node, by the two nodes' clocks; 0 when nothing
 *     waits
 * @param slowed how much flow control slows its clients, for which node and why; empty when it doesn't
 * @param leftBehind whether flow control doesn't wait for it, because it was too far behind for too long
 * @param insecure whether nothing proves who the other nodes are, although they may be reached over a network
 * @param servicePid process id of the service
 */
public record NodeStatus(
        String name,
        String state,
        boolean primaryComponent,
        String reason,
        String leader,
        String mysql,
        String version,
        String http,
        long lastOrdered,
        long lastApplied,
        long applyLagMillis,
        String slowed,
        boolean leftBehind,
        boolean insecure,
        long servicePid) {
    public static final String UNREACHABLE = "UNREACHABLE";

    public NodeStatus {
        name = LeftOut.orEmpty(name);
        state = LeftOut.orEmpty(state);
        reason = LeftOut.orEmpty(reason);
        slowed = LeftOut.orEmpty(slowed);
    }

    /** Of a peer that doesn't answer there. */
    public static NodeStatus unreachable(String name, String http) {
        return new NodeStatus(
                name, UNREACHABLE, false, "does not answer", null, null, null, http, 0, 0, 0, "", false, false, 0);
    }
}
