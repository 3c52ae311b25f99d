// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
import io.quorate.transport.TransportSettings.Peer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.raftlog.RaftLogBase;
import org.apache.ratis.util.AutoCloseableLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process that leaves the order and takes part in it again, also when Ratis doesn't come to an end by itself. */
@Timeout(600)
@SuppressWarnings("try") // A lock is held for what is done under it.
class RestartTest {
    private static final String SERVER = "n1@group-";

    @TempDir
    Path directory;

    /**
     * Seen when a leader had handed over and was stopped: with the first entry of the next term the log begins another
     * segment, and the thread that evicts segments from the cache comes to the lock just when the log is being closed.
     */
    @Test
    void closesWhileRatisEvictsFromTheCacheOfItsLog() throws Exception {
        try (Nodes nodes = oneWithManySegments()) {
            Thread close;
            RaftLogBase log = log(nodes);
            try (AutoCloseableLock held = log.writeLock()) {
                close = new Thread(() -> nodes.node("n1").close());
                close.start();
                Nodes.await("the log is being closed", () -> anyAt("SegmentedRaftLog", "close"));
                evict(log);
                Nodes.await(
                        "eviction waits for it, or has been ended before",
                        () -> anyAt("SegmentedRaftLog", "checkAndEvictCache")
                                || of(SERVER).noneMatch(t -> t.getName().endsWith("-cacheEviction-AwaitToRun")));
            }
            close.join();
            // A close that was given up leaves the threads that hang.
            Nodes.await(
                    "nothing of the server is left", () -> of(SERVER).findAny().isEmpty());
            nodes.start("n1");
            nodes.submitSurely("n1", "after");
            assertThat(nodes.recorder("n1").entries()).endsWith("after").doesNotHaveDuplicates();
        }
    }

    /** The same, but by Ratis itself, as when it can't write its log. Nobody could end the eviction before. */
    @Test
    void endsAServerThatHangsInAClosingOfItsOwn() throws Exception {
        try (Nodes nodes = oneWithManySegments()) {
            RaftLogBase log = log(nodes);
            Thread itself = new Thread(
                    worker().getThreadGroup(), () -> nodes.node("n1").division().close(), SERVER + "closes-itself");
            try (AutoCloseableLock held = log.writeLock()) {
                itself.start();
                Nodes.await("the log is being closed", () -> anyAt("SegmentedRaftLog", "close"));
                evict(log);
                Nodes.await("eviction waits for it", () -> anyAt("SegmentedRaftLog", "checkAndEvictCache"));
            }
            Nodes.await("they wait for each other", () -> anyAt("AwaitToRun", "close"));
            nodes.node("n1").close();
            itself.join();
            assertThat(of(SERVER)).isEmpty();
            nodes.start("n1");
            nodes.submitSurely("n1", "after");
            assertThat(nodes.recorder("n1").entries()).endsWith("after").doesNotHaveDuplicates();
        }
    }

    /** Two log workers in one directory would damage it. */
    @Test
    void waitsForTheFormerServerBeforeItLooksAtTheLog() throws Exception {
        try (Nodes nodes = oneWithManySegments()) {
            Thread close = new Thread(() -> nodes.stop("n1"));
            CompletableFuture<RatisTotalOrder> next;
            try (AutoCloseableLock held = log(nodes).writeLock()) {
                close.start();
                Nodes.await("the log is being closed", () -> anyAt("SegmentedRaftLog", "close"));
                assertThat(worker().isAlive()).isTrue();
                next = CompletableFuture.supplyAsync(
                        () -> RatisTotalOrder.start(nodes.settings("n1"), nodes.recorder("n1")));
                Nodes.await("the next one waits", () -> anyAt("RatisServer", "claim"));
                assertThat(of(SERVER).filter(t -> t.getName().endsWith("-SegmentedRaftLogWorker")))
                        .hasSize(1);
            }
            next.get(3, TimeUnit.MINUTES).close();
            close.join();
        }
    }

    /** Others ask while it is being closed: reports to other nodes, pages, metrics. */
    @Test
    void answersWhatItIsAskedAlsoWhenItIsClosed() throws Exception {
        try (Nodes nodes = oneWithManySegments()) {
            RatisTotalOrder order = nodes.node("n1");
            LogPosition end = order.logEnd();
            nodes.stop("n1");
            assertThat(order.logEnd()).isEqualTo(end);
            for (Method each : RatisTotalOrder.class.getDeclaredMethods()) {
                if (Modifier.isPublic(each.getModifiers()) && each.getParameterCount() == 0) {
                    each.invoke(order);
                }
            }
        }
    }

