// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import io.quorate.certification.OrderedStream;
import io.quorate.core.LogPosition;
import io.quorate.core.NodeState;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.core.TotalOrder;
import io.quorate.core.answer.NodeStatus;
import io.quorate.ist.CheckpointStore;
import io.quorate.ist.IncrementalTransfer;
import io.quorate.ist.WriteSetCache;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.order.PausableOrder;
import io.quorate.node.order.Rate;
import io.quorate.node.order.Stores;
import io.quorate.node.server.ApplyProgress;
import io.quorate.node.server.NodeIdentity;
import io.quorate.node.server.Server;
import io.quorate.node.server.ServerSession;
import io.quorate.node.server.WaitingCommits;
import io.quorate.node.thread.MonotonicClock;
import io.quorate.node.thread.NodeLoop;
import io.quorate.transport.AdmissionPlan.Holds;
import io.quorate.transport.Lives;
import io.quorate.transport.RatisTotalOrder;
import io.quorate.transport.TransportSettings.Peer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where this node stands among the others: what it reports to them about itself, and what follows from their reports.
 */
public final class Standing {
    private static final Logger log = LoggerFactory.getLogger(Standing.class);
    private static final Duration RATES_OVER = Duration.ofSeconds(5);
    /** Whoever is further behind than this says why. */
    private static final long LAG_MILLIS_TOLD = 500;

    private final NodeProperties properties;
    private final String directoryId;
    private final Stores stores;
    private final OrderedStream stream;
    private final ApplyProgress progress;
    private final NodeLoop loop;
    private final PausableOrder order;
    private final Server server;
    private final Participation participation;
    private final Members members;
    private final Admitted admitted;
    private final Supplier<Lives> lives;
    private final Supplier<List<TableName>> notGiven;
    private final Supplier<@Nullable Boolean> mayKeep;
    private final BooleanSupplier getsCopy;
    private final Supplier<@Nullable Boolean> runsEvents;
    private final FlowControl flow;
    private final Rate orderedRate = new Rate(RATES_OVER);
    private final Rate appliedRate = new Rate(RATES_OVER);
    private volatile boolean desynced;

    /**
     * @param lives the lives of the cluster, as far as this node knows
     * @param notGiven what {@link MemberReport#notGiven} says
     * @param mayKeep what {@link MemberReport#mayKeep} says
     * @param getsCopy whether this server gets a copy of another one's data, or waits for it
     * @param runsEvents what {@link MemberReport#runsEvents} says
     */
    public Standing(
            NodeProperties properties,
            String directoryId,
            Stores stores,
            OrderedStream stream,
            ApplyProgress progress,
            NodeLoop loop,
            PausableOrder order,
            Server server,
            Participation participation,
            Members members,
            Admitted admitted,
            Supplier<Lives> lives,
            Supplier<List<TableName>> notGiven,
            Supplier<@Nullable Boolean> mayKeep,
            BooleanSupplier getsCopy,
            Supplier<@Nullable Boolean> runsEvents,
            FlowControl flow) {
        this.properties = properties;
        this.directoryId = directoryId;
        this.stores = stores;
        this.stream = stream;
        this.progress = progress;
        this.loop = loop;
        this.order = order;
        this.server = server;
        this.participation = participation;
        this.members = members;
        this.admitted = admitted;
        this.lives = lives;
        this.notGiven = notGiven;
        this.mayKeep = mayKeep;
        this.getsCopy = getsCopy;
        this.runsEvents = runsEvents;
        this.flow = flow;
    }

