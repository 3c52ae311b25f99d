// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Whatever ends a thread of the order, the listener hears of it, once. */
@Timeout(600)
class FailureTest {
    @TempDir
    Path directory;

    private Nodes nodes;
    private Recorder recorder;

    @BeforeEach
    void start() {
        Duration min = Duration.ofMillis(300);
        nodes = new Nodes(
                directory, 1, s -> s.withTimeouts(min, min.multipliedBy(2)).withLog(1 << 20, 1, 1, 1 << 20));
        nodes.start().awaitLeader();
        recorder = nodes.recorder("n1");
        nodes.submitSurely("n1", "before");
        nodes.awaitLeader();
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    @Test
    void ofTheUpdaterWhileItDelivers() {
        recorder.onDeliver = entry -> {
            throw new StackOverflowError("on purpose");
        };
        submit();
        expectStop("on purpose");
    }

    @Test
    void ofTheUpdaterWhileItTakesACheckpoint() {
        recorder.onCheckpoint = () -> {
            throw new StackOverflowError("on purpose");
        };
        submit();
        expectStop("on purpose");
    }

    @Test
    void ofTheThreadThatLooksAfterTheQuorum() {
        recorder.onQuorum = quorum -> {
            throw new StackOverflowError("on purpose");
        };
        nodes.node("n1").division().close(); // The quorum is lost with it.
        expectStop("on purpose");
    }

    @Test
    void ofAListenerThatCanNotTakeTheQuorum() {
        recorder.onQuorum = quorum -> {
            throw new IllegalStateException("on purpose");
        };
        nodes.node("n1").division().close();
        expectStop("on purpose");
    }

    @Test
    void ofRatisAltogether() {
        nodes.node("n1").division().close();
        expectStop("Ratis has stopped by itself");
    }

    /** It ends without a word when it meets an Error, and all that is written waits for it. */
    @Test
    void ofTheThreadThatWritesTheLog() {
        thread("-SegmentedRaftLogWorker").interrupt();
        expectStop("the thread that writes the order's log has ended");
    }

    @Test
    void ofAnyOtherThreadOfRatis() {
        ThreadGroup group = thread("-StateMachineUpdater").getThreadGroup();
        new Thread(
                        group,
                        () -> {
                            throw new StackOverflowError("on purpose");
                        },
                        "one-of-ratis")
                .start();
        expectStop("one-of-ratis ended because of java.lang.StackOverflowError: on purpose");
    }

    private void submit() {
        var unused = nodes.node("n1").submit(new byte[] {'x'});
    }

    private void expectStop(String why) {
        Nodes.await("the failure", () -> !recorder.failures.isEmpty());
        nodes.stop("n1"); // Waits for the closing that the failure began; no other one is told after it.
        assertThat(recorder.failures).hasSize(1);
        QuorateException failure = recorder.failures.get(0);
        assertThat(failure.code()).isEqualTo(ErrorCode.ORDER_STOPPED);
        assertThat(failure).hasMessageContaining(why);
    }

    private static Thread thread(String kind) {
        Thread[] all = new Thread[Thread.activeCount() + 100];
        int count = Thread.enumerate(all);
        return Arrays.stream(all, 0, count)
                .filter(thread -> thread.getName().startsWith("n1@group-")
                        && thread.getName().endsWith(kind))
                .findFirst()
                .orElseThrow();
    }
}
