// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.certification.OrderedStream;
import io.quorate.core.ErrorCode;
import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import io.quorate.core.Retry;
import io.quorate.ist.CheckpointStore;
import io.quorate.ist.DonorChoice;
import io.quorate.ist.IncrementalTransfer;
import io.quorate.ist.RejoinCourse;
import io.quorate.ist.TransferCourse;
import io.quorate.ist.TransferProgress;
import io.quorate.node.copy.ServerCopy;
import io.quorate.node.order.Stores;
import io.quorate.node.server.JoinCounts;
import io.quorate.node.server.Server;
import io.quorate.node.thread.MonotonicClock;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The turns of a node that is {@code RECEIVING}, because the order's log no longer reaches back to where it stands, or
 * because its cache is damaged or lost. It receives from the others what it lacks; {@link RejoinCourse} decides what
 * that is. What is ordered meanwhile waits in the others' logs. A node that nobody can bring back says what it would
 * need, and asks again, for somebody who has it may come.
 */
final class Rejoin {
    private static final Logger log = LoggerFactory.getLogger(Rejoin.class);
    private static final Retry.Policy AGAIN = Retry.Policy.unbounded(
                    "somebody who has what it needs may come at any time, and without it the node can't take part",
                    Duration.ofMillis(500))
            .telling(0, 120);
    private static final Duration TOLD_EVERY = Duration.ofSeconds(5);

    private final Stores stores;
    private final OrderedStream stream;
    private final Server server;
    private final ServerCopy copy;
    private final PeerStreams peers;
    private final UUID incarnation;
    private final Supplier<List<IncrementalTransfer.Offer>> offers;
    private final BooleanSupplier lacksSpace;
    private final JoinCounts joins;
    private final DonorChoice choice = new DonorChoice();

    private volatile TransferProgress progress;
    /** What it waits for; null while it goes on. */
    private volatile @Nullable Obstacle obstacle;

    /**
     * Why it didn't go on when it was tried last.
     *
     * @param bytes that had come by then: with more of them it has gone on, though the try hasn't ended yet
     */
    private record Obstacle(String why, long bytes) {}

    private RejoinCourse course;
    private Retry retry;
    private long startNanos;
    private long toldNanos;

    /**
     * @param offers what the other nodes that are there have to give
     * @param lacksSpace whether the volume is nearly full
     */
    Rejoin(
            Stores stores,
            OrderedStream stream,
            Server server,
            ServerCopy copy,
            PeerStreams peers,
            UUID incarnation,
            Supplier<List<IncrementalTransfer.Offer>> offers,
            BooleanSupplier lacksSpace,
            JoinCounts joins) {
        this.stores = stores;
        this.stream = stream;
        this.server = server;
        this.copy = copy;
        this.peers = peers;
        this.incarnation = incarnation;
        this.offers = offers;
        this.lacksSpace = lacksSpace;
        this.joins = joins;
    }

    /** Begins with what is missing first, once this node has left the order and the server alone. */
    void begin(QuorateException cause) {
        log.warn("receiving what was missed from the other nodes: {}", cause.detail());
        joins.count(JoinCounts.Step.TRANSFER_BEGUN);
        if (cause.code() == ErrorCode.CACHE_CORRUPT) {
            joins.count(JoinCounts.Step.CACHE_DAMAGED);
        }
        obstacle = null;
        progress = new TransferProgress(MonotonicClock::millis);
        startNanos = System.nanoTime();
        course = new RejoinCourse(RejoinCourse.Cause.of(cause));
        retry = new Retry(AGAIN, startNanos);
    }

    /**
     * Carries out one task of what is to be done.
     *
     * @return after how many milliseconds it is to go on; -1 when it is done, and this node may take part in the
     *     order again
     */
    long turn() throws IOException, InterruptedException {
        String why = course.step(new Work(progress), MonotonicClock.millis());
        if (course.at() != RejoinCourse.Step.GO_ON && why != null) {
            return waits(why);
        }
        obstacle = null;
        if (course.at() != RejoinCourse.Step.GO_ON) {
            return 0;
        }
        tellEnd(progress.look(), System.nanoTime() - startNanos);
        progress = null;
        return -1;
    }

    /** It is broken off, and will begin again. */
    void breakOff() {
        progress = null;
    }

