// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.applier.PositionTable.Position;
import io.quorate.certification.OrderedStream;
import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
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
import io.quorate.transport.Lives;
import io.quorate.transport.NewLife;
import io.quorate.transport.PeerChannels;
import io.quorate.transport.RatisTotalOrder;
import io.quorate.transport.TransportSettings;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * When the majority is lost for good: here somebody has this node go on alone, in a new life of the cluster, or finds
 * out that another one did. A node left behind leaves the order at once. If what it holds is the beginning of what the
 * new life holds, it takes that over and asks to be a member; if not, it says so, and stays out.
 */
final class ForcedRecovery {
    private static final Logger log = LoggerFactory.getLogger(ForcedRecovery.class);

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

    ForcedRecovery(Join.Own own, Join.Others others, Server server, HistoryCheck history, Admission admission) {
        this.configured = own.configured();
        this.order = own.order();
        this.members = others.members();
        this.desk = others.desk();
        this.channels = others.channels();
        this.server = server;
        this.stores = own.stores();
        this.stream = own.stream();
        this.history = history;
        this.admission = admission;
        this.participation = own.participation();
    }

    /**
     * Makes this node the cluster, with all it holds of the order. What the missing ones alone hold is lost.
     *
     * @return why not, null when it is done
     */
    String force() {
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

    /** Leaves the order of the former life; nothing more is taken from this server. */
    void leave() throws InterruptedException {
        order.pause(Hold.LEFT);
        server.suspend();
    }

    /**
     * Takes over the cluster's new life, if what this node holds is a beginning of what the others hold.
     *
     * @return what it waits for; null when it is done, and the node is to ask to be a member
     * @throws QuorateException when it has a history of its own
     */
    String takeOver() throws IOException {
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
        admission.anew(answers);
        return null;
    }
}
