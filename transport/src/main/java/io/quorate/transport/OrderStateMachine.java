// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.OrderListener;
import io.quorate.core.QuorateException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ratis' side of the {@link OrderListener}.
 *
 * <p>Where it starts. Ratis takes {@link #getLatestSnapshot} as what the state machine holds already, and as committed;
 * it applies the entries after it. We answer with the listener's {@code resumeAfter}, unchanged even if the local log
 * ends before it (because of a disk that lost acknowledged writes, or a transfer outside the order). In that case
 * {@link LogCheck} drops the local log, the node votes as the holder of everything up to that position, and the leader
 * sends what follows. Nothing is lost, because those entries are in our own stores, and nothing is skipped. To claim
 * less would be wrong: a majority may rest on this node having acknowledged them.
 *
 * <p>How it stops. Nothing is ever thrown back to Ratis: it would shut down while the updater thread that it waits for
 * spins. Instead the first failure <i>halts</i> the machine: neither that entry nor any later one is delivered, and the
 * position stays. Ratis is then closed from outside, and runs to its end undisturbed.
 */
final class OrderStateMachine extends BaseStateMachine {
    private static final Logger LOG = LoggerFactory.getLogger(OrderStateMachine.class);
    private static final int ASKED_MAX = 10;
    /** An entry that takes longer than this holds others up, and is named. */
    private static final long TOLD_MILLIS = 500;

    private static final CompletableFuture<Message> DONE = CompletableFuture.completedFuture(Message.EMPTY);

    /** What the machine tells the rest of the transport. Called on Ratis' threads; must return at once. */
    interface Events {
        /** Something about leader or term has changed. */
        void quorumMayHaveChanged();

        /** An entry was committed and applied. */
        void applied();

        /** The order can't go on here. */
        void failed(QuorateException cause);
    }

    private final OrderListener listener;
    private final Events events;
    private final Reassembly reassembly;
    private final LogPosition start;
    private final int checkpointEntries;
    private final LongAdder deliveredEntries = new LongAdder();
    private final LongAdder deliveredBytes = new LongAdder();

    private LogPosition previous;
    private long checkpointedAt;
    /**
     * The index that Ratis was told last; it stops altogether when it is told a lower one, also one lower than what it
     * started from.
     */
    private long purgedAt;

    private long askedFor = RaftLog.INVALID_LOG_INDEX;
    private int asked;
    private volatile LogPosition snapshot;
    private volatile long appliedTerm;
    private volatile boolean halted;
    private volatile boolean failed;
    private volatile boolean finished;
    private volatile boolean dismissed;
    private volatile List<UnfinishedEntries.Unfinished> unfinished = List.of();
    private volatile LongSupplier purgeable = () -> RaftLog.INVALID_LOG_INDEX;

    OrderStateMachine(OrderListener listener, LogPosition start, Path spill, int checkpointEntries, Events events) {
        this.listener = listener;
        this.events = events;
        this.start = start;
        this.checkpointEntries = checkpointEntries;
        reassembly = new Reassembly(spill, this::deliver);
        previous = start;
        snapshot = start;
        appliedTerm = start.term();
        checkpointedAt = start.index();
        purgedAt = start.index();
        // Ratis reads it before it calls initialize.
        setLastAppliedTermIndex(TermIndex.valueOf(start.term(), start.index()));
    }

    /**
     * @param index tells up to which log index nobody needs the log any more, or may no longer count on it; -1 when
     *     unknown
     */
    void purgeOnly(LongSupplier index) {
        purgeable = index;
    }

    /** Nothing more is delivered from now on, though one delivery may be in progress. */
    void halt() {
        halted = true;
    }

    /** Whether Ratis has let go of the machine. */
    boolean finished() {
        return finished;
    }

    /** Whether the others have said that this node is none of theirs, which ends the server. */
    boolean dismissed() {
        return dismissed;
    }

    /** How far the entries have come that aren't whole yet. */
    List<UnfinishedEntries.Unfinished> unfinished() {
        return unfinished;
    }

    /** Term of the last entry that was applied. */
    long appliedTerm() {
        return appliedTerm;
    }

    long deliveredEntries() {
        return deliveredEntries.sum();
    }

    long deliveredBytes() {
        return deliveredBytes.sum();
    }

    long abandonedEntries() {
        return reassembly.abandonedEntries();
    }

    @Override
    public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
        LogEntryProto entry = transaction.getLogEntry();
        LogPosition here = new LogPosition(entry.getTerm(), entry.getIndex());
        if (!halted) {
            try {
                ByteBuffer data = entry.getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer();
                if (here.compareTo(start) > 0) {
                    reassembly.take(previous, here, data);
                    unfinished = reassembly.unfinished();
                }
                passed(here);
            } catch (Throwable e) {
                stopAt(here, e);
            }
        }
        return DONE;
    }

    @Override
    public void notifyTermIndexUpdated(long term, long index) {
        if (!halted) {
            LogPosition here = new LogPosition(term, index);
            try {
                passed(here);
            } catch (Throwable e) {
                stopAt(here, e);
            }
        }
    }

    /**
     * A checkpoint, when enough has been applied since the last one. The index returned is what Ratis purges up to.
     */
    @Override
    public long takeSnapshot() {
        long applied = previous.index();
        boolean due = applied - checkpointedAt >= checkpointEntries || (halted && applied > checkpointedAt);
        // While fragments of an entry are outstanding, a restart would hand out again also the entries after the first
        // fragment, to a state that has had them. A proposal that was left out because of a gap could then link, and be
        // certified at another place than on the other nodes.
        if (!due || failed || !unfinished.isEmpty()) {
            return RaftLog.INVALID_LOG_INDEX;
        }
        try {
            LogPosition durable = listener.checkpoint();
            checkpointedAt = applied;
            long index = Math.min(durable.index(), purgeable.getAsLong());
            // The index that Ratis is told may be lower than what is durable, but never higher, and always has its true
            // term.
            snapshot = durable;
            if (halted || index <= purgedAt) {
                return RaftLog.INVALID_LOG_INDEX;
            }
            purgedAt = index;
            return index;
        } catch (Throwable e) {
            stopAt(previous, e);
            return RaftLog.INVALID_LOG_INDEX;
        }
    }

    @Override
    public SnapshotInfo getLatestSnapshot() {
        LogPosition taken = snapshot;
        return taken.index() < 0 ? null : new Taken(TermIndex.valueOf(taken.term(), taken.index()));
    }

    @Override
    public void notifyLeaderChanged(RaftGroupMemberId member, RaftPeerId leader) {
        events.quorumMayHaveChanged();
    }

    @Override
    public void notifyNotLeader(Collection<TransactionContext> pending) {
        events.quorumMayHaveChanged();
    }

    @Override
    public void notifyLeaderReady() {
        events.quorumMayHaveChanged();
    }

    @Override
    public void notifyExtendedNoLeader(RoleInfoProto role) {
        events.quorumMayHaveChanged();
    }

    @Override
    public void notifyServerShutdown(RoleInfoProto role, boolean allServer) {
        dismissed = !allServer;
    }

    @Override
    public void notifyLogFailed(Throwable cause, LogEntryProto entry) {
        String what = "the order's log can't be written or read at " + (entry == null ? "a segment" : entry.getIndex());
        failed(new QuorateException(ErrorCode.DISK, what + ": " + cause, cause));
    }

    /**
     * The leader does not have the entry this node needs next. It also asks when it does have that entry; then there is
     * nothing to do. When it keeps asking for the same, it has the next entry but not the one before it, and can't
     * prove that this node's log agrees with its own so far.
     *
     * @return what null means to Ratis: nothing was installed, try the log
     */
    @Override
    public CompletableFuture<TermIndex> notifyInstallSnapshotFromLeader(RoleInfoProto role, TermIndex firstAvailable) {
        long next = getLastAppliedTermIndex().getIndex() + 1;
        asked = firstAvailable.getIndex() == next && askedFor == next ? asked + 1 : 1;
        askedFor = firstAvailable.getIndex();
        if (askedFor > next || asked > ASKED_MAX) {
            failed(new QuorateException(
                    ErrorCode.ORDER_TOO_FAR_BEHIND,
                    "the leader's log begins at " + askedFor + ", this node needs it from "
                            + (askedFor > next ? next : "the one before")));
        }
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void close() {
        finished = true;
        reassembly.close();
        events.quorumMayHaveChanged();
    }

    private void deliver(LogPosition resumeAfter, ByteBuffer entry) {
        deliveredEntries.increment();
        int bytes = entry.remaining();
        deliveredBytes.add(bytes);
        long begun = System.nanoTime();
        listener.deliver(resumeAfter, entry);
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
        if (millis > TOLD_MILLIS) {
            LOG.info(
                    "an entry of {} MB took {} ms to be certified and written down; what comes after it in the order"
                            + " has waited for that",
                    bytes >> 20,
                    millis);
        }
    }

    private void passed(LogPosition here) {
        previous = here;
        updateLastAppliedTermIndex(here.term(), here.index());
        events.applied();
        if (appliedTerm != here.term()) {
            appliedTerm = here.term();
            events.quorumMayHaveChanged();
        }
    }

    private void stopAt(LogPosition here, Throwable e) {
        ErrorCode code = e instanceof Error ? ErrorCode.ORDER_STOPPED : ErrorCode.DISK;
        failed(
                e instanceof QuorateException known
                        ? known
                        : new QuorateException(code, "entry " + here + " could not be taken: " + e, e));
    }

    private void failed(QuorateException cause) {
        halted = true;
        failed = true;
        events.failed(cause);
    }

    /** A snapshot without files: what it represents is in the listener's stores. */
    private record Taken(TermIndex termIndex) implements SnapshotInfo {
        @Override
        public TermIndex getTermIndex() {
            return termIndex;
        }

        @Override
        public List<FileInfo> getFiles() {
            return List.of();
        }
    }
}
