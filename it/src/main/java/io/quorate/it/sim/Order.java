// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import java.util.ArrayList;
import java.util.List;

/**
 * The total order as a node meets it: a log that a majority has. Messages to the leader are late, lost, doubled and
 * overtake one another; what a leader took and the majority had not is gone with the leader; what is in the log stays.
 */
final class Order {
    private final World world;
    private final List<byte[]> log = new ArrayList<>();
    private int leader;

    Order(World world) {
        this.world = world;
    }

    int size() {
        return log.size();
    }

    byte[] entry(int index) {
        return log.get(index);
    }

    int leader() {
        return leader;
    }

    /** A node whose messages come through, in a majority of such. */
    boolean isPrimary(Node node) {
        return node.isServing()
                && !world.isCutOff(node)
                && world.reachable() * 2 > world.nodes().size();
    }

    void submit(Node from, byte[] entry) {
        heal();
        if (world.chance(world.faults.loss())) {
            return;
        }
        int copies = world.chance(world.faults.duplicate()) ? 2 : 1;
        for (int i = 0; i < copies; i++) {
            world.after(world.delay(), () -> arrive(from, entry));
        }
    }

    private void arrive(Node from, byte[] entry) {
        Node to = world.nodes().get(leader);
        if (!isPrimary(to) || world.isCutOff(from)) {
            return;
        }
        int term = leader;
        world.after(world.delay(), () -> {
            // A leader that was replaced meanwhile had not told the majority.
            if (leader == term && isPrimary(to)) {
                log.add(entry);
                world.nodes().forEach(Node::wake);
            }
        });
    }

    /** A leader that is gone is replaced. */
    void heal() {
        if (!isPrimary(world.nodes().get(leader))) {
            elect();
        }
    }

    void elect() {
        List<Node> candidates = world.nodes().stream().filter(this::isPrimary).toList();
        if (!candidates.isEmpty()) {
            leader = candidates.get(world.random.nextInt(candidates.size())).number;
        }
    }
}
