// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.applier.PositionTable.Position;
import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.NodeEvent;
import io.quorate.core.QuorateException;
import io.quorate.ist.HistoryCheck;
import io.quorate.ist.RejoinCourse;
import io.quorate.node.copy.ServerCopy;
import io.quorate.node.join.CopyRule;
import io.quorate.node.join.JoinHost;
import io.quorate.node.join.JoinMachine.Step;
import io.quorate.node.join.JoinTurns;
import io.quorate.node.join.OddServer;
import io.quorate.node.member.MemberDesk;
import io.quorate.node.order.PausableOrder.Hold;
import io.quorate.node.server.Server.Contents;
import io.quorate.transport.AdmissionPlan;
import io.quorate.transport.AdmissionPlan.Holds;
import io.quorate.transport.Lives;
import io.quorate.transport.TransportSettings.Peer;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * How a node joins, from the start of its service to its end: what is done, and when, the product's {@link JoinTurns}
 * decide; here is the node that they work on. Between any two turns it may crash.
 */
final class Joining implements JoinHost {
    /** What the product waits for runs so much faster here, as all does. */
    static final int CLOCK = 50;
    /** So often nobody can tell whether it holds what the others hold, before somebody gives it a copy. */
    private static final int IN_VAIN_MAX = 30;

    private final Node node;
    private final World world;
    private final long life;
    private final OfServer server;
    private final JoinTurns turns;
    private Transfer transfer;
    private int scheduled;
    private int inVain;
    /** Who was said to be able to give its server a copy. */
    private List<String> holders = List.of();

    /** What its server says of itself; open for what {@link Bug}s make of it. */
    static class OfServer {
        private final Node node;

        OfServer(Node node) {
            this.node = node;
        }

        long position() {
            node.link().settleUnlessUsed();
            return node.database().position();
        }

        LogPosition at() {
            node.link().settleUnlessUsed();
            return node.database().positionLog();
        }

        /**
         * The furthest that its clients' prepared transactions show it to have been: what they had seen, and what was
         * committed of them. The product can't tell; it stops at a transaction that is committed here and failed.
         */
        long shown() {
            node.link().settleUnlessUsed();
            return Math.max(node.database().visible(), node.database().snapshotMax());
        }
    }

    Joining(Node node) {
        this.node = node;
        this.world = node.world;
        this.life = node.life();
        this.server = Spoilt.server(node, world.bugs);
        this.turns = new JoinTurns(
                this,
                new HistoryCheck(
                        node.storage().cache(),
                        Spoilt.peers(node, world.peersOf(node, true), world.bugs),
                        Storage.INCARNATION),
                this::happened);
    }

    void start() {
        turns.begin(node.name(), node.storage().damage());
        turn();
    }

    Step at() {
        return turns.at();
    }

    // What it is told: at its next turn, which is soon.

    void missing(QuorateException what) {
        tell(() -> turns.missing(what));
    }

    void differs(QuorateException cause) {
        tell(() -> turns.differs(cause));
    }

    void takenOut() {
        tell(() -> turns.takenOut("taken out"));
    }

    void alone() {
        tell(turns::alone);
    }

    /** There is an answer to its asking in. */
    void answered() {
        tell(() -> {});
    }

    void join() {
        tell(turns::join);
    }

    void copying(String how) {
        turns.copying(how);
    }

    private void tell(Runnable what) {
        world.after(1, () -> {
            if (life == node.life()) {
                what.run();
                turn();
            }
        });
    }

