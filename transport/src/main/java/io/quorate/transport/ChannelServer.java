// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.quorate.core.ErrorCode;
import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import io.quorate.transport.tls.PeerTls;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import javax.net.ssl.SSLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The accepting end of the channel: greets its peers, takes their entries and reports, and answers their fetches. */
@SuppressWarnings("FutureReturnValueIgnored") // Netty reports failures through the pipeline
final class ChannelServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ChannelServer.class);
    /** Beyond so many that haven't greeted, the oldest of these makes room. */
    private static final int STRANGERS_MAX = 32;

    /** For one peer: what it fetches with at once, its questions among that. */
    private static final int FETCHES_MAX = 80;

    private static final int GUESTS_MAX = 8;
    private static final int GREETING_SECONDS_MAX = 5;

    private final TransportSettings settings;
    private final Handler handler;
    private final LoggedOnce warnings;
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    /** Those that haven't greeted, the oldest first. */
    private final Queue<Channel> strangers = new ConcurrentLinkedQueue<>();

    private final Map<String, Peer> peers = new ConcurrentHashMap<>();
    private final LongAdder refused = new LongAdder();
    private final LongAdder malformed = new LongAdder();
    private final Channel listening;

    /** Handles what peers ask for; called on the event loop, except {@link #serve}. */
    interface Handler extends PeerStreams.Server {
        /** The lives of the cluster, as this node knows them. */
        Lives lives();

        /** Whether a node of that name is a member. A node that isn't may report and fetch, and nothing else. */
        boolean isMember(String node);

        /** Whether a node of that name, which is no member, may talk to this one at all. */
        boolean isGuest(String node);

        /** Takes a frame into the local log, or answers that this node is not the leader. */
        CompletableFuture<Answer> entry(byte[] frame);

        void report(String peer, byte[] report);
    }

    ChannelServer(EventLoopGroup loops, TransportSettings settings, Handler handler, LoggedOnce warnings) {
        this.settings = settings;
        this.handler = handler;
        this.warnings = warnings;
        TransportSettings.Peer self = settings.selfPeer();
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        accepted(channel);
                    }
                });
        var bound = bootstrap.bind(self.host(), self.channelPort()).awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new QuorateException(
                    ErrorCode.CONFIGURATION,
                    "can't listen on " + self.host() + ":" + self.channelPort() + " for the other nodes: "
                            + bound.cause().getMessage(),
                    bound.cause());
        }
        listening = bound.channel();
    }

    /** Makes all connected peers greet again. */
    void disconnect() {
        connections.close();
    }

    /** Ends the connections of those who are members or guests no more. */
    void expel() {
        peers.forEach((name, peer) -> {
            if (!isWelcome(name)) {
                peer.connections.close();
            }
        });
    }

    private boolean isWelcome(String node) {
        return handler.isMember(node) || handler.isGuest(node);
    }

    long refusedConnections() {
        return refused.sum();
    }

    long malformedMessages() {
        return malformed.sum();
    }

    @Override
    public void close() {
        listening.close().awaitUninterruptibly();
        connections.close().awaitUninterruptibly();
    }

    private void accepted(SocketChannel channel) {
        strangers.add(channel);
        if (strangers.size() > STRANGERS_MAX) {
            strangers.remove().close();
        }
        connections.add(channel);
        if (settings.tls().isOn()) {
            channel.pipeline().addLast(settings.tls().handler(false));
        }
        channel.pipeline().addLast(Wire.frames(Wire.GREETING_BYTES_MAX), new Connection());
    }

    /** The connections of one peer that has greeted; on the event loop alone. */
    private static final class Peer {
        final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
        /** The one with its entries and reports; it has no other, so another one means that this one is dead. */
        Channel ordered;
    }

    /** The connection of one peer, or of anybody else. */
    private final class Connection extends SimpleChannelInboundHandler<ByteBuf> {
        private String peer;
        /** Whose certificate it has; null without TLS. */
        private String proven;
        /** Whether the peer takes part in the same order, rather than only fetching something. */
        private boolean ordered;

        private boolean over;
        private PeerOutput answer;

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.executor()
                    .schedule(
                            () -> {
                                if (peer == null && !over) {
                                    exceptionCaught(ctx, Wire.malformed("no greeting"));
                                } else if (!ordered && answer == null && !over) {
                                    exceptionCaught(ctx, Wire.malformed("a greeting and no request"));
                                }
                            },
                            GREETING_SECONDS_MAX,
                            TimeUnit.SECONDS);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) throws Exception {
            if (event instanceof SslHandshakeCompletionEvent shaken && shaken.isSuccess()) {
                proven = PeerTls.name(ctx.pipeline());
            }
            ctx.fireUserEventTriggered(event);
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf message) {
            if (over) {
                return; // what had arrived behind the message it was closed for
            }
            byte type = Wire.readType(message);
            if (peer == null && type == Wire.HELLO) {
                greeted(ctx, Wire.readHello(message));
            } else if (peer != null && type == Wire.ENTRY && ordered && handler.isMember(peer)) {
                entry(ctx, Wire.readRequest(message), message);
            } else if (peer != null && type == Wire.REPORT && ordered) {
                handler.report(peer, Wire.readReport(message));
            } else if (peer != null && type == Wire.FETCH && answer == null) {
                answer = new PeerOutput(ctx.channel());
                answer.serve(handler, peer, Wire.readBytes(message));
            } else {
                throw Wire.malformed("a message of type " + type + (peer == null ? " before any greeting" : ""));
            }
        }

        private void greeted(ChannelHandlerContext ctx, Wire.Hello hello) {
            if (hello.version() != Wire.VERSION) {
                refuse(
                        ctx,
                        ErrorCode.INCOMPATIBLE_PEER,
                        settings.self() + " speaks version " + Wire.VERSION + " of the node-to-node protocol, the peer "
                                + hello.version());
            } else if (!hello.cluster().equals(settings.cluster())) {
                refuse(
                        ctx,
                        ErrorCode.FOREIGN_CLUSTER,
                        settings.self() + " belongs to cluster " + settings.cluster() + ", " + hello.node()
                                + " to cluster " + hello.cluster());
            } else if (!hello.meant().equals(settings.self())) {
                refuse(
                        ctx,
                        ErrorCode.FOREIGN_CLUSTER,
                        hello.node() + " takes " + settings.self() + " for " + hello.meant());
            } else if (proven != null && !hello.node().equals(proven)) {
                refuse(
                        ctx,
                        ErrorCode.NOT_ADMITTED,
                        "the certificate is that of " + proven + ", and not of " + hello.node());
            } else if (!isWelcome(hello.node())) {
                refuse(
                        ctx,
                        ErrorCode.NOT_ADMITTED,
                        hello.node() + " is no member of cluster " + settings.cluster()
                                + ", and nobody has admitted it, as far as " + settings.self() + " knows");
            } else if (!isOfThisLife(hello)) {
                refuseLife(ctx, hello);
            } else if (!hasRoom(hello)) {
                refuse(ctx, ErrorCode.NOT_ADMITTED, hello.node() + " has too many connections, or others have");
            } else {
                welcome(ctx, hello);
            }
        }

        private boolean hasRoom(Wire.Hello hello) {
            Peer known = peers.get(hello.node());
            if (known != null) {
                return known.connections.size() <= FETCHES_MAX;
            }
            return handler.isMember(hello.node())
                    || peers.keySet().stream()
                                    .filter(name -> !handler.isMember(name))
                                    .count()
                            < GUESTS_MAX;
        }

        private void welcome(ChannelHandlerContext ctx, Wire.Hello hello) {
            strangers.remove(ctx.channel());
            ordered = !hello.lives().equals(Lives.ANY);
            peer = hello.node();
            Peer whose = peers.computeIfAbsent(peer, name -> new Peer());
            whose.connections.add(ctx.channel());
            if (ordered) {
                if (whose.ordered != null) {
                    whose.ordered.close();
                }
                whose.ordered = ctx.channel();
            }
            Wire.accept(ctx.channel(), ordered ? Wire.FRAME_BYTES_MAX : Wire.REQUEST_BYTES_MAX);
            ctx.writeAndFlush(Wire.welcome(ctx.alloc(), settings.self()), ctx.voidPromise());
        }

        private boolean isOfThisLife(Wire.Hello hello) {
            return hello.lives().equals(Lives.ANY)
                    || hello.lives().equals(handler.lives().toString());
        }

        private void refuseLife(ChannelHandlerContext ctx, Wire.Hello hello) {
            Lives theirs;
            try {
                theirs = Lives.of(hello.lives());
            } catch (IllegalArgumentException e) {
                throw Wire.malformed(e.getMessage());
            }
            Lives ours = handler.lives();
            if (theirs.isBefore(ours)) {
                refuse(
                        ctx,
                        ErrorCode.FORMER_LIFE,
                        "cluster " + settings.cluster() + " was begun anew by force, " + settings.self()
                                + " is in its life " + ours.name() + ", " + hello.node() + " in life " + theirs.name());
            } else {
                refuse(
                        ctx,
                        ErrorCode.FOREIGN_CLUSTER,
                        settings.self() + " is in life " + ours.name() + " of cluster " + settings.cluster() + ", "
                                + hello.node() + " in life " + theirs.name());
            }
        }

        private void refuse(ChannelHandlerContext ctx, ErrorCode code, String reason) {
            refused.increment();
            over = true;
            QuorateException refusal = new QuorateException(
                    code, reason + " (connection from " + ctx.channel().remoteAddress() + ")");
            warnings.warn(code + reason, refusal.getMessage());
            ctx.writeAndFlush(Wire.refused(ctx.alloc(), code, reason)).addListener(ChannelFutureListener.CLOSE);
        }

        private void entry(ChannelHandlerContext ctx, long request, ByteBuf message) {
            byte[] frame = new byte[message.readableBytes()];
            message.readBytes(frame);
            String submitter = EntryFrame.decode(ByteBuffer.wrap(frame)).submitter();
            if (!submitter.equals(peer)) {
                throw Wire.malformed("an entry of " + submitter + " from " + peer);
            }
            handler.entry(frame)
                    .thenAccept(taken -> ctx.writeAndFlush(Wire.answer(ctx.alloc(), request, taken), ctx.voidPromise()))
                    .exceptionally(e -> {
                        LOG.warn("The answer to {} can't be given; closing the connection", peer, e);
                        ctx.close();
                        return null;
                    });
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            if (answer != null) {
                answer.changed();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            strangers.remove(ctx.channel());
            if (peer != null) {
                peers.computeIfPresent(peer, (name, whose) -> {
                    whose.connections.remove(ctx.channel());
                    return whose.connections.isEmpty() ? null : whose;
                });
            }
            if (answer != null) {
                answer.changed();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            if (over) {
                return;
            }
            over = true;
            Throwable what = cause instanceof DecoderException && cause.getCause() != null ? cause.getCause() : cause;
            String address = ctx.channel().remoteAddress() instanceof InetSocketAddress a
                    ? String.valueOf(a.getAddress())
                    : String.valueOf(ctx.channel().remoteAddress());
            String from = peer == null ? address : peer;
            if (what instanceof SSLException) {
                refused.increment();
                warnings.warn("tls" + from, "A connection from " + from + " is refused: " + PeerTls.why(what));
            } else if (what instanceof IOException) {
                LOG.debug("Connection of {}: {}", from, what.toString());
            } else {
                malformed.increment();
                QuorateException known = what instanceof QuorateException q
                        ? q
                        : Wire.malformed(
                                what instanceof TooLongFrameException ? "a message too long to be one" : "" + what);
                warnings.warn("malformed" + address, known.getMessage() + " (from " + from + ")");
            }
            ctx.close();
        }
    }
}
