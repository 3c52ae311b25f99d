// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.QuorateException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PipelineTest {
    private final List<Long> applied = Collections.synchronizedList(new ArrayList<>());
    private final Pipeline pipeline = pipeline(Duration.ofMillis(20));

    private static Deque<Feed.Due> due(Feed.Due... due) {
        return new ArrayDeque<>(List.of(due));
    }

    private Pipeline pipeline(Duration positionInterval) {
        ApplierListener listener = new ApplierListener() {
            @Override
            public void applied(long seqno, int transactions, long originCommittedMicros) {
                applied.add(seqno);
            }

            @Override
            public void failed(QuorateException cause) {}

            @Override
            public void databaseLost(SQLException cause) {}
        };
        return new Pipeline(new Schedule(0, 8, 1000, 1 << 20), listener, Duration.ZERO, positionInterval);
    }

    @Test
    void workersThatFinishInAnyOrderCommitInOrder() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        CountDownLatch done = new CountDownLatch(1);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            workers.add(new Thread(() -> work(done, failure), "worker-" + i));
        }
        workers.forEach(Thread::start);
        for (long s = 1; s <= 3000; s++) {
            boolean skipped = random.nextInt(3) == 0;
            long back = 1L + random.nextInt(40);
            pipeline.offer(due(new Feed.Due(
                    random.nextInt(100) == 0 ? Records.ddl(s) : Records.rows(s, Math.max(0, s - back), 10),
                    skipped ? Duty.NONE : Duty.EXECUTE)));
        }
        done.await();
        pipeline.stop();
        for (Thread worker : workers) {
            worker.join();
        }
        assertThat(failure.get()).as("seed %d", seed).isNull();
        assertThat(applied).isSorted().doesNotHaveDuplicates().last().isEqualTo(3000L);
    }

    private void work(CountDownLatch done, AtomicReference<Throwable> failure) {
        Random random = new Random();
        try {
            for (Group group; (group = pipeline.take()) != null; ) {
                while (!execute(group, random)) {
                    pipeline.awaitHead(group);
                }
                pipeline.committed(group, random.nextBoolean());
                if (pipeline.applied() == 3000) {
                    done.countDown();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            failure.set(e);
            done.countDown();
        }
    }

    /** Takes a moment and now and then asks the others for their locks. */
    private boolean execute(Group group, Random random) throws InterruptedException {
        if (random.nextInt(4) == 0) {
            pipeline.pause(1);
        }
        if (random.nextInt(10) == 0 && pipeline.isHead(group)) {
            pipeline.yieldAllButHead();
        }
        return pipeline.awaitTurn(group);
    }

    @Test
    void aGroupAskedToYieldIsToldSoAndTheHeadIsNot() throws Exception {
        pipeline.offer(due(new Feed.Due(Records.rows(1, 0, 10), Duty.EXECUTE)));
        Group head = pipeline.take();
        pipeline.offer(due(new Feed.Due(Records.rows(2, 0, 10), Duty.EXECUTE)));
        Group later = pipeline.take();
        pipeline.yieldAllButHead();
        assertThat(pipeline.awaitTurn(later)).isFalse();
        assertThat(pipeline.awaitTurn(head)).isTrue();
        pipeline.committed(head, true);
        assertThat(pipeline.awaitTurn(later)).isTrue();
        pipeline.committed(later, true);
        assertThat(applied).containsExactly(1L, 2L);
    }

    @Test
    void thePositionIsWrittenInTheEndWhenThereIsNothingOfOthersToApply() throws Exception {
        pipeline.offer(
                due(new Feed.Due(Records.rows(1, 0, 10), Duty.NONE), new Feed.Due(Records.rows(2, 0, 10), Duty.NONE)));
        assertThat(applied).containsExactly(2L);
        Group group = pipeline.take();
        assertThat(group.hasWork()).isFalse();
        assertThat(group.last()).isEqualTo(2);
        pipeline.committed(group, true);
        assertThat(pipeline.state().saved()).isEqualTo(2);
    }

    /** Until the binlog says so, what clients write under it is guarded. */
    @Test
    void thePositionIsWrittenAtOnceWhenAnOwnDefinitionHasItsPlace() throws Exception {
        Pipeline seldom = pipeline(Duration.ofDays(1));
        seldom.offer(due(new Feed.Due(Records.rows(1, 0, 10), Duty.EXECUTE)));
        Group running = seldom.take();
        seldom.offer(due(new Feed.Due(Records.ddl(2), Duty.NONE)));
        seldom.committed(running, true);
        Group group = seldom.take();
        assertThat(group.hasWork()).isFalse();
        assertThat(group.last()).isEqualTo(2);
        seldom.committed(group, true);
        assertThat(seldom.state().saved()).isEqualTo(2);
    }
}
