// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.core.TotalOrder.Quorum;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.util.LifeCycle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides whether this node is part of a primary component: whenever Ratis reports something and, because Ratis is slow
 * to notice silence, every {@link #TICK_MILLIS}. A leader needs a majority that has answered within {@code timeoutMax},
 * a follower a leader it has heard from within that time, and to which it can hand its entries. Both need an entry of
 * the leader's term applied here, which proves that a majority follows that leader and that this node holds what was
 * committed before.
 */
final class QuorumWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(QuorumWatch.class);
    private static final long TICK_MILLIS = 200;
    /** A failure that lasts this long doesn't come from a change of leader that was going on at the time. */
    private static final int FAILED_MAX = 25;

    private final TransportSettings settings;
    private final RaftServer.Division division;
    private final OrderStateMachine machine;
    private final Function<String, Unreachable> unreachable;
    private final Supplier<List<String>> refusals;
    private final LeaderReach reach;
    private final Consumer<Quorum> changed;
    private final Runnable each;
    private final BiConsumer<String, Throwable> broken;
    private final ScheduledExecutorService thread;
    private final AtomicBoolean asked = new AtomicBoolean();
    private volatile Quorum quorum = Quorum.NONE;
    /** When a majority was heard last. */
    private long heardNanos = System.nanoTime();

    private int failed;

    /**
     * @param unreachable says what keeps entries from that node, null when nothing does
     * @param refusals why peers that are there don't let this node in
     * @param changed is told of each change, in order, from one thread
     * @param each is run at every tick
     * @param broken is told when this can't go on: nobody would learn that the quorum is lost
     */
    QuorumWatch(
            TransportSettings settings,
            RaftServer.Division division,
            OrderStateMachine machine,
            Function<String, Unreachable> unreachable,
            Supplier<List<String>> refusals,
            Consumer<Quorum> changed,
            Runnable each,
            BiConsumer<String, Throwable> broken) {
        this.settings = settings;
        this.division = division;
        this.machine = machine;
        this.unreachable = unreachable;
        this.refusals = refusals;
        reach = new LeaderReach(settings.timeoutMax());
        this.changed = changed;
        this.each = each;
        this.broken = broken;
        thread = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread t = new Thread(task, "quorate-quorum");
            t.setDaemon(true);
            return t;
        });
    }

    void start() {
        var unused = thread.scheduleWithFixedDelay(() -> guarded(this::tick), 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
    }

    Quorum quorum() {
        return quorum;
    }

    /** The name of the leader Ratis knows of, null when none; newer than {@link #quorum}. */
    String leader() {
        RaftPeerId leader = division.getInfo().getLeaderId();
        return leader == null ? null : Membership.name(leader.toString());
    }

    /** Checks again soon; from any thread. */
    void look() {
        if (asked.compareAndSet(false, true)) {
            try {
                thread.execute(() -> guarded(this::evaluate));
            } catch (RejectedExecutionException e) {
                LOG.debug("closed", e);
            }
        }
    }

    /** From now on there is no quorum here. */
    void end() {
        thread.execute(() -> guarded(() -> become(Quorum.NONE)));
        thread.shutdown();
    }

    @Override
    public void close() {
        if (!thread.isShutdown()) {
            end();
        }
        try {
            if (!thread.awaitTermination(5, TimeUnit.SECONDS)) {
                LOG.warn("The listener for quorum changes is still busy");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void tick() {
        evaluate();
        each.run();
        failed = 0;
    }

    /** The executor would swallow an exception, and tick no more. */
    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (Throwable e) {
            if (e instanceof Error || ++failed == FAILED_MAX) {
                broken.accept("watching the quorum", e);
            } else {
                LOG.warn("Checking the quorum failed; it is tried again", e);
            }
        }
    }

    private void evaluate() {
        asked.set(false);
        become(now());
    }

    private void become(Quorum next) {
        Quorum before = quorum;
        if (before.equals(next)) {
            return;
        }
        quorum = next;
        if (before.primary() != next.primary()) {
            LOG.info(
                    "{} is {}: leader {}, term {}{}",
                    settings.self(),
                    next.primary() ? "primary" : "not primary",
                    next.leader(),
                    next.term(),
                    next.cutOff() == null ? "" : "; " + next.cutOff());
        }
        try {
            changed.accept(next);
        } catch (RuntimeException e) {
            broken.accept("the listener for quorum changes", e);
        }
    }

    private Quorum now() {
        DivisionInfo info = division.getInfo();
        long term = info.getCurrentTerm();
        String leader = info.getLifeCycleState() == LifeCycle.State.RUNNING ? leader() : null;
        reach.leads(leader, System.nanoTime());
        OptionalLong silentMillis = leader == null
                ? OptionalLong.empty()
                : info.isLeader() ? majoritySilent(info) : leaderSilent(info, leader);
        silentMillis.ifPresent(millis -> heardNanos = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(millis));
        boolean heard =
                silentMillis.orElse(Long.MAX_VALUE) <= settings.timeoutMax().toMillis();
        if (heard && machine.appliedTerm() == term) {
            return info.isLeader() ? new Quorum(true, leader, term) : reaching(leader, term);
        }
        return without(leader, term, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - heardNanos), refused(leader));
    }

    /** Nobody says who leads to a node that isn't let in. */
    private @Nullable String refused(@Nullable String leader) {
        return leader == null ? refusals.get().stream().findFirst().orElse(null) : null;
    }

    /** No quorum; how long it had been silent by then is said once, when it is lost. */
    private Quorum without(String leader, long term, long silentMillis, String cutOff) {
        return new Quorum(false, leader, term, quorum.primary() ? silentMillis : quorum.silentMillis(), cutOff);
    }

    private Quorum reaching(String leader, long term) {
        Unreachable cutOff = reach.cutOff(quorum.primary(), unreachable.apply(leader), System.nanoTime());
        return cutOff == null ? new Quorum(true, leader, term) : without(leader, term, cutOff.millis(), cutOff.why());
    }

    /** For how long this follower has heard nothing from the leader, in milliseconds. */
    private OptionalLong leaderSilent(DivisionInfo info, String leader) {
        RoleInfoProto role = info.getRoleInfoProto();
        // A node that has just stepped down still takes itself for the leader.
        return role.hasFollowerInfo() && !leader.equals(settings.self())
                ? OptionalLong.of(role.getFollowerInfo().getLeaderInfo().getLastRpcElapsedTimeMs())
                : OptionalLong.empty();
    }

    /** For how long this leader has heard nothing from a majority that includes it, in milliseconds. */
    private OptionalLong majoritySilent(DivisionInfo info) {
        int needed = division.getRaftConf().getCurrentPeers().size() / 2;
        if (needed == 0) {
            return OptionalLong.of(0);
        }
        RoleInfoProto role = info.getRoleInfoProto();
        if (!role.hasLeaderInfo()) {
            return OptionalLong.empty();
        }
        return role.getLeaderInfo().getFollowerInfoList().stream()
                .mapToLong(ServerRpcProto::getLastRpcElapsedTimeMs)
                .sorted()
                .skip(needed - 1)
                .findFirst();
    }
}
