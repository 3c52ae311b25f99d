// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.order;

import io.quorate.certification.OrderedStream;
import io.quorate.node.thread.FaultHandler;
import io.quorate.node.thread.OwnedThread;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Has the writeset cache forget what nobody needs, again and again. On a thread of its own, for it deletes files, and
 * waits while a large entry is being written: the loop that closes the server must wait for no disk.
 */
public final class Forgetting implements AutoCloseable {
    private static final Duration PERIOD = Duration.ofMillis(250);

    private final Stores stores;
    private final OrderedStream stream;
    private final LongSupplier applied;
    private final LongSupplier oldestGiven;
    private final OwnedThread thread;

    /**
     * @param applied up to which seqno this node's server holds everything
     * @param oldestGiven seqno that a transfer from here sends next, {@link Long#MAX_VALUE} without one
     */
    public Forgetting(
            Stores stores, OrderedStream stream, LongSupplier applied, LongSupplier oldestGiven, FaultHandler faults) {
        this.stores = stores;
        this.stream = stream;
        this.applied = applied;
        this.oldestGiven = oldestGiven;
        this.thread = OwnedThread.lasting("quorate-forget", this::run, faults);
    }

    public void start() {
        thread.start();
    }

    private void run() throws InterruptedException {
        while (true) {
            stores.retain(applied.getAsLong(), stream, oldestGiven.getAsLong());
            Thread.sleep(PERIOD.toMillis());
        }
    }

    @Override
    public void close() {
        thread.close();
    }
}
