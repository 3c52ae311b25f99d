// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(600)
class DamagedLogTest {
    private static final int BIG = 100_000;

    @TempDir
    Path directory;

    @Test
    void refusesToStartOverADamagedEntryAndMendsAsTheMessageSays() throws IOException {
        try (Nodes nodes = nodes()) {
            String node = fillAndStop(nodes, 40);
            List<Path> segments = segments(nodes, node);
            assertThat(segments).hasSizeGreaterThan(3);
            Path damaged = segments.get(1);
            flip(damaged, Files.size(damaged) / 2);
            nodes.recorder(node).resumeAfter = LogPosition.START;
            assertRefused(nodes, node, damaged.getFileName().toString());
            assertRefused(nodes, node, "move it and the newer log_ files beside it away");
            for (Path segment : segments.subList(1, segments.size())) {
                Files.delete(segment);
            }
            nodes.start(node);
            nodes.submitSurely(node, "end");
            String other = nodes.awaitFollower();
            assertThat(distinct(nodes.recorder(node).entries()))
                    .isEqualTo(distinct(nodes.recorder(other).entries()));
        }
    }

    @Test
    void neverTakesAShortenedOrZeroedSegmentForAShorterLog() throws IOException {
        try (Nodes nodes = nodes()) {
            String node = fillAndStop(nodes, 40);
            Path closed = segments(nodes, node).get(1);
            byte[] whole = Files.readAllBytes(closed);
            try (RandomAccessFile file = new RandomAccessFile(closed.toFile(), "rw")) {
                file.setLength(whole.length - 50);
            }
            assertRefused(nodes, node, closed.toString());
            Files.write(closed, new byte[whole.length]);
            assertRefused(nodes, node, closed.toString());
            Files.write(closed, java.util.Arrays.copyOf(whole, whole.length - BIG - 1000));
            assertRefused(nodes, node, closed.toString());
            Files.delete(closed);
            assertRefused(nodes, node, "are missing");
            Files.write(closed, whole);
            nodes.start(node);
            nodes.submitSurely(node, "end");
        }
    }

    @Test
    void cutsOffAWriteThatACrashInterrupted() throws IOException {
        try (Nodes nodes = nodes()) {
            String node = fillAndStop(nodes, 5);
            List<Path> segments = segments(nodes, node);
            Path open = segments.get(segments.size() - 1);
            assertThat(open.getFileName().toString()).startsWith("log_inprogress_");
            byte[] whole = Files.readAllBytes(open);
            int position = whole.length;
            // A length that was written, some of the entry, then the zeros laid out before.
            byte[] torn = new byte[whole.length + (1 << 20)];
            System.arraycopy(whole, 0, torn, 0, position);
            System.arraycopy(whole, whole.length - BIG / 2, torn, position + 3, BIG / 4);
            torn[position] = (byte) 0xa0;
            torn[position + 1] = (byte) 0x8d;
            torn[position + 2] = 0x06; // 100,000
            Files.write(open, torn);
            nodes.start(node);
            nodes.submitSurely(node, "end");
            nodes.awaitEverywhere("end");
            String other = nodes.awaitFollower();
            assertThat(nodes.recorder(node).entries())
                    .isEqualTo(nodes.recorder(other).entries());
        }
    }

    @Test
    void doesNotTakeADamagedLastEntryForAnInterruptedWrite() throws IOException {
        try (Nodes nodes = nodes()) {
            String node = fillAndStop(nodes, 5);
            List<Path> segments = segments(nodes, node);
            Path open = segments.get(segments.size() - 1);
            flip(open, Files.size(open) - 20);
            assertRefused(nodes, node, open.toString());
        }
    }

