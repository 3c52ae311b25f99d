// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport.rpc;

import io.quorate.transport.rpc.RpcWire.Frame;
import io.quorate.transport.rpc.RpcWire.Hello;
import io.quorate.transport.tls.PeerTls;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSocket;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.RaftServerAsynchronousProtocol;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.JavaUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the other servers' requests. Each connection has a thread, which reads a request and hands it to Ratis itself;
 * what a follower appends is then answered by the thread that has seen it on disk.
 */
final class PeerServer implements AutoCloseable {
    /** What may be in memory because it isn't applied: a sixteenth of the heap, but some entries in any case. */
    private static final long UNAPPLIED_BYTES_MAX =
            Math.max(8L << 20, Runtime.getRuntime().maxMemory() / 16);

    private static final Logger LOG = LoggerFactory.getLogger(PeerServer.class);
    /** How long a caller may take to say who it is, and prove it. */
    private static final int GREET_MILLIS = 5000;

    private static final int LOOK_MILLIS = 1000;
    /** Beyond so many that haven't said who they are, the oldest of these makes room. */
    private static final int STRANGERS_MAX = 32;

    /** More than members there are. */
    private static final int CALLERS_MAX = 64;

    /** So that one node's key doesn't take the places of the others. */
    private static final int CALLERS_OF_A_NODE_MAX = 4;

    private static final long AGAIN_MILLIS = 100;

    /** More elections than there can have been while a server was away: one a second for twelve days. */
    private static final long TERMS_AHEAD_MAX = 1 << 20;

    private final RaftServer server;
    private final RpcSettings settings;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    /** Those that haven't greeted, the oldest first. */
    private final Queue<Stranger> strangers = new ConcurrentLinkedQueue<>();
    /** The connection of each caller; it has only one, so another one means that this one is dead. */
    private final Map<String, Socket> callers = new ConcurrentHashMap<>();

    /**
     * Held while Ratis takes entries. It examines them and appends them in two steps, and what a former leader has sent
     * on another connection must not come in between.
     */
    private final Object appending = new Object();

    /** Held while a caller is let in or refused. */
    private final Object greeting = new Object();

    private volatile ServerSocket listening;
    private volatile boolean closed;

    /** A connection of somebody who hasn't said yet who he is. */
    private record Stranger(Socket socket, long sinceNanos) {}

    PeerServer(RaftServer server, RpcSettings settings) {
        this.server = server;
        this.settings = settings;
    }

