// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.core.Ballot;
import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.LogPosition;
import io.quorate.core.PeerStreams;
import io.quorate.core.Proposal;
import io.quorate.core.TotalOrder;
import io.quorate.ist.IncrementalTransfer.Offer;
import io.quorate.ist.WriteSetCache;
import io.quorate.transport.NewLife;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.UUID;

/**
 * A cluster on a clock of its own. Everything that happens is an event, one after the other, and every choice comes
 * from one {@link Random}: a seed replays a run exactly. What must always hold is checked where it could break.
 */
final class World {
    private static final int TRACE_MAX = 4000;
    /** For what isn't captured yet, as long as the capture is behind or the server is about to be closed. */
    private static final long ANSWER_MICROS = 500_000;

    private record Event(long at, long number, Runnable what) {}

    /** What the first node that certified a log entry made of it. */
    private record Decision(Replica.Entry entry, long digest, List<Certified> certified) {}

    final Random random;
    final Mode mode;
    final Faults faults;
    final Set<Bug> bugs;
    final Path directory;
    /** Whether a node whom nobody can bring back has its server replaced by a copy, and stays a member. */
    final boolean copiesAllowed;
    /** In mode after-sync: how long a client waits for the order before its session is ended. */
    final long commitTimeoutMillis;
    /** What servers may disagree about; null in runs without. */
    final Dispute dispute;

    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::number));
    private final List<Node> nodes = new ArrayList<>();
    private final Order order = new Order(this);
    private final List<Decision> decisions = new ArrayList<>();
    private final List<Certified> certified = new ArrayList<>();
    private final Map<UUID, Map<Long, Certified>> byNumber = new HashMap<>();
    /** What clients in mode after-sync have heard OK for. */
    private final Set<Gtid> heard = new HashSet<>();
    /** What the clients of prepared transactions had read before they wrote. */
    private final Map<Gtid, List<Change>> intended = new HashMap<>();

    private final Deque<String> trace = new ArrayDeque<>();
    private Rows ordered;
    private final long total;
    private long now;
    private long eventCount;
    boolean writing = true;
    /** The only members are such as need a copy of another. */
    private boolean stuck;

    final Statistics statistics = new Statistics();

    World(Run run, Path directory) {
        this.random = new Random(Run.mixed(run.seed()) + 1);
        this.mode = run.mode();
        this.faults = run.faults();
        this.bugs = run.bugs();
        this.directory = directory;
        this.copiesAllowed = random.nextInt(3) > 0;
        this.commitTimeoutMillis = 15L << (Run.mixed(run.seed()) & 3);
        this.dispute = run.faults().disputes() > 0 ? new Dispute(this, run.seed()) : null;
        this.ordered = opening();
        this.total = ordered.total();
        for (int i = 0; i < run.nodes(); i++) {
            nodes.add(new Node(this, i, run.arbitrator() && i == run.nodes() - 1, opening()));
        }
        statistics.arbitrators += run.arbitrator() ? 1 : 0;
        order.found(nodes);
        nodes.forEach(Node::startService);
    }

    private static Rows opening() {
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

    List<Node> nodes() {
        return nodes;
    }

    Order order() {
        return order;
    }

    long now() {
        return now;
    }

    long millis() {
        return now / 1000;
    }

    boolean chance(double probability) {
        return probability > 0 && random.nextDouble() < probability;
    }

    long delay() {
        return 1L + random.nextInt(faults.delayMicrosMax());
    }

    /** From one entry to the next; now and then a node's disk is slow. */
    long deliveryDelay() {
        return 1L + random.nextInt(random.nextInt(20) == 0 ? faults.delayMicrosMax() : 300);
    }

    void after(long micros, Runnable what) {
        events.add(new Event(now + micros, eventCount++, what));
    }

    /**
     * Whether one can have what it missed from the other: not from one that is still of a former life of the cluster.
     */
    boolean isDonor(Node one, Node other) {
        return isReachable(one, other) && one.era() == other.era();
    }

    /** Whether one can ask the other outside the order. */
    boolean isReachable(Node one, Node other) {
        return one.isServing() && other.isServing() && !one.cutOff && !other.cutOff;
    }

    /** What the others that are there could give to a node. */
    List<Offer> offersTo(Node node) {
        return nodes.stream()
                .filter(n -> n != node && isDonor(n, node))
                .map(Node::offer)
                .toList();
    }

    /**
     * By which a node asks others outside the order; an answer may end anywhere.
     *
     * @param acrossLives also such as are in another life of the cluster
     */
    PeerStreams peersOf(Node node, boolean acrossLives) {
        return (peer, request) -> {
            Node donor = nodes.get(Integer.parseInt(peer.substring(1)));
            if (!(acrossLives ? isReachable(donor, node) : isDonor(donor, node))) {
                throw new IOException("away");
            }
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            donor.storage().donor().serve(node.name(), request, answer);
            byte[] bytes = answer.toByteArray();
            int length = chance(faults.loss() * 2) ? random.nextInt(bytes.length) : bytes.length;
            return new ByteArrayInputStream(bytes, 0, length);
        };
    }

    /** Runs events until {@code until} or for {@code max} of them. */
    void run(long until, long max) {
        for (long left = max; left > 0 && !events.isEmpty() && events.peek().at() <= until; left--) {
            Event event = events.poll();
            now = event.at();
            event.what().run();
        }
        now = Math.max(now, until);
    }

    long eventCount() {
        return eventCount;
    }

    void trace(String what) {
        if (trace.size() == TRACE_MAX) {
            trace.removeFirst();
        }
        trace.add("%9d us  %s".formatted(now, what));
    }

    List<String> history() {
        return List.copyOf(trace);
    }

    // What must hold.

    /** Every node decides alike, and what passes was built on what the order says. */
    void decided(int index, Replica.Entry entry, long digest, List<Certified> result, Node node) {
        if (index < decisions.size()) {
            Decision first = decisions.get(index);
            require(first.entry == entry, () -> node.name() + " is handed another entry " + index + " than the others");
            require(
                    first.digest == digest && sameVerdicts(first.certified, result),
                    () -> "n" + node.number + " decides entry " + index + " otherwise: " + result + ", not "
                            + first.certified);
            return;
        }
        require(index == decisions.size(), () -> node.name() + " is handed entry " + index + ", nobody the one before");
        decisions.add(new Decision(entry, digest, result));
        for (Certified c : result) {
            require(c.seqno() == certified.size() + 1L, () -> "seqno " + c.seqno() + " after " + certified.size());
            if (dispute != null && c.passed() && Dispute.isOfTags(c)) {
                dispute.poll.passed(c, certified, ordered);
            }
            certified.add(c);
            if (dispute != null) {
                dispute.decided(c);
            }
            byNumber.computeIfAbsent(c.writeSet().gtid().source(), k -> new HashMap<>())
                    .put(c.writeSet().gtid().number(), c);
            trace("seqno " + c.seqno() + " " + c.verdict() + (c.passed() ? "" : " with " + c.conflictsWith()) + " "
                    + name(c));
            statistics.decided(c.verdict());
            if (!c.passed()) {
                requireUnheard(c.writeSet().gtid());
            }
            if (c.passed()) {
                requireAsRead(c);
                replay(ordered, c, true);
                require(
                        mode == Mode.MIXED || ordered.total() == total,
                        () -> "after seqno " + c.seqno() + " the total is another");
            }
        }
    }

    /** A node has taken a proposal, and said what it decided. */
    void proposed(int index, Proposal proposal) {
        if (dispute != null) {
            dispute.poll.proposed(index, proposal);
        }
    }

    /** A node has taken a ballot; before it says what it decided. */
    void voted(int index, Ballot ballot, boolean isVoid, boolean stands) {
        if (index == decisions.size()) {
            dispute.poll.take(index, ballot, isVoid, stands);
        }
    }

    /** Whether somebody had deleted what it inserts, on its server and without the binlog. */
    boolean isReinserted(Gtid gtid) {
        return dispute != null && dispute.isReinserted(gtid);
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
        if (dispute != null) {
            dispute.rewound();
        }
        for (Decision d : decisions) {
            for (Certified c : d.certified) {
                if (dispute != null && c.passed() && Dispute.isOfTags(c)) {
                    dispute.poll.passed(c, certified.subList(0, (int) c.seqno() - 1), ordered);
                }
                if (c.passed()) {
                    replay(ordered, c, false);
                }
                if (dispute != null) {
                    dispute.decided(c);
                }
            }
        }
        statistics.recoveries++;
        statistics.forgotten += lost;
        trace(survivor.node.name() + " goes on alone from entry " + index + " of " + survivor.end() + ", " + lost
                + " writesets are lost");
    }

    /** The rows that all began with. */
    Rows opened() {
        return opening();
    }

    /** A server with the rows of the order at a place, as another one has them. */
    Database copyOf(UUID uuid, Rows rows, long seqno, Database donor) {
        Map<Table, Integer> versions = new EnumMap<>(Table.class);
        Set<Long> ddl = new HashSet<>();
        for (Certified c : certified.subList(0, (int) seqno)) {
            if (c.passed() && c.writeSet().isDefinition()) {
                versions.merge(Table.ALL[c.writeSet().payload()[0]], 1, Integer::sum);
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

    /**
     * Has somebody make a copy for a node as soon as that can be; where the cluster can't do without it, one goes on
     * alone.
     */
    void copies(Node node) {
        after(3000, () -> {
            List<Node> there =
                    membersThatTakePart().stream().filter(n -> n.databaseUp).toList();
            List<Node> donors = there.stream()
                    .filter(n -> !n.isSuspect() && (dispute == null || dispute.mayGive(n)))
                    .toList();
            stuck |= isNobodyLeft();
            if (stuck) {
                return;
            }
            if (order.canSpare(node) && !donors.isEmpty()) {
                node.copy(donors.get(random.nextInt(donors.size())));
            } else {
                // What a server has lost is found out with a majority only. Without any server among the members, one
                // that
                // asks to be a member waits for those that are left.
                List<Node> left = there.isEmpty() ? membersThatTakePart() : there;
                if (!order.canSpare(node) && !left.isEmpty()) {
                    recover(left.get(random.nextInt(left.size())));
                }
                copies(node);
            }
        });
    }

    private List<Node> membersThatTakePart() {
        return nodes.stream()
                .filter(n -> n.takesPart() && order.members().contains(n.replica()))
                .toList();
    }

    /** Whether there is nobody to copy from, or to go on with: only a backup helps then. */
    private boolean isNobodyLeft() {
        return order.isGone() || nodes.stream().allMatch(n -> n.isArbitrator() || n.isCopyNeeded() || n.wantsCopy());
    }

    /**
     * Replaces the server of a node that takes part, as soon as another one has applied what this one's cache doesn't
     * go back to.
     */
    void replacesServer(Node node, long life) {
        after(3000, () -> {
            stuck |= isNobodyLeft();
            if (stuck || !node.wantsCopy() || life != node.life()) {
                return;
            }
            List<Node> donors = nodes.stream()
                    .filter(n -> n.takesPart() && n.databaseUp && !n.isArbitrator() && !n.wantsCopy() && !n.isSuspect())
                    .filter(n -> n.database().visible() >= node.copyFrom())
                    .filter(n -> dispute == null || dispute.mayGive(n))
                    .toList();
            if (node.takesPart() && node.databaseUp && !donors.isEmpty()) {
                node.replaceServer(donors.get(random.nextInt(donors.size())));
            } else {
                replacesServer(node, life);
            }
        });
    }

    /** All but one are lost, and come back when it has gone on without them. */
    void recover(Node survivor) {
        for (Node node : nodes) {
            if (node != survivor) {
                if (node.isServing()) {
                    node.crashService();
                }
                after(1000L + random.nextInt(40_000), node::startService);
            }
        }
        TotalOrder.Quorum quorum = new TotalOrder.Quorum(order.isPrimary(survivor), survivor.name(), 1);
        NewLife.Survivor self = new NewLife.Survivor(LogPosition.START, nodes.size(), false);
        if (NewLife.refusal(quorum, self, Map.of()) == null) {
            survivor.goOnAlone();
        }
    }

    /** Who takes part in the order holds the beginning of it, in its cache and in its database. */
    void requireBeginning(Node node) {
        if (node.era() != order.era()) {
            return;
        }
        WriteSetCache cache = node.storage().cache();
        long last = cache.last();
        if (!cache.isEmpty()) {
            Certified held = node.read(last);
            require(
                    last <= lastSeqno() && held.equals(certified(last)),
                    () -> node.name() + " takes part with another history: it holds " + held + ", the order "
                            + (last <= lastSeqno() ? certified(last) : "ends at seqno " + lastSeqno()));
        }
        Database database = node.database();
        long applied = node.isArbitrator() ? 0 : database.position();
        require(
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
                .forEach((own, c) -> require(
                        own <= number || c.seqno() > held,
                        () -> node.name() + " captures from " + number + " on, and holds " + name(c) + " as seqno "
                                + c.seqno()));
    }

    /** What one node hands another must be what all know at that place. */
    void requireDigest(int index, long digest, Node node) {
        require(decisions.get(index).digest == digest, () -> node.name() + " receives another state of entry " + index);
    }

    /** A client prepares what it means to change, from the rows as it read them. */
    void intends(Gtid gtid, List<Change> changes) {
        intended.put(gtid, changes);
    }

    /** Snapshot isolation: nobody wrote between a client's reading and its place in the order. */
    private void requireAsRead(Certified c) {
        if (mode != Mode.CERTIFIED) {
            return;
        }
        Set<Row> own = new HashSet<>();
        for (Change change : intended.getOrDefault(c.writeSet().gtid(), List.of())) {
            Row read = change.before();
            if (read != null && !own.contains(read)) {
                Row now = change.table().keyed ? ordered.get(change.table(), read.get(0)) : read;
                require(
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
        require(view.total() == total, () -> "a client of n" + node.number + " reads another total: " + view.total());
    }

    /** A client was told that its transaction is committed. */
    void acknowledge(Node node, long number) {
        Certified c = fate(node.uuid(), number);
        require(c != null && c.passed(), () -> "n" + node.number + ":" + number + " is acknowledged, and " + c);
        require(node.database().visible() >= c.seqno(), () -> name(c) + " is acknowledged before it is there");
        statistics.acknowledged++;
    }

    /** A client hears OK in mode after-sync: its transaction has passed, and stays for ever. */
    void heard(UUID server, long number) {
        Certified c = fate(server, number);
        Gtid gtid = new Gtid(server, number);
        require(c != null && c.passed(), () -> "a client hears OK for " + gtid + ", and of that there is " + c);
        heard.add(gtid);
        statistics.heard++;
    }

    /** It fails, or is undone. */
    void requireUnheard(Gtid gtid) {
        require(!heard.contains(gtid), () -> "a client has heard OK for " + gtid + ", and now it fails");
    }

    /** Once all is quiet, somebody who waits for OK has an answer by then. */
    long answerMicrosMax() {
        return 1000 * commitTimeoutMillis + ANSWER_MICROS;
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
                c.writeSet().isBarrier() ? new byte[0] : c.writeSet().payload())) {
            if (strictly && change.before() != null) {
                boolean as = change.table().keyed
                        ? change.before()
                                .equals(model.get(
                                        change.table(), change.before().get(0)))
                        : model.holds(change.before());
                require(
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

    static void require(boolean holds, java.util.function.Supplier<String> otherwise) {
        if (!holds) {
            throw new Violation(otherwise.get());
        }
    }

    /** All settled: the order has everything, every node has applied it, and their rows are the order's. */
    boolean isSettled() {
        return stuck || nodes.stream().allMatch(n -> n.isSettled(lastSeqno()));
    }

    void endsStuck() {
        stuck = true;
    }

    boolean isStuck() {
        return stuck;
    }

    void requireEqual() {
        if (dispute != null) {
            dispute.checkEnd();
        }
        for (Node node : nodes) {
            if (node.isArbitrator()) {
                continue;
            }
            String difference = node.database().rows().difference(node.model().tampered(ordered.copy()));
            require(difference == null, () -> "n" + node.number + " ends with " + difference);
        }
    }
}
