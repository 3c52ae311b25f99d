// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.core.LogPosition;
import io.quorate.core.PeerStreams;
import io.quorate.core.TotalOrder;
import io.quorate.ist.IncrementalTransfer.Offer;
import io.quorate.transport.NewLife;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;

/**
 * A cluster on a clock of its own. Everything that happens is an event, one after the other, and every choice comes
 * from one {@link Random}: a seed replays a run exactly. What must always hold is checked where it could break.
 */
final class World {
    private static final int TRACE_MAX = 4000;
    /** In every eighth run. */
    private static final int SLOWING_RUNS = 7 << 4;
    /** In every fourth run each. */
    private static final int ASKING_RUNS = 3 << 7;

    private static final int STRANGERS_RUNS = 3 << 9;
    /** For what isn't captured yet, as long as the capture is behind or the server is about to be closed. */
    private static final long ANSWER_MICROS = 500_000;

    private record Event(long at, long number, Runnable what) {}

    final Random random;
    final Mode mode;
    final Faults faults;
    final Set<Bug> bugs;
    final Path directory;
    /** Whether a node whom nobody can bring back has its server replaced by a copy, and stays a member. */
    final boolean copiesAllowed;
    /** In mode after-sync: how long a client waits for the order before its session is ended. */
    final long commitTimeoutMillis;
    /** In some runs clients are slowed by flow control, as this says; null in the others. */
    final Random slowing;
    /** In some runs captures ask their servers, as this says; null in the others. */
    final Random asking;
    /** In some runs servers have replicas of somebody else's, as this says; null in the others. */
    final Random strangers;
    /** What servers may disagree about; null in runs without. */
    final Dispute dispute;
    /** What the order has decided. */
    final Decided decided;

    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::number));
    private final List<Node> nodes = new ArrayList<>();
    private final Order order = new Order(this);
    private final Deque<String> trace = new ArrayDeque<>();
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
        long mixed = Run.mixed(run.seed());
        this.slowing = (mixed & SLOWING_RUNS) == 0 ? new Random(mixed + 2) : null;
        boolean waiting = run.mode() == Mode.AFTER_SYNC;
        this.asking = waiting && (mixed & ASKING_RUNS) == 0 ? new Random(mixed + 4) : null;
        this.strangers = waiting && (mixed & STRANGERS_RUNS) == 0 ? new Random(mixed + 5) : null;
        this.dispute = run.faults().disputes() > 0 ? new Dispute(this, run.seed()) : null;
        this.decided = new Decided(this);
        for (int i = 0; i < run.nodes(); i++) {
            nodes.add(new Node(this, i, run.arbitrator() && i == run.nodes() - 1, Decided.opening()));
        }
        statistics.arbitrators += run.arbitrator() ? 1 : 0;
        order.found(nodes);
        nodes.forEach(Node::startService);
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

    // Copies.

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
                node.replacement().rebuild(donors.get(random.nextInt(donors.size())));
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
        return order.isGone()
                || nodes.stream()
                        .allMatch(n -> n.isArbitrator()
                                || n.replacement().isNeeded()
                                || n.replacement().isWanted());
    }

    /**
     * Replaces the server of a node that takes part, as soon as another one has applied what this one's cache doesn't
     * go back to.
     */
    void replacesServer(Node node, long life) {
        after(3000, () -> {
            stuck |= isNobodyLeft();
            if (stuck || !node.replacement().isWanted() || life != node.life()) {
                return;
            }
            List<Node> donors = nodes.stream()
                    .filter(n -> n.takesPart()
                            && n.databaseUp
                            && !n.isArbitrator()
                            && !n.replacement().isWanted()
                            && !n.isSuspect())
                    .filter(n -> n.database().visible() >= node.replacement().from())
                    .filter(n -> dispute == null || dispute.mayGive(n))
                    .toList();
            if (node.takesPart() && node.databaseUp && !donors.isEmpty()) {
                node.replacement().replace(donors.get(random.nextInt(donors.size())));
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

    /** Once all is quiet, somebody who waits for OK has an answer by then. */
    long answerMicrosMax() {
        return 1000 * commitTimeoutMillis + ANSWER_MICROS;
    }

    static void require(boolean holds, java.util.function.Supplier<String> otherwise) {
        if (!holds) {
            throw new Violation(otherwise.get());
        }
    }

    /** All settled: the order has everything, every node has applied it, and their rows are the order's. */
    boolean isSettled() {
        return stuck || nodes.stream().allMatch(n -> n.isSettled(decided.lastSeqno()));
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
            String difference = node.database().rows().difference(node.model().tampered(decided.ordered()));
            require(difference == null, () -> "n" + node.number + " ends with " + difference);
        }
    }
}
