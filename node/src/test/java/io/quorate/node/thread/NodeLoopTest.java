// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.thread;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent;
import io.quorate.core.NodeMachine;
import io.quorate.core.NodeState;
import io.quorate.core.QuorateException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class NodeLoopTest {
    private final CountDownLatch inconsistent = new CountDownLatch(1);
    private final BlockingQueue<Throwable> ended = new LinkedBlockingQueue<>();

    private NodeLoop loop(Supplier<NodeEvent.Progress> progress, Consumer<NodeState> onState) {
        return new NodeLoop(new NodeMachine(10, 500), progress, onState, (thread, cause) -> ended.add(cause));
    }

    private static NodeEvent.Progress none() {
        return new NodeEvent.Progress(0, 0, 0);
    }

    private void see(NodeState state) {
        if (state == NodeState.INCONSISTENT) {
            inconsistent.countDown();
        }
    }

    /**
     * An applier that fails interrupts its own threads. In an earlier version the failure was lost on the way, and the
     * node stayed SYNCED.
     */
    @Test
    void hearsAFailureFromAnInterruptedThread() throws Exception {
        try (NodeLoop loop = loop(NodeLoopTest::none, this::see)) {
            loop.start();
            Thread failing = new Thread(() -> {
                Thread.currentThread().interrupt();
                loop.post(new NodeEvent.Failed(new QuorateException(ErrorCode.APPLY_FAILED, "in a test")));
            });
            failing.start();
            assertThat(inconsistent.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(loop.reason()).startsWith("QRT-5003");
        }
    }

    /**
     * In an earlier version a file of the cache that couldn't be deleted ended the loop, and the node stayed SYNCED and
     * writable.
     */
    @Test
    void aLookAtTheProgressThatFailsIsAFailureOfTheNode() throws Exception {
        try (NodeLoop loop = loop(
                () -> {
                    throw new QuorateException(ErrorCode.DISK, "can't delete");
                },
                this::see)) {
            loop.start();
            assertThat(inconsistent.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(loop.reason()).startsWith("QRT-6002");
        }
        assertThat(ended).isEmpty();
    }

    @Test
    void anErrorWhileLookingIsToo() throws Exception {
        try (NodeLoop loop = loop(
                () -> {
                    throw new IllegalStateException("in a test");
                },
                this::see)) {
            loop.start();
            assertThat(inconsistent.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(loop.reason()).startsWith("QRT-8001");
        }
    }

    @Test
    void aLookThatFailsUnforeseenIsMadeAgain() throws Exception {
        CountDownLatch looks = new CountDownLatch(3);
        FaultHandler patient = new FaultHandler() {
            @Override
            public void ended(String thread, Throwable cause) {
                ended.add(cause);
            }

            @Override
            public boolean mayGoOn(String thread, Throwable cause) {
                return true;
            }
        };
        Supplier<NodeEvent.Progress> failing = () -> {
            looks.countDown();
            throw new IllegalStateException("in a test");
        };
        try (NodeLoop loop = new NodeLoop(new NodeMachine(10, 500), failing, this::see, patient)) {
            loop.start();
            assertThat(looks.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(loop.state()).isNotEqualTo(NodeState.INCONSISTENT);
        }
        assertThat(ended).isEmpty();
    }

    @Test
    void whenAStateCantBeCarriedOutTheLoopEndsAndSaysSo() throws Exception {
        try (NodeLoop loop = loop(NodeLoopTest::none, state -> {
            throw new IllegalStateException("clients can't be kept out");
        })) {
            loop.start();
            loop.post(new NodeEvent.JoinChanged(NodeEvent.Part.OUT, "in a test"));
            assertThat(ended.poll(20, TimeUnit.SECONDS)).hasMessage("clients can't be kept out");
        }
    }

    /**
     * In an earlier version a thread that posted an event never returned when the queue of a loop that had ended was
     * full.
     */
    @Test
    void postingToALoopThatHasEndedReturns() throws Exception {
        try (NodeLoop loop = loop(NodeLoopTest::none, state -> {
            throw new IllegalStateException("in a test");
        })) {
            loop.start();
            loop.post(new NodeEvent.JoinChanged(NodeEvent.Part.OUT, "in a test"));
            assertThat(ended.poll(20, TimeUnit.SECONDS)).isNotNull();
            for (int i = 0; i < 3000; i++) {
                loop.post(new NodeEvent.Donating(true));
            }
        }
    }
}
