// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport.rpc;

import io.quorate.transport.rpc.RpcWire.Frame;
import io.quorate.transport.tls.PeerTls;
import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLSocket;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.thirdparty.com.google.protobuf.Parser;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This server's way to one other: a connection for its requests, made when there is something to say, and again after
 * it broke. Any thread may send; it writes to the socket itself. A thread of the connection reads the replies, and runs
 * what is to be done with them. It also gives the connection up when a reply takes too long: a writer may be held up by
 * a server that takes nothing, and the systems in between notice after a quarter of an hour.
 */
final class PeerLink implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PeerLink.class);
    private static final int CONNECT_MILLIS = 2000;
    private static final int GREET_MILLIS = 5000;

    private final RaftPeer peer;
    private final String self;
    private final RpcSettings settings;
    private final AtomicLong calls = new AtomicLong();
    private final Object connecting = new Object();
    private volatile Socket opening;
    private volatile Connection connection;
    private volatile boolean closed;

    /** What becomes of a request: just one of these is called, once, and has to be short. */
    interface Reply {
        void arrived(Frame reply);

        /** There is no reply, or the connection broke; nobody knows whether the request has arrived. */
        void failed(IOException why);
    }

    private record Waiting(Reply reply, long sinceNanos) {}

    PeerLink(RaftPeer peer, String self, RpcSettings settings) {
        this.peer = peer;
        this.self = self;
        this.settings = settings;
    }

    RaftPeer peer() {
        return peer;
    }

    /** The present connection; makes one if there is none, which may take a while. */
    Connection connect() throws IOException {
        synchronized (connecting) {
            Connection present = connection;
            if (present != null && present.isOpen()) {
                return present;
            }
            if (closed) {
                throw new IOException("closed");
            }
            Connection made = new Connection();
            connection = made;
            if (closed) {
                made.fail(new IOException("closed"));
            }
            made.start();
            return made;
        }
    }

    /**
     * Sends a request and waits for the reply.
     *
     * @throws IOException when there is none within that time
     */
    <T> T call(byte type, MessageLite request, Parser<T> replies, Duration limit) throws IOException {
        Connection on = connect();
        CompletableFuture<Frame> answer = new CompletableFuture<>();
        on.send(RpcWire.frame(type, 0, request), new Reply() {
            @Override
            public void arrived(Frame reply) {
                answer.complete(reply);
            }

            @Override
            public void failed(IOException why) {
                answer.completeExceptionally(why);
            }
        });
        try {
            return RpcWire.parse(answer.get(limit.toMillis(), TimeUnit.MILLISECONDS), replies);
        } catch (ExecutionException e) {
            throw new IOException(e.getCause().getMessage(), e.getCause());
        } catch (TimeoutException e) {
            SocketTimeoutException late = new SocketTimeoutException(peer + " doesn't answer within " + limit);
            on.fail(late);
            throw late;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while " + peer + " was asked");
        }
    }

    /** Ends the connection, also one that is being made. The next request makes another one. */
    void disconnect() {
        Connection present = connection;
        if (present != null) {
            present.fail(new IOException("disconnected"));
        }
        Socket made = opening;
        if (made != null) {
            closeQuietly(made);
        }
    }

    @Override
    public void close() {
        closed = true;
        disconnect();
    }

    static void closeQuietly(Closeable socket) {
        try {
            socket.close();
        } catch (IOException e) {
            LOG.debug("closing {}", socket, e);
        }
    }

    /** One connection, from the greeting to its end. */
    final class Connection {
        /** Closing it, rather than what encrypts it, waits for nobody who is writing. */
        private final Socket socket = new Socket();

        private final DataInputStream in;
        private final OutputStream out;
        private final Map<Long, Waiting> waiting = new ConcurrentHashMap<>();
        private volatile IOException broken;

        private Connection() throws IOException {
            opening = socket;
            try {
                socket.setTcpNoDelay(true);
                socket.setKeepAlive(true);
                String address = peer.getAddress();
                int colon = address.lastIndexOf(':');
                socket.connect(
                        new InetSocketAddress(
                                address.substring(0, colon), Integer.parseInt(address.substring(colon + 1))),
                        CONNECT_MILLIS);
                socket.setSoTimeout(GREET_MILLIS);
                Socket talking = settings.tls().isOn() ? secured() : socket;
                in = new DataInputStream(new BufferedInputStream(talking.getInputStream()));
                out = talking.getOutputStream();
                greet();
                socket.setSoTimeout((int) settings.answerWithin().toMillis() / 2);
            } catch (IOException | RuntimeException e) {
                closeQuietly(socket);
                throw e;
            } finally {
                opening = null;
            }
        }

        /** The same connection, to the node that is meant and nobody else. */
        private Socket secured() throws IOException {
            SSLSocket secured = settings.tls().secure(socket, true);
            PeerTls.require(
                    secured.getSession(), settings.nodeOf().apply(peer.getId().toString()));
            return secured;
        }

        private void greet() throws IOException {
            out.write(RpcWire.hello(new RpcWire.Hello(
                    settings.group().getUuid(), self, peer.getId().toString())));
            Frame answer = RpcWire.read(in, RpcWire.GREETING_BYTES_MAX);
            if (answer.type() == RpcWire.REFUSED) {
                throw new IOException(peer.getId() + " refuses: " + RpcWire.readText(answer));
            }
            if (answer.type() != RpcWire.WELCOME) {
                throw new IOException(peer.getId() + " answers a greeting with a message of type " + answer.type());
            }
        }

        private void start() {
            Thread reader = new Thread(this::read, "quorate-raft-" + self + "-to-" + peer.getId());
            reader.setDaemon(true);
            reader.start();
        }

        boolean isOpen() {
            return broken == null;
        }

        /** Sends it, whatever call it was made for, as a call of its own. */
        void send(byte[] frame, Reply reply) {
            long call = calls.incrementAndGet();
            RpcWire.setCall(frame, call);
            Waiting sent = new Waiting(reply, System.nanoTime());
            waiting.put(call, sent);
            IOException before = broken;
            if (before == null) {
                try {
                    synchronized (out) {
                        out.write(frame);
                    }
                } catch (IOException e) {
                    fail(e);
                }
            } else if (waiting.remove(call, sent)) {
                reply.failed(before);
            }
        }

        private void read() {
            try {
                while (true) {
                    awaitFrame();
                    Frame frame = RpcWire.read(in, settings.messageBytesMax());
                    Waiting asked = waiting.remove(frame.call());
                    if (asked == null) {
                        throw new IOException(peer.getId() + " answers what nobody asked");
                    }
                    Reply reply = asked.reply;
                    switch (frame.type()) {
                        case RpcWire.REPLY -> reply.arrived(frame);
                        case RpcWire.FAILED -> reply.failed(new IOException(RpcWire.readText(frame)));
                        default -> {
                            IOException wrong = new IOException("a message of type " + frame.type());
                            reply.failed(wrong);
                            throw wrong;
                        }
                    }
                }
            } catch (IOException e) {
                fail(e);
            } catch (RuntimeException e) {
                LOG.warn("The connection to {} is given up", peer.getId(), e);
                fail(new IOException(e));
            }
        }

        /** Waits for a message to begin; from there on it has to come without a pause. */
        private void awaitFrame() throws IOException {
            while (true) {
                in.mark(1);
                try {
                    in.read();
                    in.reset();
                    return;
                } catch (SocketTimeoutException e) {
                    long now = System.nanoTime();
                    long limit = settings.answerWithin().toNanos();
                    if (waiting.values().stream().anyMatch(asked -> now - asked.sinceNanos > limit)) {
                        throw new SocketTimeoutException(
                                peer.getId() + " doesn't answer within " + settings.answerWithin());
                    }
                }
            }
        }

        /** Ends it. All who wait for a reply are told. */
        void fail(IOException why) {
            synchronized (this) {
                if (broken == null) {
                    broken = why;
                }
            }
            closeQuietly(socket);
            waiting.forEach((call, asked) -> {
                if (waiting.remove(call, asked)) {
                    asked.reply.failed(why);
                }
            });
        }
    }
}
