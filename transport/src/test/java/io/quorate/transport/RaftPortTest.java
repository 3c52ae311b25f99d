// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.transport.TransportSettings.Peer;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.TermIndexProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The port at which the members' Ratis servers talk, with others at it than these. */
@Timeout(600)
class RaftPortTest {
    private static final byte WELCOME = 2;
    private static final byte REFUSED = 3;
    private static final byte VOTE = 4;
    private static final byte APPEND = 5;

    @TempDir
    Path directory;

    @Test
    void refusesWhoMeansAnotherClusterOrAnotherServer() throws IOException {
        try (Nodes nodes = Nodes.of(directory, 1).start()) {
            UUID group = group(nodes, "n1");
            assertThat(greet(nodes, new UUID(1, 2), "n2", "n1")).contains("another cluster");
            assertThat(greet(nodes, group, "n2", "n3")).contains("this is n1, and not n3");
            assertThat(greet(nodes, group, "n2", "n1")).isEmpty();
        }
    }

    /** Its key is good for all of its former and later lives. */
    @Test
    void oneNodeDoesNotTakeThePlacesOfAll() throws IOException {
        try (Nodes nodes = Nodes.of(directory, 1).start()) {
            UUID group = group(nodes, "n1");
            List<Socket> held = new ArrayList<>();
            try {
                for (String caller : List.of("n2", "n2#2", "n2#3", "n2#4")) {
                    held.add(connect(nodes.peers().get(0)));
                    assertThat(greet(held.get(held.size() - 1), group, caller, "n1"))
                            .isEmpty();
                }
                assertThat(greet(nodes, group, "n2#5", "n1")).contains("too many callers");
                assertThat(greet(nodes, group, "n2#4", "n1")).as("anew").isEmpty();
                assertThat(greet(nodes, group, "n3", "n1")).isEmpty();
            } finally {
                held.forEach(RaftPortTest::close);
            }
        }
    }

