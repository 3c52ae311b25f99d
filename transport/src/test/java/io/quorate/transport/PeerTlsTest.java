// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.ErrorCode;
import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import io.quorate.transport.TransportSettings.Peer;
import io.quorate.transport.tls.PeerTls;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Both ports where nodes have certificates, with nodes and others that have some, too. */
@Timeout(600)
class PeerTlsTest {
    private static final byte[] REQUEST = {1, 2, 3};

    @TempDir
    Path directory;

    private Certified ours;

    @BeforeEach
    void makeCertificates() throws IOException {
        ours = Certified.in(directory.resolve("certs"));
    }

    private Nodes nodes(int count) {
        return new Nodes(directory, count, s -> s.withTimeouts(Duration.ofMillis(300), Duration.ofMillis(600))
                .withTls(ours.tls(s.self())));
    }

    @Test
    void membersOrderAndChangeTheMembers() {
        try (Nodes nodes = nodes(3).start()) {
            nodes.awaitLeader();
            nodes.submitSurely("n1", "from n1");
            nodes.submitSurely("n2", "from n2");
            byte[] large = "x".repeat(300_000).getBytes(StandardCharsets.UTF_8);
            nodes.submitSurely("n3", large, Recorder.digest(large));
            List<Integer> ports = Nodes.freePorts(2);
            Peer joiner = new Peer("n4", "127.0.0.1", ports.get(0), ports.get(1));
            nodes.startJoining(joiner);
            nodes.addSurely(nodes.runningLeader(), joiner);
            nodes.submitSurely(nodes.runningLeader(), "with four");
            nodes.awaitEverywhere("with four");
            assertThat(nodes.recorder("n4").failures).isEmpty();
        }
    }

    @Test
    void whoHasAnotherAuthorityOrAnotherNameLearnsNothingAtTheRaftPort() throws IOException {
        Certified foreign = Certified.in(directory.resolve("foreign"));
        Certified expired = Certified.longAgo(directory.resolve("expired"));
        try (Nodes nodes = nodes(2).start()) {
            nodes.awaitLeader();
            Peer n1 = nodes.peers().get(0);
            assertThat(greetRaft(n1, ours.context("n2"), "n2")).isEqualTo("welcome");
            assertThat(greetRaft(n1, ours.context("n2"), "n1")).contains("certificate is that of n2");
            assertThat(greetRaft(n1, ours.context("n9"), "n9")).contains("n9 is no member");
            assertThat(greetRaft(n1, foreign.context("n2"), "n2")).isEqualTo("closed");
            assertThat(greetRaft(n1, expired.context("n2"), "n2")).isEqualTo("closed");
            try (Socket plain = new Socket(n1.host(), n1.raftPort())) {
                plain.setSoTimeout(30_000);
                plain.getOutputStream().write(RpcHello.of(nodes, "n2", "n1"));
                assertThat(isRefusedByTls(plain)).isTrue();
            }
            nodes.submitSurely("n1", "still here");
            nodes.awaitEverywhere("still here");
        }
    }

    @Test
    void whoIsNoMemberIsAServedGuestOnlyIfAdmitted() throws IOException {
        PeerStreams.Server echo = (peer, request, answer) -> answer.write(request);
        List<Integer> ports = Nodes.freePorts(4);
        Peer a = new Peer("a", "127.0.0.1", ports.get(0), ports.get(1));
        Peer b = new Peer("b", "127.0.0.1", ports.get(2), ports.get(3));
        AtomicReference<String> admitted = new AtomicReference<>("nobody");
        try (PeerChannels serving = PeerChannels.start(
                settings("a", List.of(a), ours.tls("a")),
                echo,
                (peer, report) -> {},
                (node, members) -> node.equals(admitted.get()) && !members.test(node))) {
            assertThat(serving.malformedMessages()).isZero();
            assertRefused(settings("b", List.of(a, b), ours.tls("b")), a, ErrorCode.NOT_ADMITTED, "b is no member");
            admitted.set("b");
            assertThat(fetch(settings("b", List.of(a, b), ours.tls("b")), a)).isEqualTo(REQUEST);
            serving.members(List.of(a, b));
            admitted.set("nobody");
            assertThat(fetch(settings("b", List.of(a, b), ours.tls("b")), a)).isEqualTo(REQUEST);
            serving.members(List.of(a));
            assertRefused(settings("b", List.of(a, b), ours.tls("b")), a, ErrorCode.NOT_ADMITTED, "b is no member");
            serving.members(List.of(a, b));
            assertRefused(
                    settings("b", List.of(a, b), ours.tls("c")), a, ErrorCode.NOT_ADMITTED, "certificate is that of c");
            assertFails(settings("b", List.of(a, b), PeerTls.OFF), a, "lost");
            Certified foreign = Certified.in(directory.resolve("foreign"));
            assertFails(settings("b", List.of(a, b), foreign.tls("b")), a, "no TLS connection");
        }
    }

