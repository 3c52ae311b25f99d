// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.Entry;
import io.quorate.core.Gtid;
import io.quorate.core.Keys;
import io.quorate.core.OriginPosition;
import io.quorate.core.Proposal;
import io.quorate.core.ProposalCodec;
import io.quorate.core.ProposalWindow;
import io.quorate.core.TotalOrder;
import io.quorate.core.WriteSet;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
class ProposerTest {
    private static final UUID ORIGIN = new UUID(1, 2);
    private static final long[] NOTHING = new long[0];
    private static final ProposalWindow.Limits AT_ONCE = new ProposalWindow.Limits(10_000, 4, 1 << 20, 0, 0, 500);

    /** Takes everything, and says when and by whom. */
    private static final class Order implements TotalOrder {
        private final BlockingQueue<Submitted> submitted = new LinkedBlockingQueue<>();

        @Override
        public CompletableFuture<Void> submit(Entry entry) {
            submitted.add(
                    new Submitted(ProposalCodec.decode(ByteBuffer.wrap(entry.toArray())), Thread.currentThread()));
            return new CompletableFuture<>();
        }

        @Override
        public Quorum quorum() {
            return new Quorum(true, "n1", 1);
        }

        @Override
        public void close() {
            // Nothing runs.
        }
    }

    private record Submitted(Proposal proposal, Thread by) {}

    private final Order order = new Order();
    private final AtomicReference<Throwable> fault = new AtomicReference<>();

    private Proposer proposer(boolean byGroups) {
        return new Proposer(
                new ProposalWindow(ORIGIN, OriginPosition.NONE, AT_ONCE),
                order,
                60_000,
                last -> {},
                byGroups,
                (thread, cause) -> fault.set(cause));
    }

    private static void capture(Proposer into, long number) throws InterruptedException {
        WriteSet w = new WriteSet(new Gtid(ORIGIN, number), 0, 0, WriteSet.Kind.ROWS, Keys.NONE, new byte[90]);
        into.captured(w, NOTHING);
    }

    private static OriginPosition at(long number) {
        return new OriginPosition(number, 0, NOTHING);
    }

    private Submitted next() throws InterruptedException {
        Submitted next = order.submitted.poll(60, TimeUnit.SECONDS);
        assertThat(next).as("a proposal").isNotNull();
        return next;
    }

    /** Its thread may come in between now and then, as it looks by itself; not every time. */
    @Test
    void whoReadsTheEndOfAGroupProposesItAsAWhole() throws Exception {
        try (Proposer proposer = proposer(true)) {
            boolean asAWhole = false;
            for (long last = 0; last < 300 && !asAWhole; last += 3) {
                for (int i = 1; i <= 3; i++) {
                    capture(proposer, last + i);
                }
                proposer.read(true);
                Submitted got = next();
                asAWhole = got.proposal().writeSets().size() == 3 && got.by() == Thread.currentThread();
                for (long had = got.proposal().last();
                        had < last + 3;
                        had = next().proposal().last()) {
                    assertThat(had).isGreaterThan(last);
                }
                proposer.delivered(at(last + 3));
            }
            assertThat(asAWhole).isTrue();
        }
    }

    @Test
    void whereNobodySaysThatAGroupEndsItIsProposedAllTheSame() throws Exception {
        try (Proposer proposer = proposer(true)) {
            for (long number = 1; number <= 5; number++) {
                capture(proposer, number);
                proposer.read(false);
                assertThat(next().by()).isNotSameAs(Thread.currentThread());
                proposer.delivered(at(number));
            }
        }
    }

    @Test
    void whereNobodyWaitsTheThreadProposes() throws Exception {
        try (Proposer proposer = proposer(false)) {
            capture(proposer, 1);
            assertThat(next().by()).isNotSameAs(Thread.currentThread());
        }
    }

    /** The order would leave one out that came before its turn, and it would be proposed again much later. */
    @Test
    void proposalsGoInTheirOrderWhoeverSubmitsThem() throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        int count = 3000;
        try (Proposer proposer = proposer(true)) {
            Thread capture = new Thread(() -> {
                try {
                    for (int number = 1; number <= count; number++) {
                        capture(proposer, number);
                        proposer.read(random.nextInt(4) == 0);
                    }
                } catch (InterruptedException e) {
                    fault.set(e);
                }
            });
            capture.start();
            long last = 0;
            while (last < count) {
                Proposal proposal = next().proposal();
                assertThat(proposal.previous())
                        .as("it goes on after the one before")
                        .isEqualTo(last);
                last = proposal.last();
                proposer.delivered(at(last));
            }
            capture.join();
        }
        assertThat(fault).hasValue(null);
    }
}
