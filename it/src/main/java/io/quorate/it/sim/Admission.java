// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.transport.AdmissionPlan;
import io.quorate.transport.AdmissionPlan.Joiner;
import io.quorate.transport.AdmissionPlan.Member;
import io.quorate.transport.AdmissionPlan.TakenOut;
import io.quorate.transport.AdmissionPlan.Way;
import io.quorate.transport.AdmissionPlan.Word;
import io.quorate.transport.Lives;
import io.quorate.transport.TransportSettings.Peer;
import java.util.List;
import java.util.stream.IntStream;

/** How a node comes to take part: the product's {@link AdmissionPlan} decides, here are those who are asked. */
final class Admission {
    private Admission() {}

    /** A node with a new directory asks until it can be told how it takes part. */
    static void ask(Node node) {
        long life = node.life();
        node.world.after(node.world.delay(), () -> {
            if (life != node.life()) {
                return;
            }
            Way way = plan(node, List.of()).ofWords(words(node));
            if (way instanceof Member member) {
                int generation = member.members().stream()
                        .filter(m -> m.name().equals(node.name()))
                        .mapToInt(Peer::generation)
                        .findFirst()
                        .orElseThrow();
                node.begins(generation);
            } else if (way instanceof Joiner joiner) {
                node.joins(joiner.generation());
            } else {
                ask(node);
            }
        });
    }

    /** As what a node comes back that was taken out. */
    static int generationAgain(Node node) {
        return ((TakenOut) plan(node, members(node.world)).ofDirectory()).generation();
    }

    /** As what one asks to be a member of a life of the cluster that it has taken over. */
    static int generationAnew(Node node) {
        return plan(node, members(node.world)).generationAnew(words(node));
    }

    private static AdmissionPlan plan(Node node, List<Peer> known) {
        List<Peer> configured = node.world.nodes().stream().map(n -> peer(n, 1)).toList();
        return new AdmissionPlan(peer(node, 1), configured, known, node.lastGeneration(), node.directory());
    }

    private static Peer peer(Node node, int generation) {
        return new Peer(node.name(), "host" + node.number, 1, 1, generation);
    }

    private static List<Peer> members(World world) {
        return world.order().members().stream()
                .map(r -> peer(r.node, r.generation))
                .toList();
    }

    /** The lives of the cluster up to one of them. */
    static Lives lives(int era) {
        return new Lives(IntStream.rangeClosed(2, era + 1)
                .mapToObj("%1$d-%1$08x"::formatted)
                .toList());
    }

    private static List<Word> words(Node node) {
        World world = node.world;
        return world.nodes().stream()
                .filter(n -> n != node && world.isReachable(n, node) && n.takesPart())
                .map(n -> Spoilt.word(new Said(n), world.bugs))
                .toList();
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
            return Admission.members(by.world);
        }

        @Override
        public Lives lives() {
            return Admission.lives(by.era());
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
        public Boolean foundedEmpty() {
            return null;
        }
    }
}
