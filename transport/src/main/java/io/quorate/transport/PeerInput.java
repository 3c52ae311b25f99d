// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.DecoderException;
import io.quorate.core.QuorateException;
import io.quorate.transport.tls.PeerTls;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import javax.net.ssl.SSLException;

/**
 * The answer to one FETCH, on a connection of its own. The amount that has arrived and is not read yet is bounded: the
 * peer waits.
 */
@SuppressWarnings("FutureReturnValueIgnored") // Netty reports failures through the pipeline
final class PeerInput extends InputStream {
    private static final int HELD_MAX = 8;
    private static final long PATIENCE_SECONDS = 30;

    /** A part of the answer; the last one has no bytes, and has a failure unless the answer is complete. */
    private record Part(byte[] bytes, Exception failure) {
        boolean last() {
            return bytes == null;
        }
    }

    private final TransportSettings settings;
    private final TransportSettings.Peer peer;
    private final byte[] request;
    private final ReceiveBuffer<Part> arrived = new ReceiveBuffer<>(HELD_MAX);
    private final Channel channel;
    private byte[] current = new byte[0];
    private int position;
    private Part end;

    /** Connects and asks; a failure of either is reported by reading. */
    PeerInput(EventLoop loop, TransportSettings settings, TransportSettings.Peer peer, byte[] request) {
        this.settings = settings;
        this.peer = peer;
        this.request = request.clone();
        var connecting = new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .option(ChannelOption.SO_KEEPALIVE, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int)
                        settings.timeoutMax().toMillis())
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel c) {
                        Reached.require(settings.tls(), peer, c.pipeline());
                        c.pipeline().addLast(Wire.frames(Wire.FRAME_BYTES_MAX), new Connection());
                    }
                })
                .connect(peer.host(), peer.channelPort());
        channel = connecting.channel();
        connecting.addListener(connected -> {
            if (!connected.isSuccess()) {
                ended(new IOException("no connection to " + peer.name() + ": "
                        + connected.cause().getMessage()));
            }
        });
    }

    @Override
    public int read() throws IOException {
        return has() ? current[position++] & 0xff : -1;
    }

    @Override
    public int read(byte[] into, int from, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        if (!has()) {
            return -1;
        }
        int taken = Math.min(length, current.length - position);
        System.arraycopy(current, position, into, from, taken);
        position += taken;
        return taken;
    }

    /** Waits until there is a byte; false at the end. */
    private boolean has() throws IOException {
        while (end == null && position == current.length) {
            Part part = next();
            if (part.last()) {
                end = part;
            } else {
                current = part.bytes;
                position = 0;
            }
        }
        if (end == null) {
            return true;
        }
        if (end.failure instanceof QuorateException refused) {
            throw new QuorateException(refused.code(), refused.detail(), refused);
        }
        if (end.failure != null) {
            throw new IOException(end.failure.getMessage(), end.failure);
        }
        return false;
    }

    private Part next() throws IOException {
        try {
            Part part = arrived.poll(PATIENCE_SECONDS, channel.config());
            if (part == null) {
                throw new IOException(peer.name() + " has sent nothing for " + PATIENCE_SECONDS + " seconds");
            }
            return part;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (InterruptedIOException) new InterruptedIOException("interrupted").initCause(e);
        }
    }

    private void ended(Exception failure) {
        arrived.addLast(new Part(null, failure));
    }

    @Override
    public void close() {
        channel.close();
    }

    private final class Connection extends SimpleChannelInboundHandler<ByteBuf> {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.writeAndFlush(
                    Wire.hello(ctx.alloc(), settings.cluster(), Lives.ANY, settings.self(), peer.name()),
                    ctx.voidPromise());
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf message) {
            byte type = Wire.readType(message);
            switch (type) {
                case Wire.WELCOME ->
                    ctx.writeAndFlush(
                            Wire.bytes(ctx.alloc(), Wire.FETCH, request, 0, request.length), ctx.voidPromise());
                case Wire.DATA ->
                    arrived.add(
                            new Part(Wire.readBytes(message), null),
                            ctx.channel().config());
                case Wire.END -> end(ctx, null);
                case Wire.REFUSED -> {
                    Wire.Refused refused = Wire.readRefused(message);
                    end(
                            ctx,
                            new QuorateException(
                                    Wire.code(refused.code()), peer.name() + " refuses: " + refused.reason()));
                }
                default -> throw Wire.malformed("a message of type " + type + " from " + peer.name());
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            ended(new IOException("the connection to " + peer.name() + " was lost"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            Throwable what = cause instanceof DecoderException && cause.getCause() != null ? cause.getCause() : cause;
            String why = what instanceof SSLException ? PeerTls.why(what) : what.getMessage();
            end(ctx, new IOException("the connection to " + peer.name() + " failed: " + why, what));
        }

        private void end(ChannelHandlerContext ctx, Exception failure) {
            ended(failure);
            ctx.close();
        }
    }
}
