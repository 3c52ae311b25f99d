// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.Keys;
import io.quorate.core.LogPosition;
import io.quorate.core.Proposal;
import io.quorate.core.ProposalCodec;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class OrderedStreamTest {
    private static final UUID ORIGIN = new UUID(1, 2);

    /** A disk that takes its time. */
    private static final class SlowLog implements WriteSetLog {
        final CountDownLatch appending = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        private volatile long last;

        @Override
        public long first() {
            return 1;
        }

        @Override
        public long last() {
            return last;
        }

        @Override
        public void append(List<Certified> batch) {
            appending.countDown();
            try {
                assertThat(goOn.await(20, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            last = batch.get(batch.size() - 1).seqno();
        }

        @Override
        public void force() {}

        @Override
        public Cursor read(long seqno) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {}
    }

    /** Who hears that the order has a transaction looks for it in the cache: what a copy or a crash left is undone by that. */
    @Test
    void nobodyHearsOfATransactionBeforeTheCacheHasIt() throws Exception {
        SlowLog log = new SlowLog();
        OrderedStream stream = new OrderedStream(
                new Certifier(1000),
                LogPosition.START,
                log,
                (position, certifier) -> position,
                event -> {},
                quorum -> {});
        stream.self(ORIGIN);
        WriteSet w = new WriteSet(new Gtid(ORIGIN, 1), 0, 0, WriteSet.Kind.ROWS, Keys.NONE, new byte[0]);
        Proposal proposal = new Proposal(ORIGIN, 0, 1, 0, new long[0], List.of(w));
        CompletableFuture<Void> delivery = CompletableFuture.runAsync(
                () -> stream.deliver(new LogPosition(1, 1), ByteBuffer.wrap(ProposalCodec.encode(proposal))));
        assertThat(log.appending.await(10, TimeUnit.SECONDS)).isTrue();
        CompletableFuture<long[]> heard = CompletableFuture.supplyAsync(() ->
                new long[] {stream.positionOf(ORIGIN).last(), stream.own().last(), stream.lastOrdered(), log.last()});
        // Time to answer, if it doesn't wait.
        Thread.sleep(200);
        log.goOn.countDown();
        delivery.get(10, TimeUnit.SECONDS);
        assertThat(heard.get(10, TimeUnit.SECONDS)).containsExactly(1, 1, 1, 1);
    }
}
