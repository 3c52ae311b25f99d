// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.thread;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent;
import io.quorate.core.QuorateException;
import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(30)
class OwnedThreadTest {
    private final BlockingQueue<Throwable> faults = new LinkedBlockingQueue<>();

    private void ended(String thread, Throwable cause) {
        assertThat(thread).isEqualTo("quorate-test");
        faults.add(cause);
    }

    private Throwable fault() throws InterruptedException {
        Throwable cause = faults.poll(20, TimeUnit.SECONDS);
        assertThat(cause).as("what the fault handler was told").isNotNull();
        return cause;
    }

    static Stream<Throwable> whateverIsThrown() {
        return Stream.of(
                new IllegalStateException("in a test"),
                new QuorateException(ErrorCode.DISK, "in a test"),
                new IOException("in a test"),
                new StackOverflowError("in a test"),
                new InterruptedException("in a test"),
                new Throwable("in a test"));
    }

    @ParameterizedTest
    @MethodSource("whateverIsThrown")
    void tellsWhateverEndsIt(Throwable thrown) throws Exception {
        OwnedThread.task("quorate-test", () -> sneaky(thrown), this::ended).start();
        assertThat(fault()).isSameAs(thrown);
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneaky(Throwable any) throws T {
        throw (T) any;
    }

    @Test
    void tellsThatALastingOneReturned() throws Exception {
        OwnedThread.lasting("quorate-test", () -> {}, this::ended).start();
        assertThat(fault()).hasMessage("it returned");
    }

    @Test
    void aTaskMayReturn() throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        try (OwnedThread task = OwnedThread.task("quorate-test", done::countDown, this::ended)) {
            assertThat(task.isStarted()).isFalse();
            task.start();
            assertThat(done.await(20, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(faults).isEmpty();
    }

    @Test
    void closingInterruptsWaitsAndIsNoFault() {
        CountDownLatch never = new CountDownLatch(1);
        OwnedThread waiting =
                OwnedThread.lasting("quorate-test", never::await, this::ended).start();
        waiting.close();
        assertThat(waiting.isAlive()).isFalse();
        assertThat(faults).isEmpty();
    }

    @Test
    void anEndThatItsOwnerExpectsIsNoFault() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        OwnedThread waiting =
                OwnedThread.lasting("quorate-test", over::await, this::ended).start();
        waiting.expectEnd();
        over.countDown();
        waiting.close();
        assertThat(faults).isEmpty();
    }

    @Test
    void canBeClosedByItself() throws Exception {
        OwnedThread[] itself = new OwnedThread[1];
        CountDownLatch told = new CountDownLatch(1);
        itself[0] = OwnedThread.lasting(
                "quorate-test",
                () -> {
                    itself[0].close();
                    told.countDown();
                },
                this::ended);
        itself[0].start();
        assertThat(told.await(20, TimeUnit.SECONDS)).isTrue();
        itself[0].close();
        assertThat(faults).isEmpty();
    }

    @Test
    void whatEndedAThreadIsAFailureOfTheNodeWithACode() {
        BlockingQueue<NodeEvent.Failed> machine = new LinkedBlockingQueue<>();
        BlockingQueue<Integer> halted = new LinkedBlockingQueue<>();
        Faults faults = new Faults(machine::add, halted::add);
        faults.ended("quorate-test", new IOException("no space"));
        faults.ended("quorate-test", new QuorateException(ErrorCode.CACHE_PASSED, "gone"));
        faults.ended("quorate-test", new AssertionError("never"));
        assertThat(machine)
                .extracting(failed -> failed.cause().code())
                .containsExactly(ErrorCode.DISK, ErrorCode.CACHE_PASSED, ErrorCode.INTERNAL);
        assertThat(halted).isEmpty();
    }

    @Test
    void afterFiveUnforeseenFailuresWithinTenMinutesTheNextEndsAThread() {
        long[] now = {1000};
        Faults faults = new Faults(failed -> {}, status -> {}, () -> now[0]);
        RuntimeException cause = new IllegalStateException("in a test");
        for (int i = 0; i < Faults.FAILURES_MAX; i++) {
            assertThat(faults.mayGoOn("quorate-test", cause)).isTrue();
            now[0] += Faults.WITHIN_MILLIS / 10;
        }
        assertThat(faults.ofLoop().mayGoOn("quorate-other", cause)).isFalse();
        now[0] = 1000 + Faults.WITHIN_MILLIS;
        assertThat(faults.mayGoOn("quorate-test", cause)).isTrue();
        assertThat(faults.mayGoOn("quorate-test", cause)).isFalse();
        now[0] += Faults.WITHIN_MILLIS;
        assertThat(faults.mayGoOn("quorate-test", new QuorateException(ErrorCode.DISK, "full")))
                .isFalse();
        assertThat(faults.mayGoOn("quorate-test", new IOException("full"))).isFalse();
        assertThat(faults.mayGoOn("quorate-test", new OutOfMemoryError("full"))).isFalse();
    }

    @Test
    void aLastingThreadBeginsItsWorkAnewWhereItMay() {
        BlockingQueue<NodeEvent.Failed> machine = new LinkedBlockingQueue<>();
        Faults rule = new Faults(machine::add, status -> {});
        CountDownLatch works = new CountDownLatch(3);
        try (OwnedThread thread = OwnedThread.lasting(
                        "quorate-test",
                        () -> {
                            works.countDown();
                            if (works.getCount() > 0) {
                                throw new IllegalStateException("in a test");
                            }
                            new CountDownLatch(1).await();
                        },
                        rule)
                .start()) {
            assertThat(works.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(thread.isAlive()).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        assertThat(machine).isEmpty();
    }

    @Test
    void withoutMemoryOrWithoutItsLoopTheProcessIsHalted() {
        BlockingQueue<NodeEvent.Failed> machine = new LinkedBlockingQueue<>();
        BlockingQueue<Integer> halted = new LinkedBlockingQueue<>();
        Faults faults = new Faults(machine::add, halted::add);
        faults.ended("quorate-test", new OutOfMemoryError("in a test"));
        faults.loopEnded("quorate-node", new IllegalStateException("in a test"));
        assertThat(halted).containsExactly(Faults.OUT_OF_MEMORY, Faults.LOOP_ENDED);
    }
}
