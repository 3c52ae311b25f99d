// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport.rpc;

import io.quorate.transport.tls.PeerTls;
import java.time.Duration;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.apache.ratis.protocol.RaftGroupId;

/**
 * What the servers' connections need to know.
 *
 * @param group only servers of this group are talked to
 * @param host where this server listens
 * @param messageBytesMax the longest message; room for one AppendEntries of the greatest size
 * @param answerWithin how long a server may take for a reply before its connection counts as broken
 * @param voteWithin the same for a vote, which is of no use later
 * @param tls how servers prove which node they are of
 * @param nodeOf the name of the node that a server's id stands for
 * @param isKnown whether a node of that name is a member as far as this one has heard, be it in Raft's own
 *     configuration or otherwise; asked of nodes that have proven who they are
 */
public record RpcSettings(
        RaftGroupId group,
        String host,
        int port,
        int messageBytesMax,
        Duration answerWithin,
        Duration voteWithin,
        PeerTls tls,
        UnaryOperator<String> nodeOf,
        Predicate<String> isKnown) {}
