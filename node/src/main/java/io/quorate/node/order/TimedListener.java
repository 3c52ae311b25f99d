// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.order;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.quorate.core.LogPosition;
import io.quorate.core.OrderListener;
import io.quorate.core.QuorateException;
import io.quorate.core.TotalOrder;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;

/** Measures how long each entry of the order takes until it is certified and in the writeset cache. */
public final class TimedListener implements OrderListener {
    private static final double[] PERCENTILES = {0.5, 0.99};

    private final OrderListener listener;
    private final Timer certified;

    /** @param listener certifies, and writes to the cache */
    public TimedListener(OrderListener listener, MeterRegistry meters) {
        this.listener = listener;
        this.certified = Timer.builder("quorate.certification.entry")
                .description("from when an entry of the order is handed out until it is certified and in the cache")
                .publishPercentiles(PERCENTILES)
                .register(meters);
    }

    @Override
    public void deliver(LogPosition resumeAfter, ByteBuffer entry) {
        long start = System.nanoTime();
        listener.deliver(resumeAfter, entry);
        certified.record(System.nanoTime() - start, TimeUnit.NANOSECONDS);
    }

    @Override
    public LogPosition resumeAfter() {
        return listener.resumeAfter();
    }

    @Override
    public void check(String submitter, ByteBuffer entry) {
        listener.check(submitter, entry);
    }

    @Override
    public void checkBeginning(String submitter, ByteBuffer piece) {
        listener.checkBeginning(submitter, piece);
    }

    @Override
    public LogPosition checkpoint() {
        return listener.checkpoint();
    }

    @Override
    public void quorumChanged(TotalOrder.Quorum quorum) {
        listener.quorumChanged(quorum);
    }

    @Override
    public void orderFailed(QuorateException cause) {
        listener.orderFailed(cause);
    }
}
