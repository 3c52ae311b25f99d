// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.transport.MajorityCheck;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The total order, as Raft makes it of the members' logs: a leader appends, the others take over its log, and what a
 * majority has stays. Messages are late, lost, doubled and overtake one another. A leader that was cut off goes on
 * appending until it hears of the next one. Votes are taken at once; so are changes of the members, by all who are
 * there.
 */
final class Order {
    private final World world;
    private final Set<Replica> members = new LinkedHashSet<>();
    private Replica leader;
    private int term;
    private int era;
    /** The latest generation in which each node was a member. */
    private final Map<Node, Integer> generations = new HashMap<>();

    Order(World world) {
        this.world = world;
    }

    Set<Replica> members() {
        return members;
    }

    /** How many times the cluster was made to go on from one node alone. */
    int era() {
        return era;
    }

    /** A node whose messages come through, as itself: not one whose directory was lost since. */
    private static boolean isThere(Replica r) {
        return r.node.replica() == r && r.node.takesPart();
    }

    private boolean isMajority(long count) {
        return 2 * count > members.size();
    }

    private boolean hasMajority() {
        return isMajority(members.stream().filter(Order::isThere).count());
    }

    /** A member whose messages come through, in a majority of such. */
    boolean isPrimary(Node node) {
        Replica r = node.replica();
        return members.contains(r) && isThere(r) && hasMajority();
    }

    // Entries.

    /** @param failed told now and then of one that was lost, and of some that were not: only a delivery is proof */
    void submit(Node from, byte[] entry, Runnable failed) {
        heal();
        if (!from.hasOrder()) {
            world.after(world.delay(), failed);
            return;
        }
        boolean lost = world.chance(world.faults.loss());
        if (world.chance(lost ? 0.5 : world.faults.loss() / 4)) {
            world.after(world.delay(), failed);
        }
        if (lost) {
            return;
        }
        int copies = world.chance(world.faults.duplicate()) ? 2 : 1;
        int ofEra = era;
        for (int i = 0; i < copies; i++) {
            world.after(world.delay(), () -> {
                // It may speak of what only a former life of the cluster had.
                if (ofEra == era) {
                    arrive(from, entry);
                }
            });
        }
    }

    /** At the leader; one that was cut off takes its own. */
    private void arrive(Node from, byte[] entry) {
        Replica to = from.replica().leads > 0 ? from.replica() : leader;
        boolean through = to != null && (to.node == from ? from.isServing() : isThere(to) && !from.cutOff);
        if (through && to.leads > 0 && to.node.replica() == to) {
            to.append(new Replica.Entry(to.leads, entry));
            replicate(to);
        }
    }

    private void replicate(Replica from) {
        int leads = from.leads;
        if (isMajority(1)) {
            advance(from);
        }
        for (Replica to : members) {
            if (to != from) {
                world.after(world.delay(), () -> send(from, leads, to));
            }
        }
    }

    private void send(Replica from, int leads, Replica to) {
        if (from.leads != leads || !isThere(from) || !isThere(to) || world.chance(world.faults.loss())) {
            return;
        }
        if (to.promised > leads) {
            from.leads = 0;
            return;
        }
        if (!to.follow(from)) {
            to.node.tooFarBehind();
            return;
        }
        advance(from);
        if (to.committed() < from.committed()) {
            to.commit(from.committed());
            to.node.wake();
        }
        if (!members.contains(to) && to.end() == from.end()) {
            admit(to);
        }
    }

    /** What a majority has of the leader's own term stays, and all before it. */
    private void advance(Replica from) {
        int[] have =
                members.stream().mapToInt(r -> r.matching(from.leads)).sorted().toArray();
        int common = have[(have.length - 1) / 2];
        if (common > from.committed() && from.entry(common - 1).term() == from.leads) {
            from.commit(common);
            from.node.wake();
            for (Replica r : members) {
                if (isThere(r) && r.heard == from.leads) {
                    r.commit(Math.min(common, r.matching(from.leads)));
                    r.node.wake();
                }
            }
        }
    }

