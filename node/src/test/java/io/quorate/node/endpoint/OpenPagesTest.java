// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

@Timeout(60)
class OpenPagesTest {
    /** A page whose browser takes what comes, or doesn't. */
    private static final class Page extends SseEmitter {
        private final CountDownLatch takes;
        private final BlockingQueue<String> got = new LinkedBlockingQueue<>();

        Page(CountDownLatch takes) {
            this.takes = takes;
        }

        @Override
        public void send(SseEventBuilder event) {
            try {
                takes.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            got.add(event.build().stream()
                    .map(part -> part.getData().toString())
                    .collect(Collectors.joining()));
        }
    }

    @Test
    void aBrowserThatTakesNothingKeepsNoOtherPageWaiting() throws Exception {
        CountDownLatch stuck = new CountDownLatch(1);
        Page slow = new Page(stuck);
        Page quick = new Page(new CountDownLatch(0));
        try (OpenPages pages = new OpenPages()) {
            assertThat(pages.add(slow)).isTrue();
            assertThat(pages.add(quick)).isTrue();
            for (int i = 0; i < 5; i++) {
                // It is told only what comes when it has taken what came before.
                do {
                    pages.tell("look " + i);
                } while (quick.got.poll(10, TimeUnit.MILLISECONDS) == null);
            }
            stuck.countDown();
            assertThat(slow.got.poll(20, TimeUnit.SECONDS)).contains("look 0");
            assertThat(slow.got).as("it has missed the others").isEmpty();
        }
    }

    @Test
    void thereIsALimit() {
        try (OpenPages pages = new OpenPages()) {
            int open = 0;
            while (pages.add(new SseEmitter())) {
                open++;
            }
            assertThat(open).isEqualTo(32);
        }
    }

    @Test
    void aLookThatFailsIsNotTheLast() throws Exception {
        CountDownLatch looks = new CountDownLatch(3);
        EverySecond every = new EverySecond("quorate-looks", () -> {
            looks.countDown();
            throw new StackOverflowError("on purpose");
        });
        try (every) {
            assertThat(looks.await(50, TimeUnit.SECONDS)).isTrue();
        }
    }
}
