// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.TotalOrder;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * This node's part in the order, which it can leave and take up again where it stood. While it is left nothing is written to
 * this node's disk, and the others count it as absent.
 */
final class PausableOrder implements TotalOrder {
    private final Supplier<TotalOrder> start;
    private final Consumer<Quorum> quorumListener;
    private volatile TotalOrder running;
    private boolean closed;

    /** @param start takes part in the order from where its listener stands */
    PausableOrder(Supplier<TotalOrder> start, Consumer<Quorum> quorumListener) {
        this.start = start;
        this.quorumListener = quorumListener;
        this.running = start.get();
    }

    /** Leaves the order; what was delivered is in the stores. */
    synchronized void pause() {
        TotalOrder left = running;
        if (left != null) {
            running = null;
            left.close();
            quorumListener.accept(Quorum.NONE);
        }
    }

    /**
     * Takes part again.
     *
     * @throws QuorateException as when the node starts
     */
    synchronized void resume() {
        if (running == null && !closed) {
            running = start.get();
        }
    }

    @Override
    public CompletableFuture<Void> submit(byte[] entry) {
        TotalOrder order = running;
        return order == null
                ? CompletableFuture.failedFuture(
                        new QuorateException(ErrorCode.DISK_LOW, "this node has left the order"))
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
