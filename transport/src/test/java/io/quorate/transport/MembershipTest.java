// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.transport.TransportSettings.Peer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(600)
class MembershipTest {
    @TempDir
    Path directory;

    private static Peer peer(String name, int generation) {
        List<Integer> ports = Nodes.freePorts(2);
        return new Peer(name, "127.0.0.1", ports.get(0), ports.get(1), generation);
    }

    /** As a node does: by whoever leads, again and again. */
    private static void surely(Supplier<CompletableFuture<Void>> change) throws InterruptedException {
        for (int attempt = 0; ; attempt++) {
            try {
                change.get().get(30, TimeUnit.SECONDS);
                return;
            } catch (ExecutionException | TimeoutException e) {
                assertThat(attempt).as("%s", e).isLessThan(20);
                Thread.sleep(300);
            }
        }
    }

    private static List<String> names(RatisTotalOrder node) {
        return node.members().stream().map(Peer::name).toList();
    }

    private static void awaitMembers(Nodes nodes, String... names) {
        for (String each : names) {
            Nodes.await("members at " + each, () -> names(nodes.node(each)).equals(List.of(names)));
        }
    }

    @Test
    void membersComeAndGoAndAreRemembered() throws Exception {
        try (Nodes nodes = Nodes.of(directory, 2)) {
            nodes.start().awaitLeader();
            nodes.submitSurely("n1", "one");
            Peer third = peer("n3", 1);
            nodes.startJoining(third);
            assertThat(nodes.node("n3").members()).isEmpty();
            surely(() -> nodes.node(nodes.runningLeader()).add(third));
            awaitMembers(nodes, "n1", "n2", "n3");
            nodes.submitSurely("n3", "two");
            nodes.awaitEverywhere("two");
            assertThat(nodes.recorder("n3").entries())
                    .isEqualTo(nodes.recorder("n1").entries());

            // Three of three again after all were down: each knows the third by what it kept.
            for (String name : List.of("n1", "n2", "n3")) {
                nodes.stop(name);
            }
            nodes.start("n3");
            nodes.start("n2");
            nodes.submitSurely("n3", "three");
            nodes.start("n1");
            nodes.awaitEverywhere("three");

            // The one that leads goes: two are left, which are a majority of two only together.
            String leaving = nodes.awaitLeader();
            surely(() -> nodes.node(nodes.runningLeader()).remove(leaving, false));
            Nodes.await("told", () -> nodes.recorder(leaving).failures.stream()
                    .anyMatch(f -> f.code() == ErrorCode.NOT_A_MEMBER));
            nodes.stop(leaving);
            List<String> left = nodes.runningNames();
            nodes.submitSurely(left.get(0), "four");
            nodes.awaitEverywhere("four");
            assertThat(names(nodes.node(left.get(0))))
                    .containsExactlyElementsOf(left.stream().sorted().toList());
        }
    }

    @Test
    void aMemberThatLostItsDirectoryAndItsAddressIsReplacedUnderItsName() throws Exception {
        try (Nodes nodes = Nodes.of(directory, 3)) {
            nodes.start().awaitLeader();
            nodes.submitSurely("n1", "one");
            nodes.awaitEverywhere("one");
            nodes.stop("n2");
            delete(directory.resolve("n2"));
            Peer again = peer("n2", 2);
            nodes.startJoining(again);
            surely(() -> nodes.node(nodes.runningLeader()).add(again));
            awaitMembers(nodes, "n1", "n2", "n3");
            assertThat(nodes.node("n1").members()).contains(again);
            // It counts: two of three, and it is one of them.
            nodes.stop("n3");
            nodes.submitSurely("n2", "two");
            nodes.awaitEverywhere("two");
            assertThat(nodes.recorder("n2").entries()).containsExactly("one", "two");
        }
    }

    @Test
    void onlyTheLeaderChangesMembersAndNotToNone() throws Exception {
        try (Nodes nodes = Nodes.of(directory, 3)) {
            nodes.start().awaitLeader();
            String follower = nodes.awaitFollower();
            assertFails(nodes.node(follower).remove("n1", false), ErrorCode.NO_QUORUM);
        }
    }

    @Test
    void aMemberThatIsNeededStaysUnlessForced() throws Exception {
        try (Nodes nodes = Nodes.of(directory, 3)) {
            nodes.start().awaitLeader();
            nodes.submitSurely("n1", "one");
            nodes.awaitEverywhere("one");
            String third = nodes.awaitFollower();
            nodes.stop(third);
            String leader = nodes.runningLeader();
            String other = nodes.awaitFollower();
            for (String needed : List.of(leader, other)) {
                assertThatThrownBy(
                                () -> nodes.node(leader).remove(needed, false).get(30, TimeUnit.SECONDS))
                        .hasMessageContaining("without " + needed + " NOBODY COULD WRITE");
            }
            nodes.submitSurely(leader, "two");
            nodes.awaitEverywhere("two");
            assertThat(names(nodes.node(leader))).containsExactly("n1", "n2", "n3");

            // Begun and not done: whoever is to go is a member as long as that is so, and goes when it is done.
            CompletableFuture<Void> forced = nodes.node(leader).remove(other, true);
            Nodes.await("the change is begun", () -> nodes.node(other).isChangingMembers());
            assertThat(forced).isNotDone();
            nodes.start(third);
            awaitMembersAre(nodes, leader, third);
            Nodes.await("told", () -> nodes.recorder(other).failures.stream()
                    .anyMatch(f -> f.code() == ErrorCode.NOT_A_MEMBER));
            nodes.submitSurely(third, "three");
            Nodes.await(
                    "three is ordered", () -> nodes.recorder(leader).entries().contains("three"));
        }
    }

    private static void awaitMembersAre(Nodes nodes, String... names) {
        List<String> sorted = Stream.of(names).sorted().toList();
        for (String each : names) {
            Nodes.await("members at " + each, () -> names(nodes.node(each)).equals(sorted));
        }
    }

    @Test
    void aLeaderThatIsClosedHandsOver() {
        try (Nodes nodes = Nodes.of(directory, 3)) {
            String leader = nodes.start().awaitLeader();
            nodes.stop(leader);
            String next = nodes.runningNames().get(0);
            // Without a handover they would have to miss it first, which takes at least the shorter timeout.
            Nodes.await("another leads", () -> {
                var quorum = nodes.node(next).quorum();
                return quorum.primary() && !quorum.leader().equals(leader);
            });
            nodes.submitSurely(next, "after");
            nodes.awaitEverywhere("after");
        }
    }

    @Test
    void aMemberLeadsThatIsAskedTo() throws Exception {
        try (Nodes nodes = Nodes.of(directory, 3)) {
            nodes.start().awaitLeader();
            nodes.submitSurely("n1", "before");
            for (String heir : List.of("n3", "n1", "n2")) {
                surely(() -> nodes.node(nodes.runningLeader()).lead(heir));
                Nodes.await(heir + " leads", () -> heir.equals(nodes.awaitLeader()));
                nodes.submitSurely("n1", "with " + heir);
            }
            nodes.awaitEverywhere("with n2");
            String follower = nodes.awaitFollower();
            assertFails(nodes.node(follower).lead("n1"), ErrorCode.NO_QUORUM);
            assertFails(nodes.node(nodes.awaitLeader()).lead("n9"), ErrorCode.NO_QUORUM);
        }
    }

    private static void assertFails(CompletableFuture<Void> change, ErrorCode code) {
        assertThatThrownBy(change::join)
                .isInstanceOf(CompletionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(code));
    }

    private static void delete(Path tree) throws IOException {
        try (var files = Files.walk(tree)) {
            for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
