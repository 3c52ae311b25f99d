// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.transport.TransportSettings.Peer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.protocol.exceptions.LeaderNotReadyException;
import org.apache.ratis.protocol.exceptions.NotLeaderException;
import org.apache.ratis.protocol.exceptions.ReconfigurationInProgressException;
import org.apache.ratis.protocol.exceptions.SetConfigurationException;
import org.apache.ratis.protocol.exceptions.TransferLeadershipException;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.util.JavaUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Changes of the members, and of the leader, which this node asks for as the leader. */
final class MemberChanges {
    private static final Logger LOG = LoggerFactory.getLogger(MemberChanges.class);
    private static final int MEMBERS_MAX = 9;

    private static final long LOOK_MILLIS = 20;

    private final RaftServer server;
    private final RaftServer.Division division;
    private final Duration answerMax;
    private final ClientId client = ClientId.randomId();
    private final AtomicLong calls = new AtomicLong();

    /** @param answerMax a member that doesn't answer within this time is away */
    MemberChanges(RaftServer server, RaftServer.Division division, Duration answerMax) {
        this.server = server;
        this.division = division;
        this.answerMax = answerMax;
    }

    /**
     * Takes a member out.
     *
     * @param force does so also where that ends the majority
     */
    CompletableFuture<Void> remove(String name, boolean force) {
        String refusal = force || !division.getInfo().isLeader() ? null : notSpared(name);
        return refusal == null
                ? change(with -> with.removeIf(peer -> peer.name().equals(name)))
                : CompletableFuture.failedFuture(new QuorateException(ErrorCode.ORDER_INTERRUPTED, refusal));
    }

