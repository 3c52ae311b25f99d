// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.core.Ballot;
import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.LogPosition;
import io.quorate.core.Proposal;
import io.quorate.ist.WriteSetCache;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * What the order has decided, as the nodes say, and what must hold of that: all decide alike, what passes was built on
 * what the order says, and what somebody was told stays true.
 */
final class Decided {
    /** What the first node that certified a log entry made of it. */
    private record Decision(Replica.Entry entry, long digest, List<Certified> certified) {}

    private final World world;
    private final List<Decision> decisions = new ArrayList<>();
    private final List<Certified> certified = new ArrayList<>();
    private final Map<UUID, Map<Long, Certified>> byNumber = new HashMap<>();
    /** What clients in mode after-sync have heard OK for. */
    private final Set<Gtid> heard = new HashSet<>();
    /** What the clients of prepared transactions had read before they wrote. */
    private final Map<Gtid, List<Change>> intended = new HashMap<>();

    private Rows ordered = opening();
    private final long total = ordered.total();

    Decided(World world) {
        this.world = world;
    }

    /** The rows as the order has them. */
    Rows ordered() {
        return ordered.copy();
    }

    /** The rows that all began with. */
    static Rows opening() {
        Rows rows = new Rows();
        try {
            for (long id = 0; id < 6; id++) {
                rows.apply(new Change(Table.ACCOUNT, 0, null, Row.of(id, 100L, null)));
            }
            for (long id = 0; id < 4; id++) {
                rows.apply(new Change(Table.PARENT, 0, null, Row.of(id, 0L)));
                rows.apply(new Change(Table.LIST, 0, null, Row.of(id, 0L, 7L)));
                rows.apply(new Change(Table.SCRAP, 0, null, Row.of(id % 2, 0L)));
            }
        } catch (Rows.Misfit e) {
            throw new IllegalStateException(e);
        }
        return rows;
    }

    /** Every node decides alike, and what passes was built on what the order says. */
    void take(int index, Replica.Entry entry, long digest, List<Certified> result, Node node) {
        if (index < decisions.size()) {
            Decision first = decisions.get(index);
            World.require(
                    first.entry == entry, () -> node.name() + " is handed another entry " + index + " than the others");
            World.require(
                    first.digest == digest && sameVerdicts(first.certified, result),
                    () -> "n" + node.number + " decides entry " + index + " otherwise: " + result + ", not "
                            + first.certified);
            return;
        }
        World.require(
                index == decisions.size(), () -> node.name() + " is handed entry " + index + ", nobody the one before");
        decisions.add(new Decision(entry, digest, result));
        for (Certified c : result) {
            World.require(
                    c.seqno() == certified.size() + 1L, () -> "seqno " + c.seqno() + " after " + certified.size());
            if (world.dispute != null && c.passed() && Dispute.isOfTags(c.writeSet())) {
                world.dispute.poll.passed(c, certified, ordered);
            }
            certified.add(c);
            if (world.dispute != null) {
                world.dispute.decided(c);
            }
            byNumber.computeIfAbsent(c.writeSet().gtid().source(), k -> new HashMap<>())
                    .put(c.writeSet().gtid().number(), c);
            world.trace("seqno " + c.seqno() + " " + c.verdict() + (c.passed() ? "" : " with " + c.conflictsWith())
                    + " " + name(c));
            world.statistics.decided(c.verdict());
            if (!c.passed()) {
                requireUnheard(c.writeSet().gtid());
            }
            if (c.passed()) {
                requireAsRead(c);
                replay(ordered, c, true);
                World.require(
                        world.mode == Mode.MIXED || ordered.total() == total,
                        () -> "after seqno " + c.seqno() + " the total is another");
            }
        }
    }

    /** A node has taken a proposal, and said what it decided. */
    void proposed(int index, Proposal proposal) {
        if (world.dispute != null) {
            world.dispute.poll.proposed(index, proposal);
        }
    }

    /** A node has taken a ballot; before it says what it decided. */
    void voted(int index, Ballot ballot, boolean isVoid, boolean stands) {
        if (index == decisions.size()) {
            world.dispute.poll.take(index, ballot, isVoid, stands);
        }
    }

    /** Whether somebody had deleted what it inserts, on its server and without the binlog. */
    boolean isReinserted(Gtid gtid) {
        return world.dispute != null && world.dispute.isReinserted(gtid);
    }

