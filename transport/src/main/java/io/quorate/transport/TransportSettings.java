// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.transport.tls.PeerTls;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The settings of one node's transport. Every limit on memory or disk that it keeps to is here.
 *
 * @param cluster the cluster's name, 1-63 of {@code A-Za-z0-9._-}, no dot at the front; nodes of another name are
 *     refused
 * @param self this node's name, one of the peers'; it is its identity in the log and must never move to another node
 * @param peers the members, 1 to 9, this one included, with which a cluster begins; recorded later changes take
 *     precedence. For a node that is to join, the nodes it can ask
 * @param joining whether this node is no member yet: it waits to become one
 * @param directory where the order's log is kept; belongs to this node alone
 * @param timeoutMin shortest time without a message from the leader after which a follower stands for election
 * @param timeoutMax longest such time; also how long a majority may be silent before a node is not primary
 * @param entryBytesMax largest entry {@link RatisTotalOrder#submit} takes
 * @param fragmentBytes size above which an entry travels in fragments of this size, at most {@link #FRAGMENT_BYTES_MAX}
 * @param inFlightBytesMax own entries submitted and not yet answered; beyond it submissions fail (one entry may exceed
 *     it)
 * @param segmentBytes size of one file of the log; also the unit in which the leader reads back for a slow follower
 * @param segmentsCached closed segments whose entries stay in memory, besides the open one
 * @param checkpointEntries log entries after which the listener is asked for a checkpoint, and older ones may be purged
 * @param logBytesMax what the log may keep for members that are away; beyond it the oldest entries are purged once they
 *     are in this node's own stores, and a member that lacks them fetches them from there (QRT-3008)
 * @param tls how nodes prove to one another who they are
 */
public record TransportSettings(
        String cluster,
        String self,
        List<Peer> peers,
        boolean joining,
        Path directory,
        Duration timeoutMin,
        Duration timeoutMax,
        int entryBytesMax,
        int fragmentBytes,
        long inFlightBytesMax,
        int segmentBytes,
        int segmentsCached,
        int checkpointEntries,
        long logBytesMax,
        PeerTls tls) {

    /** Ratis limits an entry to {@link RaftSettings#ENTRY_BYTES_MAX}; this leaves room for its framing and ours. */
    public static final int FRAGMENT_BYTES_MAX = 2 << 20;

    /** What an array or a mapped file may have, without its last fragment. */
    private static final int ENTRY_BYTES_MAX = Integer.MAX_VALUE - FRAGMENT_BYTES_MAX;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,63}");

    /**
     * A member.
     *
     * @param host name or address by which the others reach it; also the one it binds to
     * @param raftPort where the other members' Ratis servers reach this one's
     * @param channelPort port of our own channel
     * @param generation from 1; rises when the member of that name is replaced, which means that its address or its
     *     directory has changed. In Raft that is another server, which has promised and acknowledged nothing
     */
    public record Peer(String name, String host, int raftPort, int channelPort, int generation) {
        public Peer(String name, String host, int raftPort, int channelPort) {
            this(name, host, raftPort, channelPort, 1);
        }

        public Peer withGeneration(int other) {
            return new Peer(name, host, raftPort, channelPort, other);
        }

        /** Whether both have the same address. */
        public boolean isAt(Peer other) {
            return host.equals(other.host) && raftPort == other.raftPort && channelPort == other.channelPort;
        }
    }

    public TransportSettings {
        peers = List.copyOf(peers);
        List<String> wrong = new ArrayList<>();
        check(isName(cluster), "cluster: 1-63 letters, digits, dots, dashes or underscores, no dot in front", wrong);
        check(!peers.isEmpty() && peers.size() <= 9, "peers: 1 to 9 members", wrong);
        Set<String> names = new HashSet<>();
        for (Peer peer : peers) {
            check(isName(peer.name), "peers: not a node name: " + peer.name, wrong);
            check(names.add(peer.name), "peers: " + peer.name + " is there twice", wrong);
            check(!peer.host.isBlank(), "peers: " + peer.name + " has no host", wrong);
            check(isPort(peer.raftPort) && isPort(peer.channelPort), "peers: ports of " + peer.name, wrong);
        }
        check(names.contains(self), "peers: this node, " + self + ", is not among them", wrong);
        check(timeoutMin.toMillis() >= 50, "timeoutMin: at least 50 ms", wrong);
        check(timeoutMax.compareTo(timeoutMin) > 0, "timeoutMax: above timeoutMin", wrong);
        check(fragmentBytes >= 1024 && fragmentBytes <= FRAGMENT_BYTES_MAX, "fragmentBytes: 1 KiB to 2 MiB", wrong);
        check(entryBytesMax >= fragmentBytes, "entryBytesMax: not below fragmentBytes", wrong);
        check(inFlightBytesMax >= fragmentBytes, "inFlightBytesMax: not below fragmentBytes", wrong);
        check(segmentBytes >= 1 << 20, "segmentBytes: at least 1 MiB", wrong);
        check(segmentsCached >= 1, "segmentsCached: at least 1", wrong);
        check(checkpointEntries >= 1, "checkpointEntries: at least 1", wrong);
        check(logBytesMax >= segmentBytes, "logBytesMax: not below segmentBytes", wrong);
        if (!wrong.isEmpty()) {
            throw new QuorateException(ErrorCode.CONFIGURATION, "transport settings: " + String.join("; ", wrong));
        }
    }

    /** The defaults: timeouts 1 s and 2 s, entries up to nearly 2 GiB, and memory that fits a heap of 256 MiB. */
    public static TransportSettings of(String cluster, String self, List<Peer> peers, Path directory) {
        return new TransportSettings(
                cluster,
                self,
                peers,
                false,
                directory,
                Duration.ofSeconds(1),
                Duration.ofSeconds(2),
                ENTRY_BYTES_MAX,
                1 << 20,
                64L << 20,
                16 << 20,
                1,
                20_000,
                512L << 20,
                PeerTls.OFF);
    }

    public TransportSettings withTimeouts(Duration min, Duration max) {
        return new TransportSettings(
                cluster,
                self,
                peers,
                joining,
                directory,
                min,
                max,
                entryBytesMax,
                fragmentBytes,
                inFlightBytesMax,
                segmentBytes,
                segmentsCached,
                checkpointEntries,
                logBytesMax,
                tls);
    }

    public TransportSettings withEntryBytes(int max, int fragment, long inFlightMax) {
        return new TransportSettings(
                cluster,
                self,
                peers,
                joining,
                directory,
                timeoutMin,
                timeoutMax,
                max,
                fragment,
                inFlightMax,
                segmentBytes,
                segmentsCached,
                checkpointEntries,
                logBytesMax,
                tls);
    }

    public TransportSettings withLog(
            int bytesPerSegment, int cachedSegments, int entriesPerCheckpoint, long bytesForAbsent) {
        return new TransportSettings(
                cluster,
                self,
                peers,
                joining,
                directory,
                timeoutMin,
                timeoutMax,
                entryBytesMax,
                fragmentBytes,
                inFlightBytesMax,
                bytesPerSegment,
                cachedSegments,
                entriesPerCheckpoint,
                bytesForAbsent,
                tls);
    }

    /** The same settings with other ways to prove who is who. */
    public TransportSettings withTls(PeerTls other) {
        return new TransportSettings(
                cluster,
                self,
                peers,
                joining,
                directory,
                timeoutMin,
                timeoutMax,
                entryBytesMax,
                fragmentBytes,
                inFlightBytesMax,
                segmentBytes,
                segmentsCached,
                checkpointEntries,
                logBytesMax,
                other);
    }

    /**
     * The same settings with another interval between checkpoints and another limit of the log; its segments are small
     * enough for both.
     */
    public TransportSettings withCheckpoints(int entries, long bytesForAbsent) {
        int segment = (int) Math.max(1 << 20, Math.min(segmentBytes, bytesForAbsent / 8));
        return withLog(segment, segmentsCached, entries, Math.max(segment, bytesForAbsent));
    }

    /** The same settings with other peers, for a node that is a member already or is to become one. */
    public TransportSettings withPeers(List<Peer> others, boolean join) {
        return new TransportSettings(
                cluster,
                self,
                others,
                join,
                directory,
                timeoutMin,
                timeoutMax,
                entryBytesMax,
                fragmentBytes,
                inFlightBytesMax,
                segmentBytes,
                segmentsCached,
                checkpointEntries,
                logBytesMax,
                tls);
    }

    /**
     * The members as this node knew them last, which may have changed since its configuration was written; those of the
     * configuration if it never took part.
     */
    public List<Peer> knownMembers() {
        List<Peer> known = Membership.read(directory).members();
        return known.isEmpty() ? peers : known;
    }

    /** Whether this directory belongs to a node that has been a member. */
    public boolean wasMember() {
        return !Membership.read(directory).members().isEmpty();
    }

    /** The lives of the cluster, as far as this directory knows. */
    public Lives lives() {
        return Membership.read(directory).lives();
    }

    /**
     * From now on this directory belongs to that life of the cluster, of which its node is no member yet. Allowed only
     * while the node takes no part in the order.
     */
    public void takeOver(Lives lives) {
        try {
            Membership.write(directory, List.of(), lives);
        } catch (IOException e) {
            throw new QuorateException(ErrorCode.DISK, directory + ": " + e, e);
        }
    }

    /** The known members and this node, which may have another address than it had, or may not be a member yet. */
    public List<Peer> knownMembersAndSelf() {
        List<Peer> all = new ArrayList<>(knownMembers());
        all.removeIf(peer -> peer.name().equals(self));
        all.add(selfPeer());
        return all;
    }

    /** The highest generation in which this directory has ever taken part, 0 for none. */
    public int lastGeneration() {
        return RaftSettings.lastGeneration(directory);
    }

    /**
     * The first generation from {@code least} on in which this directory can take part: files that it keeps of a former
     * life of the cluster under the same generation would be opened with it.
     */
    public int freeGeneration(int least) {
        int generation = least;
        while (RaftSettings.isOfFormerLife(this, generation)) {
            generation++;
        }
        return generation;
    }

    /** This node's own line in the list of peers. */
    public Peer selfPeer() {
        return peer(self);
    }

    Peer peer(String name) {
        return peers.stream().filter(p -> p.name.equals(name)).findFirst().orElseThrow();
    }

    /** Whether it can be the name of a node or a cluster; such a name is also safe as a file name. */
    static boolean isName(String text) {
        return NAME.matcher(text).matches() && !text.startsWith(".");
    }

    private static boolean isPort(int port) {
        return port > 0 && port < 65536;
    }

    private static void check(boolean right, String what, List<String> wrong) {
        if (!right) {
            wrong.add(what);
        }
    }
}