    /** A node asks for what it lacks, now and then. */
    void hear(Node node) {
        heal();
        Replica to = node.replica();
        Replica from = leader;
        if (from != null && from != to && isThere(from) && isThere(to)) {
            boolean current = to.matching(from.leads) == from.end() && to.committed() == from.committed();
            if (!current || !members.contains(to)) {
                int leads = from.leads;
                world.after(world.delay(), () -> send(from, leads, to));
            }
        }
    }

    // The leader.

    /** A leader that is gone is replaced. */
    void heal() {
        if (leader == null || leader.leads == 0 || !members.contains(leader) || !isPrimary(leader.node)) {
            elect();
        }
    }

    void elect() {
        List<Replica> voters = members.stream().filter(Order::isThere).toList();
        if (!isMajority(voters.size())) {
            return;
        }
        List<Replica> candidates = voters.stream()
                .filter(c ->
                        isMajority(voters.stream().filter(v -> v.isCoveredBy(c)).count()))
                .toList();
        if (candidates.isEmpty()) {
            return;
        }
        term++;
        leader = candidates.get(world.random.nextInt(candidates.size()));
        for (Replica voter : voters) {
            voter.promised = term;
            voter.leads = 0;
        }
        leader.leads = term;
        leader.append(new Replica.Entry(term, null));
        world.trace("n" + leader.node.number + " leads term " + term + " from entry " + leader.end());
        replicate(leader);
    }

    // The members.

    void found(List<Node> nodes) {
        nodes.forEach(node -> add(node.replica()));
    }

    private void add(Replica member) {
        members.add(member);
        generations.put(member.node, member.generation);
    }

    /** The latest in which a node was a member. */
    int generationOf(Node node) {
        return generations.getOrDefault(node, 0);
    }

    /** Makes a node that has caught up a member, in the place of what it was before. */
    private void admit(Replica joiner) {
        Replica before =
                members.stream().filter(r -> r.node == joiner.node).findFirst().orElse(null);
        if (isPrimary(leader.node)) {
            World.require(
                    joiner.generation > generationOf(joiner.node),
                    () -> joiner.node.name() + " becomes a member as who it was before, " + joiner.generation);
            members.remove(before);
            add(joiner);
            joiner.node.admitted();
            world.statistics.joined++;
            world.trace("n" + joiner.node.number + " is a member now");
            advance(leader);
        }
    }

    /** Takes a member out, if it can be spared; false when not. */
    boolean remove(Replica member) {
        boolean goes = members.size() > 2 && isPrimary(member.node) && canSpare(member.node) && leader != null;
        if (goes && !world.bugs.contains(Bug.MAJORITY_TAKEN_OUT)) {
            Set<String> present = members.stream()
                    .filter(Order::isThere)
                    .map(r -> r.node.name())
                    .collect(Collectors.toSet());
            List<String> all = members.stream().map(r -> r.node.name()).toList();
            goes = MajorityCheck.refusal(member.node.name(), all, present) == null;
        }
        if (goes) {
            members.remove(member);
            World.require(hasMajority(), () -> member.node.name() + " is taken out, and nobody can order anything");
            member.leads = 0;
            member.out = true;
            heal();
        }
        return goes;
    }

    /** A node that is new begins as the member that the others take it for. */
    void begins(Replica member) {
        members.removeIf(r -> r.node == member.node);
        add(member);
    }

    /** Whether there would be a majority if all came back that can, but for one. */
    boolean canSpare(Node node) {
        return isMajority(members.stream()
                .filter(r -> r.node != node
                        && r.node.replica() == r
                        && !r.node.replacement().isNeeded())
                .count());
    }

    /** Whether no member is left that could ever take part again. */
    boolean isGone() {
        return members.stream()
                .allMatch(r -> r.node.replica() != r || r.node.replacement().isNeeded());
    }

    /** The majority is lost for good: one goes on alone with all that it has, also what no majority had. */
    void recover(Replica survivor) {
        era++;
        term++;
        members.clear();
        members.add(survivor);
        world.decided.rewind(survivor);
        survivor.commit(survivor.end());
        leader = null;
    }

    /**
     * Whether all that have stayed members have what the order holds up to an entry; who needs more gets it from
     * caches.
     */
    boolean isHeldByAll(int index) {
        return members.stream().allMatch(r -> r.end() >= index);
    }
}
