// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.ist.IncrementalTransfer.Offer;
import io.quorate.node.join.JoinHost;
import io.quorate.transport.AdmissionPlan;
import io.quorate.transport.AdmissionPlan.Holds;
import io.quorate.transport.AdmissionPlan.Word;
import io.quorate.transport.Lives;
import io.quorate.transport.TransportSettings.Peer;
import java.util.List;
import java.util.stream.IntStream;

/** The others, as a node hears of them: which answer, who they say are members, and what they can give. */
record Others(World world, List<Node> nodes) implements JoinHost.Heard {
    static Others of(Node node) {
        World world = node.world;
        return new Others(
                world,
                world.nodes().stream()
                        .filter(n -> n != node && world.isReachable(n, node) && n.takesPart())
                        .toList());
    }

    @Override
    public List<Word> words() {
        return nodes.stream().map(n -> Spoilt.word(new Said(n), world.bugs)).toList();
    }

    @Override
    public List<Offer> offers() {
        return nodes.stream().map(Node::offer).toList();
    }

    @Override
    public Others in(Lives life) {
        return new Others(
                world, nodes.stream().filter(n -> lives(n.era()).equals(life)).toList());
    }

    /** A node's directory knows the members unless it is new, and itself as one unless it was taken out. */
    static AdmissionPlan plan(Node node) {
        List<Peer> all = node.world.nodes().stream().map(n -> peer(n, 1)).toList();
        List<Peer> known = node.knowsNobody()
                ? List.of()
                : all.stream()
                        .filter(p -> !node.isTakenOut() || !p.name().equals(node.name()))
                        .toList();
        return new AdmissionPlan(peer(node, 1), all, known, node.lastGeneration(), node.directory());
    }

    private static Peer peer(Node node, int generation) {
        return new Peer(node.name(), "host" + node.number, 1, 1, generation);
    }

    static Peer named(List<Peer> members, Node node) {
        return members.stream()
                .filter(m -> m.name().equals(node.name()))
                .findFirst()
                .orElseThrow();
    }

    /** The lives of the cluster up to one of them. */
    static Lives lives(int era) {
        return new Lives(IntStream.rangeClosed(2, era + 1)
                .mapToObj("%1$d-%1$08x"::formatted)
                .toList());
    }

    /** What a node that takes part says. */
    static class Said implements Word {
        private final Node by;

        Said(Node by) {
            this.by = by;
        }

        Said(Said other) {
            this(other.by);
        }

        @Override
        public String node() {
            return by.name();
        }

        @Override
        public boolean knowsLeader() {
            return by.world.order().isPrimary(by);
        }

        @Override
        public List<Peer> members() {
            return by.world.order().members().stream()
                    .map(r -> peer(r.node, r.generation))
                    .toList();
        }

        @Override
        public Lives lives() {
            return Others.lives(by.era());
        }

        @Override
        public int generationOf(String name) {
            return by.world.nodes().stream()
                    .filter(n -> n.name().equals(name))
                    .mapToInt(by.world.order()::generationOf)
                    .sum();
        }

        @Override
        public String directoryOf(Peer member) {
            return by.world.order().members().stream()
                    .filter(r -> r.node.name().equals(member.name()) && r.generation == member.generation())
                    .map(r -> r.directory)
                    .findFirst()
                    .orElse(null);
        }

        @Override
        public boolean hasServer() {
            return !by.isArbitrator();
        }

        @Override
        public Holds holds() {
            // All begin with the same rows, which stand for none.
            return Holds.NOTHING;
        }
    }
}