    /** What this node reports to the others about itself. */
    public synchronized MemberReport report() {
        WriteSetCache cache = stores.cache();
        CheckpointStore.Checkpoint newest = stores.checkpoints().newest().orElse(null);
        long now = MonotonicClock.millis();
        RatisTotalOrder running = order.running();
        LogPosition end = running == null ? stream.resumeAfter() : running.logEnd();
        ServerSession session = server.session();
        admitted.used(members().stream().map(Peer::name).toList());
        WaitingCommits waiting = session == null ? WaitingCommits.NONE : session.waitingCommits();
        return new MemberReport(
                properties.node(),
                directoryId,
                participation.generation(),
                properties.zone(),
                properties.self().http(),
                server.address(),
                loop.state().name(),
                stream.lastOrdered(),
                progress.lastApplied(),
                orderedRate.at(now, stream.lastOrdered()),
                appliedRate.at(now, progress.lastApplied()),
                cache.first(),
                cache.last(),
                newest == null ? 0 : newest.seqno(),
                newest == null ? -1 : newest.position().index(),
                end.term(),
                end.index(),
                queue(),
                cause(),
                desynced,
                (long) waiting.count(),
                waiting.millis(),
                notGiven.get(),
                mayKeep.get(),
                flow.report(lastOrdered(), progress.lastApplied()),
                runsEvents.get(),
                admitted.report(),
                stream.self() == null ? null : stream.self().toString(),
                session == null ? null : session.version(),
                server.address() == null ? null : server.isDraining(),
                session == null ? null : session.autoIncrement());
    }

    private long queue() {
        return Math.max(0, lastOrdered() - progress.lastApplied());
    }

    /** The last seqno that is ordered, as far as this node knows. */
    private long lastOrdered() {
        return Math.max(leaderOrdered(), stream.lastOrdered());
    }

    /**
     * Why commits of clients, or writesets to be applied, wait here; null when the latter are few and young, and no
     * lock keeps them.
     */
    private String cause() {
        long waiting = queue();
        ServerSession session = server.session();
        String stalled = session == null ? null : session.stalled();
        if (stalled != null) {
            return stalled;
        }
        String blocker = session == null || waiting == 0 ? null : session.blockedBy();
        if (blocker != null) {
            return "apply waits for the locks of " + blocker;
        }
        boolean old = flow.lagMillis()
                >= Math.max(LAG_MILLIS_TOLD, properties.flow().lagTarget().toMillis() / 2);
        if (waiting <= properties.apply().syncedLagMax() && !old) {
            return null;
        }
        if (session == null) {
            return loop.reason().isEmpty() ? "its MySQL server is away" : loop.reason();
        }
        return "apply: " + appliedRate.last() + "/s, the order brings " + orderedRate.last() + "/s";
    }

    /** Says whether the others are not to wait for this node, however far behind it is. */
    public void desynced(boolean value) {
        desynced = value;
        log.info("{}", value ? "desynced: others don't wait for this node" : "resynced: this node counts again");
    }

    /** How many writesets are ordered and not applied here yet. */
    public long behind() {
        return queue();
    }

    /** How far behind this node is, and the rates of the last seconds, in words for people. */
    public String rates() {
        return queue() + " writesets behind, " + appliedRate.last() + "/s applied, " + orderedRate.last()
                + "/s ordered";
    }

    /** Why this node isn't SYNCED; while it catches up, also how long that will take. */
    String reason() {
        String reason = loop.reason();
        String closedBy = server.closedBy();
        if (loop.state().writable() && closedBy != null) {
            return "clients can't write: " + closedBy + " there; set it OFF";
        }
        long gained = appliedRate.last() - orderedRate.last();
        return loop.state() == NodeState.JOINED && gained > 0
                ? reason + ", " + appliedRate.last() + "/s applied, " + queue() / gained + " s left"
                : reason;
    }

    /** The state of this node. Takes no lock. */
    public NodeState state() {
        return loop.state();
    }

    /** Whether there is no majority in the midst of a change of the members. */
    public boolean isHeldByChange() {
        RatisTotalOrder running = order.running();
        TotalOrder.Quorum quorum = order.quorum();
        return running != null && running.isChangingMembers() && !quorum.primary() && quorum.cutOff() == null;
    }

    /** What keeps this node from others that are there; null when nothing does. Takes no lock. */
    public @Nullable String cutOff() {
        return order.quorum().cutOff();
    }

