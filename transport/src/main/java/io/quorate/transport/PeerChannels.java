// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.quorate.core.ErrorCode;
import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This node's connections with its peers outside Raft: entries on their way to the leader, reports of the nodes about
 * themselves, and streams that one fetches from another. They stay open while the node leaves the order and takes part
 * again.
 */
public final class PeerChannels implements PeerStreams, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PeerChannels.class);

    private final TransportSettings settings;
    private final PeerStreams.Server streams;
    private final BiConsumer<String, byte[]> reports;
    private final Guests guests;
    private final LoggedOnce warnings = new LoggedOnce(LOG);
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(
            1, new DefaultThreadFactory("quorate-channel", true), NioIoHandler.newFactory());
    private final ChannelServer server;
    private final Map<String, ChannelClient> clients = new ConcurrentHashMap<>();
    private volatile Function<byte[], CompletableFuture<Answer>> entries = PeerChannels::noOrder;
    private volatile BiConsumer<TransportSettings.Peer, String> former = (peer, why) -> {};
    private volatile Lives lives;

    /**
     * Opens this node's port.
     *
     * @param streams answers what peers fetch; each on a thread of its own
     * @param reports is told, on the event loop, what members report about themselves
     * @param guests who may talk to this node besides members
     * @throws QuorateException CONFIGURATION when the port is in use
     */
    public static PeerChannels start(
            TransportSettings settings, PeerStreams.Server streams, BiConsumer<String, byte[]> reports, Guests guests) {
        return new PeerChannels(settings, streams, reports, guests);
    }

    private PeerChannels(
            TransportSettings settings, PeerStreams.Server streams, BiConsumer<String, byte[]> reports, Guests guests) {
        this.guests = guests;
        this.settings = settings;
        this.streams = streams;
        this.reports = reports;
        lives = settings.lives();
        reach(settings.peers()); // before anybody calls
        try {
            server = new ChannelServer(loops, settings, new Requests(), warnings);
        } catch (RuntimeException e) {
            loops.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly();
            throw e;
        }
    }

    /** For a node that needs only the order. */
    static PeerChannels forOrderAlone(TransportSettings settings) {
        return start(
                settings,
                (peer, request, answer) -> {
                    throw new QuorateException(ErrorCode.MALFORMED_MESSAGE, "this node serves nothing");
                },
                (peer, report) -> {},
                (node, members) -> false);
    }

    /** The cluster has begun another life, or this node takes part in another one. */
    public void lives(Lives now) {
        lives = now;
        server.disconnect();
        clients.values().forEach(ChannelClient::disconnect);
    }

    private Lives lives() {
        return lives;
    }

    /** Sets who is told, on an event loop, when a peer says that this node is of a former life of the cluster. */
    public void onFormer(BiConsumer<TransportSettings.Peer, String> listener) {
        former = listener;
    }

    /** Sets the members. */
    public synchronized void members(Collection<TransportSettings.Peer> members) {
        reach(members);
        server.expel();
    }

    private void reach(Collection<TransportSettings.Peer> members) {
        for (TransportSettings.Peer peer : members) {
            if (!peer.name().equals(settings.self())) {
                clients.compute(peer.name(), (name, known) -> {
                    if (known != null && known.peer().equals(peer)) {
                        return known;
                    }
                    if (known != null) {
                        known.close();
                    }
                    return new ChannelClient(
                            loops.next(), settings, peer, this::lives, why -> former.accept(peer, why), warnings);
                });
            }
        }
        clients.values().removeIf(client -> {
            boolean gone = members.stream().noneMatch(peer -> peer.equals(client.peer()));
            if (gone) {
                client.close();
            }
            return gone;
        });
    }

    /** Whether a node of that name is a member, as far as this one has heard. */
    boolean isMember(String node) {
        return clients.containsKey(node);
    }

    /** Adds members that became known while this node takes no part in the order, which otherwise names them. */
    public synchronized void more(Collection<TransportSettings.Peer> members) {
        List<TransportSettings.Peer> all = new ArrayList<>();
        clients.values().forEach(client -> all.add(client.peer()));
        members.stream().filter(peer -> !clients.containsKey(peer.name())).forEach(all::add);
        members(all);
    }

    /** Sends a report about this node to all members it can reach, on a best-effort basis. */
    public void broadcast(byte[] report) {
        clients.values().forEach(client -> client.report(report));
    }

    @Override
    public InputStream open(String peer, byte[] request) throws IOException {
        ChannelClient client = clients.get(peer);
        if (client == null) {
            throw new IOException(peer + " is no member");
        }
        return open(client.peer(), request);
    }

    /** Like {@link #open(String, byte[])}, for a node that need not be a member. */
    public InputStream open(TransportSettings.Peer peer, byte[] request) {
        return new PeerInput(loops.next(), settings, peer, request);
    }

    /** Sets who takes entries that peers forward; null for nobody. */
    void entries(Function<byte[], CompletableFuture<Answer>> leader) {
        entries = leader == null ? PeerChannels::noOrder : leader;
    }

    private static CompletableFuture<Answer> noOrder(byte[] frame) {
        return CompletableFuture.completedFuture(Answer.notLeader(null));
    }

    /** Hands an entry to the leader. */
    CompletableFuture<Answer> send(String leader, byte[] frame) {
        ChannelClient client = clients.get(leader);
        return client == null
                ? CompletableFuture.completedFuture(Answer.failed(leader + " is no member"))
                : client.send(frame);
    }

    void checkAnswers() {
        clients.values().forEach(ChannelClient::checkAnswers);
    }

    /** Connects to all peers, so that a peer of another cluster is found out even while nothing is sent. */
    void greet() {
        clients.values().forEach(ChannelClient::greet);
    }

    /** What keeps this node's entries from a peer; null when nothing does. */
    Unreachable unreachable(String name) {
        ChannelClient client = clients.get(name);
        return client == null
                ? new Unreachable(0, name + ", which leads, is no member as far as this node knows")
                : client.unreachable();
    }

    /** Why peers that are there don't let this node in, each in words for people. */
    public List<String> refusals() {
        return clients.values().stream()
                .map(ChannelClient::refusal)
                .filter(Objects::nonNull)
                .sorted()
                .toList();
    }

    /** A peer leads now. Connects with it, if there is no connection. */
    void leads(String name) {
        ifMember(name, ChannelClient::leads);
    }

    /** A peer still leads. Connects again, if it is time to. */
    void stillLeads(String name) {
        ifMember(name, ChannelClient::greet);
    }

    void leaderNoMore(String name) {
        ifMember(name, ChannelClient::leaderNoMore);
    }

    private void ifMember(String name, Consumer<ChannelClient> what) {
        ChannelClient client = clients.get(name);
        if (client != null) {
            what.accept(client);
        }
    }

    long connects() {
        return clients.values().stream().mapToLong(ChannelClient::connects).sum();
    }

    long refusedConnections() {
        return server.refusedConnections();
    }

    long malformedMessages() {
        return server.malformedMessages();
    }

    @Override
    public void close() {
        server.close();
        clients.values().forEach(ChannelClient::close);
        loops.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    private final class Requests implements ChannelServer.Handler {
        @Override
        public Lives lives() {
            return lives;
        }

        @Override
        public boolean isMember(String node) {
            return PeerChannels.this.isMember(node);
        }

        @Override
        public boolean isGuest(String node) {
            return !settings.tls().isOn() || guests.isGuest(node, this::isMember);
        }

        @Override
        public CompletableFuture<Answer> entry(byte[] frame) {
            return entries.apply(frame);
        }

        @Override
        public void report(String peer, byte[] report) {
            reports.accept(peer, report);
        }

        @Override
        public void serve(String peer, byte[] request, OutputStream answer) throws IOException {
            streams.serve(peer, request, answer);
        }
    }
}