    /** The order is from now on what one node has of it; what only others had is forgotten. */
    void rewind(Replica survivor) {
        int index = Math.min(decisions.size(), survivor.first());
        while (index < decisions.size()
                && index < survivor.end()
                && decisions.get(index).entry == survivor.entry(index)) {
            index++;
        }
        int lost = decisions.subList(index, decisions.size()).stream()
                .mapToInt(d -> d.certified.size())
                .sum();
        decisions.subList(index, decisions.size()).clear();
        List<Certified> gone = certified.subList(certified.size() - lost, certified.size());
        gone.forEach(c -> byNumber.get(c.writeSet().gtid().source())
                .remove(c.writeSet().gtid().number()));
        // They were a majority's, which is lost.
        gone.forEach(c -> heard.remove(c.writeSet().gtid()));
        gone.clear();
        ordered = opening();
        if (world.dispute != null) {
            world.dispute.rewound();
        }
        for (Decision d : decisions) {
            for (Certified c : d.certified) {
                if (world.dispute != null && c.passed() && Dispute.isOfTags(c.writeSet())) {
                    world.dispute.poll.passed(c, certified.subList(0, (int) c.seqno() - 1), ordered);
                }
                if (c.passed()) {
                    replay(ordered, c, false);
                }
                if (world.dispute != null) {
                    world.dispute.decided(c);
                }
            }
        }
        world.statistics.recoveries++;
        world.statistics.forgotten += lost;
        world.trace(survivor.node.name() + " goes on alone from entry " + index + " of " + survivor.end() + ", " + lost
                + " writesets are lost");
    }

    /** A server with the rows of the order at a place, as another one has them. */
    Database copyOf(UUID uuid, Rows rows, long seqno, Database donor) {
        Map<Table, Integer> versions = new EnumMap<>(Table.class);
        Set<Long> ddl = new HashSet<>();
        for (Certified c : certified) {
            // A definition that has just been run has its GTID, though the position doesn't say it yet.
            boolean there = c.seqno() <= seqno || donor.hasGtid(c.seqno());
            if (there && c.passed() && c.writeSet().isDefinition()) {
                versions.merge(Table.ALL[c.writeSet().payload().toArray()[0]], 1, Integer::sum);
                ddl.add(c.seqno());
            }
        }
        Database copy = new Database(
                uuid,
                rows,
                seqno,
                seqno == 0 ? LogPosition.START : certified(seqno).position(),
                versions,
                ddl);
        copy.passedOver().addAll(donor.passedOver());
        return copy;
    }

    /** Who takes part in the order holds the beginning of it, in its cache and in its database. */
    void requireBeginning(Node node) {
        if (node.era() != world.order().era()) {
            return;
        }
        WriteSetCache cache = node.storage().cache();
        long last = cache.last();
        if (!cache.isEmpty()) {
            Certified held = node.read(last);
            World.require(
                    last <= lastSeqno() && held.equals(certified(last)),
                    () -> node.name() + " takes part with another history: it holds " + held + ", the order "
                            + (last <= lastSeqno() ? certified(last) : "ends at seqno " + lastSeqno()));
        }
        Database database = node.database();
        long applied = node.isArbitrator() ? 0 : database.position();
        World.require(
                applied == 0
                        || (applied <= lastSeqno()
                                && database.positionLog()
                                        .equals(certified(applied).position())),
                () -> node.name() + " takes part with another history: its database is at seqno " + applied
                        + ", ordered at " + database.positionLog() + ", which is not of the order up to seqno "
                        + lastSeqno());
    }

    /** What a node holds of the order, of its own server's, is nothing that it takes for captured anew. */
    void requireKnown(Node node, long number) {
        long held = Math.max(node.applied(), node.log().last());
        byNumber.getOrDefault(node.uuid(), Map.of())
                .forEach((own, c) -> World.require(
                        own <= number || c.seqno() > held,
                        () -> node.name() + " captures from " + number + " on, and holds " + name(c) + " as seqno "
                                + c.seqno()));
    }

    /** What one node hands another must be what all know at that place. */
    void requireDigest(int index, long digest, Node node) {
        World.require(
                decisions.get(index).digest == digest, () -> node.name() + " receives another state of entry " + index);
    }

