// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.LogPosition;
import io.quorate.core.TotalOrder.Quorum;
import io.quorate.transport.NewLife.Survivor;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NewLifeTest {
    private static final Quorum NONE = new Quorum(false, null, 3);
    private static final LogPosition END = new LogPosition(3, 40);
    private static final Survivor SELF = new Survivor(END, 3, false);

    @Test
    void whoIsLeftAloneMayGoOn() {
        assertThat(NewLife.refusal(NONE, SELF, Map.of())).isNull();
    }

    @Test
    void whoTakesNoPartMayNot() {
        assertThat(NewLife.refusal(NONE, new Survivor(null, 3, false), Map.of()))
                .contains("takes no part in the order");
    }

    @Test
    void whereThereIsAMajorityNothingIsForced() {
        assertThat(NewLife.refusal(new Quorum(true, "n2", 3), SELF, Map.of())).contains("majority, led by n2");
    }

    @Test
    void whereOnlyThePortOfTheLeaderIsClosedNothingIsForced() {
        assertThat(NewLife.refusal(new Quorum(false, "n2", 3, 0, "its port is closed"), SELF, Map.of()))
                .contains("n2 leads and is heard")
                .contains("its port is closed");
    }

    /** Whoever has just been forced has no leader yet. */
    @Test
    void whoIsTheWholeClusterBeginsNoOtherLife() {
        assertThat(NewLife.refusal(NONE, new Survivor(END, 1, false), Map.of())).contains("the whole cluster already");
    }

    @Test
    void whoseServerIsHalfCopiedHasNothingToGoOnWith() {
        assertThat(NewLife.refusal(NONE, new Survivor(END, 3, true), Map.of())).contains("getting a full copy");
    }

    @ParameterizedTest
    @CsvSource({
        // the others' logs end at (term, index); who is to be forced in place of this one
        "3, 40, 3, 40, ",
        "3, 39, 2, 90, ",
        "3, 41, 2, 90, n2",
        "3, 41, 3, 42, n3",
        "4, 10, 3, 99, n2",
        "4, 10, 4, 11, n3",
    })
    void theFurthestOfThoseThatAreThereGoesOn(long term2, long index2, long term3, long index3, String other) {
        String refusal = NewLife.refusal(
                NONE, SELF, Map.of("n2", new LogPosition(term2, index2), "n3", new LogPosition(term3, index3)));
        if (other == null) {
            assertThat(refusal).isNull();
        } else {
            assertThat(refusal).startsWith(other + " is there too and holds more of the order");
        }
    }

    private static Lives lives(String... ids) {
        return new Lives(List.of(ids));
    }

    @Test
    void aNodeLeftBehindTakesOverTheLatestLifeThatGoesOnFromItsOwn() {
        Lives second = lives("2-aaaaaaaa");
        Lives third = lives("2-aaaaaaaa", "3-bbbbbbbb");
        assertThat(NewLife.successor(Lives.FIRST, List.of(Lives.FIRST, third, second)))
                .isEqualTo(third);
        assertThat(NewLife.successor(second, List.of(Lives.FIRST, second, third)))
                .isEqualTo(third);
        assertThat(NewLife.successor(third, List.of(Lives.FIRST, second, third)))
                .isNull();
        assertThat(NewLife.successor(Lives.FIRST, List.of())).isNull();
    }

    @Test
    void aLifeThatWasBegunApartIsNoSuccessor() {
        assertThat(NewLife.successor(
                        lives("2-aaaaaaaa"), List.of(lives("2-cccccccc"), lives("2-cccccccc", "3-bbbbbbbb"))))
                .isNull();
    }
}
