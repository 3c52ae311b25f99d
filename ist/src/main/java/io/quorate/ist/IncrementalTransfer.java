// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import io.quorate.ist.TransferProgress.Phase;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings a node's writeset cache up to date from the caches of others, and fetches what certification knew at the end
 * of it, so that the order can continue from there. Nothing is certified again: a record carries its verdict and its
 * dependencies.
 *
 * <p>Ranges of seqnos are fetched in parallel, from several donors if there are any, and appended in order; a range
 * that waits for its turn holds its donor back, so memory is bounded. After a break the transfer continues where it
 * broke, from another donor if there is one; and so it does after a crash of this node, because what was appended is in
 * the cache. The first record asked for is the last one held: if the donor has a different one, this node has a history
 * of its own, and {@link ErrorCode#STATE_DIVERGED} says so.
 *
 * <p>The idea of an incremental transfer from a ring of certified writesets is Galera's (IST from gcache).
 */
public final class IncrementalTransfer {
    private static final Logger log = LoggerFactory.getLogger(IncrementalTransfer.class);

    /** Large enough for the round trip not to matter, and small enough for a broken range not to matter either. */
    private static final int RANGE_SEQNOS = 8_192;

    private static final int PARALLEL = 4;
    /** After this many attempts in a row that brought nothing, a transfer gives up for the time being. */
    private static final int FRUITLESS_MAX = 5;

    /**
     * What a node can give.
     *
     * @param distance 0 for a node in the same place as this one; the nearest are asked first
     * @param first first seqno in its cache
     * @param last last seqno in its cache
     * @param checkpoint seqno of its newest checkpoint, 0 also while nothing was written yet
     * @param checkpointIndex and where in the order's log that is, -1 without one
     */
    public record Offer(String donor, int distance, long first, long last, long checkpoint, long checkpointIndex) {
        /** Whether its cache holds all of these. */
        boolean holds(long from, long to) {
            return first <= from && last >= to;
        }
    }

    private final WriteSetCache cache;
    private final CheckpointStore checkpoints;
    private final DonorRequests requests;
    private final Supplier<List<Offer>> offers;
    private final Runnable requireSpace;
    private final TransferProgress progress;
    private final DonorChoice choice;

    /**
     * @param offers what the others can give now; asked again and again
     * @param choice remembers which donors failed, for the next attempt as well
     * @param requireSpace called before anything is written; what it throws ends the transfer for the time being
     */
    public IncrementalTransfer(
            WriteSetCache cache,
            CheckpointStore checkpoints,
            UUID incarnation,
            PeerStreams peers,
            Supplier<List<Offer>> offers,
            DonorChoice choice,
            Runnable requireSpace,
            TransferProgress progress) {
        this.choice = choice;
        this.requireSpace = requireSpace;
        this.cache = cache;
        this.checkpoints = checkpoints;
        this.requests = new DonorRequests(peers, incarnation, choice, progress, progress::millis);
        this.offers = offers;
        this.progress = progress;
    }

    /**
     * Fetches what is missing. Afterwards the cache holds everything up to the checkpoint returned, or begins after it,
     * durably. The caller has to find out whether the checkpoint is whole before it is adopted.
     *
     * @return null where records alone were asked for
     * @throws QuorateException CACHE_PASSED when nobody holds what is missing: it says what that is, and who holds
     *     what; ORDER_INTERRUPTED when nobody answers. What was fetched is kept, so the same call continues where this
     *     one ended
     * @throws IOException when this node's own disk fails
     */
    public CheckpointStore.Checkpoint run(TransferCourse.Goal goal) throws IOException, InterruptedException {
        TransferCourse course = new TransferCourse(goal, choice);
        Work work = new Work();
        while (!course.step(work, offers.get(), progress.millis())) {
            log.debug("the cache holds everything up to {}", cache.last());
        }
        progress.phase(Phase.DONE);
        return course.checkpoint();
    }

    private final class Work implements TransferCourse.Work {
        @Override
        public boolean isEmpty() {
            return cache.isEmpty();
        }

        @Override
        public List<Certified> record(long seqno) throws IOException, InterruptedException {
            List<Certified> given = new ArrayList<>();
            try {
                fetch(seqno, seqno, given::addAll);
            } catch (QuorateException e) {
                log.info("the cache begins after seqno {}, which nobody gives: {}", seqno, e.detail());
            }
            return given;
        }

        @Override
        public void append(List<Certified> records) throws IOException {
            cache.append(records);
        }

        @Override
        public long held() {
            return cache.last();
        }

        @Override
        public void records(long to) throws IOException, InterruptedException {
            requireSpace.run();
            writeSets(to);
        }

        @Override
        public CheckpointStore.Checkpoint state(String donor) {
            requireSpace.run();
            progress.phase(Phase.STATE);
            return requests.state(donor, checkpoints);
        }

        @Override
        public void reset(long next) throws IOException {
            cache.reset(next);
        }

        @Override
        public void force() throws IOException {
            cache.force();
        }
    }

    /** Appends everything up to {@code to}. */
    private void writeSets(long to) throws IOException, InterruptedException {
        progress.phase(Phase.WRITESETS);
        progress.target(cache.last(), to);
        ArrayDeque<TransferRange> ahead = new ArrayDeque<>();
        long next = TransferCourse.from(cache.first(), cache.last(), offers.get());
        try {
            while (cache.last() < to) {
                while (ahead.size() < PARALLEL && next <= to) {
                    long end = Math.min(to, next + RANGE_SEQNOS - 1);
                    ahead.add(new TransferRange(next, end, this::fetch).start());
                    next = end + 1;
                }
                TransferRange range = ahead.peek();
                for (List<Certified> batch; (batch = range.next()) != null; ) {
                    requireSpace.run();
                    cache.append(batch);
                    progress.received(cache.last());
                }
                ahead.remove();
            }
        } finally {
            ahead.forEach(TransferRange::close);
        }
    }

    /**
     * Fetches {@code from} to {@code to} from a donor that has it, and continues with another one when one breaks off.
     */
    private void fetch(long from, long to, RecordReader.Sink sink) throws IOException, InterruptedException {
        long next = from;
        for (int fruitless = 0; next <= to; fruitless++) {
            if (fruitless == FRUITLESS_MAX) {
                throw new QuorateException(
                        ErrorCode.ORDER_INTERRUPTED,
                        "the nodes that have seqno " + next + " break off again and again");
            }
            RecordReader reader = new RecordReader(next, to, cache.spool(), sink);
            ask(reader);
            fruitless = reader.next() > next ? -1 : fruitless;
            next = reader.next();
        }
    }

    /** Asks a donor once; waits while all rest that have it. */
    private void ask(RecordReader reader) throws InterruptedException {
        boolean asked = false;
        while (!asked) {
            List<Offer> now = offers.get();
            try {
                asked = requests.records(reader, now);
            } catch (QuorateException e) {
                if (e.code() != ErrorCode.CACHE_PASSED) {
                    throw e;
                }
                throw new QuorateException(
                        e.code(), e.detail() + requests.untilWhen(reader.next(), now, cache.spool()), e);
            }
            if (!asked) {
                Thread.sleep(DonorChoice.REST_MILLIS / 4);
            }
        }
    }
}
