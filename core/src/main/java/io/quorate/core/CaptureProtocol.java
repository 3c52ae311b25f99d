// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.io.IOException;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * How what clients commit on this node's server comes to be proposed. Nothing may be left out, nothing may be proposed under
 * a number for which the order has something else, and nothing without what it was built on; while the order may deliver
 * between any two steps. Hence their order:
 *
 * <ol>
 *   <li>{@link #attach}: the register of own transactions hears of the order from now on, and learns at once which of
 *       them have failed. That comes before anything is captured, for what is captured may have been built on these. What
 *       the server held before it became this node's is never captured, and counts as covered.
 *   <li>{@link #mayBegin}: the capture waits until the order, with a majority, has handed out all that this node ever acted
 *       upon. Before that, what was ordered long ago would look open here and be undone.
 *   <li>{@link #begin}: a window opens where the order stands with this server. A server that the order hasn't heard of is
 *       announced by an empty proposal, so that certification keeps for it what it hasn't seen.
 *   <li>The window's owner is attached to the order, and is told at once what came between. What comes later comes to it by
 *       itself; nothing falls between, because the order answers and attaches in one.
 *   <li>The binlog is read from where the order stands with this server. XA PREPAREs that were undecided there are read
 *       again.
 *   <li>{@link #read}, for each transaction: the register completes it with what it was built on; then the register hears
 *       that the binlog is covered so far; then it is handed on. Covered too early, and an applier that waited for the
 *       capture would overlook what it has to undo. Covered too late, and it would wait for a window that is full, which
 *       waits for the order, and so for others who wait for this node.
 * </ol>
 *
 * One object serves one register and one capture: after it comes a new one. {@link #read} may be called by another thread
 * than the rest, once {@link #begin} has returned.
 */
public class CaptureProtocol {
    /** The owner of a {@link ProposalWindow}: takes what is captured, and has it ordered. */
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
     * Whether it is known where to capture from.
     *
     * @param primary whether there is a majority
     * @param applied how far the order is applied at the server
     * @param orderedBefore a number that the order is known to have had of this server, 0 for none
     */
    public boolean mayBegin(boolean primary, long applied, long orderedBefore) {
        return primary && order.isCurrent(applied) && order.own().last() >= orderedBefore;
    }

    /**
     * Opens a window and attaches its owner.
     *
     * @param owner makes it
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
        return new OriginPosition(Math.max(at.last(), baseline), at.lastSeen(), at.undecided());
    }

    /**
     * The binlog's next transaction of this server.
     *
     * @param number its GTID number
     * @param lastSeen highest seqno applied at the server by then
     * @param undecided XA PREPAREs up to there neither committed nor rolled back, ascending
     * @param writeSet what it changed, null when that is nothing others must apply
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

    /** What a client claims to have seen of the order can't be more than was there. */
    private WriteSet believable(WriteSet w) {
        if (!w.isPrepared()) {
            return w;
        }
        long most = applied.getAsLong();
        return w.lastSeen() > most ? w.withLastSeen(most) : w;
    }
}
