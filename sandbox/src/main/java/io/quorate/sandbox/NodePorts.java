// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.util.stream.IntStream;

/**
 * The ports of node {@code i} (from 1) of a local cluster with base port P.
 *
 * @param mysql P+i
 * @param gateway P+100+i, reserved for it
 * @param http P+200+i, Actuator
 * @param probe P+250+i, what probes ask
 * @param raft P+300+i, Raft between the nodes
 * @param channel P+400+i, writesets on their way to the leader
 */
public record NodePorts(int mysql, int gateway, int http, int probe, int raft, int channel) {
    static final int OFFSET_MAX = 400 + SandboxSettings.NODES_MAX;

    static NodePorts of(int basePort, int node) {
        int first = basePort + node;
        return new NodePorts(first, first + 100, first + 200, first + 250, first + 300, first + 400);
    }

    /** A base port whose ports are all free for this many nodes. */
    public static int freeBase(int nodes) {
        return Ports.freeBlock(IntStream.rangeClosed(1, nodes)
                .flatMap(i -> IntStream.of(0, 100, 200, 250, 300, 400).map(kind -> kind + i))
                .toArray());
    }
}
