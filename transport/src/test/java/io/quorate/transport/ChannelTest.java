// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.quorate.core.Entry;
import io.quorate.core.ErrorCode;
import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import io.quorate.transport.TransportSettings.Peer;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

@Timeout(600)
class ChannelTest {
    @TempDir
    Path directory;

    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

    @BeforeEach
    void listen() {
        logged.start();
        logger().addAppender(logged);
    }

    @AfterEach
    void stopListening() {
        logger().detachAppender(logged);
    }

    @Test
    void refusesAPeerOfAnotherClusterOnBothSides() {
        List<Integer> ports = Nodes.freePorts(4);
        List<Peer> peers = List.of(
                new Peer("a", "127.0.0.1", ports.get(0), ports.get(1)),
                new Peer("b", "127.0.0.1", ports.get(2), ports.get(3)));
        TransportSettings here = settings("here", "a", peers);
        TransportSettings there = settings("there", "b", peers);
        Recorder recorder = new Recorder();
        try (RatisTotalOrder a = RatisTotalOrder.start(here, recorder);
                RatisTotalOrder b = RatisTotalOrder.start(there, new Recorder())) {
            Nodes.await(
                    "both refuse",
                    () -> a.stats().refusedConnections() > 0 && b.stats().refusedConnections() > 0);
            Nodes.await("both log it", () -> count("QRT-3001 a at") == 1 && count("QRT-3001 b at") == 1);
            Nodes.await("tried again", () -> a.stats().refusedConnections() > 1);
            // Once each as who asked and as who was asked; each with the way out.
            assertThat(count("QRT-3001")).isEqualTo(4);
            assertThat(count("correct quorate.cluster or quorate.peers")).isEqualTo(4);
            assertThat(a.quorum().primary()).isFalse();
            Nodes.await("its reason", () -> a.quorum().cutOff() != null);
            assertThat(a.quorum().cutOff()).startsWith("QRT-3001 b at ").contains("refuses this node");
            OrderTest.assertFailsWith(a.submit(new byte[1]), ErrorCode.NO_QUORUM);
            assertThat(recorder.failures).isEmpty();
        }
    }

    @Test
    void refusesAnotherProtocolVersion() throws IOException {
        try (Nodes nodes = Nodes.of(directory, 1).start();
                Socket socket = connect(nodes)) {
            ByteBuf hello = Wire.hello(ByteBufAllocator.DEFAULT, "test", "", "n1", "n1");
            hello.setShort(4 + 1 + 4, 99);
            socket.getOutputStream().write(ByteBufUtil.getBytes(hello));
            DataInputStream in = new DataInputStream(socket.getInputStream());
            byte[] answer = in.readNBytes(in.readInt());
            assertThat(answer[0]).isEqualTo(Wire.REFUSED);
            assertThat(new String(answer, StandardCharsets.UTF_8)).contains("version");
            assertThat(in.read()).isEqualTo(-1);
            assertThat(count("QRT-3002")).isEqualTo(1);
        }
    }

    @Test
    void closesAConnectionThatSendsGarbageAndGoesOn() throws IOException {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        try (Nodes nodes = Nodes.of(directory, 1).start()) {
            nodes.awaitLeader();
            byte[] http = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
            assertClosed(nodes, http);
            assertClosed(nodes, new byte[] {0, 0, 0, 1, Wire.ENTRY});
            assertClosed(nodes, new byte[] {0, 0, 0, 0});
            assertClosed(nodes, new byte[] {-1, -1, -1, -1, 1, 2, 3});
            for (int i = 0; i < 30; i++) {
                byte[] garbage = new byte[2000];
                random.nextBytes(garbage);
                garbage[0] = (byte) (i % 2); // every other time a length that is believed first
                garbage[1] = 0;
                garbage[2] &= 3;
                assertClosed(nodes, garbage);
            }
            assertThat(nodes.node("n1").stats().malformedMessages())
                    .as("seed %d", seed)
                    .isEqualTo(34);
            assertThat(count("QRT-3004")).isEqualTo(1);
            nodes.submitSurely("n1", "still there");
        }
    }

    @Test
    void closesAConnectionThatSpeaksForAnotherNode() throws IOException {
        Nodes nodes = Nodes.of(directory, 3);
        try (nodes) {
            nodes.start().awaitLeader();
            try (Socket socket = connect(nodes)) {
                OutputStream out = socket.getOutputStream();
                out.write(ByteBufUtil.getBytes(Wire.hello(ByteBufAllocator.DEFAULT, "test", "", "n2", "n1")));
                DataInputStream in = new DataInputStream(socket.getInputStream());
                assertThat(in.readNBytes(in.readInt())[0]).isEqualTo(Wire.WELCOME);
                byte[] frame = EntryFrame.encode(new byte[] {'n', '3'}, 1, 1, 0, 1, Entry.of(new byte[4]), 0, 4);
                out.write(ByteBufUtil.getBytes(Wire.entry(ByteBufAllocator.DEFAULT, 1, frame)));
                assertThat(in.read()).isEqualTo(-1);
            }
            assertThat(count("QRT-3004")).isEqualTo(1);
        }
    }