    @Test
    void noiseHoldsNobodyUp() throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        try (Nodes nodes = Nodes.of(directory, 2).start()) {
            nodes.awaitLeader();
            List<Socket> silent = new ArrayList<>();
            for (Peer peer : nodes.peers()) {
                for (int i = 0; i < 40; i++) {
                    silent.add(connect(peer));
                }
            }
            for (int i = 0; i < 200; i++) {
                Peer peer = nodes.peers().get(random.nextInt(2));
                try (Socket socket = connect(peer)) {
                    noise(random, group(nodes, peer.name()), peer, socket);
                } catch (IOException e) {
                    // It was put out while it was talking.
                }
            }
            nodes.awaitLeader();
            for (int i = 0; i < 20; i++) {
                nodes.submitSurely("n1", "after the noise " + i);
            }
            nodes.awaitEverywhere("after the noise 19");
            for (Socket socket : silent) {
                socket.setSoTimeout(60_000);
                assertThat(readsToEnd(socket)).as("who says nothing is put out").isTrue();
            }
            assertThat(nodes.recorder("n1").failures).isEmpty();
            assertThat(nodes.recorder("n2").failures).isEmpty();
        }
    }

    /** A server keeps the term that it has heard of, and after the last one there could be no election any more. */
    @Test
    void aVoteOfATermThatCannotBeIsNotTaken() throws Exception {
        try (Nodes nodes = Nodes.of(directory, 3)) {
            nodes.start("n1");
            nodes.start("n2");
            nodes.awaitLeader();
            nodes.submitSurely("n1", "before");
            for (String of : List.of("n3", "n2")) {
                for (long term : new long[] {Long.MAX_VALUE, 1L << 40, -1}) {
                    assertPutOut(nodes, vote(nodes, of, term));
                }
            }
            nodes.submitSurely("n2", "after");
            nodes.awaitEverywhere("after");
            assertThat(nodes.node("n1").quorum().term()).isLessThan(1000);
        }
    }

    private static byte[] vote(Nodes nodes, String of, long term) throws IOException {
        RaftRpcRequestProto request = RaftRpcRequestProto.newBuilder()
                .setRequestorId(ByteString.copyFromUtf8(of))
                .setReplyId(ByteString.copyFromUtf8("n1"))
                .setRaftGroupId(RaftGroupIdProto.newBuilder()
                        .setId(RaftGroupId.valueOf(group(nodes, "n1")).toByteString()))
                .setCallId(1)
                .build();
        return RpcHello.frame(
                VOTE,
                RequestVoteRequestProto.newBuilder()
                        .setServerRequest(request)
                        .setCandidateTerm(term)
                        .setCandidateLastEntry(
                                TermIndexProto.newBuilder().setTerm(1L << 40).setIndex(1L << 40))
                        .build()
                        .toByteArray());
    }

    /** By n1, as n3, with this request. */
    private static void assertPutOut(Nodes nodes, byte[] request) throws IOException {
        try (Socket socket = connect(nodes.peers().get(0))) {
            assertThat(greet(socket, group(nodes, "n1"), "n3", "n1")).isEmpty();
            socket.getOutputStream().write(request);
            socket.setSoTimeout(60_000);
            assertThat(readsToEnd(socket)).isTrue();
        }
    }

    @Test
    void whoSpeaksTooSlowlyIsPutOut() throws Exception {
        try (Nodes nodes = Nodes.of(directory, 1).start();
                Socket slow = connect(nodes.peers().get(0))) {
            slow.getOutputStream().write(new byte[] {0, 0, 1, 0});
            slow.setSoTimeout(300);
            Nodes.await("put out", () -> isClosedAfterOneByte(slow));
        }
    }

    private static boolean isClosedAfterOneByte(Socket socket) {
        try {
            socket.getOutputStream().write(1);
            return socket.getInputStream().read() < 0;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    /** It greets, and then reads no more: what is sent to it stays in the buffers, and soon there is no more room. */
    @Test
    void aMemberThatTakesNothingHoldsNobodyUp() throws Exception {
        try (Nodes nodes = Nodes.of(directory, 3);
                ServerSocket third = listen(nodes.peers().get(2))) {
            AtomicInteger greeted = new AtomicInteger();
            new Thread(() -> greetAll(third, greeted)).start();
            nodes.start("n1");
            nodes.start("n2");
            nodes.awaitLeader();
            byte[] entry = new byte[200_000];
            for (int i = 0; i < 200; i++) {
                entry[0] = (byte) i;
                nodes.node(nodes.runningLeader()).submit(entry).get(60, TimeUnit.SECONDS);
            }
            nodes.submitSurely("n2", "all taken");
            nodes.awaitEverywhere("all taken");
            // The leader has been holding a message for it, and gives the connection up; so do those who ask for votes.
            int before = greeted.get();
            Nodes.await("another try", () -> greeted.get() > before + 1);
            nodes.submitSurely("n1", "then");
            nodes.awaitEverywhere("then");
        }
    }

    private static void greetAll(ServerSocket third, AtomicInteger greeted) {
        Deque<Socket> held = new ArrayDeque<>();
        while (!third.isClosed()) {
            try {
                held.push(third.accept());
                DataInputStream in = new DataInputStream(held.peek().getInputStream());
                in.readFully(new byte[in.readInt()]);
                held.peek().getOutputStream().write(RpcHello.frame(WELCOME, new byte[2]));
                greeted.incrementAndGet();
            } catch (IOException e) {
                // Closed, or given up by the other side.
            }
        }
        held.forEach(RaftPortTest::close);
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ServerSocket listen(Peer peer) throws IOException {
        ServerSocket socket = new ServerSocket();
        socket.setReceiveBufferSize(8192);
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), peer.raftPort()));
        return socket;
    }

    private static void noise(Random random, UUID group, Peer peer, Socket socket) throws IOException {
        DataOutputStream out = new DataOutputStream(socket.getOutputStream());
        byte[] bytes = new byte[random.nextInt(3000)];
        random.nextBytes(bytes);
        switch (random.nextInt(5)) {
            case 0 -> out.write(bytes);
            case 1 -> out.writeInt(random.nextInt());
            case 2 -> out.write("GET / HTTP/1.1\r\nHost: n1\r\n\r\n".getBytes(StandardCharsets.UTF_8));
            case 3 -> {
                out.write(RpcHello.of(group, "x" + random.nextInt(3), peer.name()));
                out.write(RpcHello.frame((byte) random.nextInt(256), bytes));
            }
            default -> {
                out.write(RpcHello.of(group, "x" + random.nextInt(3), peer.name()));
                out.write(RpcHello.frame(APPEND, bytes));
            }
        }
        out.flush();
        if (random.nextBoolean()) {
            socket.setSoTimeout(50);
            readsToEnd(socket);
        }
    }

    private static boolean readsToEnd(Socket socket) {
        try {
            while (socket.getInputStream().read() >= 0) {
                // An answer.
            }
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    /** Why it was refused; empty if it was welcome. */
    private static String greet(Nodes nodes, UUID group, String caller, String meant) throws IOException {
        try (Socket socket = connect(nodes.peers().get(0))) {
            return greet(socket, group, caller, meant);
        }
    }

    private static String greet(Socket socket, UUID group, String caller, String meant) throws IOException {
        socket.getOutputStream().write(RpcHello.of(group, caller, meant));
        DataInputStream in = new DataInputStream(socket.getInputStream());
        in.readInt();
        byte type = in.readByte();
        in.readLong();
        assertThat(type).isIn(WELCOME, REFUSED);
        return in.readUTF();
    }

    private static UUID group(Nodes nodes, String name) {
        return RaftSettings.groupId(nodes.settings(name), Lives.FIRST).getUuid();
    }

    private static Socket connect(Peer peer) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), peer.raftPort());
        socket.setSoTimeout(30_000);
        return socket;
    }
}
