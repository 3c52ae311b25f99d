// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.ErrorCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs with a heap of 400 MB, which three nodes and the test share. */
@Timeout(600)
class LargeEntryTest {
    @TempDir
    Path directory;

    @Test
    void ordersAnEntryOf40MegabytesWithOthersInBetween() {
        try (Nodes nodes = Nodes.of(directory, 3).start()) {
            String large = nodes.awaitFollower();
            String small = nodes.awaitLeader();
            byte[] entry = random(40 << 20);
            CompletableFuture<Void> ordered = nodes.node(large).submit(entry);
            int between = 0;
            while (!ordered.isDone()) {
                nodes.submitSurely(small, "small-" + between++);
            }
            nodes.submitSurely(large, entry, Recorder.digest(entry));
            nodes.submitSurely(small, "end");
            nodes.awaitEverywhere("end");
            List<String> order = nodes.recorder("n1").entries();
            assertThat(nodes.recorder("n2").entries()).isEqualTo(order);
            assertThat(nodes.recorder("n3").entries()).isEqualTo(order);
            assertThat(order).contains(Recorder.digest(entry));
        }
    }

    @Test
    void deliversItToANodeThatStartedAgainInTheMiddle() {
        // Small pieces take long enough for what is to happen between them. Nobody is elected anew for that, also where
        // a machine stands still for a second.
        Nodes nodes = new Nodes(directory, 3, s -> s.withTimeouts(Duration.ofSeconds(3), Duration.ofSeconds(6))
                .withEntryBytes(64 << 20, 32 << 10, 64 << 20));
        try (nodes) {
            nodes.start();
            String leader = nodes.awaitLeader();
            String restarted = nodes.awaitFollower();
            byte[] entry = random(40 << 20);
            nodes.submitSurely(leader, "start");
            nodes.awaitEverywhere("start");
            CompletableFuture<Void> ordered = nodes.node(leader).submit(entry);
            Nodes.await("some pieces", () -> size(unfinished(nodes, restarted, leader)) > 2 << 20);
            assertThat(ordered).isNotDone();
            CompletableFuture<Void> between = nodes.node(nodes.names().stream()
                            .filter(n -> !n.equals(leader) && !n.equals(restarted))
                            .findFirst()
                            .orElseThrow())
                    .submit("between".getBytes(StandardCharsets.UTF_8));
            Nodes.await("between", () -> nodes.recorder(restarted).has("between"));
            between.join();
            nodes.stop(restarted);
            assertThat(nodes.recorder(restarted).entries()).doesNotContain(Recorder.digest(entry));
            nodes.start(restarted);
            nodes.submitSurely(leader, "end");
            nodes.awaitEverywhere("end");
            assertThat(nodes.recorder(leader).entries()).contains(Recorder.digest(entry));
            // "between" comes again, since the pieces before it were needed again.
            assertThat(nodes.recorder(restarted).entries())
                    .containsExactly("start", "between", "between", Recorder.digest(entry), "end");
        }
    }

    @Test
    void abandonsWhatItsSubmitterDidNotFinish() {
        try (Nodes nodes = Nodes.of(directory, 3).start()) {
            String submitter = nodes.awaitFollower();
            byte[] entry = random(40 << 20);
            CompletableFuture<Void> ordered = nodes.node(submitter).submit(entry);
            String leader = nodes.awaitLeader();
            Nodes.await("some pieces", () -> size(unfinished(nodes, leader, submitter)) > 2 << 20);
            nodes.stop(submitter);
            assertThat(ordered).isCompletedExceptionally();
            nodes.start(submitter);
            nodes.submitSurely(submitter, "another");
            nodes.awaitEverywhere("another");
            for (String name : nodes.names()) {
                assertThat(nodes.recorder(name).entries()).containsExactly("another");
            }
            assertThat(nodes.node(leader).stats().abandonedEntries()).isEqualTo(1);
        }
    }

    /** Otherwise no node could discard anything of its log until the lost one comes back, if it does. */
    @Test
    @Tag("long")
    void givesUpWhatALostNodeDidNotFinish() {
        Nodes nodes = new Nodes(directory, 3, s -> s.withTimeouts(Duration.ofMillis(300), Duration.ofMillis(600))
                .withLog(1 << 20, 1, 10, 512 << 20));
        try (nodes) {
            nodes.start();
            String lost = nodes.awaitFollower();
            String leader = nodes.awaitLeader();
            byte[] entry = random(40 << 20);
            AtomicReference<CompletableFuture<Void>> submitted =
                    new AtomicReference<>(nodes.node(lost).submit(entry));
            Nodes.await("some pieces", () -> {
                // Another one was elected meanwhile.
                if (submitted.get().isCompletedExceptionally()) {
                    submitted.set(nodes.node(lost).submit(entry));
                }
                return size(unfinished(nodes, leader, lost)) > 2 << 20;
            });
            nodes.stop(lost);
            for (String name : nodes.runningNames()) {
                Nodes.await(
                        "given up at " + name,
                        () -> nodes.node(name).stats().abandonedEntries() > 0
                                && size(unfinished(nodes, name, lost)) == 0);
                long end = nodes.node(name).logEnd().index();
                int[] more = {0};
                Nodes.await("a checkpoint at " + name, () -> {
                    nodes.submitSurely(name, "from " + name + " " + more[0]++);
                    return nodes.recorder(name).checkpoint.index() >= end;
                });
            }
            nodes.start(lost);
            nodes.submitSurely(lost, entry, Recorder.digest(entry));
            nodes.awaitEverywhere(Recorder.digest(entry));
        }
    }

    @Test
    void refusesWhatIsTooLargeOrTooMuchAtOnce() {
        Nodes nodes = new Nodes(directory, 1, s -> s.withEntryBytes(100_000, 10_000, 50_000));
        try (nodes) {
            nodes.start().awaitLeader();
            OrderTest.assertFailsWith(nodes.node("n1").submit(new byte[100_001]), ErrorCode.TRANSACTION_TOO_LARGE);
            nodes.recorder("n1").onDeliver = e -> Nodes.pause(300);
            CompletableFuture<Void> alone = nodes.node("n1").submit(new byte[100_000]);
            OrderTest.assertFailsWith(nodes.node("n1").submit(new byte[1]), ErrorCode.ORDER_BUSY);
            alone.join();
            nodes.node("n1").submit(new byte[1]).join();
        }
    }

    /** Where a node keeps what it has of an entry of another one. */
    private static Path unfinished(Nodes nodes, String at, String of) {
        return nodes.settings(at).directory().resolve("reassembly").resolve(of);
    }

    private static long size(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            return 0;
        }
    }

    private static byte[] random(int bytes) {
        byte[] entry = new byte[bytes];
        new Random(bytes).nextBytes(entry);
        return entry;
    }
}