    @Test
    void refusesADirectoryInWhichAnOrderRuns() {
        try (Nodes nodes = Nodes.of(directory, 1).start()) {
            nodes.awaitLeader();
            assertThatThrownBy(() -> nodes.start("n1"))
                    .isInstanceOfSatisfying(
                            QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CONFIGURATION))
                    .hasMessageContaining("in use by another order");
            nodes.submitSurely("n1", "unharmed");
        }
    }

    /** Ratis' server is made by then, and has threads, but hasn't begun. */
    @Test
    void givesTheDirectoryBackWhenAStartFailsBeforeTheServerRuns() throws Exception {
        try (Nodes nodes = Nodes.of(directory, 1)) {
            try (ServerSocket another =
                    new ServerSocket(nodes.peers().get(0).channelPort(), 1, InetAddress.getLoopbackAddress())) {
                assertThatThrownBy(() -> nodes.start("n1"))
                        .isInstanceOfSatisfying(QuorateException.class, e -> assertThat(e.code())
                                .isEqualTo(ErrorCode.CONFIGURATION));
            }
            nodes.start("n1");
            nodes.submitSurely("n1", "unharmed");
        }
    }

    /** The port is found free first, and taken by somebody else before Ratis opens it. */
    @Test
    void leavesNoThreadWhenAStartFailsAtItsLastStep() throws Exception {
        try (Nodes nodes = Nodes.of(directory, 1);
                ServerSocket another = new ServerSocket()) {
            Peer self = nodes.peers().get(0);
            nodes.recorder("n1").onResume = () -> {
                try {
                    another.bind(new InetSocketAddress(self.host(), self.raftPort()));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            };
            assertThatThrownBy(() -> nodes.start("n1")).isInstanceOf(QuorateException.class);
            Nodes.await("nothing of it is left", () -> Stream.of("quorate-submit", "quorate-quorum", SERVER)
                    .allMatch(name -> of(name).findAny().isEmpty()));
            nodes.recorder("n1").onResume = () -> {};
            another.close();
            nodes.start("n1");
            nodes.submitSurely("n1", "unharmed");
        }
    }

    /** What {@link RatisServer} takes for granted. */
    @Test
    void knowsTheThreadsThatWriteByTheirGroupAndName() {
        try (Nodes nodes = Nodes.of(directory, 1).start()) {
            nodes.awaitLeader();
            ThreadGroup group = worker().getThreadGroup();
            assertThat(group.getName()).isEqualTo("quorate-order");
            for (String kind : List.of("-StateMachineUpdater", "-LeaderStateImpl", "-cacheEviction-AwaitToRun")) {
                assertThat(of(SERVER)).anySatisfy(thread -> {
                    assertThat(thread.getName()).endsWith(kind);
                    assertThat(group.parentOf(thread.getThreadGroup())).isTrue();
                });
            }
            nodes.stop("n1");
            assertThat(of(SERVER)).isEmpty();
        }
    }

    /** Those that may be interrupted at once when a close takes long. */
    @Test
    void knowsTheThreadsThatOnlyWaitByTheirName() {
        try (Nodes nodes = Nodes.of(directory, 3).start()) {
            nodes.awaitLeader();
            for (String kind : List.of("-LogAppenderDaemon", "-FollowerState")) {
                Nodes.await(kind, () -> nodes.names().stream()
                        .flatMap(name -> of(name + "@group-"))
                        .anyMatch(thread -> thread.getName().endsWith(kind)));
            }
        }
    }

    private Nodes oneWithManySegments() {
        Nodes nodes = new Nodes(directory, 1, s -> s.withTimeouts(Duration.ofMillis(300), Duration.ofMillis(600))
                .withLog(1 << 20, 1, 1_000_000, 1L << 30));
        nodes.start().awaitLeader();
        byte[] large = new byte[200_000];
        for (int i = 0; i < 30; i++) {
            large[0] = (byte) i;
            nodes.submitSurely("n1", large, Recorder.digest(large));
        }
        return nodes;
    }

    private static RaftLogBase log(Nodes nodes) {
        return (RaftLogBase) nodes.node("n1").division().getRaftLog();
    }

    /** Has more segments in the cache than are kept there, and Ratis look at them. */
    private static void evict(RaftLog log) throws Exception {
        for (long index = log.getStartIndex(); index < log.getNextIndex(); index++) {
            log.get(index);
        }
    }

    private static Thread worker() {
        return of(SERVER)
                .filter(thread -> thread.getName().endsWith("-SegmentedRaftLogWorker"))
                .findFirst()
                .orElseThrow();
    }

    private static Stream<Thread> of(String server) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(server));
    }

    /** Whether a thread waits there; one on its way could still be overtaken. */
    private static boolean anyAt(String type, String method) {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(each -> each.getKey().getState() != Thread.State.RUNNABLE)
                .flatMap(each -> Arrays.stream(each.getValue()))
                .anyMatch(frame -> frame.getClassName().endsWith(type)
                        && frame.getMethodName().equals(method));
    }
}