    /** A client prepares what it means to change, from the rows as it read them. */
    void intends(Gtid gtid, List<Change> changes) {
        intended.put(gtid, changes);
    }

    /** Snapshot isolation: nobody wrote between a client's reading and its place in the world.order(). */
    private void requireAsRead(Certified c) {
        if (world.mode != Mode.CERTIFIED) {
            return;
        }
        Set<Row> own = new HashSet<>();
        for (Change change : intended.getOrDefault(c.writeSet().gtid(), List.of())) {
            Row read = change.before();
            if (read != null && !own.contains(read)) {
                Row now = change.table().keyed ? ordered.get(change.table(), read.get(0)) : read;
                World.require(
                        read.equals(now) && (change.table().keyed || ordered.holds(read)),
                        () -> "lost update: " + name(c) + " passed as seqno " + c.seqno() + " though it had read "
                                + read + ", and the order has " + now);
            }
            if (change.after() != null) {
                own.add(change.after());
            }
        }
    }

    void requireTotal(Rows view, Node node) {
        World.require(
                view.total() == total, () -> "a client of n" + node.number + " reads another total: " + view.total());
    }

    /** A client was told that its transaction is committed. */
    void acknowledge(Node node, long number) {
        Certified c = fate(node.uuid(), number);
        World.require(c != null && c.passed(), () -> "n" + node.number + ":" + number + " is acknowledged, and " + c);
        World.require(node.database().visible() >= c.seqno(), () -> name(c) + " is acknowledged before it is there");
        world.statistics.acknowledged++;
    }

    /** A client in world.mode after-sync has an answer. If it is OK, its transaction has passed, and stays for ever. */
    void answered(UUID server, long number, boolean ok) {
        if (!ok) {
            return;
        }
        Certified c = fate(server, number);
        Gtid gtid = new Gtid(server, number);
        World.require(c != null && c.passed(), () -> "a client hears OK for " + gtid + ", and of that there is " + c);
        heard.add(gtid);
        world.statistics.heard++;
    }

    /** It fails, or is undone. */
    void requireUnheard(Gtid gtid) {
        World.require(!heard.contains(gtid), () -> "a client has heard OK for " + gtid + ", and now it fails");
    }

    private static boolean sameVerdicts(List<Certified> a, List<Certified> b) {
        if (a.size() != b.size()) {
            return false;
        }
        for (int i = 0; i < a.size(); i++) {
            if (a.get(i).seqno() != b.get(i).seqno()
                    || a.get(i).verdict() != b.get(i).verdict()
                    || a.get(i).conflictsWith() != b.get(i).conflictsWith()
                    || a.get(i).dependsOn() != b.get(i).dependsOn()) {
                return false;
            }
        }
        return true;
    }

    /** Applies a writeset to a model; strictly: it must find every row as it was when it was written. */
    void replay(Rows model, Certified c, boolean strictly) {
        for (Change change : Change.decode(
                c.writeSet().isBarrier() ? new byte[0] : c.writeSet().payload().toArray())) {
            if (strictly && change.before() != null) {
                boolean as = change.table().keyed
                        ? change.before()
                                .equals(model.get(
                                        change.table(), change.before().get(0)))
                        : model.holds(change.before());
                World.require(
                        as,
                        () -> "lost update: " + name(c) + " passed as seqno " + c.seqno() + " on " + change.before()
                                + ", the order has "
                                + (change.table().keyed
                                        ? model.get(
                                                change.table(), change.before().get(0))
                                        : "none"));
            }
            try {
                model.apply(isReinserted(c.writeSet().gtid()) ? model.overwriting(change) : change);
            } catch (Rows.Misfit e) {
                throw new Violation(
                        "seqno " + c.seqno() + " " + name(c) + " doesn't fit into the order: " + e.getMessage());
            }
        }
    }

    Certified certified(long seqno) {
        return certified.get((int) seqno - 1);
    }

    long lastSeqno() {
        return certified.size();
    }

    /** What became of a transaction, null while nobody knows. */
    Certified fate(UUID origin, long number) {
        return byNumber.getOrDefault(origin, Map.of()).get(number);
    }

    static String name(Certified c) {
        return "n" + c.writeSet().gtid().source().getLeastSignificantBits() + ":"
                + c.writeSet().gtid().number();
    }
}
