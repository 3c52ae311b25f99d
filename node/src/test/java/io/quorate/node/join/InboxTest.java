// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class InboxTest {
    private final Inbox inbox = new Inbox();

    @Test
    void aCommandIsRefusedWhereTooMuchIsWaiting() throws Exception {
        for (int i = 0; i < Inbox.WAITING_MAX; i++) {
            inbox.wake();
        }
        inbox.wake();
        assertThat(inbox.command(() -> null, () -> "receiving")).isEqualTo("this node is busy: receiving");
        inbox.runNext(0);
        Thread commands = new Thread(() -> {
            try {
                for (int i = 0; i < Inbox.WAITING_MAX + 1; i++) {
                    inbox.runNext(Long.MAX_VALUE);
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        commands.start();
        assertThat(inbox.command(() -> null, () -> "receiving")).isNull();
    }

    /** It isn't lost, for the order says it once. */
    @Test
    void whatHappenedWaitsUntilThereIsRoom() throws Exception {
        List<Integer> run = new ArrayList<>();
        int count = 3 * Inbox.WAITING_MAX;
        Thread telling = new Thread(() -> IntStream.range(0, count).forEach(i -> inbox.tell(() -> run.add(i))));
        telling.start();
        while (run.size() < count) {
            inbox.runNext(1000);
        }
        assertThat(run).isEqualTo(IntStream.range(0, count).boxed().toList());
    }

    @Test
    void nobodyWaitsForAThreadThatHasEnded() throws Exception {
        IntStream.range(0, Inbox.WAITING_MAX).forEach(i -> inbox.wake());
        Thread telling = new Thread(() -> inbox.tell(() -> {}));
        telling.start();
        inbox.close();
        telling.join();
    }

    @Test
    void theThreadItselfDoesNotWaitForItself() throws Exception {
        List<String> run = new ArrayList<>();
        inbox.tell(() -> {
            IntStream.range(0, Inbox.WAITING_MAX).forEach(i -> inbox.wake());
            inbox.tell(() -> run.add("told by itself"));
        });
        inbox.runNext(0);
        assertThat(run).containsExactly("told by itself");
    }
}
