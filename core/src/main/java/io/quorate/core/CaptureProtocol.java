// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.io.IOException;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * The protocol by which the commits of this node's clients come to be proposed. No transaction may be left out, none
 * may be proposed under a number for which the order has something else, and none without the transactions it was built
 * on; and the order may deliver between any two steps. That is why the steps have this order:
 *
 * <ol>
 *   <li>{@link #attach}: the register of own transactions hears of the order from now on, and learns at once which of
 *       them have failed. This comes before anything is captured, because captured transactions may have been built on
 *       failed ones. What the server held before it became this node's is never captured, and counts as covered.
 *   <li>{@link #mayBegin}: the capture waits until the order, with a majority, has handed out everything that this node
 *       ever acted upon. Before that, transactions that were ordered long ago would look open here and be undone.
 *   <li>{@link #begin}: a window opens at the place up to which the order has taken this server's binlog. A server that
 *       the order hasn't heard of is announced by an empty proposal, so that certification keeps whatever it hasn't
 *       seen.
 *   <li>The window's owner is attached to the order, and is told at once what was delivered in between. Later
 *       deliveries come to it by themselves. Nothing falls between the two, because the order answers and attaches in
 *       one step.
 *   <li>The binlog is read from that place on. XA PREPAREs that were undecided there are read again.
 *   <li>{@link #read}, for each transaction: the register adds what the transaction was built on; then the register
 *       hears that the binlog is covered so far; then the transaction is handed on. If it were covered too early, an
 *       applier that waited for the capture would overlook a transaction that it has to undo. If it were covered too
 *       late, the applier would wait for a window that is full, which waits for the order, and so for other nodes,
 *       which wait for this one.
 * </ol>
 *
 * One object serves one register and one capture; the next ones get a new object. {@link #read} may be called by
 * another thread than the rest, once {@link #begin} has returned.
 */
public class CaptureProtocol {
    /** The owner of a {@link ProposalWindow}: takes captured transactions and has them ordered. */
    public interface Proposing extends ProposalListener {
        /** A captured transaction, and the XA PREPAREs undecided right after it; waits while the window is full. */
        void captured(WriteSet writeSet, long[] undecided) throws InterruptedException;

        /** The binlog has been read up to {@code last}. */
        void progress(long last, long lastSeen, long[] undecided);
    }

    private final UUID server;
    private final long baseline;
    private final OwnOrder order;
    private final OwnRegister register;
    private final LongSupplier applied;
    private volatile Proposing proposing;

    /**
     * @param baseline the last of the server's own GTID numbers from before it became this node's
     * @param applied how far the order is applied at the server by now
     */
    public CaptureProtocol(UUID server, long baseline, OwnOrder order, OwnRegister register, LongSupplier applied) {
        this.server = server;
        this.baseline = baseline;
        this.order = order;
        this.register = register;
        this.applied = applied;
    }

    /** Before anything is captured. */
    public void attach() throws IOException, InterruptedException {
        order.attach(register);
        register.covered(baseline, 0);
    }

    /**
     * Whether it is known where the capture has to start.
     *
     * @param primary whether there is a majority
     * @param applied how far the order is applied at the server
     * @param orderedBefore a GTID number of this server that the order is known to have had, 0 for none
     */
    public boolean mayBegin(boolean primary, long applied, long orderedBefore) {
        return primary && order.isCurrent(applied) && order.own().last() >= orderedBefore;
    }

    /**
     * Opens a window and attaches its owner.
     *
     * @param owner makes the owner from the window
     * @return where the binlog is to be read from
     */
    public OriginPosition begin(ProposalWindow.Limits limits, Function<ProposalWindow, Proposing> owner) {
        if (proposing != null) {
            throw new IllegalStateException("begun before");
        }
        OriginPosition at = order.own();
        ProposalWindow window = new ProposalWindow(server, at, limits);
        if (!order.isKnown()) {
            window.announce();
        }
        Proposing next = owner.apply(window);
        next.delivered(order.attach(next));
        proposing = next;
        return baseline > at.last() ? new OriginPosition(baseline, at.lastSeen(), new long[0]) : at;
    }

    /**
     * The binlog's next transaction of this server.
     *
     * @param number its GTID number
     * @param lastSeen highest seqno applied at the server by then
     * @param undecided XA PREPAREs up to there neither committed nor rolled back, ascending
     * @param writeSet what it changed, null when other nodes have nothing to apply
     * @throws InterruptedException while it waits for room; the transaction isn't taken then
     */
    public void read(long number, long lastSeen, long[] undecided, WriteSet writeSet) throws InterruptedException {
        WriteSet complete = writeSet == null ? null : register.captured(believable(writeSet));
        register.covered(number, lastSeen);
        if (complete == null) {
            proposing.progress(number, lastSeen, undecided);
        } else {
            proposing.captured(complete, undecided);
        }
    }

    /** A client can't have seen more of the order than was there, whatever its xid claims. */
    private WriteSet believable(WriteSet w) {
        if (!w.isPrepared()) {
            return w;
        }
        long most = applied.getAsLong();
        return w.lastSeen() > most ? w.withLastSeen(most) : w;
    }
}
