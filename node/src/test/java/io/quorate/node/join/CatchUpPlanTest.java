// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.node.join.CatchUpPlan.Next;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CatchUpPlanTest {
    private final CatchUpPlan plan = new CatchUpPlan(Duration.ofMinutes(10));

    private Next catchesUp(long behind, long seconds) {
        return plan.next(false, true, behind, 1000 * seconds);
    }

    @ParameterizedTest
    @CsvSource({
        // behind at first and after so many seconds; how long it would take
        "100000, 99000,   20, NOTHING,  0",
        "100000, 99000,   21, ESTIMATE, 2079",
        "100000, 50000,   30, NOTHING,  30",
        "100000, 95238,   30, NOTHING,  599",
        "100000, 95200,   30, NOTHING,  595",
        "100000, 95000,   32, ESTIMATE, 608",
        "100000, 100000,  30, NOTHING,  0",
        "100000, 100000, 600, NOTHING,  0",
        "100000, 100000, 601, ESTIMATE, 9223372036854775807",
        "100000, 120000, 601, ESTIMATE, 9223372036854775807",
        "100000, 0,      601, NOTHING,  0",
    })
    void aCopyIsThoughtOfWhereCatchingUpTakesLongAtTheRateItHasGone(
            long first, long then, long after, Next expected, long estimate) {
        assertThat(catchesUp(first, 0)).isEqualTo(Next.NOTHING);
        assertThat(catchesUp(then, after)).isEqualTo(expected);
        assertThat(plan.secondsToCatchUp()).isEqualTo(estimate);
    }

    @ParameterizedTest
    @CsvSource({"693, true", "694, false", "100000, false", "0, true"})
    void itHasToBeThreeTimesAsFast(long copySeconds, boolean expected) {
        catchesUp(100_000, 0);
        catchesUp(99_000, 21);
        assertThat(plan.isFaster(copySeconds)).isEqualTo(expected);
    }

    @Test
    void aNodeThatGainsNothingChangesOverToWhateverCanBeHad() {
        catchesUp(100, 0);
        catchesUp(100, 700);
        assertThat(plan.isFaster(1_000_000)).isTrue();
    }

    @Test
    void itIsEstimatedOnceAMinute() {
        catchesUp(100_000, 0);
        assertThat(catchesUp(99_000, 30)).isEqualTo(Next.ESTIMATE);
        assertThat(catchesUp(98_000, 31)).isEqualTo(Next.NOTHING);
        assertThat(catchesUp(97_000, 90)).isEqualTo(Next.NOTHING);
        assertThat(catchesUp(96_000, 91)).isEqualTo(Next.ESTIMATE);
    }

    @Test
    void whoCeasesToCatchUpBeginsToMeasureAnew() {
        catchesUp(100_000, 0);
        plan.next(false, false, 99_999, 25_000);
        assertThat(catchesUp(99_000, 30)).isEqualTo(Next.NOTHING);
        assertThat(catchesUp(98_000, 50)).isEqualTo(Next.NOTHING);
        assertThat(catchesUp(97_900, 51)).isEqualTo(Next.ESTIMATE);
    }

    @Test
    void itChangesOverOnce() {
        catchesUp(100_000, 0);
        catchesUp(99_000, 30);
        plan.tries();
        plan.changed(30_000);
        assertThat(plan.next(true, true, 99_000, 31_000)).isEqualTo(Next.NOTHING);
        assertThat(catchesUp(99_000, 40)).isEqualTo(Next.NOTHING);
        assertThat(catchesUp(98_990, 400)).isEqualTo(Next.NOTHING);
    }

    @Test
    void aCopyOfItsOwnChoiceThatDoesNotComeIsGivenUp() {
        catchesUp(100_000, 0);
        catchesUp(99_000, 30);
        plan.changed(30_000);
        assertThat(plan.isChanged()).isTrue();
        assertThat(plan.next(true, false, 99_000, 150_000)).isEqualTo(Next.NOTHING);
        assertThat(plan.next(true, false, 99_000, 150_001)).isEqualTo(Next.GIVE_UP);
        plan.givenUp();
        assertThat(plan.next(true, false, 99_000, 151_000)).isEqualTo(Next.NOTHING);
    }

    @Test
    void aCopyThatIsNecessaryIsNot() {
        assertThat(plan.next(true, false, 99_000, 0)).isEqualTo(Next.NOTHING);
        assertThat(plan.next(true, false, 99_000, 1_000_000)).isEqualTo(Next.NOTHING);
        assertThat(plan.isChanged()).isFalse();
    }

    @Test
    void aCopyThatIsCompleteCannotBeGivenUp() {
        plan.changed(0);
        plan.next(true, false, 99_000, 1000);
        plan.next(false, true, 10, 2000);
        assertThat(plan.isChanged()).isFalse();
    }
}
