// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.order;

import io.quorate.core.Entry;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.TotalOrder;
import io.quorate.transport.RatisTotalOrder;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * This node's part in the order. The node can leave the order and take part again from where it stood. While it has
 * left, nothing is written to the order's log here, and the others count this node as absent.
 */
public final class PausableOrder implements TotalOrder {
    /** Why a node stays out of the order. */
    public enum Hold {
        /** The node hasn't begun to take part yet. */
        START,
        DISK,
        TRANSFER,
        /** The node is not a member. */
        LEFT
    }

    private final Supplier<RatisTotalOrder> start;
    private final Consumer<Quorum> quorumListener;
    private final Consumer<QuorateException> tooFarBehind;
    /** Read without the monitor, which is held while the order is started or closed: that takes up to a minute. */
    private final Set<Hold> holds = ConcurrentHashMap.newKeySet();

    private volatile RatisTotalOrder running;
    private boolean closed;

    /**
     * @param start begins to take part in the order, from where the order's listener stands
     * @param tooFarBehind told when that is impossible because the order's log doesn't reach back so far
     */
    public PausableOrder(
            Supplier<RatisTotalOrder> start, Consumer<Quorum> quorumListener, Consumer<QuorateException> tooFarBehind) {
        this.start = start;
        this.quorumListener = quorumListener;
        this.tooFarBehind = tooFarBehind;
        holds.add(Hold.START);
    }

    /** Leaves the order, once a start that is under way has ended; whatever was delivered is in the stores. */
    public void pause(Hold why) {
        holds.add(why);
        leave();
    }

    private synchronized void leave() {
        TotalOrder left = running;
        if (left != null) {
            running = null;
            left.close();
            quorumListener.accept(Quorum.NONE);
        }
    }

    /**
     * Takes part in the order again, unless there is another reason not to.
     *
     * @throws QuorateException when the order can't be started; then {@code why} still keeps the node out
     */
    public synchronized void resume(Hold why) {
        boolean held = holds.remove(why);
        if (running != null || closed || !holds.isEmpty()) {
            return;
        }
        try {
            running = start.get();
        } catch (QuorateException e) {
            if (e.code() == ErrorCode.ORDER_TOO_FAR_BEHIND) {
                tooFarBehind.accept(e);
                return;
            }
            if (held) {
                holds.add(why);
            }
            throw e;
        }
    }

    /** Whether this keeps the node out. Waits for nothing. */
    public boolean holds(Hold why) {
        return holds.contains(why);
    }

    /** The running order; null while the node has left it. */
    public RatisTotalOrder running() {
        return running;
    }

    @Override
    public CompletableFuture<Void> submit(Entry entry) {
        TotalOrder order = running;
        return order == null
                ? CompletableFuture.failedFuture(
                        new QuorateException(ErrorCode.ORDER_INTERRUPTED, "this node has left the order"))
                : order.submit(entry);
    }

    @Override
    public Quorum quorum() {
        TotalOrder order = running;
        return order == null ? Quorum.NONE : order.quorum();
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (running != null) {
            running.close();
        }
    }
}
