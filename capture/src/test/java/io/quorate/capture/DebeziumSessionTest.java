// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.QuorateException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DebeziumSessionTest {
    /** A server that stays ill for days would otherwise be given all threads, and the server all connections. */
    @Test
    void noEngineIsStartedWhileManyThatWereClosedDoNotEnd() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        List<Thread> left = new ArrayList<>();
        for (int i = 0; i < DebeziumSession.LEFT_MAX; i++) {
            Thread thread = new Thread(() -> awaitEnd(end));
            thread.start();
            left.add(thread);
            DebeziumSession.leave(thread);
        }
        CaptureSettings settings = CaptureSettings.of("127.0.0.1", 1, "root", "", UUID.randomUUID(), 999);
        try {
            assertThatThrownBy(() -> new DebeziumSession(settings, null))
                    .isInstanceOf(QuorateException.class)
                    .hasMessageContaining("don't end");
        } finally {
            end.countDown();
        }
        for (Thread thread : left) {
            thread.join();
        }
        Tap tap = new Tap(settings, "", null, new Counters(), null);
        new DebeziumSession(settings, tap).close();
    }

    private static void awaitEnd(CountDownLatch end) {
        while (end.getCount() > 0) {
            try {
                end.await();
            } catch (InterruptedException e) {
                // As one that doesn't end for that.
            }
        }
    }
}