    /** A disk that lost the end of the log, though this node has applied it. */
    @Test
    void goesOnFromTheLeaderWhenTheLogLostItsEnd() throws IOException {
        try (Nodes nodes = nodes()) {
            String node = fillAndStop(nodes, 40);
            int before = nodes.recorder(node).count();
            List<Path> segments = segments(nodes, node);
            for (Path segment : segments.subList(2, segments.size())) {
                Files.delete(segment);
            }
            String other = nodes.awaitFollower();
            nodes.submitSurely(other, "meanwhile");
            nodes.start(node);
            nodes.submitSurely(node, "end");
            nodes.awaitEverywhere("end");
            assertThat(nodes.recorder(node).entries())
                    .hasSize(before + 2)
                    .isEqualTo(nodes.recorder(other).entries());
        }
    }

    @Test
    void refusesTheDirectoryOfAnotherNodeOrCluster() {
        try (Nodes nodes = nodes()) {
            nodes.start().awaitLeader();
            nodes.stop("n2");
            TransportSettings n1 = nodes.settings("n1");
            TransportSettings mixedUp = TransportSettings.of("test", "n2", nodes.peers(), n1.directory());
            assertThatThrownBy(() -> RatisTotalOrder.start(mixedUp, new Recorder()))
                    .hasMessageContaining("QRT-1003")
                    .hasMessageContaining("n1");
            TransportSettings renamed = TransportSettings.of("other", "n1", nodes.peers(), n1.directory());
            assertThatThrownBy(() -> RatisTotalOrder.start(renamed, new Recorder()))
                    .hasMessageContaining("QRT-1003")
                    .hasMessageContaining("cluster test");
        }
    }

    @Test
    void saysSoWhenAPortIsTaken() {
        try (Nodes nodes = nodes()) {
            nodes.start("n1");
            var taken = nodes.peers().get(0);
            for (boolean raft : new boolean[] {true, false}) {
                int free = Nodes.freePorts(1).get(0);
                var self = new TransportSettings.Peer(
                        "x", "127.0.0.1", raft ? taken.raftPort() : free, raft ? free : taken.channelPort());
                TransportSettings settings =
                        TransportSettings.of("test", "x", List.of(self), directory.resolve("x" + raft));
                assertThatThrownBy(() -> RatisTotalOrder.start(settings, new Recorder()))
                        .isInstanceOfSatisfying(QuorateException.class, e -> assertThat(e.code())
                                .isEqualTo(ErrorCode.CONFIGURATION));
            }
        }
    }

    private Nodes nodes() {
        return new Nodes(directory, 3, s -> s.withTimeouts(Duration.ofMillis(300), Duration.ofMillis(600))
                .withLog(1 << 20, 1, 1_000_000, 512L << 20));
    }

    /** @return a follower, stopped after having been handed so many entries */
    private static String fillAndStop(Nodes nodes, int count) {
        nodes.start();
        String node = nodes.awaitFollower();
        for (int i = 0; i < count; i++) {
            byte[] entry = new byte[BIG];
            java.util.Arrays.fill(entry, (byte) (i + 1));
            nodes.submitSurely(node, entry, Recorder.digest(entry));
        }
        nodes.stop(node);
        return node;
    }

    private static void assertRefused(Nodes nodes, String node, String saying) {
        assertThatThrownBy(() -> nodes.start(node))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.LOG_UNREADABLE))
                .hasMessageContaining(saying);
    }

    private static List<Path> segments(Nodes nodes, String node) throws IOException {
        try (Stream<Path> files = Files.list(RaftSettings.segments(nodes.settings(node)))) {
            return files.filter(f -> f.getFileName().toString().startsWith("log_"))
                    .sorted(Comparator.comparingLong(DamagedLogTest::start))
                    .toList();
        }
    }

    private static long start(Path segment) {
        return Long.parseLong(segment.getFileName().toString().replaceAll("log_(?:inprogress_)?(\\d+).*", "$1"));
    }

    private static void flip(Path file, long at) throws IOException {
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            bytes.seek(at);
            int was = bytes.read();
            bytes.seek(at);
            bytes.write(was ^ 0x10);
        }
    }

    private static List<String> distinct(List<String> entries) {
        return entries.stream().distinct().toList();
    }
}
