// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientAsynchronousProtocol;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.exceptions.NotLeaderException;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/**
 * Appends to the log of this node, as its leader, without a client or a connection in between. Belongs to one thread:
 * the order of its calls is the order in the log.
 */
final class LeaderLog {
    private final RaftServer.Division division;
    private final RaftGroupId group;
    private final RaftPeerId self;
    private final ClientId client = ClientId.randomId();
    private long calls;

    LeaderLog(RaftServer.Division division) {
        this.division = division;
        group = division.getMemberId().getGroupId();
        self = division.getMemberId().getPeerId();
    }

    /**
     * @return completes, and never fails, once a majority has the frame and this node has applied it, or once it is
     *     certain that this won't happen
     */
    CompletableFuture<Answer> append(byte[] frame) {
        RaftClientRequest request = RaftClientRequest.newBuilder()
                .setClientId(client)
                .setServerId(self)
                .setGroupId(group)
                .setCallId(calls++)
                .setMessage(Message.valueOf(UnsafeByteOperations.unsafeWrap(frame)))
                .setType(RaftClientRequest.writeRequestType())
                .build();
        try {
            // The division itself and not the server, because the server hands each call to a pool and waits for it.
            return ((RaftClientAsynchronousProtocol) division)
                    .submitClientRequestAsync(request)
                    .handle(LeaderLog::answer);
        } catch (IOException | RuntimeException e) {
            return CompletableFuture.completedFuture(Answer.failed(e.toString()));
        }
    }

    private static Answer answer(RaftClientReply reply, Throwable failure) {
        if (failure != null) {
            return Answer.failed(failure.toString());
        }
        if (reply.isSuccess()) {
            return Answer.ACCEPTED;
        }
        NotLeaderException other = reply.getNotLeaderException();
        if (other != null) {
            return Answer.notLeader(
                    other.getSuggestedLeader() == null
                            ? null
                            : other.getSuggestedLeader().getId().toString());
        }
        return Answer.failed(String.valueOf(reply.getException()));
    }
}
