// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(600)
class PurgeTest {
    private static final int ENTRIES = 1500;
    private static final int ALONE_ATTEMPTS = 10;
    private static final Duration ALONE = Duration.ofSeconds(10);

    private static final int ATTEMPTS = 4;
    private static final Duration PURGED = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    @Test
    void keepsTheLogForAnAbsentMemberAndNoLonger() {
        Nodes nodes = nodes(3, 512L << 20);
        try (nodes) {
            nodes.start().awaitLeader();
            nodes.submitSurely("n1", "start");
            nodes.awaitEverywhere("start");
            nodes.stop("n3");
            // The others start again, so that nothing in their memory speaks of the absent one.
            nodes.stop("n2");
            nodes.start("n2");
            nodes.awaitLeader();
            nodes.stop("n1");
            nodes.start("n1");
            nodes.awaitLeader();
            submit(nodes, "n1");
            // The last one comes a moment after the entries it covers.
            Nodes.await(
                    "checkpoint at n1", () -> nodes.recorder("n1").checkpoint.index() > ENTRIES - 200);
            assertThat(nodes.node("n1").stats().logStart()).isLessThan(20);
            assertThat(nodes.node("n2").stats().logStart()).isLessThan(20);
            nodes.start("n3");
            nodes.submitSurely("n3", "end");
            nodes.awaitEverywhere("end");
            assertThat(nodes.recorder("n3").entries())
                    .isEqualTo(nodes.recorder("n1").entries());
            submit(nodes, "n1");
            for (String name : nodes.names()) {
                Nodes.await("purged at " + name, () -> nodes.node(name).stats().logStart() > ENTRIES / 2);
            }
            nodes.stop("n2");
            nodes.start("n2");
            nodes.submitSurely("n2", "after the purge");
            nodes.awaitEverywhere("after the purge");
        }
    }

    /**
     * What it holds ends where a term does, and so a segment: what is ordered next refers to the last entry of that.
     */
    @Test
    void keepsTheLastEntryOfAnAbsentMember() {
        Nodes nodes = nodes(3, 512L << 20);
        try (nodes) {
            long end = leaveAtTheEndOfATerm(nodes, 1);
            submit(nodes, "n1");
            assertThat(nodes.node("n1").stats().logStart()).isLessThanOrEqualTo(end);
            comesBack(nodes);
            assertThat(nodes.recorder("n3").failures).isEmpty();
        }
    }

    @Test
    void goesOnFromACheckpointRightBeforeTheLogOfTheOthers() {
        Nodes nodes = purgedUpToTheEndOfTheAbsentOne();
        try (nodes) {
            comesBack(nodes);
            assertThat(nodes.recorder("n3").failures).isEmpty();
        }
    }

    /** It can't be shown that the log of the one is that of the others so far. */
    @Test
    void isToldSoWhenOnlyTheLogEndsRightBeforeThatOfTheOthers() {
        Nodes nodes = purgedUpToTheEndOfTheAbsentOne();
        try (nodes) {
            Recorder returning = nodes.recorder("n3");
            returning.resumeAfter = returning.resumes().get(returning.count() / 2);
            nodes.start("n3");
            Nodes.await("told so", () -> !returning.failures.isEmpty());
            assertThat(returning.failures.get(0).code()).isEqualTo(ErrorCode.ORDER_TOO_FAR_BEHIND);
            nodes.stop("n3");
            returning.takeOver(nodes.recorder(nodes.awaitLeader()));
            comesBack(nodes);
            assertThat(returning.failures).hasSize(1);
        }
    }

    /** Its checkpoint is beyond what may be purged for the sake of the absent one, which the leader tells it. */
    @Test
    void goesOnAfterARestartWhileAnotherIsAbsent() {
        Nodes nodes = nodes(5, 512L << 20);
        try (nodes) {
            String leader = nodes.start().awaitLeader();
            submit(nodes, leader, 150, 100);
            nodes.submitSurely(leader, "start");
            nodes.awaitEverywhere("start");
            List<String> others = new ArrayList<>(nodes.names());
            others.remove(leader);
            awaitKnownEnd(nodes, others.get(0));
            nodes.stop(others.get(0));
            submit(nodes, leader, 300, 100);
            nodes.submitSurely(others.get(1), "before the restart");
            nodes.stop(others.get(1));
            nodes.start(others.get(1));
            nodes.awaitLeader();
            submit(nodes, others.get(1), 300, 100);
            nodes.submitSurely(leader, "after the restart");
            nodes.awaitEverywhere("after the restart");
            for (String name : nodes.runningNames()) {
                assertThat(nodes.recorder(name).failures).isEmpty();
            }
        }
    }