    /** Whether nobody waits for this node any more, so that its rows may be old. Takes no lock. */
    public boolean isLeftBehind() {
        return flow.isLeftBehind();
    }

    /** Whether the thread that owns the state of this node goes round. Takes no lock. */
    public boolean isTurning() {
        return loop.isTurning();
    }

    /** The state of this node, for people. */
    public NodeStatus status() {
        TotalOrder.Quorum quorum = order.quorum();
        long applied = progress.lastApplied();
        ServerSession session = server.session();
        return new NodeStatus(
                properties.node(),
                loop.state().name(),
                quorum.primary(),
                reason(),
                quorum.leader(),
                server.address(),
                session == null ? null : session.version(),
                properties.self().http(),
                stream.lastOrdered(),
                applied,
                applied >= stream.lastOrdered() ? 0 : progress.lagMicros() / 1000,
                flow.sentence(),
                flow.isLeftBehind(),
                properties.isOpen(),
                ProcessHandle.current().pid());
    }

    /**
     * The last seqno that is ordered according to the leader, because this node may have been handed only a part of the
     * order yet; -1 while the leader isn't heard.
     */
    public long leaderOrdered() {
        String leader = order.quorum().leader();
        if (properties.node().equals(leader)) {
            return stream.lastOrdered();
        }
        Members.Heard heard = leader == null ? null : members.all().get(leader);
        return heard == null || !heard.isFresh()
                ? -1
                : Math.max(stream.lastOrdered(), heard.report().ordered());
    }

    /** The members as far as this node knows, even while it takes no part in the order. */
    public List<Peer> members() {
        RatisTotalOrder running = order.running();
        if (running != null) {
            return running.members();
        }
        return participation.peers();
    }

    /** Whether a node of that name is a member, as far as this node knows. Any thread. */
    public boolean isMember(String node) {
        return members().stream().anyMatch(member -> member.name().equals(node));
    }

    /** The members that are away, with the last seqno each of them is known to have. */
    public Map<String, Long> absent() {
        Map<String, Members.Heard> heard = members.all();
        Map<String, Long> absent = new HashMap<>();
        for (Peer member : members()) {
            Members.Heard last = heard.get(member.name());
            if (last != null && !last.isFresh()) {
                absent.put(member.name(), last.report().cacheLast());
            }
        }
        return absent;
    }

    /** What the other nodes that are present could give to this node. */
    public List<IncrementalTransfer.Offer> offers() {
        return members.present().stream()
                .map(m -> offer(m, m.zone().equals(properties.zone()) ? 0 : 1))
                .toList();
    }

    /** What the nodes that have answered could give. */
    public static List<IncrementalTransfer.Offer> offers(List<Membership> answers) {
        return answers.stream().map(a -> offer(a.report(), 0)).toList();
    }

    private static IncrementalTransfer.Offer offer(MemberReport m, int distance) {
        return new IncrementalTransfer.Offer(
                m.node(), distance, m.cacheFirst(), m.cacheLast(), m.checkpoint(), m.checkpointIndex());
    }

    /** What this node answers when it is asked about the members. */
    public Membership membership() {
        // Before what its server holds. A node that begins with a copy first says no more that it has nothing, then it
        // begins; read the other way round, it would have begun with nothing, as those do who all have nothing.
        List<Peer> known = members();
        Holds holds = null;
        try {
            NodeIdentity identity = NodeIdentity.read(properties.dataDir(), properties.cluster(), properties.node());
            if (identity != null) {
                holds = identity.foundedEmpty() ? Holds.NOTHING : Holds.TABLES;
            } else if (!getsCopy.getAsBoolean()) {
                holds = server.holds();
            }
        } catch (QuorateException e) {
            log.warn("{}", e.getMessage());
        }
        return new Membership(
                properties.node(), order.quorum().leader(), known, lives.get(), members.directories(), holds, report());
    }
}
