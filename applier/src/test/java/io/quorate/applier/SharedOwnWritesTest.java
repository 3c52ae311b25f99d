// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.OwnWrites;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(40)
class SharedOwnWritesTest {
    private final SharedOwnWrites own = new SharedOwnWrites(new OwnWrites(0, Map.of(), c -> true));

    @Test
    void waitsForTheCapture() throws InterruptedException {
        own.covered(3, 0);
        assertThat(own.awaitCovered(3, Duration.ZERO)).isTrue();
        assertThat(own.awaitCovered(4, Duration.ofMillis(20))).isFalse();
        Thread capture = new Thread(() -> own.covered(4, 0));
        capture.start();
        assertThat(own.awaitCovered(4, Duration.ofSeconds(30))).isTrue();
        capture.join();
    }

    @Test
    void whatTheOrderHasNeedsNoCapture() throws InterruptedException {
        Thread order = new Thread(() -> own.ordered(List.of(), 4, 0));
        order.start();
        assertThat(own.awaitCovered(4, Duration.ofSeconds(30))).isTrue();
        order.join();
    }

    @Test
    void waitsNoLongerThanItsSession() throws InterruptedException {
        Thread end = new Thread(own::end);
        end.start();
        assertThat(own.awaitCovered(1, Duration.ofMinutes(1))).isFalse();
        end.join();
    }

    @Test
    void nobodyWaitsForAServerWithoutClients() throws InterruptedException {
        assertThat(SharedOwnWrites.none().awaitCovered(Long.MAX_VALUE, Duration.ZERO))
                .isTrue();
    }
}
