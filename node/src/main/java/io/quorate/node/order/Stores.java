// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.order;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.quorate.certification.Certification;
import io.quorate.certification.Certifier;
import io.quorate.certification.OrderedStream;
import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.NodeEvent;
import io.quorate.core.Proposal;
import io.quorate.core.QuorateException;
import io.quorate.core.TotalOrder;
import io.quorate.ist.CacheSettings;
import io.quorate.ist.CheckpointStore;
import io.quorate.ist.Retention;
import io.quorate.ist.WriteSetCache;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.trace.Traces;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a node keeps of the order besides the order's own log: the writeset cache, and checkpoints of what certification
 * knows, each with its position in the log.
 */
public final class Stores implements AutoCloseable {
    private static final double[] PERCENTILES = {0.5, 0.99};
    private static final Logger log = LoggerFactory.getLogger(Stores.class);

    private final CheckpointStore checkpoints;
    private final Certifier certifier;
    private final LogPosition position;
    private final WriteSetCache cache;
    private final QuorateException damage;

    private Stores(
            CheckpointStore checkpoints,
            Certifier certifier,
            LogPosition position,
            WriteSetCache cache,
            QuorateException damage) {
        this.damage = damage;
        this.checkpoints = checkpoints;
        this.certifier = certifier;
        this.position = position;
        this.cache = cache;
    }

    /** Opens the stores in the node's directory, or begins with empty ones. */
    public static Stores open(Path directory, String incarnation, NodeProperties properties) throws IOException {
        NodeProperties.Cache c = properties.cache();
        CacheSettings settings = new CacheSettings(
                directory.resolve("cache"),
                UUID.fromString(incarnation),
                c.segmentBytes().toBytes(),
                c.bytesMax().toBytes(),
                c.ageMax());
        return open(directory, properties.certification().keysMax(), settings);
    }

    /**
     * Opens what is in the node's directory, or begins anew.
     *
     * @param keysMax how many keys certification knows
     */
    public static Stores open(Path directory, int keysMax, CacheSettings settings) throws IOException {
        CheckpointStore checkpoints = CheckpointStore.open(directory.resolve("checkpoints"));
        CheckpointStore.Checkpoint newest = checkpoints.newest().orElse(null);
        Certifier certifier = newest == null ? new Certifier(keysMax) : read(newest, keysMax);
        LogPosition position = newest == null ? LogPosition.START : newest.position();
        long durable = newest == null ? 0 : newest.seqno();
        try {
            return new Stores(checkpoints, certifier, position, WriteSetCache.open(settings, durable), null);
        } catch (QuorateException e) {
            if (e.code() != ErrorCode.CACHE_CORRUPT) {
                throw e;
            }
            Path aside = directory.resolve("cache.damaged");
            log.error(
                    "{}; it is kept in {}, and what is needed of it is fetched from the other nodes",
                    e.detail(),
                    aside);
            deleteTree(aside);
            Files.move(settings.directory(), aside, StandardCopyOption.ATOMIC_MOVE);
            return new Stores(checkpoints, certifier, position, WriteSetCache.open(settings, 0), e);
        }
    }

    private static void deleteTree(Path tree) throws IOException {
        if (Files.exists(tree)) {
            try (Stream<Path> files = Files.walk(tree)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    /** Makes a checkpoint that another node sent, and that has proved whole, this node's newest one. */
    public void install(CheckpointStore.Checkpoint received, OrderedStream stream) throws IOException {
        Certifier state = read(received, certifier.keysMax());
        checkpoints.adopt(received);
        stream.install(state, received.position());
    }

    /** Forgets what certification knows, because it may come from an earlier life of the cluster. The cache stays. */
    public void forget(OrderedStream stream) throws IOException {
        checkpoints.clear();
        stream.install(new Certifier((int) certifier.keysMax()), LogPosition.START);
    }

    private static QuorateException keysMax(long here, long cluster) {
        return new QuorateException(
                ErrorCode.CONFIGURATION,
                "quorate.certification.keys-max is " + here + ", the cluster was made with " + cluster);
    }

    private static Certifier read(CheckpointStore.Checkpoint checkpoint, long keysMax) throws IOException {
        try (DataInputStream in = checkpoint.open()) {
            long theirs = Certifier.keysMaxOf(in);
            if (theirs != keysMax) {
                throw keysMax(keysMax, theirs);
            }
        }
        try (DataInputStream in = checkpoint.open()) {
            return Certifier.readFrom(in);
        } catch (IllegalArgumentException e) {
            throw new QuorateException(ErrorCode.STATE_DIVERGED, "certification state that can't be: " + e, e);
        }
    }

    /**
     * Creates the stream that continues what is in the stores.
     *
     * @param traces hears what the order hands out
     * @param meters get a timer of what is done with each entry
     */
    public OrderedStream stream(
            Consumer<NodeEvent> events,
            Consumer<TotalOrder.Quorum> quorumListener,
            OrderedStream.Failures failures,
            Traces traces,
            MeterRegistry meters) {
        Timer entries = Timer.builder("quorate.certification.entry")
                .description("from when an entry of the order is handed out until it is certified and in the cache")
                .publishPercentiles(PERCENTILES)
                .register(meters);
        return new OrderedStream(certifier, position, cache, this::save, events, quorumListener, failures) {
            @Override
            public void deliver(LogPosition resumeAfter, ByteBuffer entry) {
                long start = System.nanoTime();
                super.deliver(resumeAfter, entry);
                entries.record(System.nanoTime() - start, TimeUnit.NANOSECONDS);
            }

            @Override
            protected Certification certify(Certifier state, Proposal proposal, LogPosition at) {
                Certification result = super.certify(state, proposal, at);
                traces.ordered(result.certified(), self());
                return result;
            }
        };
    }

    /**
     * Saves a checkpoint and returns up to where the log may be purged. That is only up to the older checkpoint that is
     * kept, which is used when the newest one is damaged.
     */
    public LogPosition save(LogPosition at, Certifier state) {
        checkpoints.save(at, state.lastSeqno(), state::writeTo);
        return checkpoints.forgettable();
    }

    /**
     * Lets the cache forget what nobody needs.
     *
     * @param applied the node's server holds everything up to this seqno
     * @param oldestGiven seqno that a transfer from here sends next, {@link Long#MAX_VALUE} without one
     */
    public void retain(long applied, OrderedStream stream, long oldestGiven) {
        cache.retain(
                new Retention(applied, checkpoints.forgettableSeqno(), stream.oldestOwnTold(), oldestGiven).first());
    }

    /** What was wrong with the cache, which was put aside and replaced by an empty one; null when nothing was wrong. */
    public QuorateException damage() {
        return damage;
    }

    /** What certification knew when this was opened. */
    public Certifier certifier() {
        return certifier;
    }

    public CheckpointStore checkpoints() {
        return checkpoints;
    }

    public WriteSetCache cache() {
        return cache;
    }

    @Override
    public void close() throws IOException {
        cache.close();
    }
}
