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
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.transport.tls.PeerTls;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * This node's end of the channel to one peer. It is opened when first needed, and opened again after a failure, but not
 * sooner than the backoff allows; frames that meet a closed channel meanwhile fail at once. Everything except {@link
 * #send}, {@link #report} and {@link #greet} runs on the peer's event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // Netty reports failures through the pipeline
final class ChannelClient implements AutoCloseable {
    private static final long BACKOFF_MILLIS_MIN = 100;
    private static final long BACKOFF_MILLIS_MAX = 2_000;

    private enum State {
        CLOSED,
        CONNECTING,
        READY,
        ENDED
    }

    /**
     * What keeps frames from the peer.
     *
     * @param sinceNanos since when, by {@link System#nanoTime}
     */
    private record Broken(long sinceNanos, String why) {}

    private record Waiting(byte[] frame, CompletableFuture<Answer> answer) {}

    private record Pending(CompletableFuture<Answer> answer, long sentNanos) {}

    private final EventLoop loop;
    private final TransportSettings settings;
    private final TransportSettings.Peer peer;
    private final Supplier<Lives> lives;
    private final Consumer<String> former;
    private final LoggedOnce warnings;
    private final long answerNanosMax;
    private final LongAdder connects = new LongAdder();

    /** Why the peer doesn't let this node in; null when it does, and when it doesn't answer. */
    private volatile @Nullable String refusal;

    /** Null while there is a connection. */
    private volatile Broken broken = new Broken(System.nanoTime(), "not connected yet");

    private State state = State.CLOSED;
    private Channel channel;
    private long requests;
    private long backoffMillis = BACKOFF_MILLIS_MIN;
    private long retryAtNanos = System.nanoTime();
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
    /** By request; others than the loop may ask whether there are any. */
    private final ConcurrentNavigableMap<Long, Pending> pending = new ConcurrentSkipListMap<>();

    /**
     * @param lives of the cluster, as this node knows them when it connects
     * @param former is told when the peer says that this node is of a former life
     */
    ChannelClient(
            EventLoop loop,
            TransportSettings settings,
            TransportSettings.Peer peer,
            Supplier<Lives> lives,
            Consumer<String> former,
            LoggedOnce warnings) {
        this.loop = loop;
        this.settings = settings;
        this.peer = peer;
        this.lives = lives;
        this.former = former;
        this.warnings = warnings;
        // Longer than a leader takes to notice that it no longer leads, because that is the better answer.
        answerNanosMax = 5 * settings.timeoutMax().toNanos();
    }

    TransportSettings.Peer peer() {
        return peer;
    }

    /** Sends a frame. The frames of one thread leave in the order of its calls. Bounded by the caller's window. */
    CompletableFuture<Answer> send(byte[] frame) {
        CompletableFuture<Answer> answer = new CompletableFuture<>();
        try {
            // Always as a task, even on the loop itself; otherwise a frame could overtake one that waits in the loop's
            // queue.
            loop.execute(() -> {
                try {
                    sendNow(new Waiting(frame, answer));
                } catch (RuntimeException | Error e) { // Memory for the message, say. Nobody else would answer.
                    disconnected("sending to " + peer.name() + " failed: " + e);
                    answer.complete(Answer.failed(e.toString()));
                }
            });
        } catch (RuntimeException e) {
            answer.complete(Answer.failed("closing"));
        }
        return answer;
    }

    /** Sends a report if there is a connection; connects otherwise, for the next one. */
    void report(byte[] report) {
        loop.execute(() -> {
            if (state == State.READY && channel.isWritable()) {
                channel.writeAndFlush(
                        Wire.bytes(channel.alloc(), Wire.REPORT, report, 0, report.length), channel.voidPromise());
            }
        });
        greet();
    }

    /** Connects if need be, so that a peer of another cluster is found out even while nothing is sent. */
    void greet() {
        loop.execute(() -> {
            if (state == State.CLOSED && System.nanoTime() - retryAtNanos >= 0) {
                connect();
            }
        });
    }

    /** The peer leads now: entries are about to be sent, so it isn't left alone for as long as before. */
    void leads() {
        loop.execute(() -> {
            backoffMillis = BACKOFF_MILLIS_MIN;
            if (state == State.CLOSED) {
                connect();
            }
        });
    }

    /** Why the peer doesn't let this node in; null when it does, and when it doesn't answer. */
    @Nullable
    String refusal() {
        return refusal;
    }

    /** What keeps frames from the peer; null while there is a connection. */
    Unreachable unreachable() {
        Broken now = broken;
        return now == null
                ? null
                : new Unreachable(
                        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - now.sinceNanos),
                        "entries can't be handed to " + peer.name() + ", which leads, at " + peer.host() + ":"
                                + peer.channelPort() + " (" + now.why + ")");
    }

    /** Fails the frames that the peer has left unanswered for too long, and closes the connection with them. */
    void checkAnswers() {
        if (pending.isEmpty()) {
            return; // The loop isn't woken several times a second for nothing.
        }
        loop.execute(() -> {
            if (!pending.isEmpty() && System.nanoTime() - pending.firstEntry().getValue().sentNanos > answerNanosMax) {
                disconnected("no answer from " + peer.name());
            }
        });
    }

    /** Another node leads now: frames that this one has not answered may never be answered. */
    void leaderNoMore() {
        loop.execute(() -> {
            if (!pending.isEmpty()) {
                disconnected(peer.name() + " no longer leads");
            }
        });
    }

    /** Makes this node greet the peer again. */
    void disconnect() {
        loop.execute(() -> disconnected("greeting " + peer.name() + " again"));
    }

    /** How often a connection was opened. */
    long connects() {
        return connects.sum();
    }

    @Override
    public void close() {
        loop.execute(() -> {
            disconnected("closing");
            state = State.ENDED;
        });
    }

    private void sendNow(Waiting frame) {
        if (state == State.CLOSED && System.nanoTime() - retryAtNanos >= 0) {
            connect();
        }
        switch (state) {
            case READY -> write(frame);
            case CONNECTING -> waiting.add(frame);
            default -> frame.answer.complete(Answer.failed("no connection to " + peer.name()));
        }
    }

    private void write(Waiting frame) {
        long request = requests++;
        pending.put(request, new Pending(frame.answer, System.nanoTime()));
        channel.writeAndFlush(Wire.entry(channel.alloc(), request, frame.frame), channel.voidPromise());
    }

    private void connect() {
        state = State.CONNECTING;
        connects.increment();
        var connecting = new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true)
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
            if (!connected.isSuccess() && channel == connecting.channel()) {
                disconnected("no connection to " + peer.name() + ": "
                        + connected.cause().getMessage());
            }
        });
    }

    private void disconnected(String why) {
        if (state == State.CLOSED || state == State.ENDED) {
            return;
        }
        state = State.CLOSED;
        refusal = null;
        Broken before = broken;
        broken = new Broken(before == null ? System.nanoTime() : before.sinceNanos, why);
        retryAtNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(backoffMillis);
        backoffMillis = Math.min(2 * backoffMillis, BACKOFF_MILLIS_MAX);
        Channel old = channel;
        channel = null;
        old.close();
        Answer answer = Answer.failed(why);
        while (!waiting.isEmpty()) {
            waiting.remove().answer.complete(answer);
        }
        List<Pending> unanswered = List.copyOf(pending.values());
        pending.clear();
        unanswered.forEach(p -> p.answer.complete(answer));
    }

    private final class Connection extends SimpleChannelInboundHandler<ByteBuf> {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.writeAndFlush(
                    Wire.hello(ctx.alloc(), settings.cluster(), lives.get().toString(), settings.self(), peer.name()),
                    ctx.voidPromise());
            ctx.executor()
                    .schedule(
                            () -> {
                                if (current(ctx) && state == State.CONNECTING) {
                                    disconnected(peer.name() + " did not answer the greeting");
                                }
                            },
                            settings.timeoutMax().toMillis(),
                            TimeUnit.MILLISECONDS);
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf message) {
            if (!current(ctx)) {
                return;
            }
            byte type = Wire.readType(message);
            if (type == Wire.ANSWER && state == State.READY) {
                Pending request = pending.remove(Wire.readRequest(message));
                Answer answer = Wire.readAnswer(message);
                if (request != null) {
                    request.answer.complete(answer);
                }
            } else if (type == Wire.WELCOME && state == State.CONNECTING) {
                welcome();
            } else if (type == Wire.REFUSED && state == State.CONNECTING) {
                refused(Wire.readRefused(message));
            } else {
                throw Wire.malformed("a message of type " + type + " from " + peer.name());
            }
        }

        private void welcome() {
            state = State.READY;
            broken = null;
            refusal = null;
            backoffMillis = BACKOFF_MILLIS_MIN;
            warnings.mended(peer.name(), "Connected with " + peer.name());
            while (!waiting.isEmpty()) {
                write(waiting.remove());
            }
        }

        private void refused(Wire.Refused refusal) {
            ErrorCode code = Wire.code(refusal.code());
            String message = new QuorateException(
                            code,
                            peer.name() + " at " + peer.host() + ":" + peer.channelPort() + " refuses this node: "
                                    + refusal.reason())
                    .getMessage();
            warnings.warn(peer.name(), message);
            backoffMillis = BACKOFF_MILLIS_MAX;
            disconnected(message);
            ChannelClient.this.refusal = message;
            if (code == ErrorCode.FORMER_LIFE) {
                former.accept(refusal.reason());
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (current(ctx)) {
                disconnected("the connection to " + peer.name() + " was lost");
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            Throwable what = cause instanceof DecoderException && cause.getCause() != null ? cause.getCause() : cause;
            String why = what instanceof SSLException ? PeerTls.why(what) : what.toString();
            if (what instanceof SSLException || !(what instanceof IOException)) {
                warnings.warn(peer.name(), "The connection to " + peer.name() + " is closed: " + why);
            }
            if (current(ctx)) {
                disconnected("the connection to " + peer.name() + " failed: " + why);
            }
            ctx.close();
        }

        private boolean current(ChannelHandlerContext ctx) {
            return ctx.channel() == channel;
        }
    }
}