    /** Some hold their connection, some shake hands and say nothing, and some greet and are no members. */
    @Test
    void whoIsNoMemberTakesNoMembersPlace() throws IOException {
        List<Socket> held = new ArrayList<>();
        SSLContext noMember = ours.context("n9");
        try (Nodes nodes = nodes(3).start()) {
            String leader = nodes.awaitLeader();
            String follower = nodes.awaitFollower();
            Peer at = nodes.settings(leader).selfPeer();
            nodes.stop(follower);
            for (int i = 0; i < 60; i++) {
                for (int port : List.of(at.channelPort(), at.raftPort())) {
                    held.add(new Socket(at.host(), port));
                    held.add(new Socket(at.host(), port));
                }
                Certified.tls(() -> noMember).secure(held.get(held.size() - 2), true);
                assertThat(greetRaft(at, noMember, "n9")).contains("n9 is no member");
            }
            nodes.start(follower);
            nodes.awaitLeader();
            nodes.submitSurely(follower, "a member finds room");
            nodes.awaitEverywhere("a member finds room");
        } finally {
            for (Socket socket : held) {
                socket.close();
            }
        }
    }

    @Test
    void nobodyTalksToAnotherNodeThanItMeant() throws IOException {
        List<Integer> ports = Nodes.freePorts(4);
        Peer a = new Peer("a", "127.0.0.1", ports.get(0), ports.get(1));
        Peer b = new Peer("b", "127.0.0.1", ports.get(2), ports.get(3));
        try (PeerChannels other = PeerChannels.forOrderAlone(settings("a", List.of(a, b), ours.tls("z")))) {
            assertThat(other.malformedMessages()).isZero();
            assertFails(settings("b", List.of(a, b), ours.tls("b")), a, "that of z, not of a");
        }
    }

    @Test
    void takesNewCertificatesWhileItRuns() throws IOException {
        PeerStreams.Server echo = (peer, request, answer) -> answer.write(request);
        List<Integer> ports = Nodes.freePorts(4);
        Peer a = new Peer("a", "127.0.0.1", ports.get(0), ports.get(1));
        Peer b = new Peer("b", "127.0.0.1", ports.get(2), ports.get(3));
        AtomicReference<SSLContext> shown = new AtomicReference<>(ours.context("a"));
        try (PeerChannels serving = PeerChannels.start(
                settings("a", List.of(a, b), Certified.tls(shown::get)),
                echo,
                (peer, report) -> {},
                (node, members) -> false)) {
            assertThat(serving.malformedMessages()).isZero();
            assertThat(fetch(settings("b", List.of(a, b), ours.tls("b")), a)).isEqualTo(REQUEST);
            shown.set(Certified.longAgo(directory.resolve("expired")).context("a"));
            assertFails(settings("b", List.of(a, b), ours.tls("b")), a, "no TLS connection");
            shown.set(ours.renewed("a"));
            assertThat(fetch(settings("b", List.of(a, b), ours.tls("b")), a)).isEqualTo(REQUEST);
        }
    }

    @Test
    void aCertificateOfAnotherAuthorityThanIsTrustedIsFoundOutByItsOwnNode() throws Exception {
        Certified foreign = Certified.in(directory.resolve("foreign"));
        ours.tls("a").requireOwnTrust();
        PeerTls mixed = ours.trusting("a", foreign);
        assertThatThrownBy(mixed::requireOwnTrust).isInstanceOf(SSLException.class);
        PeerTls expired = Certified.longAgo(directory.resolve("expired")).tls("a");
        assertThatThrownBy(expired::requireOwnTrust).isInstanceOf(SSLException.class);
    }

    private TransportSettings settings(String self, List<Peer> peers, PeerTls tls) {
        return TransportSettings.of("test", self, peers, directory.resolve(self))
                .withTls(tls);
    }

    private static byte[] fetch(TransportSettings by, Peer from) throws IOException {
        try (PeerChannels channels = PeerChannels.forOrderAlone(by);
                InputStream answer = channels.open(from, REQUEST)) {
            return answer.readAllBytes();
        }
    }

    private static void assertRefused(TransportSettings by, Peer from, ErrorCode code, String why) {
        assertThatThrownBy(() -> fetch(by, from))
                .isInstanceOf(QuorateException.class)
                .hasMessageContaining(code.code())
                .hasMessageContaining(why);
    }

    private static void assertFails(TransportSettings by, Peer from, String why) {
        assertThatThrownBy(() -> fetch(by, from))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(why);
    }

    /** What the server says to a greeting over TLS: "welcome", why it refuses, or "closed". */
    private String greetRaft(Peer peer, SSLContext shown, String caller) {
        try (Socket raw = new Socket(peer.host(), peer.raftPort())) {
            raw.setSoTimeout(30_000);
            Socket socket = Certified.tls(() -> shown).secure(raw, true);
            socket.getOutputStream().write(RpcHello.of(caller, peer.name()));
            DataInputStream in = new DataInputStream(socket.getInputStream());
            in.readInt();
            byte type = in.readByte();
            in.readLong();
            String text = in.readUTF();
            return type == RpcHello.WELCOME ? "welcome" : text;
        } catch (IOException e) {
            return "closed";
        }
    }

    /** All that it says is an alert, which says nothing about the cluster. */
    private static boolean isRefusedByTls(Socket plain) {
        try {
            byte[] answer = plain.getInputStream().readNBytes(64);
            return answer.length <= 7;
        } catch (IOException e) {
            return true;
        }
    }
}