    void start() throws IOException {
        ServerSocket socket = new ServerSocket();
        try {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(settings.host(), settings.port()));
        } catch (IOException e) {
            socket.close();
            throw e;
        }
        listening = socket;
        thread("quorate-raft-" + server.getId() + "-accept", this::accept);
    }

    private static void thread(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        while (!closed) {
            try {
                endSlowStrangers();
                // Only while there are some this thread has to look at them.
                listening.setSoTimeout(strangers.isEmpty() ? 0 : LOOK_MILLIS);
                Socket socket = listening.accept();
                open.add(socket);
                Stranger stranger = new Stranger(socket, System.nanoTime());
                strangers.add(stranger);
                if (strangers.size() > STRANGERS_MAX) {
                    end(strangers.remove().socket);
                }
                if (closed) {
                    end(socket);
                } else {
                    thread("quorate-raft-" + server.getId() + "-greeted", () -> serve(stranger));
                }
            } catch (SocketTimeoutException e) {
                LOG.trace("nobody has called for a while");
            } catch (IOException e) {
                if (!closed) {
                    LOG.warn("{} can't take a connection now: {}", server.getId(), e.toString());
                    pause();
                }
            }
        }
    }

    /** However they hold out: a handshake of a byte a second is none. */
    private void endSlowStrangers() {
        long since = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(GREET_MILLIS);
        for (Stranger oldest = strangers.peek(); oldest != null; oldest = strangers.peek()) {
            if (oldest.sinceNanos - since > 0) {
                return;
            }
            // Whoever has greeted in this moment isn't one any more.
            if (strangers.remove(oldest)) {
                end(oldest.socket);
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(AGAIN_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void serve(Stranger stranger) {
        Socket socket = stranger.socket;
        String caller = null;
        try {
            socket.setTcpNoDelay(true);
            socket.setKeepAlive(true);
            socket.setSoTimeout(GREET_MILLIS);
            Talking talking = secured(socket);
            DataInputStream in = new DataInputStream(new BufferedInputStream(talking.socket.getInputStream()));
            OutputStream out = talking.socket.getOutputStream();
            caller = greeted(socket, talking.node, in, out);
            if (caller == null) {
                return;
            }
            strangers.remove(stranger);
            Thread.currentThread().setName("quorate-raft-" + server.getId() + "-from-" + caller);
            socket.setSoTimeout(0);
            Answers answers = new Answers(socket, out);
            UnappliedEntries unapplied = new UnappliedEntries(
                    UNAPPLIED_BYTES_MAX, settings.voteWithin().toMillis() / 8, this::lastApplied);
            while (!closed) {
                Frame request = RpcWire.read(in, settings.messageBytesMax());
                if (!isMember(caller)) {
                    throw new IOException("no member any more");
                }
                take(caller, request, unapplied, answers);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            LOG.debug("the connection of {} has ended: {}", caller == null ? socket : caller, e.toString());
        } catch (RuntimeException e) {
            LOG.warn("The connection of {} is ended: {}", caller == null ? socket : caller, e.toString());
            LOG.debug("it was ended by", e);
        } finally {
            strangers.remove(stranger);
            end(socket);
            callers.values().remove(socket);
        }
    }

    /**
     * A connection as it is talked over.
     *
     * @param node the caller's node as its certificate says; null without TLS
     */
    private record Talking(Socket socket, String node) {}

    private Talking secured(Socket socket) throws IOException {
        if (!settings.tls().isOn()) {
            return new Talking(socket, null);
        }
        SSLSocket secured = settings.tls().secure(socket, false);
        return new Talking(secured, PeerTls.name(secured.getSession()));
    }

    /**
     * Whether that server may ask anything: it is in the configuration that Ratis goes by here, or this node has heard
     * of it otherwise, as it may have to after it was away. Anybody may where nobody proves who he is.
     */
    private boolean isMember(String caller) throws IOException {
        return !settings.tls().isOn()
                || server.getDivision(settings.group()).getRaftConf().getAllPeers().stream()
                        .anyMatch(peer -> peer.getId().toString().equals(caller))
                || settings.isKnown().test(settings.nodeOf().apply(caller));
    }

    /** Whether the node of that caller, under the names of its former lives, has as many connections as it may. */
    private boolean isCrowded(String caller) {
        String node = settings.nodeOf().apply(caller);
        return callers.keySet().stream()
                        .filter(other -> settings.nodeOf().apply(other).equals(node))
                        .count()
                >= CALLERS_OF_A_NODE_MAX;
    }

    /** The caller's id, which is among the callers then; null if it was refused. */
    private String greeted(Socket socket, String node, DataInputStream in, OutputStream out) throws IOException {
        String refusal;
        Hello hello = null;
        try {
            hello = RpcWire.readHello(RpcWire.read(in, RpcWire.GREETING_BYTES_MAX));
            refusal = registered(socket, node, hello);
        } catch (IOException e) {
            refusal = String.valueOf(e.getMessage());
        }
        if (refusal == null) {
            out.write(RpcWire.frame(RpcWire.WELCOME, 0, ""));
            return hello.caller();
        }
        out.write(RpcWire.frame(RpcWire.REFUSED, 0, refusal));
        return null;
    }

    /** One after the other, so that no more of them come in than may. */
    private String registered(Socket socket, String node, Hello hello) throws IOException {
        synchronized (greeting) {
            String refusal = refusal(node, hello);
            Socket former = refusal == null ? callers.put(hello.caller(), socket) : null;
            if (former != null) {
                end(former);
            }
            return refusal;
        }
    }

    private String refusal(String node, Hello hello) throws IOException {
        if (node != null && !settings.nodeOf().apply(hello.caller()).equals(node)) {
            return "the certificate is that of " + node + ", and not of " + hello.caller();
        }
        if (!isMember(hello.caller())) {
            return hello.caller() + " is no member";
        }
        if (!callers.containsKey(hello.caller()) && (callers.size() >= CALLERS_MAX || isCrowded(hello.caller()))) {
            return "there are too many callers";
        }
        if (!hello.group().equals(settings.group().getUuid())) {
            return "it belongs to another cluster, or to another life of it";
        }
        if (!hello.meant().equals(server.getId().toString())) {
            return "this is " + server.getId() + ", and not " + hello.meant();
        }
        return null;
    }

    private void take(String caller, Frame frame, UnappliedEntries unapplied, Answers answers)
            throws IOException, InterruptedException {
        switch (frame.type()) {
            case RpcWire.APPEND -> {
                AppendEntriesRequestProto request = RpcWire.parse(frame, AppendEntriesRequestProto.parser());
                require(caller, request.getServerRequest(), request.getLeaderTerm());
                int count = request.getEntriesCount();
                if (count > 0) {
                    unapplied.next(request.getEntries(count - 1).getIndex(), request.getSerializedSize());
                }
                append(request, frame, answers);
            }
            case RpcWire.VOTE -> {
                RequestVoteRequestProto request = RpcWire.parse(frame, RequestVoteRequestProto.parser());
                require(caller, request.getServerRequest(), request.getCandidateTerm());
                answers.give(frame, () -> server.requestVote(request));
            }
            case RpcWire.SNAPSHOT -> {
                InstallSnapshotRequestProto request = RpcWire.parse(frame, InstallSnapshotRequestProto.parser());
                require(caller, request.getServerRequest(), request.getLeaderTerm());
                answers.give(frame, () -> server.installSnapshot(request));
            }
            case RpcWire.ELECTION -> {
                StartLeaderElectionRequestProto request =
                        RpcWire.parse(frame, StartLeaderElectionRequestProto.parser());
                require(caller, request.getServerRequest(), 0);
                answers.give(frame, () -> server.startLeaderElection(request));
            }
            default -> throw new IOException("a request of type " + frame.type());
        }
    }

    /**
     * A term that is accepted is kept for good, and the last one there is would end all elections.
     *
     * @throws IllegalArgumentException when the request isn't the caller's own, or is of a term that can't be
     */
    private void require(String caller, RaftRpcRequestProto request, long term) throws IOException {
        String of = request.getRequestorId().toStringUtf8();
        if (!of.equals(caller)) {
            throw new IllegalArgumentException("it sends a request of " + of);
        }
        long own = server.getDivision(settings.group()).getInfo().getCurrentTerm();
        if (term < 0 || term - own > TERMS_AHEAD_MAX) {
            throw new IllegalArgumentException("it is in term " + term + ", and this server in term " + own);
        }
    }

    private long lastApplied() {
        try {
            return server.getDivision(settings.group()).getInfo().getLastAppliedIndex();
        } catch (IOException e) {
            return Long.MAX_VALUE; // It is closing; then nothing is kept.
        }
    }

    private void append(AppendEntriesRequestProto request, Frame frame, Answers answers) {
        CompletableFuture<AppendEntriesReplyProto> appended;
        try {
            // The division itself, because the server hands each call to a pool and waits for it.
            RaftServerAsynchronousProtocol division =
                    (RaftServerAsynchronousProtocol) server.getDivision(settings.group());
            synchronized (appending) {
                appended = division.appendEntriesAsync(request);
            }
        } catch (IOException e) {
            answers.failed(frame, e);
            return;
        }
        var unused = appended.whenComplete((reply, e) -> {
            if (e == null) {
                answers.reply(frame, reply);
            } else {
                answers.failed(frame, JavaUtils.unwrapCompletionException(e));
            }
        });
    }

    private interface Handling {
        MessageLite reply() throws IOException;
    }

    /** Where the answers to one connection's requests go. */
    private final class Answers {
        private final Socket socket;
        private final OutputStream out;

        Answers(Socket socket, OutputStream out) {
            this.socket = socket;
            this.out = out;
        }

        void give(Frame request, Handling handling) {
            try {
                reply(request, handling.reply());
            } catch (IOException e) {
                failed(request, e);
            }
        }

        void reply(Frame request, MessageLite reply) {
            write(RpcWire.frame(RpcWire.REPLY, request.call(), reply));
        }

        void failed(Frame request, Throwable why) {
            write(RpcWire.frame(RpcWire.FAILED, request.call(), why.toString()));
        }

        private void write(byte[] frame) {
            try {
                synchronized (out) {
                    out.write(frame);
                }
            } catch (IOException e) {
                LOG.debug("an answer can't be given: {}", e.toString());
                end(socket);
            }
        }
    }

    private void end(Socket socket) {
        open.remove(socket);
        PeerLink.closeQuietly(socket);
    }

    @Override
    public void close() {
        closed = true;
        ServerSocket socket = listening;
        if (socket != null) {
            PeerLink.closeQuietly(socket);
        }
        open.forEach(this::end);
    }
}
