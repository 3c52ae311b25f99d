// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(600)
class OrderTest {
    @TempDir
    Path directory;

    @Test
    void deliversEveryEntryInTheSameOrderOnAllNodes() {
        // A machine that stands still for a while is no change of the leader here, nor an answer that doesn't come.
        Duration patient = Duration.ofSeconds(2);
        try (Nodes nodes = new Nodes(directory, 3, s -> s.withTimeouts(patient, patient.plusMillis(500)))) {
            nodes.start().awaitLeader();
            List<CompletableFuture<Void>> accepted = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                for (String name : nodes.names()) {
                    accepted.add(nodes.node(name).submit((name + "-" + i).getBytes(StandardCharsets.UTF_8)));
                }
            }
            CompletableFuture.allOf(accepted.toArray(CompletableFuture[]::new)).join();
            nodes.names()
                    .forEach(n ->
                            Nodes.await("900 at " + n, () -> nodes.recorder(n).count() == 900));
            List<String> order = nodes.recorder("n1").entries();
            assertThat(nodes.recorder("n2").entries()).isEqualTo(order);
            assertThat(nodes.recorder("n3").entries()).isEqualTo(order);
            for (String name : nodes.names()) {
                List<String> own =
                        order.stream().filter(e -> e.startsWith(name + "-")).toList();
                assertThat(own).hasSize(300).isEqualTo(inCallOrder(name, 300));
            }
        }
    }

    @Test
    void keepsOneOrderWhenTheLeaderGoesAwayUnderLoad() throws Exception {
        try (Nodes nodes = Nodes.of(directory, 3).start()) {
            String leader = nodes.awaitLeader();
            List<String> survivors =
                    nodes.names().stream().filter(n -> !n.equals(leader)).toList();
            AtomicBoolean killed = new AtomicBoolean();
            List<Thread> writers = new ArrayList<>();
            for (String name : survivors) {
                Thread writer = new Thread(() -> {
                    for (int i = 0; i < 200; i++) {
                        nodes.submitSurely(name, name + "-" + i);
                        if (i == 50 && killed.compareAndSet(false, true)) {
                            nodes.node(leader).close();
                        }
                    }
                });
                writers.add(writer);
                writer.start();
            }
            for (Thread writer : writers) {
                writer.join();
            }
            String last = nodes.recorder(survivors.get(0)).entries().get(0);
            assertThat(last).isNotEmpty();
            nodes.submitSurely(survivors.get(0), "end");
            survivors.forEach(
                    n -> Nodes.await("end at " + n, () -> nodes.recorder(n).has("end")));
            List<String> order = nodes.recorder(survivors.get(0)).entries();
            assertThat(nodes.recorder(survivors.get(1)).entries()).isEqualTo(order);
            List<String> killedSaw = nodes.recorder(leader).entries();
            assertThat(order.subList(0, killedSaw.size())).isEqualTo(killedSaw);
            for (String name : survivors) {
                List<String> own =
                        order.stream().filter(e -> e.startsWith(name + "-")).toList();
                assertThat(new ArrayList<>(new LinkedHashSet<>(own))).isEqualTo(inCallOrder(name, 200));
            }
        }
    }

    @Test
    void handsARestartedNodeWhatItMissedAndNothingBefore() {
        try (Nodes nodes = Nodes.of(directory, 3).start()) {
            String follower = nodes.awaitFollower();
            for (int i = 0; i < 50; i++) {
                nodes.submitSurely(follower, "before-" + i);
            }
            nodes.stop(follower);
            String other = nodes.awaitFollower();
            for (int i = 0; i < 50; i++) {
                nodes.submitSurely(other, "meanwhile-" + i);
            }
            nodes.start(follower);
            nodes.submitSurely(follower, "after");
            nodes.awaitEverywhere("after");
            assertThat(nodes.recorder(follower).entries())
                    .doesNotHaveDuplicates()
                    .isEqualTo(nodes.recorder(other).entries());
        }
    }

    @Test
    void deliversAgainAfterThePositionTheNodeNames() {
        try (Nodes nodes = Nodes.of(directory, 3).start()) {
            String follower = nodes.awaitFollower();
            Recorder recorder = nodes.recorder(follower);
            for (int i = 0; i < 20; i++) {
                nodes.submitSurely(follower, "e" + i);
            }
            nodes.stop(follower);
            recorder.resumeAfter = recorder.resumes().get(9);
            nodes.start(follower);
            nodes.submitSurely(follower, "end");
            List<String> expected = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                expected.add("e" + i);
            }
            for (int i = 10; i < 20; i++) {
                expected.add("e" + i);
            }
            expected.add("end");
            assertThat(recorder.entries()).isEqualTo(expected);
        }
    }

    @Test
    void ordersAloneWhenItIsTheOnlyNode() {
        try (Nodes nodes = Nodes.of(directory, 1).start()) {
            nodes.awaitLeader();
            nodes.submitSurely("n1", "a");
            nodes.stop("n1");
            nodes.start("n1");
            nodes.submitSurely("n1", "b");
            assertThat(nodes.recorder("n1").entries()).containsExactly("a", "b");
        }
    }

    @Test
    void isNotPrimaryWithoutAMajorityAndComesBackByItself() {
        try (Nodes nodes = Nodes.of(directory, 3)) {
            nodes.start("n1");
            Nodes.pause(1500);
            assertThat(nodes.node("n1").quorum().primary()).isFalse();
            assertFailsWith(nodes.node("n1").submit(new byte[1]), ErrorCode.NO_QUORUM);
            nodes.start("n2");
            nodes.start("n3");
            String leader = nodes.awaitLeader();
            nodes.names().stream().filter(n -> !n.equals(leader)).forEach(nodes::stop);
            Nodes.await(
                    "the leader alone is not primary",
                    () -> !nodes.node(leader).quorum().primary());
            nodes.names().stream().filter(n -> !n.equals(leader)).forEach(nodes::start);
            nodes.awaitLeader();
            nodes.submitSurely(leader, "again");
            assertThat(nodes.recorder(leader).quorums)
                    .extracting(q -> q.primary())
                    .contains(true, false);
            assertThat(nodes.recorder(leader)
                            .quorums
                            .get(nodes.recorder(leader).quorums.size() - 1)
                            .primary())
                    .isTrue();
        }
    }

    /** As one that was cut off, or whose machine stood still, under load. */
    @Test
    void bringsBackALeaderWithEntriesThatNobodyElseHas() {
        int own = 40;
        // It takes entries until it notices that it is alone.
        Duration alone = Duration.ofSeconds(1);
        try (Nodes nodes = new Nodes(directory, 3, s -> s.withTimeouts(alone, alone.plusMillis(500)))) {
            String leader = nodes.start().awaitLeader();
            for (int i = 0; i < 30; i++) {
                nodes.submitSurely(leader, "common-" + i);
            }
            nodes.awaitEverywhere("common-29");
            List<String> others = new ArrayList<>(nodes.names());
            others.remove(leader);
            others.forEach(nodes::stop);
            long end = nodes.node(leader).logEnd().index();
            for (int i = 0; i < own; i++) {
                var unused = nodes.node(leader).submit(new byte[10]);
            }
            Nodes.await("its own", () -> nodes.node(leader).logEnd().index() >= end + own);
            nodes.stop(leader);
            others.forEach(nodes::start);
            nodes.awaitLeader();
            for (int i = 0; i < 50; i++) {
                nodes.submitSurely(others.get(0), "without-" + i);
            }
            nodes.start(leader);
            nodes.awaitEverywhere("without-49");
            assertThat(nodes.recorder(leader).entries())
                    .isEqualTo(nodes.recorder(others.get(0)).entries());
        }
    }

    @Test
    void stopsAtAnEntryTheNodeCanNotTake() {
        try (Nodes nodes = Nodes.of(directory, 3).start()) {
            String follower = nodes.awaitFollower();
            Recorder recorder = nodes.recorder(follower);
            nodes.submitSurely(follower, "good");
            recorder.onDeliver = entry -> {
                if (entry.equals("bad")) {
                    throw new QuorateException(ErrorCode.STATE_DIVERGED, "on purpose");
                }
            };
            String leader = nodes.awaitLeader();
            nodes.submitSurely(leader, "bad");
            nodes.submitSurely(leader, "next");
            Nodes.await("the failure", () -> !recorder.failures.isEmpty());
            assertThat(recorder.failures).hasSize(1);
            assertThat(recorder.failures.get(0).code()).isEqualTo(ErrorCode.STATE_DIVERGED);
            Nodes.await("not primary", () -> !nodes.node(follower).quorum().primary());
            assertThat(recorder.entries()).containsExactly("good");
            nodes.stop(follower);
            recorder.onDeliver = entry -> {};
            nodes.start(follower);
            nodes.submitSurely(leader, "end");
            nodes.awaitEverywhere("end");
            assertThat(recorder.entries()).containsExactly("good", "bad", "next", "end");
        }
    }

    static void assertFailsWith(CompletableFuture<Void> future, ErrorCode code) {
        try {
            future.get();
            throw new AssertionError("did not fail");
        } catch (InterruptedException | ExecutionException e) {
            assertThat(e.getCause()).isInstanceOf(QuorateException.class);
            assertThat(((QuorateException) e.getCause()).code()).isEqualTo(code);
        }
    }

    private static List<String> inCallOrder(String name, int count) {
        List<String> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            entries.add(name + "-" + i);
        }
        return entries;
    }
}
