// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import io.quorate.core.Certified;
import io.quorate.core.QuorateException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * A range of seqnos that is being fetched by a thread of its own, which waits when it is some batches ahead of the
 * consumer.
 */
final class TransferRange implements AutoCloseable {
    private static final int BATCHES_AHEAD = 4;

    /** Fetches a range, or throws the reason why that is impossible. */
    interface Fetch {
        void run(long from, long to, RecordReader.Sink sink) throws IOException, InterruptedException;
    }

    private final BlockingQueue<List<Certified>> batches = new ArrayBlockingQueue<>(BATCHES_AHEAD);
    private final Thread thread;
    private volatile Throwable failure;

    TransferRange(long from, long to, Fetch fetch) {
        thread = new Thread(() -> run(from, to, fetch), "quorate-ist-" + from);
        thread.setDaemon(true);
    }

    TransferRange start() {
        thread.start();
        return this;
    }

    private void run(long from, long to, Fetch fetch) {
        try {
            try {
                fetch.run(from, to, batches::put);
            } catch (IOException | RuntimeException | Error e) { // Whoever takes the batches waits for an end.
                failure = e;
            }
            batches.put(List.of());
        } catch (InterruptedException e) {
            failure = e;
            batches.clear();
            batches.offer(List.of());
        }
    }

    /** The next records, null when there are no more. */
    List<Certified> next() throws IOException, InterruptedException {
        List<Certified> batch = batches.take();
        if (!batch.isEmpty()) {
            return batch;
        }
        if (failure instanceof QuorateException known) {
            throw new QuorateException(known.code(), known.detail(), known);
        }
        if (failure != null) {
            throw new IOException(failure);
        }
        return null;
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
