// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import io.quorate.ist.IncrementalTransfer.Offer;
import io.quorate.ist.TransferCourse.Goal;
import io.quorate.ist.TransferProgress.Phase;
import java.io.DataInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class IncrementalTransferTest {
    private static final UUID LIFE = new UUID(1, 2);
    private static final int LAST = 60_000;

    @TempDir
    Path directory;

    private final Records records = new Records(11, 300);
    private final Map<String, Node> donors = new TreeMap<>();
    private final List<AutoCloseable> open = new ArrayList<>();
    /** Opening the n-th stream of all, and how many bytes it gives before it breaks. */
    private final Map<Integer, Integer> breaks = new ConcurrentHashMap<>();

    /** A stream that was asked for what comes after this seqno breaks before it gives anything. */
    private volatile long givenUpTo = Long.MAX_VALUE;

    private final AtomicInteger opened = new AtomicInteger();

    private record Node(WriteSetCache cache, CheckpointStore checkpoints, int distance) {}

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    private Node node(String name, long from, long to, int distance) throws IOException {
        return node(name, from, to, distance, 1 << 30);
    }

    private Node node(String name, long from, long to, int distance, long bytesMax) throws IOException {
        Path own = directory.resolve(name);
        WriteSetCache cache = WriteSetCache.open(new CacheSettings(own.resolve("cache"), LIFE, 1 << 20, bytesMax), 0);
        open.add(cache);
        if (from > 1) {
            cache.reset(from);
        }
        for (long at = from; at <= to; at += 1000) {
            cache.append(records.range(at, Math.min(to, at + 999)));
        }
        return new Node(cache, CheckpointStore.open(own.resolve("checkpoints")), distance);
    }

    private Node donor(String name, long from, int distance) throws IOException {
        return donor(name, node(name, from, LAST, distance));
    }

    private Node donor(String name, Node donor) {
        donor.checkpoints.save(new LogPosition(2, 70_000), LAST - 100, out -> out.writeUTF("state of " + name));
        donors.put(name, donor);
        return donor;
    }

    private List<Offer> offers() {
        List<Offer> offers = new ArrayList<>();
        donors.forEach((name, d) -> offers.add(new Offer(
                name,
                d.distance,
                d.cache.first(),
                d.cache.last(),
                d.checkpoints.newest().map(CheckpointStore.Checkpoint::seqno).orElse(0L),
                d.checkpoints.newest().map(c -> c.position().index()).orElse(-1L))));
        return offers;
    }

    /** The donors' streams, broken where a test says so. */
    private final class Streams implements PeerStreams {
        private final Map<String, Integer> asked = new ConcurrentHashMap<>();

        @Override
        public InputStream open(String peer, byte[] request) throws IOException {
            asked.merge(peer, 1, Integer::sum);
            Node donor = donors.get(peer);
            boolean gives = TransferRequest.decode(request).to() <= givenUpTo;
            int left = gives ? breaks.getOrDefault(opened.incrementAndGet(), Integer.MAX_VALUE) : 0;
            PipedOutputStream out = new PipedOutputStream();
            PipedInputStream in = new PipedInputStream(out, 64 << 10);
            QuorateException[] refusal = new QuorateException[1];
            Thread server = new Thread(() -> {
                try (OutputStream answer = out) {
                    new Donor(donor.cache, donor.checkpoints, LIFE).serve("joiner", request, answer);
                } catch (QuorateException e) {
                    refusal[0] = e;
                } catch (IOException e) {
                    // The joiner meets the end of the stream too early.
                }
            });
            server.setDaemon(true);
            server.start();
            return new Breaking(in, left, server, refusal);
        }
    }

    private static final class Breaking extends FilterInputStream {
        private int left;
        private final Thread server;
        private final QuorateException[] refusal;

        Breaking(InputStream in, int left, Thread server, QuorateException[] refusal) {
            super(in);
            this.left = left;
            this.server = server;
            this.refusal = refusal;
        }

        @Override
        public int read(byte[] into, int from, int length) throws IOException {
            if (left <= 0) {
                throw new IOException("broken by the test");
            }
            int count = in.read(into, from, Math.min(length, left));
            if (count < 0) {
                refused();
            }
            left -= Math.max(0, count);
            return count;
        }

        /** As the channel tells it: after what was sent before. */
        private void refused() throws IOException {
            try {
                server.join(5000);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            if (refusal[0] != null) {
                throw refusal[0];
            }
        }
    }

    private IncrementalTransfer transfer(Node joiner, PeerStreams streams, TransferProgress progress) {
        return new IncrementalTransfer(
                joiner.cache, joiner.checkpoints, LIFE, streams, this::offers, new DonorChoice(), () -> {}, progress);
    }

    private static TransferProgress progress() {
        return new TransferProgress(() -> System.nanoTime() / 1_000_000);
    }

    private void assertHolds(WriteSetCache cache, long from, long to) throws Exception {
        assertThat(cache.first()).isLessThanOrEqualTo(from);
        assertThat(cache.last()).isGreaterThanOrEqualTo(to);
        try (CacheCursor cursor = cache.read(from)) {
            for (long seqno = from; seqno <= to; seqno++) {
                Certified held = cursor.next(Duration.ZERO);
                Certified expected = records.at(seqno);
                assertThat(held.verdict()).isEqualTo(expected.verdict());
                assertThat(held.dependsOn()).isEqualTo(expected.dependsOn());
                assertThat(held.writeSet()).isEqualTo(expected.writeSet());
            }
        }
    }

    @Test
    void bringsTheStateOfAClusterInWhichNothingWasWritten() throws Exception {
        Node donor = node("n1", 1, 0, 0);
        donor.checkpoints.save(new LogPosition(1, 40), 0, out -> out.writeUTF("state"));
        donors.put("n1", donor);
        CheckpointStore.Checkpoint received =
                transfer(node("n3", 1, 0, 0), new Streams(), progress()).run(Goal.recordsAndState(0));
        assertThat(received.position()).isEqualTo(new LogPosition(1, 40));
    }

    @Test
    void whatEndsTheDonorsPartInTheClusterDoesNotEndTheJoiners() throws Exception {
        Node donor = node("n1", 1, 0, 0);
        donor.checkpoints.save(new LogPosition(1, 40), 0, out -> out.writeUTF("state"));
        donors.put("n1", donor);
        PeerStreams left = (peer, request) -> {
            throw new QuorateException(ErrorCode.NOT_A_MEMBER, "n1 takes no part in the order");
        };
        assertThatThrownBy(() -> transfer(node("n3", 1, 0, 0), left, progress()).run(TransferCourse.Goal.state(0)))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.ORDER_INTERRUPTED))
                .hasMessageContaining("n1 takes no part");
    }

    @Test
    void bringsAllThatIsMissingAndTheStateAtItsEnd() throws Exception {
        donor("n1", 1, 0);
        Node joiner = node("n3", 1, 20_000, 0);
        TransferProgress progress = progress();
        CheckpointStore.Checkpoint received =
                transfer(joiner, new Streams(), progress).run(Goal.recordsAndState(60_000));
        assertThat(received.seqno()).isEqualTo(LAST - 100);
        assertThat(received.position()).isEqualTo(new LogPosition(2, 70_000));
        joiner.checkpoints.adopt(received);
        assertHolds(joiner.cache, 1, LAST - 100);
        CheckpointStore again = CheckpointStore.open(directory.resolve("n3/checkpoints"));
        try (DataInputStream in = again.newest().orElseThrow().open()) {
            assertThat(in.readUTF()).isEqualTo("state of n1");
        }
        TransferProgress.Look look = progress.look();
        assertThat(look.phase()).isEqualTo(Phase.DONE);
        assertThat(look.done()).isEqualTo(LAST - 100 - 20_000);
        assertThat(look.toDo()).isZero();
        assertThat(look.bytes()).isPositive();
    }

    @Test
    void goesOnWhereItBrokeFromWhoeverIsThere() throws Exception {
        donor("n1", 1, 0);
        donor("n2", 15_000, 0);
        for (int stream = 1; stream <= 12; stream += 2) {
            breaks.put(stream, 20_000 * stream);
        }
        Node joiner = node("n3", 1, 20_000, 0);
        Streams streams = new Streams();
        transfer(joiner, streams, progress()).run(Goal.recordsAndState(0));
        assertHolds(joiner.cache, 1, LAST - 100);
        assertThat(streams.asked).containsKeys("n1", "n2");
        assertThat(opened.get()).as("some streams were asked for again").isGreaterThan(6);
    }

    @Test
    void aTransferThatFailsKeepsWhatItBrought() throws Exception {
        donor("n1", 1, 0);
        Node joiner = node("n3", 1, 20_000, 0);
        // The first range alone, whichever stream is opened first.
        givenUpTo = 30_000;
        IncrementalTransfer transfer = transfer(joiner, new Streams(), progress());
        assertThatThrownBy(() -> transfer.run(Goal.recordsAndState(0)))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.ORDER_INTERRUPTED));
        assertThat(joiner.cache.last()).isGreaterThan(20_000).isLessThan(LAST - 100);
        givenUpTo = Long.MAX_VALUE;
        transfer(joiner, new Streams(), progress()).run(Goal.recordsAndState(0));
        assertHolds(joiner.cache, 1, LAST - 100);
    }

    /** Without it nobody could be compared with this node, if it were the only one left. */
    @Test
    void aCacheBeginsWithWhatTheStateEndsWith() throws Exception {
        donor("n1", 1, 0);
        Node joiner = node("n3", 1, 0, 0);
        assertThat(transfer(joiner, new Streams(), progress())
                        .run(Goal.state(0))
                        .seqno())
                .isEqualTo(LAST - 100);
        assertThat(joiner.cache.first()).isEqualTo(LAST - 100);
        assertThat(joiner.cache.last()).isEqualTo(LAST - 100);
        assertHolds(joiner.cache, LAST - 100, LAST - 100);
    }

    @Test
    void aCacheThatWasEmptiedBeginsWithWhatTheServerEndsWith() throws Exception {
        donor("n1", 1, 0);
        Node one = node("n3", LAST + 1, LAST, 0);
        transfer(one, new Streams(), progress()).run(Goal.records(LAST));
        assertThat(one.cache.first()).isEqualTo(LAST);
        assertHolds(one.cache, LAST, LAST);
        Node other = node("n4", LAST - 9, LAST - 10, 0);
        transfer(other, new Streams(), progress()).run(Goal.records(LAST));
        assertThat(other.cache.first()).isEqualTo(LAST - 10);
        assertHolds(other.cache, LAST - 10, LAST);
    }

    @Test
    void aCacheBeginsAfterWhatNobodyGives() throws Exception {
        donor("n1", LAST - 50, 0);
        Node joiner = node("n3", 1, 0, 0);
        transfer(joiner, new Streams(), progress()).run(Goal.state(0));
        assertThat(joiner.cache.first()).isEqualTo(LAST - 99);
        assertThat(joiner.cache.last()).isEqualTo(LAST - 100);
    }

    @Test
    void aCacheBeginsAfterWhatADonorKeepsBreakingOffAt() throws Exception {
        donor("n1", 1, 0);
        givenUpTo = 0;
        Node joiner = node("n3", LAST + 1, LAST, 0);
        transfer(joiner, new Streams(), progress()).run(Goal.records(LAST));
        assertThat(joiner.cache.first()).isEqualTo(LAST + 1);
        assertThat(joiner.cache.last()).isEqualTo(LAST);
    }

    @Test
    void asksTheNearest() throws Exception {
        donor("far", 1, 1);
        donor("near", 1, 0);
        Streams streams = new Streams();
        transfer(node("n3", 1, 20_000, 0), streams, progress()).run(Goal.recordsAndState(0));
        assertThat(streams.asked.get("near")).isGreaterThanOrEqualTo(5);
        assertThat(streams.asked.getOrDefault("far", 0)).isLessThanOrEqualTo(1);
    }

    /** After a power failure the node whose cache was damaged may well be up first. */
    @Test
    void whatNobodyIsThereToGiveIsNotGone() throws Exception {
        assertThatThrownBy(() -> transfer(node("n3", 1, 20_000, 0), new Streams(), progress())
                        .run(Goal.records(20_001)))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.ORDER_INTERRUPTED))
                .hasMessageContaining("seqno 20001 on; no other node is reachable");
    }

    @Test
    void saysWhatIsNeededAndWhoHoldsWhat() throws Exception {
        donor("n1", 30_001, 0);
        donor("n2", 40_001, 0);
        Node joiner = node("n3", 1, 20_000, 0);
        assertThatThrownBy(() -> transfer(joiner, new Streams(), progress()).run(Goal.recordsAndState(0)))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CACHE_PASSED))
                .hasMessageContaining(
                        "needs writesets from seqno 20001 on; n1 holds 30001 to 60000, n2 holds 40001 to 60000");
        assertThat(joiner.cache.last()).isEqualTo(20_000);
    }

    @Test
    void saysUntilWhenADonorHeldWhatIsNeeded() throws Exception {
        Node donor = donor("n1", node("n1", 1, LAST, 0, 4 << 20));
        donor.cache.retain(LAST);
        assertThat(donor.cache.first()).as("something is gone").isGreaterThan(1000);
        Node joiner = node("n3", 1, 500, 0);
        assertThatThrownBy(() -> transfer(joiner, new Streams(), progress()).run(Goal.recordsAndState(0)))
                .hasMessageContaining("n1: seqno 501 is not in the writeset cache")
                .hasMessageContaining("and held it until ");
    }

    @Test
    void findsOutThatThisNodeHasAHistoryOfItsOwn() throws Exception {
        donor("n1", 1, 0);
        Node joiner = node("n3", 1, 20_000, 0);
        joiner.cache.append(new Records(12, 300).range(20_001, 20_001));
        assertThatThrownBy(() -> transfer(joiner, new Streams(), progress()).run(Goal.recordsAndState(0)))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.STATE_DIVERGED));
    }

    @Test
    void aDonorRefusesAnotherLifeOfTheCluster() throws Exception {
        Node donor = donor("n1", 1, 0);
        byte[] request = new TransferRequest(TransferRequest.Kind.RECORDS, new UUID(9, 9), 1, 2).encode();
        assertThatThrownBy(() -> new Donor(donor.cache, donor.checkpoints, LIFE)
                        .serve("n3", request, OutputStream.nullOutputStream()))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.FOREIGN_CLUSTER));
    }
}