    private Nodes nodes(int count, long logBytesMax) {
        return nodes(directory, count, logBytesMax);
    }

    private static Nodes nodes(Path directory, int count, long logBytesMax) {
        return new Nodes(directory, count, s -> s.withTimeouts(Duration.ofMillis(300), Duration.ofMillis(600))
                .withLog(1 << 20, 1, 100, logBytesMax));
    }

    /**
     * Begins anew where the machine stood still for so long that the others elected somebody once more: whoever leads
     * then has never heard where the log of the absent one ends.
     */
    private Nodes purgedUpToTheEndOfTheAbsentOne() {
        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            Nodes nodes = nodes(directory.resolve("attempt-" + attempt), 3, 5 << 18);
            boolean purged = false;
            try {
                long end = leaveAtTheEndOfATerm(nodes, 200);
                submit(nodes, "n1", 600, 3000);
                purged = isPurged(nodes, end + 1);
                if (purged) {
                    return nodes;
                }
            } finally {
                if (!purged) {
                    nodes.close();
                }
            }
        }
        throw new AssertionError("in none of " + ATTEMPTS + " attempts was the log purged up to the absent one's end");
    }

    /** Whether all logs come to begin there. */
    private static boolean isPurged(Nodes nodes, long start) {
        for (long end = System.nanoTime() + PURGED.toNanos(); System.nanoTime() < end; Nodes.pause(20)) {
            if (nodes.runningNames().stream()
                    .allMatch(name -> nodes.node(name).stats().logStart() == start)) {
                return true;
            }
        }
        return false;
    }

    /** Where n3's log ends; the others have gone on in another term. */
    private static long leaveAtTheEndOfATerm(Nodes nodes, int entries) {
        nodes.start().awaitLeader();
        nodes.node("n3").giveLeadershipAway();
        String leader = nodes.awaitLeader();
        submit(nodes, leader, entries, 3000);
        nodes.submitSurely(leader, "start");
        nodes.awaitEverywhere("start");
        long end = awaitKnownEnd(nodes, "n3");
        nodes.stop("n3");
        nodes.node(nodes.awaitLeader()).giveLeadershipAway();
        Nodes.await("another leader", () -> !nodes.awaitLeader().equals(leader));
        return end;
    }

    private static long awaitKnownEnd(Nodes nodes, String member) {
        long end = nodes.node(member).logEnd().index();
        Nodes.await(member + " known to end at " + end, () -> nodes.runningNames().stream()
                .anyMatch(name -> nodes.node(name).stats().followers().getOrDefault(member, -1L) == end));
        return end;
    }

    private static void comesBack(Nodes nodes) {
        nodes.start("n3");
        nodes.submitSurely("n3", "end");
        nodes.awaitEverywhere("end");
        assertThat(nodes.recorder("n3").entries())
                .isEqualTo(nodes.recorder("n1").entries());
    }

    @Test
    void keepsNoMoreThanItMayForAnAbsentMember() {
        Nodes nodes = nodes(3, 2 << 20);
        try (nodes) {
            nodes.start().awaitLeader();
            nodes.submitSurely("n1", "start");
            nodes.awaitEverywhere("start");
            nodes.stop("n3");
            submit(nodes, "n1");
            for (String name : nodes.runningNames()) {
                Nodes.await("purged at " + name, () -> nodes.node(name).stats().logStart() > 100);
            }
            Recorder returning = nodes.recorder("n3");
            nodes.start("n3");
            Nodes.await("told so", () -> !returning.failures.isEmpty());
            assertThat(returning.failures.get(0).code()).isEqualTo(ErrorCode.ORDER_TOO_FAR_BEHIND);
            nodes.stop("n3");

            returning.takeOver(nodes.recorder(nodes.awaitLeader()));
            nodes.start("n3");
            nodes.submitSurely("n3", "end");
            nodes.awaitEverywhere("end");
            assertThat(returning.failures).hasSize(1);
            assertThat(returning.entries()).isEqualTo(nodes.recorder("n1").entries());
            // It counts for the majority again.
            nodes.stop("n2");
            nodes.submitSurely("n3", "with n1 alone");
            nodes.awaitEverywhere("with n1 alone");
        }
    }

    /** It leads on for a moment after the others are gone, and may write; on a busy machine that may be too short. */
    private static String leaderThatWritesAlone(Nodes nodes) {
        for (int attempt = 0; attempt < ALONE_ATTEMPTS; attempt++) {
            String leader = nodes.awaitLeader();
            others(nodes, leader).forEach(nodes::stop);
            RatisTotalOrder alone = nodes.node(leader);
            long enough = alone.logEnd().index() + ENTRIES - 1;
            for (int i = 0; i < ENTRIES; i++) {
                var unused = alone.submit(new byte[10]);
            }
            for (long end = System.nanoTime() + ALONE.toNanos(); System.nanoTime() < end; Nodes.pause(20)) {
                if (alone.logEnd().index() >= enough) {
                    return leader;
                }
            }
            others(nodes, leader).forEach(nodes::start);
        }
        throw new AssertionError("no leader wrote " + ENTRIES + " entries after the others had gone");
    }

    private static List<String> others(Nodes nodes, String leader) {
        List<String> others = new ArrayList<>(nodes.names());
        others.remove(leader);
        return others;
    }

    /** A leader was cut off with entries of its own; the others have gone on, and what it receives ends among those. */
    @Test
    void goesOnFromACheckpointInPlaceOfEntriesThatNobodyElseHas() {
        Nodes nodes = new Nodes(directory, 3, s -> s.withTimeouts(Duration.ofSeconds(1), Duration.ofMillis(1500))
                .withLog(1 << 20, 1, 100, 2 << 20));
        try (nodes) {
            nodes.submitSurely(nodes.start().awaitLeader(), "start");
            nodes.awaitEverywhere("start");
            String leader = leaderThatWritesAlone(nodes);
            List<String> others = others(nodes, leader);
            LogPosition end = nodes.node(leader).logEnd();
            nodes.stop(leader);

            others.forEach(nodes::start);
            nodes.awaitLeader();
            submit(nodes, others.get(0), ENTRIES * 2 / 3, 8000);
            for (String name : others) {
                Nodes.await("purged at " + name, () -> nodes.node(name).stats().logStart() > 100);
            }
            // A leader that has not met the absent one expects it to have everything.
            nodes.node(nodes.awaitLeader()).giveLeadershipAway();
            nodes.awaitLeader();
            Recorder returning = nodes.recorder(leader);
            nodes.start(leader);
            Nodes.await("told so", () -> !returning.failures.isEmpty());
            assertThat(returning.failures.get(0).code()).isEqualTo(ErrorCode.ORDER_TOO_FAR_BEHIND);
            nodes.stop(leader);

            returning.takeOver(nodes.recorder(nodes.awaitLeader()));
            assertThat(returning.resumeAfter().index()).isBetween(100L, end.index() - 1);
            assertThat(returning.resumeAfter().term()).isGreaterThan(end.term());
            nodes.start(leader);
            nodes.submitSurely(leader, "end");
            nodes.awaitEverywhere("end");
            assertThat(returning.failures).hasSize(1);
            assertThat(returning.entries())
                    .isEqualTo(nodes.recorder(others.get(0)).entries());
            // It counts for the majority again, also after another start.
            nodes.stop(others.get(0));
            nodes.submitSurely(leader, "with one other");
            nodes.stop(leader);
            nodes.start(leader);
            nodes.submitSurely(leader, "and again");
            nodes.awaitEverywhere("and again");
        }
    }

    private static void submit(Nodes nodes, String name) {
        submit(nodes, name, ENTRIES, 3000);
    }

    private static void submit(Nodes nodes, String name, int entries, int bytes) {
        int before = nodes.recorder(name).count();
        List<CompletableFuture<Void>> accepted = new ArrayList<>();
        for (int i = 0; i < entries; i++) {
            accepted.add(nodes.node(name).submit(new byte[bytes]));
        }
        // Those that a change of the leader has thrown out once more, one by one.
        for (CompletableFuture<Void> answer : accepted) {
            Nodes.await("accepted at " + name, () -> {
                CompletableFuture<Void> last =
                        answer.isCompletedExceptionally() ? nodes.node(name).submit(new byte[bytes]) : answer;
                return last.handle((done, e) -> e == null).join();
            });
        }
        Nodes.await("all at " + name, () -> nodes.recorder(name).count() >= before + entries);
    }
}
