// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.ist.Donor;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.member.Admitted;
import io.quorate.node.member.Members;
import io.quorate.node.question.Answers;
import io.quorate.node.question.Questions;
import io.quorate.transport.PeerChannels;
import io.quorate.transport.TransportSettings;
import io.quorate.transport.tls.PeerTls;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Clock;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import tools.jackson.databind.json.JsonMapper;

/**
 * The other nodes: what is known about them, how they are asked, and what this node answers and gives to them.
 *
 * @param configured the settings with the peers of the configuration
 * @param answers answers what the other nodes ask; every room adds its own
 */
record Network(
        TransportSettings configured,
        PeerChannels channels,
        Members members,
        Admitted admitted,
        Questions questions,
        Answers answers,
        Donor donor,
        JsonMapper json) {
    /**
     * @param tls how nodes prove to one another who they are
     * @param left whether this node has left the order, so that what it holds may belong to an earlier life of the
     *     cluster
     * @param isMember whether a node of that name is a member
     */
    static Network open(
            NodeProperties properties,
            PeerTls tls,
            Home home,
            JsonMapper json,
            BooleanSupplier left,
            Predicate<String> isMember,
            Opened opened)
            throws IOException {
        TransportSettings configured = properties.transport().withTls(tls);
        Members members = new Members(home.directory().resolve("peers.properties"), json);
        members.know(configured.peers());
        members.know(configured.knownMembers());
        Admitted admitted =
                new Admitted(home.directory().resolve("admitted.properties"), members::present, Clock.systemUTC());
        Answers answers = new Answers(json, isMember);
        Donor donor = new Donor(home.stores().cache(), home.stores().checkpoints(), home.incarnation());
        PeerChannels channels = opened.add(PeerChannels.start(
                configured.withPeers(configured.knownMembersAndSelf(), false),
                (peer, request, answer) -> {
                    if (Answers.isQuestion(request)) {
                        answers.serve(peer, request, answer);
                    } else {
                        give(properties.node(), donor, left, peer, request, answer);
                    }
                },
                members::heard,
                admitted));
        Questions questions = opened.add(new Questions(properties.node(), answers, channels, json));
        return new Network(configured, channels, members, admitted, questions, answers, donor, json);
    }

    private static void give(
            String self, Donor donor, BooleanSupplier left, String peer, byte[] request, OutputStream answer)
            throws IOException {
        if (left.getAsBoolean()) {
            throw new QuorateException(ErrorCode.NOT_A_MEMBER, self + " takes no part in the order");
        }
        donor.serve(peer, request, answer);
    }
}