    /** Once it is in the log, all nodes have it. Of a larger one that is its first piece. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void anEntryOfAnotherNodeIsLookedAtBeforeItIsOrdered(int pieces) throws IOException {
        try (Nodes nodes = Nodes.of(directory, 3)) {
            nodes.names()
                    .forEach(name -> nodes.recorder(name).onCheck = entry -> {
                        if (StandardCharsets.UTF_8
                                .decode(entry.duplicate())
                                .toString()
                                .contains("garbage")) {
                            throw new QuorateException(ErrorCode.MALFORMED_MESSAGE, "on purpose");
                        }
                    });
            String leader = nodes.start().awaitLeader();
            String follower = leader.equals("n1") ? "n2" : "n1";
            Peer peer = nodes.peers().get(nodes.names().indexOf(leader));
            try (Socket socket = new Socket(peer.host(), peer.channelPort())) {
                OutputStream out = socket.getOutputStream();
                out.write(ByteBufUtil.getBytes(Wire.hello(ByteBufAllocator.DEFAULT, "test", "", follower, leader)));
                DataInputStream in = new DataInputStream(socket.getInputStream());
                assertThat(in.readNBytes(in.readInt())[0]).isEqualTo(Wire.WELCOME);
                byte[] frame = EntryFrame.encode(
                        follower.getBytes(StandardCharsets.UTF_8),
                        1,
                        1,
                        0,
                        pieces,
                        Entry.of("garbage".getBytes(StandardCharsets.UTF_8)),
                        0,
                        7);
                out.write(ByteBufUtil.getBytes(Wire.entry(ByteBufAllocator.DEFAULT, 1, frame)));
                assertThat(in.read()).as("the connection is closed").isEqualTo(-1);
            }
            assertThat(nodes.node(leader).stats().malformedMessages()).isEqualTo(1);
            nodes.submitSurely(follower, "what comes after it");
            for (String name : nodes.names()) {
                Nodes.await(name, () -> nodes.recorder(name).has("what comes after it"));
                assertThat(nodes.recorder(name).has("garbage")).isFalse();
            }
        }
    }

    /** The peer would wait for half a minute otherwise. */
    @Test
    @SuppressWarnings("try") // The one that serves is there to be asked.
    void refusesAtOnceWhatItFailsToServe() throws IOException {
        List<Integer> ports = Nodes.freePorts(4);
        Peer serving = new Peer("a", "127.0.0.1", ports.get(0), ports.get(1));
        Peer asking = new Peer("b", "127.0.0.1", ports.get(2), ports.get(3));
        List<Peer> both = List.of(serving, asking);
        PeerStreams.Server failing = (peer, request, answer) -> {
            answer.write(request);
            throw new StackOverflowError("on purpose");
        };
        try (PeerChannels a = PeerChannels.start(
                        settings("here", "a", both), failing, (peer, report) -> {}, (node, members) -> false);
                PeerChannels b = PeerChannels.forOrderAlone(settings("here", "b", both));
                InputStream answer = b.open(serving, new byte[10])) {
            assertThatThrownBy(answer::readAllBytes)
                    .isInstanceOf(QuorateException.class)
                    .hasMessageContaining("on purpose");
        }
    }

    /** Two nodes that ask to be members at once: the first becomes one while the second takes no part in the order. */
    @Test
    @SuppressWarnings("try") // The one that serves is there to be asked.
    void asksAlsoThoseOfWhomItWasToldMeanwhile() throws IOException {
        List<Integer> ports = Nodes.freePorts(6);
        Peer first = new Peer("a", "127.0.0.1", ports.get(0), ports.get(1));
        Peer asking = new Peer("b", "127.0.0.1", ports.get(2), ports.get(3));
        Peer gone = new Peer("c", "127.0.0.1", ports.get(4), ports.get(5));
        PeerStreams.Server echo = (peer, request, answer) -> answer.write(request);
        List<Peer> all = List.of(first, asking, gone);
        try (PeerChannels a = PeerChannels.start(
                        settings("here", "a", all), echo, (peer, report) -> {}, (node, members) -> false);
                PeerChannels b = PeerChannels.start(
                        settings("here", "b", all), echo, (peer, report) -> {}, (node, members) -> false)) {
            b.members(List.of(asking, gone));
            assertThatThrownBy(() -> b.open("a", new byte[] {1}))
                    .isInstanceOf(IOException.class)
                    .hasMessage("a is no member");
            b.more(List.of(first, gone));
            try (InputStream answer = b.open("a", new byte[] {1})) {
                assertThat(answer.readAllBytes()).containsExactly(1);
            }
            assertThat(b.open("c", new byte[] {1})).as("is known as before").isNotNull();
        }
    }

    private void assertClosed(Nodes nodes, byte[] sent) throws IOException {
        try (Socket socket = connect(nodes)) {
            socket.getOutputStream().write(sent);
            socket.setSoTimeout(20_000);
            int read;
            try {
                read = socket.getInputStream().read();
            } catch (java.net.SocketException reset) {
                read = -1;
            }
            assertThat(read).isEqualTo(-1);
        }
    }

    private static Socket connect(Nodes nodes) throws IOException {
        Peer peer = nodes.peers().get(0);
        return new Socket(peer.host(), peer.channelPort());
    }

    private TransportSettings settings(String cluster, String self, List<Peer> peers) {
        return TransportSettings.of(cluster, self, peers, directory.resolve(self))
                .withTimeouts(Duration.ofMillis(300), Duration.ofMillis(600));
    }

    private long count(String text) {
        return List.copyOf(logged.list).stream()
                .filter(e -> e.getFormattedMessage().contains(text))
                .count();
    }

    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger(PeerChannels.class);
    }
}
