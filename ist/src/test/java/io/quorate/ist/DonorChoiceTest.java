// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.ist.IncrementalTransfer.Offer;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DonorChoiceTest {
    /** When it is tried again after a failure, at the latest. */
    private static final long LATER = DonorChoice.LATELY_MILLIS - 1;

    /** Near, with the newest checkpoint. */
    private static final Offer BEST = new Offer("n1", 0, 1, 100, 90, 900);

    private static final Offer OTHER = new Offer("n2", 1, 1, 100, 80, 800);

    private final DonorChoice choice = new DonorChoice();

    private String donorOf(long now, Offer... offers) {
        return choice.donorOf(List.of(offers), 5, 6, now).map(Offer::donor).orElse(null);
    }

    private String checkpointFrom(long now, Offer... offers) {
        return choice.checkpointFrom(List.of(offers), 700, now).donor();
    }

    @Test
    void choosesTheNearestAndTheNewestCheckpoint() {
        assertThat(donorOf(0, OTHER, BEST)).isEqualTo("n1");
        assertThat(checkpointFrom(0, OTHER, BEST)).isEqualTo("n1");
    }

    @Test
    void asksAnotherFirstAfterAFailureHoweverLateItIsTriedAgain() {
        choice.failed("n1", 0);
        for (long now : new long[] {0, DonorChoice.REST_MILLIS, LATER}) {
            assertThat(donorOf(now, BEST, OTHER)).isEqualTo("n2");
            assertThat(checkpointFrom(now, BEST, OTHER)).isEqualTo("n2");
        }
        assertThat(donorOf(DonorChoice.LATELY_MILLIS, BEST, OTHER)).isEqualTo("n1");
        assertThat(checkpointFrom(DonorChoice.LATELY_MILLIS, BEST, OTHER)).isEqualTo("n1");
    }

    @Test
    void asksTheOnlyOneAgainOnceItHasRested() {
        choice.failed("n1", 0);
        long resting = DonorChoice.REST_MILLIS - 1;
        assertThat(choice.donorOf(List.of(BEST), 5, 6, resting)).isEqualTo(Optional.empty());
        assertThatThrownBy(() -> checkpointFrom(resting, BEST))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.ORDER_INTERRUPTED));
        assertThat(donorOf(DonorChoice.REST_MILLIS, BEST)).isEqualTo("n1");
        assertThat(checkpointFrom(DonorChoice.REST_MILLIS, BEST)).isEqualTo("n1");
    }
}
