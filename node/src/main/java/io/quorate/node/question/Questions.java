// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.question;

import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import tools.jackson.databind.json.JsonMapper;

/**
 * Asks other nodes questions, and this node too. Several are asked at once on a few threads that do nothing else: a
 * node that is silent keeps a thread waiting for up to half a minute. In the JDK's common pool, which has one or two
 * threads on a small machine, that would keep Ratis from acknowledging what this node has on disk.
 */
public final class Questions implements AutoCloseable {
    /** Enough for seven nodes of which six are silent, asked again every ten seconds. */
    static final int THREADS_MAX = 32;

    static final int WAITING_MAX = 256;
    private static final long IDLE_SECONDS = 30;

    private final String self;
    private final Answers own;
    private final PeerStreams peers;
    private final QuestionCodec codec;
    private final AtomicInteger made = new AtomicInteger();
    private final ThreadPoolExecutor threads = new ThreadPoolExecutor(
            THREADS_MAX, THREADS_MAX, IDLE_SECONDS, TimeUnit.SECONDS, new ArrayBlockingQueue<>(WAITING_MAX), task -> {
                Thread thread = new Thread(task, "quorate-ask-" + made.incrementAndGet());
                thread.setDaemon(true);
                return thread;
            });

    /** A way to a node, which need not be a member. */
    @FunctionalInterface
    public interface Channel {
        /** As {@link PeerStreams#open}. */
        InputStream open(byte[] request) throws IOException;
    }

    /** @param own answers questions to {@code self}, without a network */
    public Questions(String self, Answers own, PeerStreams peers, JsonMapper json) {
        this.self = self;
        this.own = own;
        this.peers = peers;
        this.codec = new QuestionCodec(json);
        threads.allowCoreThreadTimeOut(true);
    }

    /**
     * Has something be asked on another thread.
     *
     * @param asking asks, and may wait for the answer
     * @return what it returned; fails if it threw, or at once if too many are asking already. It never completes if
     *     this is closed meanwhile, so wait for it with a limit
     */
    public <A> CompletableFuture<A> atOnce(Supplier<A> asking) {
        try {
            return CompletableFuture.supplyAsync(asking, threads);
        } catch (RejectedExecutionException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /**
     * Asks a member.
     *
     * @throws QuorateException when the peer refuses; MALFORMED_MESSAGE when its answer isn't understood
     * @throws IOException when the peer can't be reached
     */
    public <A> A ask(String node, Question<A> question) throws IOException {
        return node.equals(self) ? own.here(self, question) : ask(node, request -> peers.open(node, request), question);
    }

    /** As above, but asks a node at the end of a channel. */
    public <A> A ask(String node, Channel channel, Question<A> question) throws IOException {
        try (InputStream in = channel.open(codec.encode(question))) {
            return codec.readAnswer(question, node, in);
        }
    }

    /** Asks another member for a stream; returns when the head of the answer is here. */
    public <H> StreamedAnswer<H> open(String node, StreamedQuestion<H> question) throws IOException {
        InputStream in = peers.open(node, codec.encode(question));
        try {
            return codec.readHead(question, node, in);
        } catch (IOException | RuntimeException e) {
            in.close();
            throw e;
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