    private void turn() {
        if (node.isOfFormerLife()) {
            turns.leftBehind("a peer", "the cluster has begun a new life");
        }
        Step before = turns.at();
        long pause;
        try {
            pause = turns.turn();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
        if (life != node.life()) {
            return;
        }
        inVain = turns.at() == before ? inVain : 0;
        if (turns.at() == Step.STAYING_OUT || inVain > IN_VAIN_MAX) {
            world.statistics.refused++;
            node.replacement().need(turns.progress());
        } else if (pause < JoinTurns.FOR_EVER) {
            next(pause == 0 ? world.delay() : 1 + world.random.nextInt((int) (2000 * pause / CLOCK)));
        }
    }

    private void next(long micros) {
        int turn = ++scheduled;
        world.after(micros, () -> {
            if (life == node.life() && turn == scheduled) {
                turn();
            }
        });
    }

    private void happened(NodeEvent event) {
        if (!(event instanceof NodeEvent.Failed failed)) {
            node.happened(event);
        } else if (failed.cause().code() == ErrorCode.COPY_NEEDED) {
            node.replacement().need(failed.cause().detail());
        } else {
            throw failed.cause();
        }
    }

    @Override
    public long nanos() {
        return TimeUnit.MICROSECONDS.toNanos(world.now() * CLOCK);
    }

    // Its part in the order.

    @Override
    public void pause(Hold why) {
        node.pauseOrder(why);
    }

    @Override
    public void resume(Hold why) {
        node.resumeOrder(why);
    }

    @Override
    public void startAgain() {
        node.pauseOrder(Hold.START);
        node.resumeOrder(Hold.START);
    }

    // Its server.

    @Override
    public void startServer() {
        node.link().start();
    }

    @Override
    public void suspendServer() {
        node.link().suspend();
    }

    @Override
    public void resumeServer() {
        node.link().resume();
    }

    @Override
    public Contents contents() throws IOException {
        if (!node.isArbitrator() && !node.databaseUp) {
            throw new IOException("its server is away");
        }
        inVain++;
        if (node.isArbitrator()) {
            return new Contents(Position.NONE, Holds.NOTHING);
        }
        boolean forced = world.order().era() > 0;
        if (forced && server.shown() > Math.max(server.position(), held())) {
            throw new QuorateException(
                    ErrorCode.COPY_NEEDED, "its clients have seen more of the former life than it can show");
        }
        return new Contents(
                new Position(server.position(), server.at(), Storage.INCARNATION.toString()), Holds.NOTHING);
    }

    @Override
    public boolean isCopyPending() {
        return node.replacement().isWanted();
    }

    @Override
    public ServerCopy.Wish wish() {
        return null; // Copies are of everything here.
    }

    @Override
    public boolean forgetWish() {
        throw new IllegalStateException();
    }

    @Override
    public boolean hasSameTables() {
        return false;
    }

    @Override
    public void beginWithNothing() {}

    @Override
    public boolean isCopyPreferred() {
        return false;
    }

    @Override
    public void handOver() {
        node.link().handOver();
        world.dispute.mayCrashSoon(node);
    }

    @Override
    public long lastOrdered() {
        return node.lastOrdered();
    }

    @Override
    public boolean hasHandedOver() {
        return node.link().hasHandedOver();
    }

    @Override
    public CopyRule.Server odd(QuorateException difference) {
        return new OddServer(
                difference.difference(), node.stream(), node.storage().cache(), node.database()::position);
    }

    @Override
    public void wantCopy(QuorateException difference) throws IOException, InterruptedException {
        CopyRule.Server odd = odd(difference);
        if (difference.code() == ErrorCode.APPLY_MISMATCH && !odd.hasVoidDefinition() && !odd.hasRunAhead()) {
            world.dispute.requireEnough(holders);
        }
        node.replacement().want(node.lastOrdered());
        world.dispute.mayCrashSoon(node);
    }

    @Override
    public void offer(QuorateException difference) {
        // Copies are of everything here.
    }

    @Override
    public boolean beginsAmongWaiting() {
        return false;
    }

    @Override
    public boolean keepsAmongWaiting() {
        return false;
    }

    @Override
    public void keepOwn() {
        throw new IllegalStateException();
    }

    @Override
    public void wantCopyOfWaiting(QuorateException difference) {
        throw new IllegalStateException();
    }

    @Override
    public String trust(Difference where) {
        return "copies are of everything here";
    }

    @Override
    public List<String> holders(long seqno) {
        holders = world.nodes().stream()
                .filter(n -> n != node && world.isReachable(n, node) && n.isSynced() && n.applied() >= seqno)
                .map(Node::name)
                .toList();
        return holders;
    }

    @Override
    public int voters() {
        return Spoilt.voters(node, world.bugs);
    }

    @Override
    public long choose() {
        return JoinTurns.FOR_EVER;
    }

    // What it holds.

    @Override
    public long held() {
        return node.storage().cache().last();
    }

    @Override
    public boolean hasData() {
        return node.isArbitrator() || node.replacement().isWanted();
    }

    @Override
    public Lives lives() {
        return Others.lives(node.era());
    }

    @Override
    public AdmissionPlan plan() {
        return Others.plan(node);
    }

    @Override
    public void takeOver(Lives lives) {
        node.takeOver(lives);
    }

    @Override
    public void forget() throws IOException {
        world.statistics.cameBack++;
        world.trace(node.name() + " is let in with what it has up to " + server.position() + " and " + held());
        node.forget();
    }

    @Override
    public void decide(AdmissionPlan.Way way) {
        if (way instanceof AdmissionPlan.Joiner joiner) {
            node.asks(joiner.generation());
        } else if (way instanceof AdmissionPlan.Member member && node.knowsNobody()) {
            node.begins(Others.named(member.members(), node).generation());
        }
    }

    @Override
    public void again() {
        node.asksAgain();
    }

    // The others.

    @Override
    public Heard askConfigured() {
        return Others.of(node);
    }

    @Override
    public Heard askMembers() {
        return Others.of(node);
    }

    @Override
    public void meet(List<Peer> members) {
        // Whoever is there is known here.
    }

    /** The leader makes a node a member that has all it has. */
    @Override
    public MemberDesk.Attempt askIn() {
        if (world.order().members().contains(node.replica())) {
            return new MemberDesk.Attempt(null, true);
        }
        return node.cutOff ? new MemberDesk.Attempt("nobody answers", false) : null;
    }

    // Receiving.

    @Override
    public void beginReceiving(QuorateException missing) {
        transfer = new Transfer(node, RejoinCourse.Cause.of(missing));
    }

    @Override
    public long receive() throws IOException, InterruptedException {
        return transfer.turn();
    }

    @Override
    public void breakOffReceiving() {
        transfer = null;
    }

    @Override
    public String received() {
        return transfer == null ? null : transfer.toString();
    }

    @Override
    public boolean beginWithCopy(Heard others) {
        throw new IllegalStateException("all begin with the same rows");
    }

    @Override
    public String toString() {
        return turns.at() + " " + turns.progress();
    }
}
