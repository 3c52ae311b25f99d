// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.Entry;
import io.quorate.core.ErrorCode;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class SubmitterTest {
    @TempDir
    Path directory;

    /** As memory does when it runs out, in whatever thread sends. */
    @Test
    void tellsOfAnEndAndLeavesNobodyWaiting() throws Exception {
        AtomicReference<Throwable> told = new AtomicReference<>();
        CountDownLatch broken = new CountDownLatch(1);
        CountDownLatch sending = new CountDownLatch(1);
        CountDownLatch both = new CountDownLatch(1);
        OutOfMemoryError cause = new OutOfMemoryError("of this test");
        Submitter.Route route = new Submitter.Route() {
            @Override
            public String leader() {
                return "n1";
            }

            @Override
            public CompletableFuture<Answer> send(String leader, byte[] frame) {
                sending.countDown();
                try {
                    both.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                throw cause;
            }
        };
        TransportSettings.Peer self = new TransportSettings.Peer("n1", "127.0.0.1", 1, 2);
        TransportSettings settings = TransportSettings.of("test", "n1", List.of(self), directory);
        try (Submitter submitter = new Submitter(settings, route, e -> {
            told.set(e);
            broken.countDown();
        })) {
            submitter.start();
            // It is sent by the thread that brings it.
            CompletableFuture<Void> sent = new CompletableFuture<>();
            Thread first = new Thread(() -> {
                var unused = submitter
                        .submit(Entry.of(new byte[1]))
                        .whenComplete((done, e) -> sent.completeExceptionally(e));
            });
            first.start();
            assertThat(sending.await(20, TimeUnit.SECONDS)).isTrue();
            CompletableFuture<Void> queued = submitter.submit(Entry.of(new byte[1]));
            both.countDown();
            assertThat(broken.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(told.get()).isSameAs(cause);
            OrderTest.assertFailsWith(sent, ErrorCode.ORDER_INTERRUPTED);
            OrderTest.assertFailsWith(queued, ErrorCode.ORDER_INTERRUPTED);
            OrderTest.assertFailsWith(submitter.submit(Entry.of(new byte[1])), ErrorCode.ORDER_INTERRUPTED);
        }
    }
}
