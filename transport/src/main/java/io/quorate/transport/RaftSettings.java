// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.transport.rpc.RpcSettings;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/** The settings of Ratis, and the reason for each. */
final class RaftSettings {
    /**
     * Ratis' limit on one log entry, and on what one AppendEntries carries. Fixed rather than derived from the size of
     * our fragments, because at start Ratis refuses to read an entry above it, however old.
     */
    static final int ENTRY_BYTES_MAX = 4 << 20;

    /** The other nodes may have raised the generation while this node was away; not by more than this. */
    private static final int GENERATIONS_APART = 1000;

    private static final Duration ANSWER_MAX = Duration.ofSeconds(5);
    /** What one AppendEntries takes beside its entries. */
    private static final int ENVELOPE_BYTES_MAX = 2 << 20;

    private static final TimeDuration RETRY_CACHE = TimeDuration.valueOf(1, TimeUnit.SECONDS);
    private static final TimeDuration NEVER = TimeDuration.valueOf(365, TimeUnit.DAYS);

    private RaftSettings() {}

    /** Ratis' directory for the log, within a group's. */
    static final String CURRENT = "current";

    /** Each life of a cluster is a group of its own: its members don't hear those of an earlier one. */
    static RaftGroupId groupId(TransportSettings settings, Lives lives) {
        String name = "io.quorate/" + settings.cluster() + (lives.ids().isEmpty() ? "" : "/" + lives.name());
        return RaftGroupId.valueOf(UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)));
    }

    static RaftGroup group(TransportSettings settings) {
        List<RaftPeer> peers = settings.joining() ? List.of() : Membership.toRaft(settings.peers());
        return RaftGroup.valueOf(groupId(settings, settings.lives()), peers);
    }

    static Path storage(TransportSettings settings) {
        return storage(settings.directory(), settings.selfPeer().generation());
    }

    private static Path storage(Path directory, int generation) {
        return directory.resolve(generation == 1 ? "raft" : "raft-" + generation);
    }

    static int lastGeneration(Path directory) {
        int last = 0;
        for (int generation = 1; generation <= last + GENERATIONS_APART; generation++) {
            if (Files.isDirectory(storage(directory, generation))) {
                last = generation;
            }
        }
        return last;
    }

    static boolean isOfFormerLife(TransportSettings settings, int generation) {
        Path storage = storage(settings.directory(), generation);
        Lives lives = settings.lives();
        while (!lives.ids().isEmpty()) {
            lives = lives.former();
            if (Files.exists(storage.resolve(groupId(settings, lives).getUuid().toString()))) {
                return true;
            }
        }
        return false;
    }

    /** Where Ratis keeps the segments of the cluster's log. */
    static Path segments(TransportSettings settings) {
        return group(settings, settings.lives()).resolve(CURRENT);
    }

    /** Ratis' directory for one life of the cluster. */
    static Path group(TransportSettings settings, Lives lives) {
        return storage(settings).resolve(groupId(settings, lives).getUuid().toString());
    }

    static RaftProperties properties(TransportSettings settings) {
        RaftProperties p = new RaftProperties();
        RaftServerConfigKeys.setStorageDir(p, List.of(storage(settings).toFile()));
        timing(p, settings.timeoutMin(), settings.timeoutMax());
        log(p, settings);
        memory(p, settings);
        return p;
    }

    private static void timing(RaftProperties p, Duration min, Duration max) {
        TimeDuration shortest = TimeDuration.valueOf(min.toMillis(), TimeUnit.MILLISECONDS);
        TimeDuration longest = TimeDuration.valueOf(max.toMillis(), TimeUnit.MILLISECONDS);
        RaftServerConfigKeys.Rpc.setTimeoutMin(p, shortest);
        RaftServerConfigKeys.Rpc.setTimeoutMax(p, longest);
        RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(p, longest);
        RaftServerConfigKeys.Notification.setNoLeaderTimeout(p, longest);
        // By default a server that slept for a minute, for example on a suspended machine, shuts itself down. Raft is
        // safe without that.
        RaftServerConfigKeys.setCloseThreshold(p, NEVER);
    }

    private static void log(RaftProperties p, TransportSettings settings) {
        RaftServerConfigKeys.Log.setSegmentSizeMax(p, SizeInBytes.valueOf(settings.segmentBytes()));
        RaftServerConfigKeys.Log.setPreallocatedSize(
                p, SizeInBytes.valueOf(Math.min(settings.segmentBytes(), ENTRY_BYTES_MAX)));
        RaftServerConfigKeys.Log.setCorruptionPolicy(p, RaftServerConfigKeys.Log.CorruptionPolicy.EXCEPTION);
        RaftServerConfigKeys.Log.setLogMetadataEnabled(p, false); // see FollowerAppender
        // OrderStateMachine decides what may be purged: it knows what absent members still need, and how much of that
        // is kept.
        RaftServerConfigKeys.Log.setPurgeUptoSnapshotIndex(p, true);
        RaftServerConfigKeys.Log.setPurgeGap(p, 1);
        RaftServerConfigKeys.Log.Appender.setInstallSnapshotEnabled(p, false);
        // OrderStateMachine.takeSnapshot is called after every batch and follows checkpointEntries itself.
        RaftServerConfigKeys.Snapshot.setAutoTriggerEnabled(p, true);
        RaftServerConfigKeys.Snapshot.setAutoTriggerThreshold(p, settings.checkpointEntries());
        RaftServerConfigKeys.Snapshot.setTriggerWhenStopEnabled(p, true);
    }

    private static void memory(RaftProperties p, TransportSettings settings) {
        SizeInBytes entry = SizeInBytes.valueOf(ENTRY_BYTES_MAX);
        SizeInBytes inFlight = SizeInBytes.valueOf(Math.max(settings.inFlightBytesMax(), 16L * ENTRY_BYTES_MAX));
        RaftServerConfigKeys.Log.Appender.setBufferByteLimit(p, entry);
        RaftServerConfigKeys.Log.setWriteBufferSize(p, SizeInBytes.valueOf(ENTRY_BYTES_MAX + 1024));
        RaftServerConfigKeys.Log.setQueueByteLimit(p, SizeInBytes.valueOf(4L * ENTRY_BYTES_MAX));
        RaftServerConfigKeys.Log.setSegmentCacheNumMax(p, settings.segmentsCached());
        RaftServerConfigKeys.Log.setSegmentCacheSizeMax(
                p, SizeInBytes.valueOf((long) settings.segmentBytes() * settings.segmentsCached()));
        RaftServerConfigKeys.Write.setByteLimit(p, inFlight);
        // Every entry leaves a record in the retry cache on every node for this long. Ours are never sent twice under
        // one call id, and entries that are submitted twice are recognized further up, so the cache is of no use here.
        RaftServerConfigKeys.RetryCache.setExpiryTime(p, RETRY_CACHE);
    }

    /** How the members' Ratis servers talk to one another. */
    static RpcSettings rpc(TransportSettings settings, Lives lives, Predicate<String> isKnown) {
        TransportSettings.Peer self = settings.selfPeer();
        return new RpcSettings(
                groupId(settings, lives),
                self.host(),
                self.raftPort(),
                ENTRY_BYTES_MAX + ENVELOPE_BYTES_MAX,
                ANSWER_MAX,
                settings.timeoutMax(),
                settings.tls(),
                Membership::name,
                isKnown);
    }
}
