// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.http;

import io.quorate.node.thread.OwnedThread;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A web server for probes, which nobody can keep from answering: one thread serves all connections and waits for none
 * of them. A connection is for one request, GET or HEAD, without a body, of at most {@link
 * ProbeConnection#REQUEST_BYTES_MAX} bytes, and is closed after {@link #LIFE_NANOS} whatever it does. When there are
 * too many, the oldest gives way to the one that comes.
 */
final class ProbeServer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ProbeServer.class);

    static final int CONNECTIONS_MAX = 256;
    private static final long LIFE_NANOS = 5_000_000_000L;
    private static final long LOOK_MILLIS = 500;
    private static final int BACKLOG = 128;

    /**
     * The answer to a probe.
     *
     * @param well 200, otherwise 503
     * @param text one line
     */
    record Answer(boolean well, String text) {}

    /** Answers at once. */
    @FunctionalInterface
    interface Answers {
        /** @return null when there is nothing at this path */
        @Nullable
        Answer answer(String path);
    }

    private final ServerSocketChannel door;
    private final Selector selector;
    private final Answers answers;
    private final OwnedThread thread;
    /** The oldest first. */
    private final Deque<ProbeConnection> connections = new ArrayDeque<>();

    private ProbeServer(ServerSocketChannel door, Selector selector, Answers answers) {
        this.door = door;
        this.selector = selector;
        this.answers = answers;
        // Without it probes aren't answered, which says enough to whoever asks.
        this.thread = OwnedThread.lasting(
                "quorate-probes", this::run, (name, e) -> log.error("probes are answered no more", e));
    }

    /** @throws IOException when nothing can listen there */
    static ProbeServer start(InetSocketAddress at, Answers answers) throws IOException {
        ServerSocketChannel door = ServerSocketChannel.open();
        Selector selector = Selector.open();
        try {
            door.bind(at, BACKLOG);
            door.configureBlocking(false);
            door.register(selector, SelectionKey.OP_ACCEPT);
        } catch (IOException | RuntimeException e) {
            door.close();
            selector.close();
            throw e;
        }
        ProbeServer server = new ProbeServer(door, selector, answers);
        server.thread.start();
        return server;
    }

    /** Where it listens. */
    InetSocketAddress address() throws IOException {
        return (InetSocketAddress) door.getLocalAddress();
    }

    private void run() throws IOException {
        try {
            while (!Thread.currentThread().isInterrupted()) {
                selector.select(LOOK_MILLIS);
                closeOld();
                for (SelectionKey key : selector.selectedKeys()) {
                    if (key.isValid() && key.isAcceptable()) {
                        accept();
                    } else if (key.isValid()) {
                        ((ProbeConnection) key.attachment()).proceed(answers);
                    }
                }
                selector.selectedKeys().clear();
                connections.removeIf(connection -> !connection.isOpen());
            }
        } finally {
            connections.forEach(ProbeConnection::close);
            door.close();
            selector.close();
        }
    }

    private void accept() {
        try {
            SocketChannel channel = door.accept();
            if (channel == null) {
                return;
            }
            if (connections.size() >= CONNECTIONS_MAX) {
                connections.removeFirst().close();
            }
            channel.configureBlocking(false);
            SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
            ProbeConnection connection = new ProbeConnection(channel, key, System.nanoTime() + LIFE_NANOS);
            key.attach(connection);
            connections.addLast(connection);
        } catch (IOException e) {
            log.debug("a probe could not connect", e);
        }
    }

    private void closeOld() {
        long now = System.nanoTime();
        while (!connections.isEmpty() && connections.peekFirst().isOver(now)) {
            connections.removeFirst().close();
        }
    }

    @Override
    public void close() {
        thread.close();
        try {
            door.close();
            selector.close();
        } catch (IOException e) {
            log.debug("the port for probes", e);
        }
    }
}
