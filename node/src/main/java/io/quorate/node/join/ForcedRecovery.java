// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.core.LogPosition;
import io.quorate.node.copy.ServerCopy;
import io.quorate.node.member.Admitted;
import io.quorate.node.member.MemberReport;
import io.quorate.node.member.Members;
import io.quorate.node.member.Participation;
import io.quorate.node.order.PausableOrder;
import io.quorate.node.order.PausableOrder.Hold;
import io.quorate.transport.NewLife;
import io.quorate.transport.PeerChannels;
import io.quorate.transport.RatisTotalOrder;
import io.quorate.transport.TransportSettings;
import io.quorate.transport.TransportSettings.Peer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** When the majority is lost for good: here somebody has this node go on alone, in a new life of the cluster. */
final class ForcedRecovery {
    private static final Logger log = LoggerFactory.getLogger(ForcedRecovery.class);
    /** How long missing members may take to come back. */
    private static final Duration RETURN_MAX = Duration.ofDays(30);

    private final TransportSettings configured;
    private final PausableOrder order;
    private final Members members;
    private final Admitted admitted;
    private final PeerChannels channels;
    private final Admission admission;
    private final Participation participation;
    private final ServerCopy copy;

    ForcedRecovery(Join.Own own, Join.Others others, Admission admission, ServerCopy copy) {
        this.configured = own.configured();
        this.order = own.order();
        this.members = others.members();
        this.admitted = others.admitted();
        this.channels = others.channels();
        this.admission = admission;
        this.participation = own.participation();
        this.copy = copy;
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
        NewLife.Survivor self = new NewLife.Survivor(
                running == null ? null : running.logEnd(),
                running == null ? 0 : running.members().size(),
                copy.isPending());
        String refusal = NewLife.refusal(order.quorum(), self, others);
        if (refusal != null) {
            return refusal;
        }
        List<Peer> before = running == null ? configured.knownMembers() : running.members();
        order.pause(Hold.LEFT);
        try {
            RatisTotalOrder.beginNewLife(participation.toStart());
            admission.alone();
            channels.lives(configured.lives());
            channels.members(participation.peers());
            admit(before);
        } finally {
            order.resume(Hold.LEFT);
        }
        return null;
    }

    /** Nobody has taken the missing ones out: they may come back by themselves. */
    private void admit(List<Peer> before) {
        List<String> missing = before.stream()
                .map(Peer::name)
                .filter(name -> !name.equals(configured.self()))
                .toList();
        try {
            admitted.admit(missing, RETURN_MAX);
        } catch (IOException e) {
            log.warn("{} can come back only once each is admitted (quorate admit): {}", missing, e.toString());
        }
    }
}
