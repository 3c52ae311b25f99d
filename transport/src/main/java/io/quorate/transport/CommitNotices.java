// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcFactory;
import org.apache.ratis.grpc.server.GrpcLogAppender;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.rpc.RpcFactory;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppender;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.raftlog.RaftLogIOException;
import org.apache.ratis.util.LifeCycle;

/**
 * Tells followers at once of a commit that no entry follows. A follower applies what it knows to be committed, and it learns that
 * with the next entry or heartbeat; the last entry of a burst would wait half a second for the latter. Ratis' own remedy,
 * {@code log-metadata}, is one more log entry for each commit, written and flushed by every member. Here the leader sends its
 * next heartbeat right away instead, to a follower that has acknowledged everything but does not know it committed.
 *
 * <p>The appender also mends what Ratis 3.3.0 makes of a follower whose log ends right before where the leader's begins: it asks
 * the follower to take a snapshot, is answered that it has all up to there already, and asks again, for ever. And where a
 * follower's log departs from the leader's is left to {@link DepartureSearch}.
 */
final class CommitNotices {
    private static final String KEY = CommitNotices.class.getName();

    private final List<Appender> appenders = new CopyOnWriteArrayList<>();

    /** Makes Ratis create its log appenders here. */
    Parameters install(RaftProperties properties) {
        properties.set("raft.rpc.type", Grpc.class.getName());
        Parameters parameters = new Parameters();
        parameters.put(KEY, this, CommitNotices.class);
        return parameters;
    }

    /** The leader's commit index may have moved. */
    void committed() {
        for (Appender appender : appenders) {
            if (appender.owesNotice()) {
                appender.notifyLogAppender();
            }
        }
    }

    /** Ratis' gRPC with our log appender; Ratis makes it by its name. */
    static final class Grpc implements RpcType {
        @Override
        public String name() {
            return Grpc.class.getName();
        }

        @Override
        public RpcFactory newFactory(Parameters parameters) {
            CommitNotices notices = parameters.getNonNull(KEY, CommitNotices.class);
            return new GrpcFactory(parameters) {
                @Override
                public LogAppender newLogAppender(
                        RaftServer.Division server, LeaderState state, FollowerInfo follower) {
                    Appender appender = notices.new Appender(server, state, follower);
                    notices.appenders.add(appender);
                    return appender;
                }
            };
        }
    }

    private final class Appender extends GrpcLogAppender {
        /** The commit index told last; a notice is not repeated while its reply is on the way. */
        private volatile long told = RaftLog.INVALID_LOG_INDEX;

        private final DepartureSearch departure = new DepartureSearch();

        Appender(RaftServer.Division server, LeaderState state, FollowerInfo follower) {
            super(server, state, follower);
        }

        boolean owesNotice() {
            long committed = getRaftLog().getLastCommittedIndex();
            FollowerInfo follower = getFollower();
            return committed > told
                    && committed > follower.getCommitIndex()
                    && follower.getMatchIndex() >= committed
                    && follower.getNextIndex() >= getRaftLog().getNextIndex()
                    && !hasPendingDataRequests();
        }

        /** Zero makes Ratis send a heartbeat now. */
        @Override
        public long getHeartbeatWaitTimeMs() {
            return owesNotice() ? 0 : super.getHeartbeatWaitTimeMs();
        }

        @Override
        public AppendEntriesRequestProto newAppendEntriesRequest(long callId, boolean heartbeat)
                throws RaftLogIOException {
            AppendEntriesRequestProto request = super.newAppendEntriesRequest(callId, heartbeat);
            if (request != null) {
                told = Math.max(told, request.getLeaderCommit());
            }
            return request;
        }

        @Override
        protected synchronized long getNextIndexForInconsistency(long requestFirst, long replyNext) {
            long next = super.getNextIndexForInconsistency(requestFirst, replyNext);
            // Before the log's second entry only by Ratis' own steps: then the follower is asked whether it needs what
            // is gone.
            return departure.next(
                    requestFirst,
                    replyNext,
                    next,
                    getFollower().getMatchIndex(),
                    getRaftLog().getStartIndex() + 1);
        }

        /** Null, so that entries are sent, when the follower's checkpoint, and so what it has is committed, ends there. */
        @Override
        public TermIndex shouldNotifyToInstallSnapshot() {
            FollowerInfo follower = getFollower();
            long next = follower.getNextIndex();
            boolean hasAllBefore = next == getRaftLog().getStartIndex()
                    && next == follower.getSnapshotIndex() + 1
                    && follower.hasAttemptedToInstallSnapshot();
            return hasAllBefore ? null : super.shouldNotifyToInstallSnapshot();
        }

        @Override
        public CompletableFuture<LifeCycle.State> stopAsync() {
            appenders.remove(this);
            return super.stopAsync();
        }
    }
}
