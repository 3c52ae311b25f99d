// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.Spool;
import io.quorate.ist.CheckpointStore;
import io.quorate.ist.DonorChoice;
import io.quorate.ist.DonorRequests;
import io.quorate.ist.IncrementalTransfer.Offer;
import io.quorate.ist.RecordReader;
import io.quorate.ist.RejoinCourse;
import io.quorate.ist.TransferCourse;
import io.quorate.ist.TransferProgress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A node receives what it missed, request by request: what it needs, the course, the choice of donors, both ends of the
 * stream and what is written are the product's, threads and time are not. Between any two steps this node may crash, a
 * donor may go, or lose from its cache what was to be asked for.
 */
final class Transfer implements TransferCourse.Work {
    private static final int RANGE_MAX = 24;
    private static final int IN_VAIN_MAX = 30;
    private static final long PAUSE_MILLIS = 500;

    private final Node node;
    private final World world;
    private final RejoinCourse rejoin;
    private final Stores stores;
    private final DonorChoice choice = new DonorChoice();
    private final DonorRequests requests;
    private TransferCourse course;
    private List<Offer> offers = List.of();
    private int inVain;
    private boolean nobodyHasIt;

    /** What it does to this node's disk; open for what {@link Bug}s make of it. */
    static class Stores {
        private final Storage storage;

        Stores(Storage storage) {
            this.storage = storage;
        }

        /** @param received of certification's state, null while it hasn't come */
        long held(CheckpointStore.Checkpoint received) {
            return storage.cache().last();
        }

        void force() {
            storage.force();
        }
    }

    Transfer(Node node, RejoinCourse.Cause cause) {
        this.node = node;
        this.world = node.world;
        this.rejoin = new RejoinCourse(cause);
        this.stores = Spoilt.stores(node.storage(), world.bugs);
        this.requests = new DonorRequests(
                world.peersOf(node, false),
                Storage.INCARNATION,
                choice,
                new TransferProgress(this::clock),
                this::clock);
        world.statistics.transfers += cause == RejoinCourse.Cause.LOG_PASSED ? 1 : 0;
        world.trace(node.name() + " receives what it missed: " + cause);
    }

    /** @return after how many milliseconds to go on; -1 when the node has what it needs */
    long turn() throws IOException, InterruptedException {
        nobodyHasIt = false;
        String why = rejoin.step(new Work(), clock());
        if (rejoin.at() == RejoinCourse.Step.GO_ON) {
            world.trace(node.name() + " has received up to "
                    + node.storage().cache().last());
            return -1;
        }
        inVain = why == null ? 0 : inVain;
        if (why != null && nobodyHasIt && ++inVain > IN_VAIN_MAX) {
            node.replacement().need(why);
        }
        return why == null ? 0 : PAUSE_MILLIS;
    }

    /** What is done to the node. */
    private final class Work implements RejoinCourse.Work {
        @Override
        public RejoinCourse.Here here() {
            return new RejoinCourse.Here(
                    !node.isArbitrator(),
                    node.storage().cache().first(),
                    node.storage().cache().last(),
                    node.lastOrdered(),
                    node.nextIndex());
        }

        @Override
        public RejoinCourse.Copy copy() {
            return node.isArbitrator()
                    ? RejoinCourse.Copy.NONE
                    : new RejoinCourse.Copy(
                            world.copiesAllowed, node.replacement().isWanted());
        }

        @Override
        public long serverHolds() throws IOException {
            if (!node.databaseUp) {
                throw new IOException("its server is away");
            }
            return node.database().position();
        }

        @Override
        public void emptyCache(long next) {
            node.storage().reset(next);
        }

        @Override
        public boolean receive(TransferCourse.Goal goal) throws IOException, InterruptedException {
            // What others report is not of this very moment.
            offers = offers.isEmpty() || world.random.nextInt(3) == 0 ? world.offersTo(node) : offers;
            course = course == null ? new TransferCourse(goal, choice) : course;
            try {
                boolean done = course.step(Transfer.this, offers, clock());
                if (done && course.checkpoint() != null) {
                    node.install(course.checkpoint());
                }
                return done;
            } catch (QuorateException e) {
                nobodyHasIt = e.code() == ErrorCode.CACHE_PASSED;
                course = null;
                offers = List.of();
                throw e;
            }
        }

        @Override
        public void wantCopy(long from) {
            node.replacement().want(from);
        }
    }

    @Override
    public long held() {
        return stores.held(course.checkpoint());
    }

    @Override
    public boolean isEmpty() {
        return node.storage().cache().isEmpty();
    }

    @Override
    public List<Certified> record(long seqno) throws InterruptedException {
        try {
            return fetch(seqno, seqno);
        } catch (QuorateException e) {
            return List.of();
        }
    }

    @Override
    public void append(List<Certified> records) throws IOException {
        if (!records.isEmpty()) {
            node.storage().cache().append(records);
            world.statistics.transferred += records.size();
        }
    }

    @Override
    public void reset(long next) {
        node.storage().reset(next);
    }

    @Override
    public void force() {
        stores.force();
    }

    @Override
    public void records(long upTo) throws IOException, InterruptedException {
        long held = node.storage().cache().last();
        long from = TransferCourse.from(node.storage().cache().first(), held, offers);
        long to = Math.min(upTo, Math.max(from, held) + world.random.nextInt(RANGE_MAX));
        append(fetch(from, to));
    }

    /** What a donor gives of that before it breaks off. */
    private List<Certified> fetch(long from, long to) throws InterruptedException {
        List<Certified> received = new ArrayList<>();
        RecordReader reader = new RecordReader(from, to, Spool.HEAP, received::addAll);
        if (requests.records(reader, offers) && reader.next() <= to) {
            world.statistics.brokenOff++;
        }
        return received;
    }

    @Override
    public CheckpointStore.Checkpoint state(String donor) {
        try {
            return requests.state(donor, node.storage().checkpoints());
        } catch (QuorateException e) {
            world.statistics.brokenOff++;
            throw e;
        }
    }

    private long clock() {
        return world.millis() * Joining.CLOCK;
    }

    @Override
    public String toString() {
        return "transfer at " + rejoin.at() + ", in vain " + inVain + ", offers " + offers;
    }
}
