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
 * Tells followers at once of a commit that no entry follows. A follower applies what it knows to be committed, and it
 * learns that with the next entry or heartbeat; after the last entry of a burst it would wait half a second for a
 * heartbeat. Ratis' own remedy, {@code log-metadata}, is one more log entry for each commit, written and flushed by
 * every member. Here the leader sends its next heartbeat right away instead, to a follower that has acknowledged
 * everything but does not know that it is committed.
 *
 * <p>The appender also corrects how Ratis 3.3.0 treats a follower whose log ends right before the beginning of the
 * leader's: it asks the follower to take a snapshot, is answered that the follower has everything up to there, and asks
 * again, for ever. And where a follower's log departs from the leader's, {@link DepartureSearch} finds the place.
 */
final class CommitNotices {
    private static final String KEY = CommitNotices.class.getName();

    private final List<Appender> appenders = new CopyOnWriteArrayList<>();

    /** Makes Ratis create our log appenders. */
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

    /** Ratis' gRPC with our log appender; Ratis creates it by its name. */
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
        /** The commit index in the last notice; a notice is not repeated while its reply is on the way. */
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
            // Before the log's second entry Ratis' own steps are kept: there the follower is asked whether it needs
            // entries that are gone.
            return departure.next(
                    requestFirst,
                    replyNext,
                    next,
                    getFollower().getMatchIndex(),
                    getRaftLog().getStartIndex() + 1);
        }

        /**
         * Null, so that entries are sent, if the follower's checkpoint, and so everything that it knows to be
         * committed, ends right there.
         */
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
