// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent;
import io.quorate.core.NodeMachine;
import io.quorate.core.NodeState;
import io.quorate.core.QuorateException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class NodeLoopTest {
    /** An applier that fails interrupts its own threads; once the failure was lost on the way, and the node stayed SYNCED. */
    @Test
    void hearsAFailureFromAnInterruptedThread() throws Exception {
        CountDownLatch inconsistent = new CountDownLatch(1);
        try (NodeLoop loop = new NodeLoop(new NodeMachine(10, 500), () -> new NodeEvent.Progress(0, 0, 0), state -> {
            if (state == NodeState.INCONSISTENT) {
                inconsistent.countDown();
            }
        })) {
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
}
