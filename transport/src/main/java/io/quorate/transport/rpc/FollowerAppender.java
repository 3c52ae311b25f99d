// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport.rpc;

import io.quorate.transport.rpc.RpcWire.Frame;
import java.io.IOException;
import java.util.Comparator;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotResult;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppenderBase;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.raftlog.RaftLogIOException;
import org.apache.ratis.util.LifeCycle;
import org.apache.ratis.util.Timestamp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the leader's log to one follower.
 *
 * <p><b>Who sends.</b> Whoever has something to send does it himself, if it is little: the thread that has appended an
 * entry, the one that has read an answer, the one that has applied an entry and lets followers know that it is
 * committed. What is much, or might have to wait, is left to the appender's own thread: making a connection, entries
 * that are read from disk, more bytes than a socket's buffer is sure to take. So nobody is held up by a follower that
 * takes nothing. Only one thread sends at a time; others leave word that it look once more. It alone changes what has
 * been sent and from where on.
 *
 * <p><b>What is in flight.</b> Up to {@link #IN_FLIGHT_MAX} requests with entries, as soon as the follower has taken
 * one on this connection. While one is in flight the next goes when an answer comes, or after {@link #APART_NANOS}, so
 * that entries which come close together share a message, and the follower a write to its disk. When a connection
 * breaks, what was unanswered is sent again; a follower passes over what it has.
 *
 * <p><b>Commits.</b> A follower applies what it knows to be committed, and learns that with the next entry or
 * heartbeat; after the last entry of a burst it would wait half a second for a heartbeat. Ratis' own remedy, {@code
 * log-metadata}, is one more log entry for each commit, written and flushed by every member. Here the next heartbeat is
 * sent early, to a follower that has acknowledged everything and doesn't know that it is committed: right away if the
 * entry was its own, because somebody may be waiting for it there; otherwise after {@link #NOTICE_NANOS}, and while
 * entries keep coming the next one tells.
 *
 * <p><b>What Ratis 3.3.0's appender does otherwise.</b> A follower whose log ends right before the beginning of the
 * leader's is asked to take a snapshot, answers that it has everything up to there, and is asked again, for ever. And
 * where a follower's log departs from the leader's, {@link DepartureSearch} finds the place.
 */
final class FollowerAppender extends LogAppenderBase {
    private static final Logger LOG = LoggerFactory.getLogger(FollowerAppender.class);
    private static final int IN_FLIGHT_MAX = 8;
    /** What may be unanswered for others than the appender's own thread to write; a socket's buffer takes more. */
    private static final long LITTLE_BYTES = 32 << 10;

    private static final int LITTLE_ENTRIES = 64;
    private static final long APART_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long NOTICE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    /** For so long after an entry the appender's own thread looks often, and needn't be woken for a notice. */
    private static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final int TRIES_SOON = 10;
    private static final long SOON_MILLIS = 20;
    /** A member that returns should not wait long for being tried again. */
    private static final long LATER_MILLIS = 500;

    private static final long ASK_AGAIN_MILLIS = 100;

    private final RpcSettings settings;
    private final Consumer<FollowerAppender> ended;
    private final DepartureSearch departure = new DepartureSearch();

    /** How often somebody has wanted to send since the present sender last looked; 0 if nobody is sending. */
    private final AtomicInteger wanted = new AtomicInteger();

    private final Semaphore wake = new Semaphore(0);
    /** What only the sender may do. */
    private final Queue<Runnable> turns = new ConcurrentLinkedQueue<>();

    private final Set<Sent> unanswered = ConcurrentHashMap.newKeySet();
    private final AtomicInteger unansweredData = new AtomicInteger();
    private final AtomicLong unansweredBytes = new AtomicLong();
    private volatile PeerLink.Connection connection;
    /** Whether the follower has taken entries on this connection, so that more may be sent before it answers. */
    private volatile boolean proven;

    private final AtomicInteger failures = new AtomicInteger();
    private volatile long sentNanos = System.nanoTime() - APART_NANOS;
    /** Whether the appender's own thread will look within {@link #APART_NANOS}. */
    private volatile boolean looksSoon;

    /** Whether it will look within {@link #NOTICE_NANOS}. */
    private volatile boolean looksForNotice;

    private volatile long againNanos = System.nanoTime();
    private volatile boolean silent;
    private long callId;
    private long askedNanos = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(ASK_AGAIN_MILLIS);
    /** The commit index that the follower has been sent; that isn't repeated while its reply is on the way. */
    private volatile long told = RaftLog.INVALID_LOG_INDEX;

    /** Up to where it is to be told at once. */
    private volatile long toldAtOnce = RaftLog.INVALID_LOG_INDEX;

    /** The first commit that it hasn't been told of, and when that was seen. */
    private volatile long owed = RaftLog.INVALID_LOG_INDEX;

    private volatile long owedNanos = System.nanoTime();

    FollowerAppender(
            RaftServer.Division server,
            LeaderState state,
            FollowerInfo follower,
            RpcSettings settings,
            Consumer<FollowerAppender> ended) {
        super(server, state, follower);
        this.settings = settings;
        this.ended = ended;
    }

    /** The follower waits for what is in the log by now: it is told at once when that is committed. */
    void awaited() {
        toldAtOnce = getRaftLog().getNextIndex() - 1;
    }

    /** An entry was applied by the leader, and so is committed. */
    void committed() {
        long committed = getRaftLog().getLastCommittedIndex();
        if (owed <= told) {
            owedNanos = System.nanoTime();
            owed = committed;
        }
        if (owesNotice()) {
            send();
        } else if (committed > told && !looksForNotice) {
            looksForNotice = true;
            wake.release();
        }
    }

    /** Ratis calls it when there are entries to send, or a heartbeat, or when the commit index has moved. */
    @Override
    public void notifyLogAppender() {
        send();
    }

    @Override
    public void run() throws InterruptedException, IOException {
        while (isRunning()) {
            long now = System.nanoTime();
            if (now - againNanos >= 0) {
                connect(now);
                askWhatItNeeds(now);
            }
            send(true);
            getLeaderState().checkHealth(getFollower());
            looksSoon = isTooSoon();
            looksForNotice =
                    System.nanoTime() - sentNanos < BUSY_NANOS || getRaftLog().getLastCommittedIndex() > told;
            wake.tryAcquire(waitNanos(), TimeUnit.NANOSECONDS);
            looksSoon = false;
            looksForNotice = false;
            wake.drainPermits();
        }
    }

    private long waitNanos() {
        if (looksSoon) {
            return APART_NANOS;
        }
        long nanos = TimeUnit.MILLISECONDS.toNanos(waitMillis());
        return looksForNotice ? Math.min(nanos, NOTICE_NANOS) : nanos;
    }

    private long waitMillis() {
        long wait = Math.max(1, getHeartbeatWaitTimeMs());
        long pause = TimeUnit.NANOSECONDS.toMillis(againNanos - System.nanoTime()) + 1;
        if (pause > 0) {
            return pause;
        }
        return shouldNotifyToInstallSnapshot() == null ? wait : Math.min(wait, ASK_AGAIN_MILLIS);
    }

    /** The present connection; null if there is none. */
    private PeerLink.Connection open() {
        PeerLink.Connection present = connection;
        return present != null && present.isOpen() ? present : null;
    }

    private void connect(long nowNanos) {
        if (open() != null) {
            return;
        }
        if (connection != null) {
            connection = null;
            failed(nowNanos, "the connection broke");
            if (nowNanos - againNanos < 0) {
                return;
            }
        }
        try {
            proven = false;
            connection = link().connect();
        } catch (IOException e) {
            failed(System.nanoTime(), e.toString());
        }
    }

    private PeerLink link() throws IOException {
        return ((RaftRpc.Service) getServerRpc()).link(getFollowerId());
    }

    private void failed(long nowNanos, String why) {
        int count = failures.incrementAndGet();
        againNanos = nowNanos
                + TimeUnit.MILLISECONDS.toNanos(count <= TRIES_SOON ? SOON_MILLIS * (count - 1) : LATER_MILLIS);
        if (count == TRIES_SOON && !silent) {
            silent = true;
            LOG.warn("{} can't reach {}: {}", getServer().getId(), getFollowerId(), why);
        }
    }

    /** Tells a follower that the log no longer has what it needs, which then gets it otherwise. */
    private void askWhatItNeeds(long nowNanos) {
        if (open() == null || nowNanos - askedNanos < TimeUnit.MILLISECONDS.toNanos(ASK_AGAIN_MILLIS)) {
            return;
        }
        TermIndex first = shouldNotifyToInstallSnapshot();
        if (first == null) {
            return;
        }
        askedNanos = nowNanos;
        try {
            getFollower().updateLastRpcSendTime(false);
            InstallSnapshotReplyProto reply =
                    getServerRpc().installSnapshot(newInstallSnapshotNotificationRequest(first));
            getFollower().updateLastRpcResponseTime();
            turns.add(() -> needs(reply));
        } catch (IOException e) {
            failed(System.nanoTime(), e.toString());
        }
    }

    private void needs(InstallSnapshotReplyProto reply) {
        FollowerInfo follower = getFollower();
        LOG.debug("{}: {} answers {}", getServer().getId(), follower.getName(), reply.getResult());
        switch (reply.getResult()) {
            case SUCCESS -> follower.setAttemptedToInstallSnapshot();
            case ALREADY_INSTALLED, SNAPSHOT_INSTALLED -> {
                long index = reply.getSnapshotIndex();
                follower.setSnapshotIndex(index);
                follower.setAttemptedToInstallSnapshot();
                getLeaderState().onFollowerCommitIndex(follower, index);
                follower.updateNextIndex(index + 1);
            }
            case SNAPSHOT_UNAVAILABLE -> {
                follower.setAttemptedToInstallSnapshot();
                getServer()
                        .getStateMachine()
                        .event()
                        .notifySnapshotInstalled(
                                InstallSnapshotResult.SNAPSHOT_UNAVAILABLE,
                                RaftLog.INVALID_LOG_INDEX,
                                follower.getPeer());
            }
            case NOT_LEADER -> onFollowerTerm(reply.getTerm());
            case IN_PROGRESS -> LOG.debug("{} gets it already", follower.getName());
            default -> LOG.warn("{}: {} answers {}", getServer().getId(), follower.getName(), reply.getResult());
        }
    }

    /** Sends what there is, if it is little and nobody is sending; otherwise somebody else will. */
    private void send() {
        try {
            send(false);
        } catch (IOException | RuntimeException e) {
            LOG.debug("{}: left to its own thread", this, e);
            wake.release();
        }
    }

    /** @param own whether this is the appender's own thread, which may wait */
    private void send(boolean own) throws IOException {
        if (wanted.getAndIncrement() != 0) {
            return;
        }
        boolean done = false;
        try {
            int seen;
            do {
                seen = wanted.get();
                sendAll(own);
            } while (wanted.addAndGet(-seen) != 0);
            done = true;
        } finally {
            if (!done) {
                wanted.set(0);
            }
        }
    }

    private void sendAll(boolean own) throws IOException {
        for (Runnable turn = turns.poll(); turn != null; turn = turns.poll()) {
            turn.run();
        }
        while (isRunning() && System.nanoTime() - againNanos >= 0) {
            boolean tooSoon = isTooSoon();
            boolean entries = !tooSoon && hasAppendEntries() && hasRoom() && shouldNotifyToInstallSnapshot() == null;
            if (!entries && getHeartbeatWaitTimeMs() > 0) {
                if (tooSoon && !looksSoon) {
                    looksSoon = true;
                    wakeUp(own);
                }
                return;
            }
            PeerLink.Connection on = open();
            if (on == null || (!own && isMuch())) {
                wakeUp(own);
                return;
            }
            AppendEntriesRequestProto request = newAppendEntriesRequest(callId++, !entries);
            if (request == null) {
                return;
            }
            if (!own && request.getSerializedSize() > LITTLE_BYTES) {
                wakeUp(false);
                return;
            }
            send(on, request);
        }
    }

    private void wakeUp(boolean own) {
        if (!own) {
            wake.release();
        }
    }

    private boolean isMuch() {
        return unansweredBytes.get() > LITTLE_BYTES
                || getRaftLog().getNextIndex() - getFollower().getNextIndex() > LITTLE_ENTRIES;
    }

    /** Whether there are entries that may share a message with those that come in the next moment. */
    private boolean isTooSoon() {
        return unansweredData.get() > 0
                && System.nanoTime() - sentNanos < APART_NANOS
                && hasAppendEntries()
                && hasRoom();
    }

    private boolean hasRoom() {
        int data = unansweredData.get();
        return data == 0 || (proven && data < IN_FLIGHT_MAX && unansweredBytes.get() < 2L * settings.messageBytesMax());
    }

    private void send(PeerLink.Connection on, AppendEntriesRequestProto request) {
        byte[] frame = RpcWire.frame(RpcWire.APPEND, 0, request);
        Sent sent = new Sent(request, frame.length);
        unanswered.add(sent);
        unansweredBytes.addAndGet(sent.bytes);
        if (!sent.isHeartbeat()) {
            sentNanos = System.nanoTime();
            unansweredData.incrementAndGet();
            getFollower().updateNextIndex(sent.last + 1);
        }
        resetHeartbeatTrigger();
        getFollower().updateLastRpcSendTime(sent.isHeartbeat());
        on.send(frame, sent);
    }

    /** Whether it was still unanswered. */
    private boolean remove(Sent sent) {
        if (!unanswered.remove(sent)) {
            return false;
        }
        unansweredBytes.addAndGet(-sent.bytes);
        if (!sent.isHeartbeat()) {
            unansweredData.decrementAndGet();
        }
        return true;
    }

    private void answered(Sent sent, AppendEntriesReplyProto reply) {
        boolean expected = remove(sent);
        FollowerInfo follower = getFollower();
        follower.updateLastRpcResponseTime();
        follower.updateLastRespondedAppendEntriesSendTime(sent.time);
        switch (reply.getResult()) {
            case SUCCESS -> {
                proven = expected || proven;
                reached();
                getLeaderState().onFollowerCommitIndex(follower, reply.getFollowerCommit());
                if (follower.updateMatchIndex(reply.getMatchIndex())) {
                    follower.updateNextIndex(reply.getMatchIndex() + 1);
                    getLeaderState().onFollowerSuccessAppendEntries(follower);
                }
            }
            case NOT_LEADER -> onFollowerTerm(reply.getTerm());
            case INCONSISTENCY -> {
                reached();
                if (expected) {
                    turns.add(() -> goBack(sent, reply));
                }
            }
            default -> LOG.warn("{}: {} answers {}", getServer().getId(), follower.getName(), reply.getResult());
        }
        getLeaderState().onAppendEntriesReply(this, reply);
        send();
    }

    private void reached() {
        failures.set(0);
        if (silent) {
            silent = false;
            LOG.info("{} reaches {} again", getServer().getId(), getFollowerId());
        }
    }

    /** The follower doesn't have what comes right before; what was sent after that is refused as well. */
    private void goBack(Sent sent, AppendEntriesReplyProto reply) {
        unanswered.forEach(this::remove);
        proven = false;
        getFollower().setNextIndex(getNextIndexForInconsistency(sent.first, reply.getNextIndex()));
    }

    /** There was no answer: sends that again. */
    private void takeBack(Sent sent) {
        if (remove(sent) && !sent.isHeartbeat()) {
            proven = false;
            FollowerInfo follower = getFollower();
            follower.computeNextIndex(next -> Math.max(follower.getMatchIndex() + 1, Math.min(next, sent.first)));
        }
    }

    private boolean owesNotice() {
        long committed = getRaftLog().getLastCommittedIndex();
        FollowerInfo follower = getFollower();
        boolean due = toldAtOnce > told || (owed > told && System.nanoTime() - owedNanos >= NOTICE_NANOS);
        return due
                && committed > told
                && committed > follower.getCommitIndex()
                && follower.getMatchIndex() >= committed
                && follower.getNextIndex() >= getRaftLog().getNextIndex()
                && !hasPendingDataRequests();
    }

    @Override
    public boolean hasPendingDataRequests() {
        return unansweredData.get() > 0;
    }

    /** Zero makes a heartbeat go now. */
    @Override
    public long getHeartbeatWaitTimeMs() {
        return owesNotice() ? 0 : super.getHeartbeatWaitTimeMs();
    }

    @Override
    public AppendEntriesRequestProto newAppendEntriesRequest(long call, boolean heartbeat) throws RaftLogIOException {
        AppendEntriesRequestProto request = super.newAppendEntriesRequest(call, heartbeat);
        if (request != null) {
            told = Math.max(told, request.getLeaderCommit());
        }
        return request;
    }

    @Override
    protected synchronized long getNextIndexForInconsistency(long requestFirst, long replyNext) {
        long next = super.getNextIndexForInconsistency(requestFirst, replyNext);
        // Before the log's second entry Ratis' own steps are kept: there the follower is asked whether it needs
        // entries that are gone.
        return departure.next(
                requestFirst,
                replyNext,
                next,
                getFollower().getMatchIndex(),
                getRaftLog().getStartIndex() + 1);
    }

    /**
     * Null, so that entries are sent, if the follower's checkpoint, and so everything that it knows to be committed,
     * ends right there.
     */
    @Override
    public TermIndex shouldNotifyToInstallSnapshot() {
        FollowerInfo follower = getFollower();
        long next = follower.getNextIndex();
        boolean hasAllBefore = next == getRaftLog().getStartIndex()
                && next == follower.getSnapshotIndex() + 1
                && follower.hasAttemptedToInstallSnapshot();
        return hasAllBefore ? null : super.shouldNotifyToInstallSnapshot();
    }

    @Override
    public long getCallId() {
        return callId;
    }

    @Override
    public Comparator<Long> getCallIdComparator() {
        return Comparator.naturalOrder();
    }

    @Override
    public CompletableFuture<LifeCycle.State> stopAsync() {
        ended.accept(this);
        CompletableFuture<LifeCycle.State> stopped = super.stopAsync();
        try {
            link().disconnect(); // The thread may be waiting for it, which no interrupt ends.
        } catch (IOException e) {
            LOG.debug("{} has no connection", this, e);
        }
        return stopped;
    }

    /** A request on its way. */
    private final class Sent implements PeerLink.Reply {
        private final long first;
        private final long last;
        private final int bytes;
        private final Timestamp time = Timestamp.currentTime();

        Sent(AppendEntriesRequestProto request, int bytes) {
            int count = request.getEntriesCount();
            first = count == 0
                    ? RaftLog.INVALID_LOG_INDEX
                    : request.getEntries(0).getIndex();
            last = count == 0
                    ? RaftLog.INVALID_LOG_INDEX
                    : request.getEntries(count - 1).getIndex();
            this.bytes = bytes;
        }

        boolean isHeartbeat() {
            return first == RaftLog.INVALID_LOG_INDEX;
        }

        @Override
        public void arrived(Frame frame) {
            AppendEntriesReplyProto reply;
            try {
                reply = RpcWire.parse(frame, AppendEntriesReplyProto.parser());
            } catch (IOException e) {
                failed(e);
                return;
            }
            answered(this, reply);
        }

        @Override
        public void failed(IOException why) {
            turns.add(() -> {
                takeBack(this);
                if (open() != null) { // It answers, but can't take this now.
                    FollowerAppender.this.failed(System.nanoTime(), why.getMessage());
                }
            });
            send();
            wake.release();
        }
    }
}
