// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.applier.PositionTable.Position;
import io.quorate.certification.OrderedStream;
import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.NodeEvent;
import io.quorate.core.QuorateException;
import io.quorate.core.Retry;
import io.quorate.ist.HistoryCheck;
import io.quorate.node.member.MemberDesk;
import io.quorate.node.member.MemberReport;
import io.quorate.node.member.Members;
import io.quorate.node.member.Membership;
import io.quorate.node.member.Participation;
import io.quorate.node.member.Standing;
import io.quorate.node.order.PausableOrder;
import io.quorate.node.order.PausableOrder.Hold;
import io.quorate.node.order.Stores;
import io.quorate.node.server.Server;
import io.quorate.node.thread.FaultHandler;
import io.quorate.node.thread.OwnedThread;
import io.quorate.transport.Lives;
import io.quorate.transport.NewLife;
import io.quorate.transport.PeerChannels;
import io.quorate.transport.RatisTotalOrder;
import io.quorate.transport.TransportSettings;
import io.quorate.transport.TransportSettings.Peer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * When the majority is lost for good: here somebody has this node go on alone, in a new life of the cluster, or finds out that another
 * one did. A node left behind leaves the order at once. If what it holds is the beginning of what the new life holds, it takes
 * that over and asks to be a member; if not, it says so, and stays out.
 */
public final class ForcedRecovery implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ForcedRecovery.class);
    private static final Retry.Policy TAKE_OVER = Retry.Policy.unbounded(
            "only the others can say whether it may take part again, and the node has nothing else to do",
            Duration.ofSeconds(1));

    private final TransportSettings configured;
    private final PausableOrder order;
    private final Members members;
    private final MemberDesk desk;
    private final PeerChannels channels;
    private final Server server;
    private final Stores stores;
    private final OrderedStream stream;
    private final HistoryCheck history;
    private final Admission admission;
    private final Participation participation;
    private final Consumer<NodeEvent> events;
    private final FaultHandler faults;
    private OwnedThread thread;
    /** Whether it has been found to have a history of its own. */
    private boolean refused;

    public ForcedRecovery(
            TransportSettings configured,
            PausableOrder order,
            Members members,
            MemberDesk desk,
            PeerChannels channels,
            Server server,
            Stores stores,
            OrderedStream stream,
            HistoryCheck history,
            Admission admission,
            Participation participation,
            Consumer<NodeEvent> events,
            FaultHandler faults) {
        this.configured = configured;
        this.order = order;
        this.members = members;
        this.desk = desk;
        this.channels = channels;
        this.server = server;
        this.stores = stores;
        this.stream = stream;
        this.history = history;
        this.admission = admission;
        this.participation = participation;
        this.events = events;
        this.faults = faults;
    }

    /**
     * Makes this node the cluster, with all it holds of the order. What the missing ones alone hold is lost.
     *
     * @return why not, null when it is done
     */
    public synchronized String force() {
        RatisTotalOrder running = order.running();
        Map<String, LogPosition> others =
                members.present().stream().collect(Collectors.toMap(MemberReport::node, MemberReport::logEnd));
        String refusal = NewLife.refusal(order.quorum(), running == null ? null : running.logEnd(), others);
        if (refusal != null) {
            return refusal;
        }
        order.pause(Hold.LEFT);
        try {
            RatisTotalOrder.beginNewLife(participation.toStart());
            admission.alone();
            channels.lives(configured.lives());
            channels.members(participation.peers());
        } finally {
            order.resume(Hold.LEFT);
        }
        return null;
    }

    /** A peer says that this node is of a former life of the cluster. Returns at once. */
    public synchronized void former(Peer by, String why) {
        if (thread != null || refused || !configured.wasMember()) {
            return; // One that is no member yet learns of it by asking.
        }
        log.warn("{}: {}", by.name(), why);
        thread = OwnedThread.task("quorate-former-life", () -> leaveBehind(why), faults)
                .start();
    }

    private void leaveBehind(String why) throws IOException, InterruptedException {
        try {
            events.accept(new NodeEvent.Left(new QuorateException(ErrorCode.FORMER_LIFE, why).getMessage()));
            order.pause(Hold.LEFT);
            server.suspend();
            Retry retry = new Retry(TAKE_OVER, System.nanoTime());
            for (String obstacle; (obstacle = takeOver()) != null; ) {
                events.accept(new NodeEvent.Left(
                        new QuorateException(ErrorCode.FORMER_LIFE, why + "; " + obstacle).getMessage()));
                Retry.Next next = retry.failed(obstacle, System.nanoTime());
                if (next.tell()) {
                    log.warn("not taking over the cluster's new life yet: {}", obstacle);
                }
                Thread.sleep(next.pauseMillis());
            }
        } catch (QuorateException e) {
            synchronized (this) {
                refused = true;
            }
            log.error("this node stays out of the cluster's new life: {}", e.getMessage());
            events.accept(new NodeEvent.Left(e.getMessage()));
        } finally {
            synchronized (this) {
                thread = null;
            }
        }
    }

    /** @return what it waits for, null when it is done */
    private String takeOver() throws IOException {
        Lives ours = configured.lives();
        List<Membership> all = desk.askAll(configured.knownMembersAndSelf());
        Lives theirs =
                NewLife.successor(ours, all.stream().map(Membership::lives).toList());
        if (theirs == null) {
            return "nobody of the new life answers";
        }
        List<Membership> answers =
                all.stream().filter(a -> a.lives().equals(theirs)).toList();
        try {
            Position position = server.contents().position();
            history.require(
                    Standing.offers(answers),
                    position.seqno(),
                    position.log(),
                    TimeUnit.NANOSECONDS.toMillis(System.nanoTime()));
        } catch (IOException e) {
            return e.getMessage();
        } catch (QuorateException e) {
            if (e.code().kind() == ErrorCode.Kind.FATAL) {
                throw e;
            }
            return e.detail();
        }
        log.info(
                "what this node holds is the beginning of what the cluster holds in life {}; taking it over",
                theirs.name());
        stores.forget(stream);
        configured.takeOver(theirs);
        channels.lives(theirs);
        members.forget();
        channels.members(answers.get(0).members());
        admission.joinAnew(answers);
        return null;
    }

    @Override
    public void close() {
        OwnedThread running;
        synchronized (this) {
            running = thread;
        }
        if (running != null) {
            running.close();
        }
    }
}
