// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport.rpc;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.RpcFactory;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.server.ServerFactory;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppender;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.thirdparty.com.google.protobuf.Parser;

/**
 * An RPC type for Ratis. A round of the order consists of a few small messages, so what it costs, and how long it
 * takes, is mostly the waking of threads: on a virtual machine 50 to 90 microseconds each. Here the thread that appends
 * an entry to the leader's log writes it to the followers' sockets ({@link FollowerAppender}); on a follower one thread
 * reads it and hands it to Ratis ({@link PeerServer}); whoever has it on disk writes the answer; and on the leader one
 * thread reads that and counts it ({@link PeerLink}). There are no event loops and no executors in between.
 *
 * <p>Only what servers say to one another goes over it. Entries of other nodes come to the leader by the channel, and
 * changes of the members and the like are asked for in the leader's own process.
 */
public final class RaftRpc {
    private static final String KEY = RaftRpc.class.getName();

    private final RpcSettings settings;
    private final List<FollowerAppender> appenders = new CopyOnWriteArrayList<>();

    public RaftRpc(RpcSettings settings) {
        this.settings = settings;
    }

    /** Makes Ratis use it. */
    public Parameters install(RaftProperties properties) {
        properties.set("raft.rpc.type", Type.class.getName());
        Parameters parameters = new Parameters();
        parameters.put(KEY, this, RaftRpc.class);
        return parameters;
    }

    /**
     * Some servers wait for what has been appended: they are told of its commit at once. The others learn it with the
     * next entry, or some milliseconds later.
     */
    public void awaited(Predicate<RaftPeerId> by) {
        for (FollowerAppender appender : appenders) {
            if (by.test(appender.getFollowerId())) {
                appender.awaited();
            }
        }
    }

    /** The leader has applied an entry, which therefore is committed. */
    public void committed() {
        appenders.forEach(FollowerAppender::committed);
    }

    /** Ratis creates it by its name. */
    static final class Type implements RpcType {
        @Override
        public String name() {
            return Type.class.getName();
        }

        @Override
        public RpcFactory newFactory(Parameters parameters) {
            return new Factory(this, parameters.getNonNull(KEY, RaftRpc.class));
        }
    }

    private record Factory(RpcType type, RaftRpc rpc) implements ServerFactory {
        @Override
        public RpcType getRpcType() {
            return type;
        }

        @Override
        public RaftServerRpc newRaftServerRpc(RaftServer server) {
            return new Service(type, server, rpc.settings);
        }

        @Override
        public LogAppender newLogAppender(RaftServer.Division server, LeaderState state, FollowerInfo follower) {
            FollowerAppender appender =
                    new FollowerAppender(server, state, follower, rpc.settings, rpc.appenders::remove);
            rpc.appenders.add(appender);
            return appender;
        }
    }

    /** One server's end: the port where it is asked, and its ways to the others. */
    static final class Service implements RaftServerRpc {
        private final RpcType type;
        private final RaftServer server;
        private final RpcSettings settings;
        private final PeerServer asked;
        private final Map<RaftPeerId, PeerLink> links = new ConcurrentHashMap<>();
        private volatile boolean closed;

        Service(RpcType type, RaftServer server, RpcSettings settings) {
            this.type = type;
            this.server = server;
            this.settings = settings;
            asked = new PeerServer(server, settings);
        }

        @Override
        public RpcType getRpcType() {
            return type;
        }

        @Override
        public InetSocketAddress getInetSocketAddress() {
            return InetSocketAddress.createUnresolved(settings.host(), settings.port());
        }

        @Override
        public void start() throws IOException {
            asked.start();
        }

        @Override
        public void addRaftPeers(Collection<RaftPeer> peers) {
            for (RaftPeer peer : peers) {
                links.compute(peer.getId(), (id, known) -> {
                    if (known != null && known.peer().getAddress().equals(peer.getAddress())) {
                        return known;
                    }
                    if (known != null) {
                        known.close();
                    }
                    PeerLink link = new PeerLink(peer, server.getId().toString(), settings);
                    if (closed) {
                        link.close();
                    }
                    return link;
                });
            }
        }

        /** @throws IOException when nobody has said where that server is */
        PeerLink link(RaftPeerId id) throws IOException {
            PeerLink link = links.get(id);
            if (link == null) {
                throw new IOException("no address is known of " + id);
            }
            return link;
        }

        @Override
        public RequestVoteReplyProto requestVote(RequestVoteRequestProto request) throws IOException {
            RaftRpcRequestProto header = request.getServerRequest();
            return call(header, RpcWire.VOTE, request, RequestVoteReplyProto.parser(), settings.voteWithin());
        }

        @Override
        public AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request) {
            throw new UnsupportedOperationException("entries go by " + FollowerAppender.class.getName());
        }

        @Override
        public InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request) throws IOException {
            RaftRpcRequestProto header = request.getServerRequest();
            return call(header, RpcWire.SNAPSHOT, request, InstallSnapshotReplyProto.parser(), settings.answerWithin());
        }

        @Override
        public StartLeaderElectionReplyProto startLeaderElection(StartLeaderElectionRequestProto request)
                throws IOException {
            RaftRpcRequestProto header = request.getServerRequest();
            return call(
                    header, RpcWire.ELECTION, request, StartLeaderElectionReplyProto.parser(), settings.voteWithin());
        }

        private <T> T call(
                RaftRpcRequestProto header, byte type, MessageLite request, Parser<T> replies, Duration limit)
                throws IOException {
            return link(RaftPeerId.valueOf(header.getReplyId())).call(type, request, replies, limit);
        }

        @Override
        public void handleException(RaftPeerId id, Exception e, boolean reconnect) {
            // A connection that fails is given up by itself.
        }

        @Override
        public void close() {
            closed = true;
            asked.close();
            links.values().forEach(PeerLink::close);
        }
    }
}
