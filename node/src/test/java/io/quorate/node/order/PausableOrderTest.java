// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.TotalOrder.Quorum;
import io.quorate.node.order.PausableOrder.Hold;
import io.quorate.transport.RatisTotalOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests what keeps a node out of the order. There is no order: its starts are only counted. */
class PausableOrderTest {
    private final List<Quorum> heard = new ArrayList<>();
    private final List<QuorateException> behind = new ArrayList<>();
    private int starts;
    private Callable<RatisTotalOrder> starting = () -> null;
    private QuorateException refusal;
    private final PausableOrder order = new PausableOrder(
            () -> {
                starts++;
                if (refusal != null) {
                    throw refusal;
                }
                try {
                    return starting.call();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            },
            heard::add,
            behind::add);

    @Test
    void staysOutUntilItIsStarted() {
        assertThat(order.holds(Hold.START)).isTrue();
        assertThat(order.quorum()).isEqualTo(Quorum.NONE);
        assertThatThrownBy(() -> order.submit(new byte[0]).join()).hasMessageContaining("QRT-3007");
        order.resume(Hold.START);
        assertThat(starts).isEqualTo(1);
        assertThat(order.holds(Hold.START)).isFalse();
    }

    @Test
    void takesPartOnlyWhenNoReasonNotToIsLeft() {
        for (Hold why : Hold.values()) {
            order.pause(why);
        }
        for (Hold why : List.of(Hold.DISK, Hold.LEFT, Hold.START)) {
            order.resume(why);
            assertThat(starts).as("after %s", why).isZero();
        }
        order.resume(Hold.TRANSFER);
        assertThat(starts).isEqualTo(1);
    }

    @Test
    void aReasonHoldsOnceHoweverOftenItIsGiven() {
        order.pause(Hold.DISK);
        order.pause(Hold.DISK);
        order.resume(Hold.START);
        order.resume(Hold.DISK);
        assertThat(starts).isEqualTo(1);
    }

    @Test
    void theReasonHoldsOnWhereTheOrderCannotBeStarted() {
        refusal = new QuorateException(ErrorCode.DISK, "the volume is gone");
        order.resume(Hold.LEFT);
        assertThat(starts).as("it hasn't begun").isZero();
        assertThatThrownBy(() -> order.resume(Hold.START)).isSameAs(refusal);
        assertThat(order.holds(Hold.START)).isTrue();
        refusal = null;
        order.resume(Hold.START);
        assertThat(starts).isEqualTo(2);
    }

    @Test
    void aReasonThatDidNotHoldIsNotMadeByAFailure() {
        order.resume(Hold.START);
        refusal = new QuorateException(ErrorCode.DISK, "the volume is gone");
        assertThatThrownBy(() -> order.resume(Hold.DISK)).isSameAs(refusal);
        assertThat(order.holds(Hold.DISK)).isFalse();
    }

    @Test
    void oneWhoseLogDoesNotReachBackIsToldOfAndNotThrown() {
        refusal = new QuorateException(ErrorCode.ORDER_TOO_FAR_BEHIND, "it begins later");
        order.resume(Hold.START);
        assertThat(behind).containsExactly(refusal);
        assertThat(order.holds(Hold.START)).isFalse();
    }

    @Test
    void oneThatIsClosedIsNotStartedAnyMore() {
        order.close();
        order.resume(Hold.START);
        assertThat(starts).isZero();
    }

    @Test
    void nobodyHearsOfAQuorumLostThatThereWasNot() {
        order.pause(Hold.LEFT);
        assertThat(heard).isEmpty();
    }

    /** Whoever gives a copy asks for that, and a start that waits for a former one's end takes a minute. */
    @Test
    @Timeout(60)
    void saysWhatKeepsTheNodeOutWhileAStartIsUnderWay() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch ends = new CountDownLatch(1);
        starting = () -> {
            begun.countDown();
            ends.await();
            return null;
        };
        Thread start = new Thread(() -> order.resume(Hold.START));
        start.start();
        begun.await();
        assertThat(CompletableFuture.supplyAsync(() -> order.holds(Hold.LEFT)).get(20, TimeUnit.SECONDS))
                .isFalse();
        Thread pause = new Thread(() -> order.pause(Hold.DISK));
        pause.start();
        while (!order.holds(Hold.DISK)) {
            Thread.sleep(1);
        }
        ends.countDown();
        start.join();
        pause.join();
        assertThat(order.running()).isNull();
    }
}
