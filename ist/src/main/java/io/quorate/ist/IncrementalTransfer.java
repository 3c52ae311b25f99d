// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import io.quorate.ist.TransferProgress.Phase;
import java.io.DataInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings a node's writeset cache up to date from the caches of others, and fetches what certification knew at the end of it,
 * so that the order can go on from there. Nothing is certified again: a record carries its verdict and what it depends on.
 *
 * <p>Ranges of seqnos are fetched in parallel, from several donors where there are, and appended in order; a range that
 * waits for its turn holds its donor back, so memory is bounded. What breaks goes on where it broke, from another donor when
 * there is one; a crash of this node as well, because what was appended is in the cache. The first record asked for is the
 * last one held: were it another one there, this node would have a history of its own, and {@link
 * ErrorCode#STATE_DIVERGED} says so.
 *
 * <p>The idea of an incremental transfer from a ring of certified writesets is Galera's (IST from gcache).
 */
public final class IncrementalTransfer {
    private static final Logger log = LoggerFactory.getLogger(IncrementalTransfer.class);

    /** Large enough for the round trip not to count, small enough for a broken one not to either. */
    private static final int RANGE_SEQNOS = 8_192;

    private static final int PARALLEL = 4;
    /** A donor that has failed isn't asked again before. */
    private static final long REST_MILLIS = 500;
    /** Attempts in a row that brought nothing, before a transfer gives up for the time being. */
    private static final int FRUITLESS_MAX = 5;
    /** How far the newest checkpoint may have run away before the writesets up to it are fetched, rather than the state. */
    private static final long FAR_SEQNOS = 20_000;

    /**
     * What a node has to give.
     *
     * @param distance 0 for a node in the same place as this one; the nearest are asked first
     * @param first first seqno in its cache
     * @param last last seqno in its cache
     * @param checkpoint seqno of its newest checkpoint, 0 without one
     * @param checkpointIndex and where in the order's log that is
     */
    public record Offer(String donor, int distance, long first, long last, long checkpoint, long checkpointIndex) {}

    private final WriteSetCache cache;
    private final CheckpointStore checkpoints;
    private final UUID incarnation;
    private final PeerStreams peers;
    private final Supplier<List<Offer>> offers;
    private final TransferProgress progress;
    private final Map<String, Long> restsUntil = new ConcurrentHashMap<>();
    private final Map<String, Integer> busy = new ConcurrentHashMap<>();

    /** @param offers what others have now; asked again and again */
    public IncrementalTransfer(
            WriteSetCache cache,
            CheckpointStore checkpoints,
            UUID incarnation,
            PeerStreams peers,
            Supplier<List<Offer>> offers,
            TransferProgress progress) {
        this.cache = cache;
        this.checkpoints = checkpoints;
        this.incarnation = incarnation;
        this.peers = peers;
        this.offers = offers;
        this.progress = progress;
    }

    /**
     * Fetches what is missing. Afterwards the cache holds everything up to the checkpoint returned, durably; whether that is
     * whole is the caller's to find out before it is adopted.
     *
     * @param indexMin the checkpoint must not lie before this place in the log
     * @throws QuorateException CACHE_PASSED when nobody holds what is missing: it says what that is, and who holds what;
     *     ORDER_INTERRUPTED when nobody answers. What was fetched is kept, so the same call goes on where this one ended
     * @throws IOException when this node's own disk fails
     */
    public CheckpointStore.Checkpoint run(long indexMin) throws IOException, InterruptedException {
        Offer source = checkpointFrom(indexMin);
        while (source.checkpoint() > cache.last()) {
            writeSets(source.checkpoint());
            Offer newer = checkpointFrom(indexMin);
            if (newer.checkpoint() - source.checkpoint() < FAR_SEQNOS) {
                break;
            }
            source = newer;
        }
        progress.phase(Phase.STATE);
        CheckpointStore.Checkpoint received = state(source.donor());
        writeSets(received.seqno());
        cache.force();
        progress.phase(Phase.DONE);
        return received;
    }

    /**
     * Fetches what is missing up to {@code to} and nothing else, for a node that knows how to go on from there.
     *
     * @throws QuorateException as {@link #run}
     */
    public void fill(long to) throws IOException, InterruptedException {
        writeSets(to);
        cache.force();
        progress.phase(Phase.DONE);
    }

    private Offer checkpointFrom(long indexMin) {
        List<Offer> all = offers.get();
        return all.stream()
                .filter(offer ->
                        offer.checkpoint() > 0 && offer.checkpointIndex() >= indexMin && isRested(offer.donor()))
                .max(Comparator.comparingLong(Offer::checkpointIndex))
                .orElseThrow(() -> new QuorateException(
                        ErrorCode.ORDER_INTERRUPTED,
                        "no other node offers a checkpoint at or after log index " + indexMin + " now: " + all));
    }

    /** Appends everything up to {@code to}. */
    private void writeSets(long to) throws IOException, InterruptedException {
        progress.phase(Phase.WRITESETS);
        progress.target(cache.last(), to);
        ArrayDeque<TransferRange> ahead = new ArrayDeque<>();
        long next = isLastThere() ? cache.last() : cache.last() + 1;
        try {
            while (cache.last() < to) {
                while (ahead.size() < PARALLEL && next <= to) {
                    long end = Math.min(to, next + RANGE_SEQNOS - 1);
                    ahead.add(new TransferRange(next, end, this::fetch).start());
                    next = end + 1;
                }
                TransferRange range = ahead.peek();
                for (List<Certified> batch; (batch = range.next()) != null; ) {
                    cache.append(batch);
                    progress.received(cache.last());
                }
                ahead.remove();
            }
        } finally {
            ahead.forEach(TransferRange::close);
        }
    }

    /** Whether there is a last record here, and a donor to compare it with. */
    private boolean isLastThere() {
        return cache.last() >= cache.first() && offers.get().stream().anyMatch(offer -> offer.first() <= cache.last());
    }

    /** Fetches {@code from} to {@code to} from whoever has it, and goes on with another one where one breaks off. */
    private void fetch(long from, long to, RecordReader.Sink sink) throws IOException, InterruptedException {
        long next = from;
        for (int fruitless = 0; next <= to; fruitless++) {
            if (fruitless == FRUITLESS_MAX) {
                throw new QuorateException(
                        ErrorCode.ORDER_INTERRUPTED, "who has seqno " + next + " breaks off again and again");
            }
            Offer donor = donorOf(next, to);
            long before = next;
            busy.merge(donor.donor(), 1, Integer::sum);
            progress.gives(donor.donor());
            RecordReader reader = new RecordReader(next, to, sink);
            try (InputStream in =
                    open(donor.donor(), new TransferRequest(TransferRequest.Kind.RECORDS, incarnation, next, to))) {
                reader.read(in);
            } catch (IOException | QuorateException e) {
                failed(donor.donor(), e);
            } finally {
                next = reader.next();
                fruitless = next > before ? -1 : fruitless;
                busy.merge(donor.donor(), -1, Integer::sum);
                progress.givesNoMore(donor.donor());
            }
        }
    }

    private void failed(String donor, Exception e) {
        if (e instanceof QuorateException known && known.code() == ErrorCode.FOREIGN_CLUSTER) {
            throw known;
        }
        log.info("{} broke off: {}; going on from another node, or from it again", donor, e.getMessage());
        restsUntil.put(donor, millis() + REST_MILLIS);
    }

    /** The nearest; among those the one that gives least now; among those the one that keeps longest what is needed. */
    private Offer donorOf(long next, long to) throws InterruptedException {
        while (true) {
            List<Offer> having = offers.get().stream()
                    .filter(offer -> offer.first() <= next && offer.last() >= to)
                    .toList();
            if (having.isEmpty()) {
                throw new QuorateException(
                        ErrorCode.CACHE_PASSED,
                        "this node needs writesets from seqno " + next + " on; " + held(offers.get()));
            }
            Optional<Offer> best = having.stream()
                    .filter(offer -> isRested(offer.donor()))
                    .min(Comparator.comparingInt(Offer::distance)
                            .thenComparingInt(offer -> busy.getOrDefault(offer.donor(), 0))
                            .thenComparingLong(Offer::first));
            if (best.isPresent()) {
                return best.get();
            }
            Thread.sleep(REST_MILLIS / 4);
        }
    }

    private static String held(List<Offer> all) {
        if (all.isEmpty()) {
            return "no other node is reachable";
        }
        StringBuilder text = new StringBuilder();
        for (Offer offer : all) {
            text.append(text.length() == 0 ? "" : ", ")
                    .append(offer.donor())
                    .append(" holds ")
                    .append(offer.first())
                    .append(" to ")
                    .append(offer.last());
        }
        return text.toString();
    }

    private CheckpointStore.Checkpoint state(String donor) throws IOException {
        progress.gives(donor);
        try (DataInputStream in = new DataInputStream(
                open(donor, new TransferRequest(TransferRequest.Kind.CHECKPOINT, incarnation, 0, 0)))) {
            LogPosition position = new LogPosition(in.readLong(), in.readLong());
            return checkpoints.receive(position, in.readLong(), in);
        } catch (IOException e) {
            failed(donor, e);
            throw new QuorateException(ErrorCode.ORDER_INTERRUPTED, donor + " broke off: " + e, e);
        } finally {
            progress.givesNoMore(donor);
        }
    }

    private InputStream open(String donor, TransferRequest request) throws IOException {
        return new ZstdInputStreamNoFinalizer(new FilterInputStream(peers.open(donor, request.encode())) {
            @Override
            public int read(byte[] into, int from, int length) throws IOException {
                int count = in.read(into, from, length);
                if (count > 0) {
                    progress.receivedBytes(count);
                }
                return count;
            }
        });
    }

    private boolean isRested(String donor) {
        return millis() >= restsUntil.getOrDefault(donor, Long.MIN_VALUE);
    }

    private static long millis() {
        return System.nanoTime() / 1_000_000;
    }
}
