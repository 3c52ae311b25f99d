// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.node.server.LinkSignals.Task;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(30)
class LinkSignalsTest {
    private final LinkSignals signals = new LinkSignals();

    private void tell(String all) {
        for (String each : all.split(" ")) {
            switch (each) {
                case "writable" -> signals.writable(true);
                case "closed-for-writes" -> signals.writable(false);
                case "held" -> signals.held(true);
                case "released" -> signals.held(false);
                case "suspended" -> signals.suspend();
                case "resumed" -> signals.resume();
                case "lost" -> signals.lost("it is gone");
                case "begun" -> signals.begin();
                case "stopped" -> signals.stop();
                case "closed" -> signals.close();
                default -> assertThat(each).isEqualTo("nothing");
            }
        }
    }

    /**
     * What the link was told, in this order; the task that follows; whether a server that is open at the start may stay
     * so.
     */
    @ParameterizedTest
    @CsvSource({
        "nothing, READ_ONLY, true",
        "writable, WRITABLE, false",
        "writable closed-for-writes, READ_ONLY, false",
        "held, READ_ONLY, false",
        "held released, READ_ONLY, true",
        "writable held, READ_ONLY, false",
        "writable held released, WRITABLE, false",
        "writable held begun, WRITABLE, false",
        "writable lost, RECONNECT, false",
        "lost, RECONNECT, true",
        "lost begun, READ_ONLY, true",
        "writable lost begun, WRITABLE, false",
        "lost suspended, SUSPENDED, false",
        "suspended, SUSPENDED, false",
        "suspended resumed, READ_ONLY, true",
        "suspended lost resumed, RECONNECT, true",
        "stopped, STOPPED, false",
        "stopped suspended, STOPPED, false",
        "stopped begun writable, STOPPED, false",
        "lost closed, CLOSED, true",
        "stopped closed, CLOSED, false",
        "closed writable, CLOSED, false"
    })
    void theTaskIsWhatWasToldLast(String told, Task task, boolean mayStayOpen) {
        tell(told);
        assertThat(signals.task()).isEqualTo(task);
        assertThat(signals.mayStayOpen()).isEqualTo(mayStayOpen);
    }

    @ParameterizedTest
    @CsvSource({
        "READ_ONLY, true",
        "WRITABLE, true",
        "RECONNECT, false",
        "SUSPENDED, false",
        "STOPPED, false",
        "CLOSED, false"
    })
    void onlyTwoTasksServe(Task task, boolean serves) {
        assertThat(task.serves()).isEqualTo(serves);
    }

    @Test
    void saysWhyTheSessionWasLostUntilTheNextOneBegins() {
        assertThat(signals.lostBecause()).isNull();
        signals.lost("it is gone");
        assertThat(signals.lostBecause()).isEqualTo("it is gone");
        signals.begin();
        assertThat(signals.lostBecause()).isNull();
    }

    @Test
    void waitsForAnotherTaskAndNotForTheSameOne() throws Exception {
        CompletableFuture<Task> awaited = CompletableFuture.supplyAsync(() -> {
            try {
                return signals.await(Task.READ_ONLY, 20_000);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        signals.held(true);
        signals.held(false);
        signals.suspend();
        assertThat(awaited.get(20, TimeUnit.SECONDS)).isEqualTo(Task.SUSPENDED);
        assertThat(signals.await(Task.READ_ONLY, 20_000)).isEqualTo(Task.SUSPENDED);
        assertThat(signals.await(Task.SUSPENDED, 1)).isEqualTo(Task.SUSPENDED);
    }
}
