// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.core.ErrorCode;
import io.quorate.core.FromOutside;
import io.quorate.core.QuorateException;
import io.quorate.transport.TransportSettings.Peer;
import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;

/**
 * The members in Ratis' terms, and on disk. They travel in Raft's own configuration entries, so every node learns of a
 * change at the same place in the order. The channel's address travels with them as the peer's data stream address,
 * which Ratis makes no use of here.
 *
 * <p>Ratis compares a new configuration with the old one by id and priority alone: a member whose address has changed
 * would be taken for unchanged. So a member that is replaced gets another id, its name with a generation.
 */
final class Membership {
    private static final String FILE = "members.properties";
    private static final int FILE_BYTES_MAX = 64 << 10;
    private static final char GENERATION = '#';
    /** A key beside the names; no name looks like this. */
    private static final String LIVES = "#lives";

    private Membership() {}

    static RaftPeerId id(Peer peer) {
        return RaftPeerId.valueOf(peer.generation() == 1 ? peer.name() : peer.name() + GENERATION + peer.generation());
    }

    /** The node's name in a Raft id. */
    static String name(String id) {
        int at = id.indexOf(GENERATION);
        return at < 0 ? id : id.substring(0, at);
    }

    static RaftPeer toRaft(Peer peer) {
        return RaftPeer.newBuilder()
                .setId(id(peer))
                .setAddress(peer.host() + ":" + peer.raftPort())
                .setDataStreamAddress(peer.host() + ":" + peer.channelPort())
                .build();
    }

    static List<RaftPeer> toRaft(Collection<Peer> peers) {
        return peers.stream().map(Membership::toRaft).toList();
    }

    static Peer fromRaft(RaftPeer peer) {
        String id = peer.getId().toString();
        int at = id.indexOf(GENERATION);
        return new Peer(
                name(id),
                host(peer.getAddress()),
                port(peer.getAddress()),
                port(peer.getDataStreamAddress()),
                at < 0 ? 1 : Integer.parseInt(id.substring(at + 1)));
    }

    static List<Peer> fromRaft(Collection<RaftPeer> peers) {
        return peers.stream()
                .map(Membership::fromRaft)
                .sorted(Comparator.comparing(Peer::name))
                .toList();
    }

    /** All of the first, and those of the second with other names, in the order of their names. */
    static List<Peer> union(List<Peer> first, List<Peer> second) {
        return Stream.concat(first.stream(), second.stream().filter(peer -> first.stream()
                        .noneMatch(other -> other.name().equals(peer.name()))))
                .sorted(Comparator.comparing(Peer::name))
                .toList();
    }

    private static String host(String address) {
        return address.substring(0, address.lastIndexOf(':'));
    }

    private static int port(String address) {
        return address == null ? 0 : Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    }

    /**
     * What is kept in a directory.
     *
     * @param members empty while this node has not been one, in this life of the cluster
     */
    record Known(List<Peer> members, Lives lives) {}

    /** No members and the first life, if there is no such file. */
    static Known read(Path directory) {
        Path file = directory.resolve(FILE);
        if (!Files.exists(file)) {
            return new Known(List.of(), Lives.FIRST);
        }
        Properties kept = new Properties();
        try (Reader in = Files.newBufferedReader(file)) {
            if (Files.size(file) > FILE_BYTES_MAX) {
                throw new IOException(Files.size(file) + " bytes, at most " + FILE_BYTES_MAX + " can be right");
            }
            kept.load(in);
            Lives lives = Lives.of(kept.getProperty(LIVES, ""));
            kept.remove(LIVES);
            return new Known(
                    kept.stringPropertyNames().stream()
                            .sorted()
                            .map(name -> member(name, kept.getProperty(name).split(" ", 4)))
                            .toList(),
                    lives);
        } catch (IOException | RuntimeException e) {
            throw new QuorateException(
                    ErrorCode.DISK,
                    file + " is not what this service wrote there: "
                            + FromOutside.oneLine(String.valueOf(e.getMessage()))
                            + "; restore it, or rebuild this node",
                    e);
        }
    }

    private static Peer member(String name, String[] values) {
        Peer member = new Peer(
                name, values[0], Integer.parseInt(values[1]), Integer.parseInt(values[2]), Integer.parseInt(values[3]));
        if (!FromOutside.isName(name) || !FromOutside.isHost(member.host())) {
            throw new IllegalArgumentException("a member that can't be, " + name);
        }
        return member;
    }

    /** Writes them durably. */
    static void write(Path directory, Collection<Peer> members, Lives lives) throws IOException {
        Properties kept = new Properties();
        for (Peer m : members) {
            kept.setProperty(m.name(), m.host() + " " + m.raftPort() + " " + m.channelPort() + " " + m.generation());
        }
        kept.setProperty(LIVES, lives.toString());
        StringWriter text = new StringWriter();
        kept.store(
                text,
                "The members known last: host, Raft port, channel port, generation; the cluster's lives. Kept"
                        + " by the service.");
        Files.createDirectories(directory);
        DurableFile.write(directory.resolve(FILE), text.toString());
    }
}
