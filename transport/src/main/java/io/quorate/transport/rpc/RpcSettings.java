// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport.rpc;

import java.time.Duration;
import org.apache.ratis.protocol.RaftGroupId;

/**
 * What the servers' connections need to know.
 *
 * @param group only servers of this group are talked to
 * @param host where this server listens
 * @param messageBytesMax the longest message; room for one AppendEntries of the greatest size
 * @param answerWithin how long a server may take for a reply before its connection counts as broken
 * @param voteWithin the same for a vote, which is of no use later
 */
public record RpcSettings(
        RaftGroupId group, String host, int port, int messageBytesMax, Duration answerWithin, Duration voteWithin) {}
