// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

import java.util.List;

/**
 * {@code /actuator/cluster}: the node asked, and every other one.
 *
 * @param cluster its name
 * @param node name of the node that answers; the next components are about that node
 * @param state a {@link io.quorate.core.NodeState}
 * @param reason why it is not SYNCED, empty when it is
 * @param primaryComponent whether it has a majority
 * @param lastOrdered seqno of the last writeset the order handed to it
 * @param lastApplied seqno up to which its server holds everything
 * @param cache its writeset cache; null when a node doesn't say
 * @param tablesWithoutKey {@code schema.table} of its server's tables that have neither primary nor unique key
 * @param advice what to mind, for people; empty when there is nothing
 * @param nodes all of the cluster, as it was configured or heard of, this one among them
 */
public record ClusterAnswer(
        String cluster,
        String node,
        String state,
        String reason,
        boolean primaryComponent,
        long lastOrdered,
        long lastApplied,
        Cache cache,
        List<String> tablesWithoutKey,
        List<String> advice,
        List<NodeStatus> nodes) {
    public ClusterAnswer {
        cluster = LeftOut.orEmpty(cluster);
        node = LeftOut.orEmpty(node);
        state = LeftOut.orEmpty(state);
        reason = LeftOut.orEmpty(reason);
        tablesWithoutKey = LeftOut.orEmpty(tablesWithoutKey);
        advice = LeftOut.orEmpty(advice);
        nodes = LeftOut.orEmpty(nodes);
    }

    /**
     * A node's writeset cache, from which other nodes can get what they missed.
     *
     * @param first seqno of the first writeset held; above {@code last} when none is
     * @param last seqno of the last one
     * @param bytes that it takes
     * @param bytesMax that it may take
     * @param spanSeconds age of the oldest writeset held; 0 when none is
     * @param bytesPerSecond at which it grows at present
     * @param spanSecondsWhenFull the age that the oldest will have when all bytes are used, at the present rate; -1
     *     when nothing is being written
     */
    public record Cache(
            long first,
            long last,
            long bytes,
            long bytesMax,
            long spanSeconds,
            long bytesPerSecond,
            long spanSecondsWhenFull) {}
}
