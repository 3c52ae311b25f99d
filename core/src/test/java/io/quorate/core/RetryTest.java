// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.Retry.Next;
import io.quorate.core.Retry.Policy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class RetryTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Policy FOR_EVER = Policy.unbounded("a test ends it", SECOND);

    /**
     * What is tried, the reasons of its failures a second apart, and what comes of each: pause or "over", "!" where
     * told.
     */
    static Stream<Arguments> courses() {
        return Stream.of(
                Arguments.of("tells a reason once", FOR_EVER, "a a a", "1000! 1000 1000"),
                Arguments.of("tells when the reason changes, and back", FOR_EVER, "a b b a", "1000! 1000! 1000 1000!"),
                Arguments.of(
                        "tells an old reason every so often",
                        FOR_EVER.telling(0, 3),
                        "a a a a a a a",
                        "1000! 1000 1000 1000! 1000 1000 1000!"),
                Arguments.of(
                        "a change begins the count anew",
                        FOR_EVER.telling(0, 3),
                        "a a b b b b",
                        "1000! 1000 1000! 1000 1000 1000!"),
                Arguments.of("is quiet at first", FOR_EVER.telling(2, 2), "a b c c c", "1000 1000 1000! 1000 1000!"),
                Arguments.of("ends after so many attempts", Policy.attempts(3, SECOND), "a a a", "1000! 1000 over"),
                Arguments.of("one attempt is none again", Policy.attempts(1, SECOND), "a", "over!"),
                Arguments.of(
                        "ends with the first failure after its time",
                        Policy.within(SECOND.multipliedBy(3), SECOND),
                        "a a a a",
                        "1000! 1000 1000 over"),
                Arguments.of("no time is no second attempt", Policy.within(Duration.ZERO, SECOND), "a", "over!"),
                Arguments.of(
                        "pauses grow by the first one up to a maximum",
                        Policy.attempts(9, Duration.ofMillis(10)).growingTo(Duration.ofMillis(35)),
                        "a a a a a",
                        "10! 20 30 35 35"),
                Arguments.of("without a pause there is none", Policy.attempts(3, Duration.ZERO), "a a", "0! 0"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("courses")
    void goesAsItsPolicySays(String name, Policy policy, String reasons, String expected) {
        Retry retry = new Retry(policy, 0);
        long now = 0;
        List<String> there = new ArrayList<>();
        for (String reason : reasons.split(" ")) {
            now += SECOND.toNanos();
            there.add(text(retry.failed(reason, now)));
        }
        assertThat(String.join(" ", there)).isEqualTo(expected);
    }

    private static String text(Next next) {
        return (next.again() ? Long.toString(next.pauseMillis()) : "over") + (next.tell() ? "!" : "");
    }

    @Test
    void afterASuccessItBeginsAnew() {
        Retry retry = new Retry(new Policy(2, SECOND, SECOND, SECOND, 0, 60), 0);
        assertThat(retry.failed("a", 1).attempts()).isEqualTo(1);
        long later = SECOND.toNanos() * 10;
        retry.reset(later);
        assertThat(retry.failed("a", later)).isEqualTo(new Next(true, 1000, true, 1));
        assertThat(retry.failed("a", later)).isEqualTo(new Next(false, 0, false, 2));
    }

    @Test
    void countsTimeByDifferencesForAClockMayBeNegativeAndOverflow() {
        Retry retry = new Retry(Policy.within(SECOND, SECOND), Long.MAX_VALUE - 5);
        assertThat(retry.failed("a", Long.MIN_VALUE + 5).again()).isTrue();
        assertThat(retry.failed("a", Long.MIN_VALUE + SECOND.toNanos()).again()).isFalse();
    }

    @Test
    void pausesOfManyAttemptsDoNotOverflow() {
        Retry retry = new Retry(Policy.unbounded("a test ends it", SECOND).growingTo(SECOND.multipliedBy(5)), 0);
        for (int i = 0; i < 1_000_000; i++) {
            retry.failed("a", i);
        }
        assertThat(retry.failed("a", 0).pauseMillis()).isEqualTo(5000);
    }

    @Test
    void whatHasNoBoundSaysWhy() {
        assertThatThrownBy(() -> Policy.unbounded(" ", SECOND)).hasMessageContaining("needs a reason");
    }

    @ParameterizedTest
    @MethodSource("impossible")
    void refusesAPolicyThatMakesNoSense(
            int attempts, Duration within, Duration pause, Duration max, int quiet, int every) {
        assertThatThrownBy(() -> new Policy(attempts, within, pause, max, quiet, every))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no way to try again");
    }

    static Stream<Arguments> impossible() {
        Duration none = Duration.ZERO;
        return Stream.of(
                Arguments.of(0, null, none, none, 0, 1),
                Arguments.of(1, SECOND.negated(), none, none, 0, 1),
                Arguments.of(1, null, SECOND.negated(), none, 0, 1),
                Arguments.of(1, null, SECOND, none, 0, 1),
                Arguments.of(1, null, none, none, -1, 1),
                Arguments.of(1, null, none, none, 0, 0));
    }
}