    private void tellEnd(TransferProgress.Look look, long nanos) {
        if (course.votesMeanwhile()) {
            log.warn("taking part in the order without what was missed: nobody gives it, and the others may need this"
                    + " node's vote");
            return;
        }
        log.info(
                "received {} writesets, {} MB compressed, in {} s",
                look.done(),
                look.bytes() >> 20,
                TimeUnit.NANOSECONDS.toSeconds(nanos));
        joins.count(JoinCounts.Step.TRANSFER_COMPLETED);
    }

    /** This node, for the course. */
    private final class Work implements RejoinCourse.Work {
        private final TransferProgress told;

        Work(TransferProgress told) {
            this.told = told;
        }

        @Override
        public RejoinCourse.Here here() {
            return new RejoinCourse.Here(
                    server.exists(),
                    stores.cache().first(),
                    stores.cache().last(),
                    stream.lastOrdered(),
                    stream.resumeAfter().index() + 1);
        }

        @Override
        public RejoinCourse.Copy copy() {
            return Rejoin.this.copy();
        }

        @Override
        public long serverHolds() throws IOException {
            return server.contents().position().seqno();
        }

        @Override
        public void emptyCache(long next) throws IOException {
            stores.cache().reset(next);
        }

        @Override
        public boolean receive(TransferCourse.Goal goal) throws IOException, InterruptedException {
            CheckpointStore.Checkpoint received = new IncrementalTransfer(
                            stores.cache(),
                            stores.checkpoints(),
                            incarnation,
                            peers,
                            offers,
                            choice,
                            Rejoin.this::requireSpace,
                            told)
                    .run(goal);
            if (received != null) {
                stores.install(received, stream);
            }
            return true;
        }

        @Override
        public void wantCopy(long from) throws IOException {
            copy.want(from);
        }
    }

    private RejoinCourse.Copy copy() {
        return new RejoinCourse.Copy(copy.isAllowed(), copy.isPending());
    }

    /** The guard of the disk only keeps a node out of the order; what a transfer brings would fill the rest. */
    private void requireSpace() {
        if (lacksSpace.getAsBoolean()) {
            throw new QuorateException(ErrorCode.DISK_LOW, "the volume of quorate.data-dir is nearly full");
        }
    }

    private long waits(String why) {
        obstacle = new Obstacle(why, progress.look().bytes());
        Retry.Next next = retry.failed(why, System.nanoTime());
        if (next.tell()) {
            log.warn("no transfer yet: {}", why);
        }
        return next.pauseMillis();
    }

    /**
     * Has a node that holds nothing of the order begin with what certification knows at a peer, and its server with a
     * full copy.
     *
     * @return whether that is so; false when this node is told to leave its server alone
     * @throws QuorateException when nobody gives it now
     */
    boolean beginWithCopy() throws IOException, InterruptedException {
        switch (RejoinCourse.beginWithCopy(copy(), offers.get())) {
            case REFUSED -> {
                return false;
            }
            case COPY_ALONE -> copy.want(0);
            case STATE_AND_COPY -> {
                TransferProgress unseen = new TransferProgress(MonotonicClock::millis);
                RejoinCourse.ofCopy().run(new Work(unseen));
            }
        }
        return true;
    }

    /** What is being received, null when nothing is. */
    TransferProgress.Look look() {
        TransferProgress p = progress;
        return p == null ? null : p.look();
    }

    /** What the transfer waits for, null when it doesn't. */
    String obstacle() {
        TransferProgress.Look look = look();
        return look == null ? null : obstacle(look);
    }

    private @Nullable String obstacle(TransferProgress.Look look) {
        Obstacle last = obstacle;
        return last == null || last.bytes != look.bytes() ? null : last.why;
    }

    /** How far it is, for people; now and then in the log, too. Null when nothing is received. Any thread. */
    String told() {
        TransferProgress.Look look = look();
        if (look == null) {
            return null;
        }
        String text = text(look);
        logNowAndThen(look, text);
        return text;
    }

    private synchronized void logNowAndThen(TransferProgress.Look look, String text) {
        long now = System.nanoTime();
        if (look.phase() == TransferProgress.Phase.WRITESETS && now - toldNanos > TOLD_EVERY.toNanos()) {
            toldNanos = now;
            log.info("{}", text);
        }
    }

    private String text(TransferProgress.Look look) {
        String waits = obstacle(look);
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
}