    /** Why that member can't be taken out, by what the others answer from now on; null when it can. */
    private @Nullable String notSpared(String name) {
        List<String> members = Membership.fromRaft(division.getRaftConf().getCurrentPeers()).stream()
                .map(Peer::name)
                .toList();
        long began = System.nanoTime();
        while (true) {
            long nanos = System.nanoTime() - began;
            String refusal = MajorityCheck.refusal(name, members, answeredWithin(nanos));
            if (refusal == null || nanos > answerMax.toNanos()) {
                return refusal;
            }
            try {
                Thread.sleep(LOOK_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return refusal;
            }
        }
    }

    /** This node, as the leader, and the members that have answered it lately. */
    private Set<String> answeredWithin(long nanos) {
        Set<String> names = new HashSet<>();
        names.add(Membership.name(division.getId().toString()));
        followers().stream()
                .filter(follower -> TimeUnit.MILLISECONDS.toNanos(follower.getLastRpcElapsedTimeMs()) < nanos)
                .forEach(follower ->
                        names.add(Membership.name(follower.getId().getId().toStringUtf8())));
        return names;
    }

    private List<ServerRpcProto> followers() {
        return division.getInfo().getRoleInfoProto().getLeaderInfo().getFollowerInfoList();
    }

    /** @param by makes the new members from the present ones */
    CompletableFuture<Void> change(Consumer<List<Peer>> by) {
        if (!division.getInfo().isLeader()) {
            return CompletableFuture.failedFuture(new QuorateException(ErrorCode.NO_QUORUM, "this node does not lead"));
        }
        List<RaftPeer> present = List.copyOf(division.getRaftConf().getCurrentPeers());
        List<Peer> next = new ArrayList<>(Membership.fromRaft(present));
        by.accept(next);
        if (next.isEmpty() || next.size() > MEMBERS_MAX) {
            return CompletableFuture.failedFuture(new QuorateException(
                    ErrorCode.CONFIGURATION, "a cluster has 1 to " + MEMBERS_MAX + " members, not " + next.size()));
        }
        LOG.info("asking to change the members to {}", next);
        // Only if no other node has changed them meanwhile.
        SetConfigurationRequest request = new SetConfigurationRequest(
                client,
                division.getId(),
                division.getMemberId().getGroupId(),
                calls.incrementAndGet(),
                SetConfigurationRequest.Arguments.newBuilder()
                        .setMode(SetConfigurationRequest.Mode.COMPARE_AND_SET)
                        .setServersInCurrentConf(present)
                        .setServersInNewConf(Membership.toRaft(next))
                        .build());
        try {
            return server.setConfigurationAsync(request).handle(MemberChanges::require);
        } catch (IOException e) {
            return CompletableFuture.failedFuture(new QuorateException(ErrorCode.ORDER_INTERRUPTED, e.toString(), e));
        }
    }

    /** Has that member lead instead of this one. */
    CompletableFuture<Void> lead(String name, Duration limit) {
        RaftPeerId heir = division.getRaftConf().getCurrentPeers().stream()
                .map(RaftPeer::getId)
                .filter(id -> Membership.name(id.toString()).equals(name))
                .findFirst()
                .orElse(null);
        if (!division.getInfo().isLeader() || heir == null) {
            return CompletableFuture.failedFuture(new QuorateException(
                    ErrorCode.NO_QUORUM, heir == null ? name + " is no member" : "this node does not lead"));
        }
        if (!name.equals(Membership.name(division.getId().toString()))
                && !answeredWithin(answerMax.toNanos()).contains(name)) {
            // The leader would take no entries for as long as it waits for that member.
            return CompletableFuture.failedFuture(
                    new QuorateException(ErrorCode.ORDER_INTERRUPTED, name + " doesn't answer, so it can't lead"));
        }
        LOG.info("asked to have {} lead", name);
        try {
            return handOver(heir, limit).handle(MemberChanges::require);
        } catch (IOException e) {
            return CompletableFuture.failedFuture(new QuorateException(ErrorCode.ORDER_INTERRUPTED, e.toString(), e));
        }
    }

    /** @param heir null for whoever is elected then */
    CompletableFuture<RaftClientReply> handOver(@Nullable RaftPeerId heir, Duration limit) throws IOException {
        return server.transferLeadershipAsync(new TransferLeadershipRequest(
                client,
                division.getId(),
                division.getMemberId().getGroupId(),
                calls.incrementAndGet(),
                heir,
                limit.toMillis()));
    }

    /** @param failed why there is no reply; null when there is one */
    private static Void require(RaftClientReply reply, Throwable failed) {
        if (failed == null && reply.isSuccess()) {
            return null;
        }
        Throwable why = failed == null ? reply.getException() : JavaUtils.unwrapCompletionException(failed);
        throw new QuorateException(ErrorCode.ORDER_INTERRUPTED, whyNot(why), why);
    }

    private static String whyNot(Throwable e) {
        if (e instanceof ReconfigurationInProgressException) {
            return "another change of the members is under way; ask again when it is done";
        }
        if (e instanceof SetConfigurationException) {
            return "somebody else has just changed the members; look at them, and ask again";
        }
        if (e instanceof TransferLeadershipException) {
            return "the leadership was not handed over: " + e.getMessage();
        }
        if (e instanceof NotLeaderException || e instanceof LeaderNotReadyException) {
            return "this node doesn't lead any more";
        }
        return e.toString();
    }

    /**
     * Makes another member lead before this one stops, so that the others don't have to find out from its silence.
     * Waits for it. It names the member that it heard last: without a name Ratis' leader just steps down, and the
     * others wait for an election timeout.
     */
    void giveLeadershipAway(Duration limit) {
        if (!division.getInfo().isLeader()
                || division.getRaftConf().getCurrentPeers().size() < 2) {
            return;
        }
        RaftPeerId heir = heardLast();
        try {
            RaftClientReply reply = handOver(heir, limit).get(limit.toMillis(), TimeUnit.MILLISECONDS);
            LOG.info("leadership given to {} before leaving: {}", heir, reply.isSuccess());
        } catch (IOException | ExecutionException | TimeoutException e) {
            LOG.info("leadership was not given away before leaving: {}", e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The member that it heard last; null when it has heard none. */
    private RaftPeerId heardLast() {
        return followers().stream()
                .min(Comparator.comparingLong(ServerRpcProto::getLastRpcElapsedTimeMs))
                .map(follower -> RaftPeerId.valueOf(follower.getId().getId()))
                .orElse(null);
    }
}
