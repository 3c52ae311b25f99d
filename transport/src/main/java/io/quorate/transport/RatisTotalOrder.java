// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.core.Entry;
import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.OrderListener;
import io.quorate.core.QuorateException;
import io.quorate.core.TotalOrder;
import io.quorate.transport.rpc.RaftRpc;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.CommitInfoProto;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.util.ExitUtils;
import org.apache.ratis.util.LifeCycle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The total order on Apache Ratis. An entry is submitted on any node and travels over our own channel to the leader,
 * which appends it to its log without a client in between; Ratis replicates it to a majority, and each node applies it.
 *
 * <p>Large entries travel in fragments and are put together again before they are delivered; see {@link Reassembly}.
 *
 * <p>Futures of {@link #submit} complete on threads of the transport, often the one that applies the log: whatever
 * depends on them must be short or asynchronous.
 *
 * <p>Ratis logs much at INFO: set {@code org.apache.ratis} to WARN, and {@code org.apache.ratis.server.leader}, which
 * warns all the time while a member is away, to ERROR.
 */
public final class RatisTotalOrder implements TotalOrder {
    private static final Logger LOG = LoggerFactory.getLogger(RatisTotalOrder.class);
    /** When the others have dismissed this node, that is reported a moment after Ratis has stopped because of it. */
    private static final int WORD_TICKS = 25;

    /** How long the member that is to lead may take to have all entries. */
    private static final Duration LEAD_MAX = Duration.ofSeconds(5);

    /** How often a node without a leader greets its peers, to find out whether they are of its cluster. */
    private static final long GREET_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** How many times the longest election an entry may stay unfinished without anything more of it. */
    private static final long UNFINISHED_TIMEOUTS = 20;

    private final TransportSettings settings;
    private final OrderListener listener;
    private final OrderStateMachine machine;
    private final RatisServer held;
    private final RaftServer server;
    private final RaftServer.Division division;
    private final QuorumWatch watch;
    private final RaftRpc rpc;
    private final StuckFollowers stuckFollowers;
    private final LeaderLog log;
    private final Submitter submitter;
    private final UnfinishedEntries unfinished;
    private final PeerChannels channels;
    private final Lives lives;
    private final boolean ownsChannels;
    private final MemberChanges changes;
    private volatile List<TransportSettings.Peer> known;
    private volatile boolean left;
    private volatile @Nullable TermIndex lastKnown;
    private final AtomicReference<QuorateException> failure = new AtomicReference<>();
    private final AtomicReference<Thread> closing = new AtomicReference<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private long greetedNanos = System.nanoTime();
    private int ticks;
    private int finishedTicks;
    private int silentTicks;
    private String lastLeader;

    /**
     * Starts this node's part: checks its log, opens its ports and begins to deliver. Does not wait for a quorum; peers
     * may start in any order.
     *
     * @throws QuorateException CONFIGURATION for wrong settings or ports in use, LOG_UNREADABLE for a damaged log, DISK
     */
    public static RatisTotalOrder start(TransportSettings settings, OrderListener listener, PeerChannels channels) {
        return new RatisTotalOrder(settings, listener, channels);
    }

    /** The same, with connections of its own. */
    public static RatisTotalOrder start(TransportSettings settings, OrderListener listener) {
        return new RatisTotalOrder(settings, listener, null);
    }

    private RatisTotalOrder(TransportSettings settings, OrderListener listener, PeerChannels given) {
        this.settings = settings;
        this.listener = listener;
        tameRatis();
        PeerChannels opened = null;
        QuorumWatch looking = null;
        ownsChannels = given == null;
        held = claim();
        try {
            lives = settings.lives();
            if (!settings.joining() && !settings.wasMember()) {
                Membership.write(settings.directory(), settings.peers(), lives);
            }
            probePort(settings.selfPeer());
            LogPosition resumeAfter = listener.resumeAfter();
            ForcedLife.complete(settings, resumeAfter);
            LogCheck.run(RaftSettings.segments(settings), resumeAfter);
            machine = new OrderStateMachine(
                    listener,
                    resumeAfter,
                    settings.directory().resolve("reassembly"),
                    settings.checkpointEntries(),
                    new MachineEvents());
            if (given == null) {
                opened = PeerChannels.forOrderAlone(settings);
            }
            channels = given == null ? opened : given;
            RaftProperties properties = RaftSettings.properties(settings);
            rpc = new RaftRpc(RaftSettings.rpc(settings, lives, channels::isMember));
            Parameters parameters = rpc.install(properties);
            RaftServer.Builder builder = RaftServer.newBuilder()
                    .setServerId(Membership.id(settings.selfPeer()))
                    .setGroup(RaftSettings.group(settings))
                    .setOption(RaftStorage.StartupOption.RECOVER)
                    .setProperties(properties)
                    .setParameters(parameters)
                    .setStateMachineRegistry(id -> machine);
            server = held.open(builder, RaftSettings.groupId(settings, lives), machine);
            division = held.division();
            machine.purgeOnly(this::purgeable);
            watch = new QuorumWatch(
                    settings,
                    division,
                    machine,
                    channels::unreachable,
                    channels::refusals,
                    listener::quorumChanged,
                    this::eachTick,
                    this::broken);
            looking = watch;
            log = new LeaderLog(division);
            changes = new MemberChanges(server, division, settings.timeoutMax());
            stuckFollowers = new StuckFollowers(settings, changes, division);
            known = settings.joining() ? List.of() : settings.peers();
            submitter = new Submitter(settings, new LeaderRoute(), cause -> broken("the thread that submits", cause));
            unfinished = new UnfinishedEntries(
                    UNFINISHED_TIMEOUTS * settings.timeoutMax().toNanos(),
                    () -> machine.getLastAppliedTermIndex().getIndex(),
                    () -> division.getRaftLog().getLastCommittedIndex(),
                    frame -> {
                        var unused = submitter.forward(frame);
                    });
            held.start();
            // Nothing of what comes now can fail; a start that does leaves no thread, and takes no entries.
            submitter.start();
            channels.entries(this::forwarded);
            watch.start();
        } catch (Exception e) {
            throw unwind(e, held, looking, opened);
        }
        LOG.info(
                "{} takes part in the order of cluster {} on {}:{}, after {}",
                settings.self(),
                settings.cluster(),
                settings.selfPeer().host(),
                settings.selfPeer().raftPort(),
                machine.getLastAppliedTermIndex());
    }

    @Override
    public CompletableFuture<Void> submit(Entry entry) {
        QuorateException failed = failure.get();
        return failed != null ? CompletableFuture.failedFuture(failed) : submitter.submit(entry);
    }

    @Override
    public Quorum quorum() {
        return watch.quorum();
    }

    /** Ratis' division for this order. */
    RaftServer.Division division() {
        return division;
    }

    /** What carries entries to the leader. */
    PeerChannels channels() {
        return channels;
    }

    /** What stopped the order at this node, null while it runs. */
    public QuorateException failure() {
        return failure.get();
    }

    /**
     * Makes this node alone the cluster, in a new life of it, although a majority of the members is missing: all that
     * it holds of the order stays, and what only the others hold is lost. For a majority that is lost for good. It
     * takes effect at the next start.
     *
     * @param settings with this node as it took part; it must not take part any more
     * @throws QuorateException DISK
     */
    public static void beginNewLife(TransportSettings settings) {
        RatisServer held = RatisServer.claim(settings.directory(), (thread, cause) -> {});
        try {
            ForcedLife.decide(settings);
        } catch (IOException e) {
            throw new QuorateException(ErrorCode.DISK, settings.directory() + ": " + e, e);
        } finally {
            held.close();
        }
    }

    /** The last entry of this node's log, whether a majority has confirmed it or not. */
    public LogPosition logEnd() {
        TermIndex last = lastEntry();
        LogPosition applied = new LogPosition(
                machine.getLastAppliedTermIndex().getTerm(),
                machine.getLastAppliedTermIndex().getIndex());
        return last == null || last.getIndex() < applied.index()
                ? applied
                : new LogPosition(last.getTerm(), last.getIndex());
    }

    /** A log that is being closed answers no more; whoever asks has the order from before that. */
    private @Nullable TermIndex lastEntry() {
        try {
            TermIndex last = division.getRaftLog().getLastEntryTermIndex();
            lastKnown = last;
            return last;
        } catch (IllegalStateException e) {
            return lastKnown;
        }
    }

    /** Counters and gauges; cheap enough for a scrape, but not for every entry. */
    public TransportStats stats() {
        RaftLog raft = division.getRaftLog();
        TermIndex last = lastEntry();
        return new TransportStats(
                submitter.submittedEntries(),
                submitter.submittedBytes(),
                submitter.failedEntries(),
                submitter.inFlightBytes(),
                submitter.forwardedEntries(),
                machine.deliveredEntries(),
                machine.deliveredBytes(),
                machine.abandonedEntries(),
                machine.getLastAppliedTermIndex().getIndex(),
                raft.getLastCommittedIndex(),
                raft.getStartIndex(),
                last == null ? raft.getSnapshotIndex() : last.getIndex(),
                followers(),
                channels.connects(),
                channels.refusedConnections(),
                channels.malformedMessages());
    }

    /**
     * The members as this node knows them now; empty while it waits to become one. Whoever is being taken out is one
     * until that is done.
     */
    public List<TransportSettings.Peer> members() {
        RaftConfiguration configured = division.getRaftConf();
        List<TransportSettings.Peer> next = Membership.fromRaft(configured.getCurrentPeers());
        List<TransportSettings.Peer> former = Membership.fromRaft(configured.getPreviousPeers());
        List<TransportSettings.Peer> now = Membership.union(next, former);
        if (now.isEmpty() || now.equals(known)) {
            return known;
        }
        synchronized (changes) {
            if (now.equals(known)) {
                return known;
            }
            // While a change is under way, a majority of the former members may need this node.
            boolean within = next.contains(settings.selfPeer()) || former.contains(settings.selfPeer());
            boolean before = known.contains(settings.selfPeer());
            if (!within && !before) {
                return known; // Others of an older configuration, which is being read again.
            }
            LOG.info("the members are {}{}", now, former.isEmpty() ? "" : ", soon " + next);
            left = !within;
            know(now);
        }
        return now;
    }

    private void know(List<TransportSettings.Peer> members) {
        known = members;
        channels.members(members);
        try {
            Membership.write(settings.directory(), members, lives);
        } catch (IOException e) {
            LOG.warn(
                    "The members can't be written to disk; after a restart the previous ones are asked: {}",
                    e.toString());
        }
    }

    /** Who was taken out doesn't see the entry that says so: nothing is sent to it any more. */
    private void dismissed() {
        synchronized (changes) {
            if (known.contains(settings.selfPeer())) {
                know(known.stream()
                        .filter(peer -> !peer.equals(settings.selfPeer()))
                        .toList());
            }
        }
    }

    /**
     * Makes a node a member, in place of the one of its name. It must be running already, as a joining node, and is
     * counted for majorities as soon as it has caught up.
     *
     * @return completes when that is so; fails with NO_QUORUM when this node doesn't lead, with ORDER_INTERRUPTED when
     *     the change didn't succeed, which may be tried again
     */
    public CompletableFuture<Void> add(TransportSettings.Peer added) {
        return changes.change(with -> {
            with.removeIf(peer -> peer.name().equals(added.name()));
            with.add(added);
        });
    }

    /**
     * Takes a member out. Otherwise like {@link #add}; waits a moment for the others, to know who is there.
     *
     * @param force does so also where the others alone are no majority; otherwise that fails
     */
    public CompletableFuture<Void> remove(String name, boolean force) {
        return changes.remove(name, force);
    }

    /** Whether a change of the members is begun and not done: it takes a majority of both, the former and the new. */
    public boolean isChangingMembers() {
        return !division.getRaftConf().getPreviousPeers().isEmpty();
    }

    /**
     * Hands the leadership to that member, which has to be level with this one by then.
     *
     * @return completes when it leads; fails with NO_QUORUM when this node doesn't lead, with ORDER_INTERRUPTED when it
     *     didn't succeed, which may be tried again
     */
    public CompletableFuture<Void> lead(String name) {
        return changes.lead(name, LEAD_MAX);
    }

    /**
     * Leaves the order. After it returns nothing more is delivered; before that, a last checkpoint is taken.
     * Idempotent. It must not be called from within {@link OrderListener#deliver}, because it waits for that to end.
     */
    @Override
    public void close() {
        if (!closing.compareAndSet(null, Thread.currentThread())) {
            if (closing.get() != Thread.currentThread()) {
                closed.join();
            }
            return;
        }
        try {
            if (failure.get() == null) {
                giveLeadershipAway();
            }
            machine.halt();
            submitter.close();
            channels.entries(null);
            held.close();
            watch.close();
            if (ownsChannels) {
                channels.close();
            }
        } catch (RuntimeException e) {
            LOG.warn("The order did not close cleanly", e);
        } finally {
            closed.complete(null);
        }
    }

    private void broken(String thread, Throwable cause) {
        failed(new QuorateException(ErrorCode.ORDER_STOPPED, thread + " ended because of " + cause, cause));
    }

    /** The first failure stops this node's part in the order; the owner decides what becomes of the process. */
    private void failed(QuorateException cause) {
        if (closing.get() != null || !failure.compareAndSet(null, cause)) {
            return;
        }
        if (cause.code() == ErrorCode.ORDER_TOO_FAR_BEHIND || cause.code() == ErrorCode.NOT_A_MEMBER) {
            LOG.info("The order stops at {}: {}", settings.self(), cause.getMessage());
        } else {
            LOG.error("The order stops at {}: {}", settings.self(), cause.getMessage(), cause);
        }
        // On a thread of its own, because closing may wait for the present one.
        Thread end = new Thread(
                () -> {
                    try {
                        listener.orderFailed(cause);
                    } finally {
                        close();
                    }
                },
                "quorate-order-failed");
        end.setDaemon(true);
        try {
            end.start();
        } catch (Error e) { // No thread to be had. Whoever is told will close.
            LOG.error("The order at {} can't be closed yet", settings.self(), e);
            listener.orderFailed(cause);
        }
    }

    private CompletableFuture<Answer> forwarded(byte[] frame) {
        if (!division.getInfo().isLeader()) {
            return CompletableFuture.completedFuture(Answer.notLeader(watch.leader()));
        }
        EntryFrame decoded = EntryFrame.decode(ByteBuffer.wrap(frame));
        if (decoded.count() == 1) {
            listener.check(decoded.submitter(), decoded.body());
        } else if (decoded.index() == 0) {
            listener.checkBeginning(decoded.submitter(), decoded.body());
        }
        return submitter.forward(frame);
    }

    private void eachTick() {
        members();
        lookWhetherLeft();
        if (left) {
            failed(new QuorateException(ErrorCode.NOT_A_MEMBER, settings.self() + " was taken out of the cluster"));
        }
        requireRunning();
        String leader = watch.leader();
        channels.checkAnswers();
        long now = System.nanoTime();
        stuckFollowers.look(now);
        unfinished.look(division.getInfo().isLeader(), machine.unfinished(), now);
        if (leader == null && now - greetedNanos > GREET_NANOS) {
            greetedNanos = now;
            channels.greet();
        }
        reach(leader);
    }

    /** Where nodes have certificates, nobody talks to one that was taken out, so nobody dismisses it either. */
    private void lookWhetherLeft() {
        RaftConfiguration configured = division.getRaftConf();
        boolean leaving = !configured.getPreviousPeers().isEmpty()
                && !Membership.fromRaft(configured.getCurrentPeers()).contains(settings.selfPeer());
        if (!leaving || watch.quorum().primary()) {
            silentTicks = 0;
        } else if (++silentTicks >= WORD_TICKS) {
            dismissed();
            left = true;
        }
    }

    /** Keeps a connection with whoever leads. */
    private void reach(String leader) {
        boolean another = !Objects.equals(lastLeader, leader);
        if (another && lastLeader != null) {
            channels.leaderNoMore(lastLeader);
        }
        lastLeader = leader;
        if (another && leader != null) {
            channels.leads(leader);
        } else if (leader != null) {
            channels.stillLeads(leader);
        }
    }

    /** Ratis silently ends its threads, and sometimes itself; only a log that can't be written was reported before. */
    private void requireRunning() {
        ticks++;
        if (machine.dismissed()) {
            dismissed();
            failed(new QuorateException(
                    ErrorCode.NOT_A_MEMBER,
                    "Ratis has stopped, because the others don't count this node as a member any more"));
        } else if (!machine.finished() || division.getInfo().getLifeCycleState() == LifeCycle.State.RUNNING) {
            finishedTicks = 0;
        } else if (++finishedTicks == WORD_TICKS) {
            failed(new QuorateException(ErrorCode.ORDER_STOPPED, "Ratis has stopped by itself; its log says why"));
        }
        // In this sequence, because a server that closes says so before it ends that thread.
        if (ticks % WORD_TICKS == 0
                && !held.writes()
                && division.getInfo().getLifeCycleState() == LifeCycle.State.RUNNING) {
            failed(new QuorateException(ErrorCode.ORDER_STOPPED, "the thread that writes the order's log has ended"));
        }
    }

    /** If this node leads, makes another member lead, and waits for it. */
    void giveLeadershipAway() {
        changes.giveLeadershipAway(settings.timeoutMax());
    }

    /**
     * Up to what every member holds. When an absent member makes that too much for this disk, also what the absent one
     * lacks, because that is in the writeset caches too.
     */
    private long purgeable() {
        try {
            return Math.max(everyMemberHas(), LogFiles.beyond(RaftSettings.segments(settings), settings.logBytesMax()));
        } catch (IOException e) {
            LOG.warn("The size of the order's log can't be found out: {}", e.toString());
            return everyMemberHas();
        }
    }

    /**
     * Up to right before the last entry that every member is known to hold, because what is sent after that entry
     * refers to it; -1 as long as a member has not been heard of. Ratis would ignore such members, but they are the
     * absent ones that need the log.
     */
    private long everyMemberHas() {
        long least = Long.MAX_VALUE;
        int known = 0;
        for (CommitInfoProto member : division.getCommitInfos()) {
            least = Math.min(least, member.getCommitIndex());
            known++;
        }
        return known < division.getRaftConf().getCurrentPeers().size() ? RaftLog.INVALID_LOG_INDEX : least - 1;
    }

    private Map<String, Long> followers() {
        Map<String, Long> followers = new LinkedHashMap<>();
        if (division.getInfo().isLeader()) {
            division.getCommitInfos()
                    .forEach(member -> followers.put(
                            Membership.name(member.getServer().getId().toStringUtf8()), member.getCommitIndex()));
            followers.remove(settings.self());
        }
        return followers;
    }

    /** Ratis would end the process when a port is in use, and when any of its threads meets an uncaught exception. */
    private static synchronized void tameRatis() {
        Thread.UncaughtExceptionHandler ours = Thread.getDefaultUncaughtExceptionHandler();
        ExitUtils.disableSystemExit();
        ExitUtils.setTerminateOnUncaughtException(false);
        Thread.setDefaultUncaughtExceptionHandler(ours);
    }

    /** Tried first, because Ratis hides why it could not open its port. */
    private static void probePort(TransportSettings.Peer self) throws IOException {
        try (ServerSocket probe = new ServerSocket()) {
            probe.setReuseAddress(true);
            probe.bind(new InetSocketAddress(self.host(), self.raftPort()));
        } catch (BindException e) {
            throw new QuorateException(
                    ErrorCode.CONFIGURATION,
                    "can't listen on " + self.host() + ":" + self.raftPort() + " for Raft: " + e.getMessage(),
                    e);
        }
    }

    /** Identity comes first, so that a wrong directory is told from one that is in use. */
    private RatisServer claim() {
        try {
            Identity.claim(settings);
        } catch (IOException e) {
            throw new QuorateException(ErrorCode.DISK, "the order's log can't be opened: " + e, e);
        }
        return RatisServer.claim(settings.directory(), this::broken);
    }

    private static QuorateException unwind(
            Exception e, RatisServer held, @Nullable QuorumWatch watch, @Nullable PeerChannels opened) {
        held.close();
        if (watch != null) {
            // Ratis may have told it of something already.
            watch.close();
        }
        if (opened != null) {
            opened.close();
        }
        Throwable cause = e;
        while (cause instanceof CompletionException || cause instanceof UncheckedIOException) {
            cause = cause.getCause();
        }
        if (cause instanceof QuorateException known) {
            return known;
        }
        return new QuorateException(ErrorCode.DISK, "the order's log can't be opened: " + cause, e);
    }

    private final class MachineEvents implements OrderStateMachine.Events {
        @Override
        public void quorumMayHaveChanged() {
            if (watch != null) {
                watch.look();
            }
        }

        @Override
        public void applied() {
            rpc.committed();
        }

        @Override
        public void failed(QuorateException cause) {
            RatisTotalOrder.this.failed(cause);
        }
    }

    private final class LeaderRoute implements Submitter.Route {
        @Override
        public String leader() {
            return watch.leader();
        }

        @Override
        public CompletableFuture<Answer> send(String leader, byte[] frame) {
            if (!leader.equals(settings.self())) {
                return channels.send(leader, frame);
            }
            CompletableFuture<Answer> answer = log.append(frame);
            String submitter = EntryFrame.submitter(ByteBuffer.wrap(frame));
            rpc.awaited(follower -> submitter.equals(Membership.name(follower.toString())));
            return answer;
        }
    }
}
