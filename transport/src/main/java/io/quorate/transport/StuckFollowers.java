// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives the leadership away when a follower answers but takes nothing. A leader remembers how far a follower has
 * acknowledged, and never sends it anything before that. A follower that has lost acknowledged entries (because of a
 * disk that lies, or a damaged segment that was moved away) refuses what comes after, as long as this leader leads. The
 * next leader begins afresh.
 */
final class StuckFollowers {
    private static final Logger LOG = LoggerFactory.getLogger(StuckFollowers.class);
    private static final long PATIENCE_NANOS_MIN = TimeUnit.SECONDS.toNanos(5);
    private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(20);

    /** @param least the lowest index that was tried since the follower has acknowledged {@code matchIndex} */
    private record Progress(long matchIndex, long least, long sinceNanos) {}

    private final MemberChanges changes;
    private final RaftServer.Division division;
    private final long patienceNanos;
    private final Map<String, Progress> progress = new HashMap<>();
    private long gaveWayNanos = System.nanoTime() - AGAIN_NANOS;

    StuckFollowers(TransportSettings settings, MemberChanges changes, RaftServer.Division division) {
        this.changes = changes;
        this.division = division;
        patienceNanos = Math.max(PATIENCE_NANOS_MIN, 5 * settings.timeoutMax().toNanos());
    }

    /** Checks all followers. Called regularly, by one thread. */
    void look(long nowNanos) {
        DivisionInfo info = division.getInfo();
        long[] matches = info.isLeader() ? info.getFollowerMatchIndices() : null;
        long[] nexts = matches == null ? null : info.getFollowerNextIndices();
        RoleInfoProto role = nexts == null ? null : info.getRoleInfoProto();
        if (role == null
                || nexts.length != matches.length
                || role.getLeaderInfo().getFollowerInfoCount() != matches.length) {
            progress.clear();
            return;
        }
        var last = division.getRaftLog().getLastEntryTermIndex();
        long end = last == null ? -1 : last.getIndex();
        String stuck = null;
        List<String> upToDate = new ArrayList<>();
        for (int i = 0; i < matches.length; i++) {
            ServerRpcProto follower = role.getLeaderInfo().getFollowerInfo(i);
            String name = follower.getId().getId().toStringUtf8();
            long silentNanos = TimeUnit.MILLISECONDS.toNanos(follower.getLastRpcElapsedTimeMs());
            Progress before = progress.get(name);
            // The leader may still be on its way back to the place where the follower's log departs from its own.
            boolean moved = before == null || before.matchIndex != matches[i] || nexts[i] < before.least;
            if (division.getRaftConf().getPeer(RaftPeerId.valueOf(name)) == null) {
                continue; // not a member yet, and may be receiving what it needs otherwise
            }
            if (moved || matches[i] >= end || silentNanos > patienceNanos) {
                progress.put(name, new Progress(matches[i], nexts[i], nowNanos));
            } else if (nowNanos - before.sinceNanos > patienceNanos) {
                stuck = name;
                continue;
            }
            if (matches[i] >= end - 1) {
                upToDate.add(name);
            }
        }
        if (stuck != null && nowNanos - gaveWayNanos > AGAIN_NANOS) {
            gaveWayNanos = nowNanos;
            giveWay(stuck, upToDate.isEmpty() ? null : upToDate.get(0));
        }
    }

    private void giveWay(String stuck, String heir) {
        LOG.warn(
                "{} answers but takes nothing after {}; it seems to have lost entries that it had acknowledged."
                        + " {} gives up the leadership, so that the next leader brings it up to date.",
                stuck,
                progress.get(stuck).matchIndex,
                division.getId());
        progress.clear();
        try {
            var unused = changes.handOver(
                            heir == null ? null : RaftPeerId.valueOf(heir), Duration.ofNanos(PATIENCE_NANOS_MIN))
                    .whenComplete((reply, e) -> LOG.info("Giving up the leadership: {}", e == null ? reply : e));
        } catch (IOException e) {
            LOG.warn("The leadership could not be given up", e);
        }
    }
}
