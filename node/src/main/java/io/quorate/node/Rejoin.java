// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent;
import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import io.quorate.core.Retry;
import io.quorate.ist.CheckpointStore;
import io.quorate.ist.IncrementalTransfer;
import io.quorate.ist.TransferProgress;
import io.quorate.node.PausableOrder.Hold;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings this node back when the order's log no longer reaches back to where it stands: it leaves the order, receives from
 * the caches of others what it missed and from one of them what certification knows at the end of it, and goes on from
 * there. Also when its cache is damaged or lost: then it begins anew with what the server doesn't hold, received from the
 * others in the same way. What is ordered meanwhile waits in the others' logs. A node that nobody can bring back so says what it would need,
 * and looks again: somebody who has it may come.
 */
final class Rejoin implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Rejoin.class);
    private static final Retry.Policy AGAIN = Retry.Policy.unbounded(
                    "somebody who has what it needs may come at any time, and without it the node can't take part",
                    Duration.ofMillis(500))
            .telling(0, 120);
    private static final Duration TOLD_EVERY = Duration.ofSeconds(5);

    private final Stores stores;
    private final OrderedStream stream;
    private final PausableOrder order;
    private final Server server;
    private final PeerStreams peers;
    private final UUID incarnation;
    private final Supplier<List<IncrementalTransfer.Offer>> offers;
    private final JoinCounts joins;
    private final Consumer<NodeEvent> events;
    private final BlockingQueue<QuorateException> asked = new LinkedBlockingQueue<>();
    private final OwnedThread thread;

    private volatile TransferProgress progress;
    /** What it waits for, null while it goes on. */
    private volatile String obstacle;

    private long toldNanos;

    /** @param offers what the other nodes that are there have to give */
    Rejoin(
            Stores stores,
            OrderedStream stream,
            PausableOrder order,
            Server server,
            PeerStreams peers,
            UUID incarnation,
            Supplier<List<IncrementalTransfer.Offer>> offers,
            JoinCounts joins,
            Consumer<NodeEvent> events,
            FaultHandler faults) {
        this.stores = stores;
        this.stream = stream;
        this.order = order;
        this.server = server;
        this.peers = peers;
        this.incarnation = incarnation;
        this.offers = offers;
        this.joins = joins;
        this.events = events;
        this.thread = OwnedThread.lasting("quorate-join", this::run, faults);
    }

    void start() {
        thread.start();
    }

    /** Whether something that stopped a part of the node is mended by a transfer. */
    static boolean mends(QuorateException cause) {
        return cause.code() == ErrorCode.ORDER_TOO_FAR_BEHIND || isOfCache(cause);
    }

    /** Whether the cache is damaged, or lacks what the applier needs; the order could go on. */
    private static boolean isOfCache(QuorateException cause) {
        return cause.code() == ErrorCode.CACHE_CORRUPT || cause.code() == ErrorCode.CACHE_PASSED;
    }

    /** Asks for a transfer; any thread. */
    void begin(QuorateException cause) {
        asked.add(cause);
    }

    private void run() throws IOException, InterruptedException {
        while (true) {
            QuorateException cause = asked.take();
            asked.clear();
            log.warn("receiving what was missed from the other nodes: {}", cause.detail());
            joins.count(JoinCounts.Step.TRANSFER_BEGUN);
            if (cause.code() == ErrorCode.CACHE_CORRUPT) {
                joins.count(JoinCounts.Step.CACHE_DAMAGED);
            }
            receive(isOfCache(cause));
        }
    }

    private void receive(boolean cacheLost) throws IOException, InterruptedException {
        progress = new TransferProgress(() -> System.nanoTime() / 1_000_000);
        obstacle = null;
        tell();
        order.pause(Hold.TRANSFER);
        server.suspend();
        if (cacheLost || stores.cache().last() < stores.cache().first()) {
            beginAfterServer();
        }
        long start = System.nanoTime();
        Retry retry = new Retry(AGAIN, System.nanoTime());
        while (!transferred(cacheLost)) {
            await(retry);
        }
        TransferProgress.Look look = progress.look();
        log.info(
                "received {} writesets, {} MB compressed, in {} s",
                look.done(),
                look.bytes() >> 20,
                TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start));
        joins.count(JoinCounts.Step.TRANSFER_COMPLETED);
        progress = null;
        order.resume(Hold.TRANSFER);
        server.resume();
        events.accept(new NodeEvent.Joining(null));
    }

    private void await(Retry retry) throws InterruptedException {
        Retry.Next next = retry.failed(obstacle, System.nanoTime());
        if (next.tell()) {
            log.warn("no transfer yet: {}", obstacle);
        }
        Thread.sleep(next.pauseMillis());
    }

    /** Empties the cache, to go on with what the server doesn't hold yet. */
    private void beginAfterServer() throws IOException, InterruptedException {
        Retry retry = new Retry(AGAIN, System.nanoTime());
        while (true) {
            long held;
            try {
                held = server.exists() ? server.contents().position().seqno() : stream.lastOrdered();
            } catch (IOException e) {
                obstacle = "to know what is missing, " + e.getMessage();
                await(retry);
                continue;
            }
            stores.cache().reset(held + 1);
            return;
        }
    }

    /** @param recordsOnly whether what certification knows is here */
    private boolean transferred(boolean recordsOnly) throws IOException, InterruptedException {
        IncrementalTransfer transfer =
                new IncrementalTransfer(stores.cache(), stores.checkpoints(), incarnation, peers, offers, progress);
        try {
            if (mayCopy() && server.copy().isPending()) {
                copied(recordsOnly, transfer);
            } else if (recordsOnly) {
                transfer.fill(stream.lastOrdered());
            } else {
                long indexMin = stream.resumeAfter().index() + 1;
                CheckpointStore.Checkpoint received =
                        server.exists() ? transfer.run(indexMin) : transfer.stateAlone(indexMin);
                stores.install(received, stream);
            }
            return true;
        } catch (QuorateException e) {
            if (e.code() == ErrorCode.CACHE_PASSED && mayCopy()) {
                log.warn("no transfer from the others' caches: {}", e.detail());
                copied(recordsOnly, transfer);
                return true;
            }
            if (!e.code().isRetryable()) {
                throw e;
            }
            obstacle = e.code() == ErrorCode.CACHE_PASSED ? e.getMessage() : e.detail();
            return false;
        }
    }

    private boolean mayCopy() {
        return server.copy() != null && server.copy().isAllowed();
    }

    /**
     * Has a node that holds nothing of the order begin with what certification knows at a peer, and its server with a full copy.
     *
     * @return whether that is so; false when this node is told to leave its server alone
     * @throws QuorateException when nobody gives it now
     */
    boolean beginWithCopy() throws IOException {
        if (!mayCopy()) {
            return false;
        }
        if (offers.get().stream().allMatch(offer -> offer.checkpointIndex() < 0)) {
            // Their log is whole.
            server.copy().want(0);
            return true;
        }
        TransferProgress unseen = new TransferProgress(() -> System.nanoTime() / 1_000_000);
        copied(
                false,
                new IncrementalTransfer(stores.cache(), stores.checkpoints(), incarnation, peers, offers, unseen));
        return true;
    }

    /** The server gets a full copy once this node takes part again; what is ordered from now on is kept for it. */
    private void copied(boolean stateIsHere, IncrementalTransfer transfer) throws IOException {
        long from;
        if (stateIsHere) {
            from = stream.lastOrdered();
            stores.cache().reset(from + 1);
        } else {
            CheckpointStore.Checkpoint received =
                    transfer.stateAlone(stream.resumeAfter().index() + 1);
            from = received.seqno();
            stores.install(received, stream);
        }
        server.copy().want(from);
    }

    /** What is being received, null when nothing is. */
    TransferProgress.Look look() {
        TransferProgress p = progress;
        return p == null ? null : p.look();
    }

    /** What the transfer waits for, null when it doesn't. */
    String obstacle() {
        return progress == null ? null : obstacle;
    }

    /** Tells how far it is; to be called now and then. */
    void tell() {
        TransferProgress.Look look = look();
        if (look == null) {
            return;
        }
        String text = text(look);
        events.accept(new NodeEvent.Joining(text));
        long now = System.nanoTime();
        if (look.phase() == TransferProgress.Phase.WRITESETS && now - toldNanos > TOLD_EVERY.toNanos()) {
            toldNanos = now;
            log.info("{}", text);
        }
    }

    private String text(TransferProgress.Look look) {
        String waits = obstacle;
        return switch (look.phase()) {
            case WAITING -> waits == null ? "asking the other nodes for what was missed" : waits;
            case WRITESETS ->
                "receiving what was missed"
                        + (look.donors().isEmpty() ? "" : " from " + String.join(", ", look.donors())) + ": "
                        + look.done()
                        + " writesets are here, " + look.toDo() + " to come, " + look.perSecond() + "/s"
                        + (look.etaMillis() < 0 ? "" : ", " + look.etaMillis() / 1000 + " s left")
                        + (waits == null ? "" : " (" + waits + ")");
            case STATE -> "receiving what certification knows";
            case DONE -> "taking part in the order again";
        };
    }

    @Override
    public void close() {
        thread.close();
    }
}
