// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.AckCourse.Ack;
import io.quorate.core.AckCourse.Cause;
import io.quorate.core.AckCourse.Ending;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class AckCourseTest {
    private static final long LIMIT = 100;
    private static final long SESSION = 1000;

    private final AckCourse course = new AckCourse(LIMIT, 0);

    @Test
    void aLargeTransactionAndThoseBehindItAreGivenMoreTime() {
        course.captured(1, SESSION + 1, 50_000_000, 0);
        course.captured(2, SESSION + 2, 0, 100);
        assertThat(course.endings(LIMIT + 9_999)).isEmpty();
        assertThat(course.waitMillis(LIMIT + 9_990, 5_000)).isEqualTo(10);
        assertThat(course.endings(LIMIT + 10_000))
                .extracting(AckCourse.Ending::number)
                .containsExactly(1L, 2L);
        course.captured(3, SESSION + 3, 0, 50_000);
        assertThat(course.endings(50_000 + LIMIT)).hasSize(1);
    }

    @Test
    void whatHasPassedIsAcknowledged() {
        client(1);
        assertThat(course.acknowledged(0)).isNull();
        assertThat(course.size()).isEqualTo(1);
        decided(1);
        assertThat(course.acknowledged(0)).isEqualTo(end(1));
        assertThat(course.endings(LIMIT)).isEmpty();
        assertThat(course.size()).isZero();
    }

    @Test
    void aLoserIsAcknowledgedOnlyWhenItsSessionIsGone() {
        client(1);
        decided(1, 1);
        assertThat(course.acknowledged(0)).isNull();
        assertThat(course.isSettled()).isFalse();
        assertThat(course.endings(0)).containsExactly(new Ending(1, SESSION + 1, Cause.LOST));
        assertThat(course.acknowledged(0)).isNull();
        course.ended(1);
        assertThat(course.acknowledged(0)).isEqualTo(end(1));
        assertThat(course.isSettled()).isTrue();
    }

    @Test
    void aClientThatHasWaitedForTooLongIsEndedAndAcknowledged() {
        client(1);
        assertThat(course.endings(LIMIT - 1)).isEmpty();
        assertThat(course.waitMillis(LIMIT - 1, 1000)).isEqualTo(1);
        assertThat(course.endings(LIMIT)).containsExactly(new Ending(1, SESSION + 1, Cause.UNDECIDED));
        assertThat(course.acknowledged(0)).isNull();
        course.ended(1);
        assertThat(course.acknowledged(0)).isEqualTo(end(1));
    }

    @Test
    void whoHasWaitedLongestIsToldAsLongAsHisSessionIsThere() {
        assertThat(course.waitedMillis(7)).isZero();
        course.captured(1, SESSION + 1, 0, 10);
        course.captured(2, SESSION + 2, 0, 30);
        assertThat(course.waitedMillis(50)).isEqualTo(40);
        assertThat(course.open()).containsExactly(1L, 2L);
        course.endings(10 + LIMIT);
        course.ended(1);
        assertThat(course.waitedMillis(10 + LIMIT)).isEqualTo(LIMIT - 20);
        assertThat(course.open()).containsExactly(2L);
        decided(2);
        assertThat(course.waitedMillis(10 + LIMIT)).isZero();
    }

    @Test
    void whatLosesAfterItsSessionWasEndedIsNotEndedAgain() {
        client(1);
        course.endings(LIMIT);
        course.ended(1);
        decided(1, 1);
        assertThat(course.endings(2 * LIMIT)).isEmpty();
        assertThat(course.isSettled()).isTrue();
    }

    @Test
    void whatLosesWhileItsSessionIsBeingEndedWaitsForThat() {
        client(1);
        course.endings(LIMIT);
        decided(1, 1);
        assertThat(course.endings(LIMIT)).isEmpty();
        assertThat(course.acknowledged(0)).isNull();
        course.ended(1);
        assertThat(course.acknowledged(0)).isEqualTo(end(1));
    }

    /** Its session would be in another transaction when it is ended. */
    @Test
    void whatPassesWhileItsSessionIsBeingEndedWaitsForThat() {
        client(1);
        course.endings(LIMIT);
        decided(1);
        assertThat(course.acknowledged(0)).isNull();
        assertThat(course.isSettled()).isFalse();
        course.ended(1);
        assertThat(course.acknowledged(0)).isEqualTo(end(1));
        assertThat(course.isSettled()).isTrue();
    }

    @Test
    void whatPassesWhileItsSessionCannotBeEndedIsAcknowledgedThen() {
        client(1);
        course.endings(LIMIT);
        decided(1);
        course.notEnded(1);
        assertThat(course.endings(LIMIT)).isEmpty();
        assertThat(course.acknowledged(0)).isEqualTo(end(1));
    }

    @Test
    void aSessionThatCouldNotBeEndedIsNamedAgain() {
        client(1);
        decided(1, 1);
        assertThat(course.endings(0)).hasSize(1);
        assertThat(course.endings(0)).isEmpty();
        course.notEnded(1);
        assertThat(course.acknowledged(0)).isNull();
        assertThat(course.endings(0)).containsExactly(new Ending(1, SESSION + 1, Cause.LOST));
    }

    @Test
    void aSessionThatEndsTwiceOrWasNeverThereChangesNothing() {
        client(1);
        client(2);
        decided(1, 1);
        course.endings(0);
        course.ended(1);
        course.ended(1);
        course.ended(7);
        course.notEnded(1);
        course.notEnded(7);
        assertThat(course.endings(0)).isEmpty();
        assertThat(course.acknowledged(0)).isEqualTo(end(1));
    }

    @Test
    void nothingIsAcknowledgedPastOneThatIsNotSettled() {
        client(1);
        client(2);
        course.read(place(25), 0);
        client(3);
        course.endings(0);
        decided(1);
        assertThat(course.acknowledged(0)).isEqualTo(end(1));
        decided(2, 2);
        assertThat(course.acknowledged(0)).isEqualTo(end(1));
        decided(3);
        assertThat(course.acknowledged(0)).as("2 has lost, and hears").isEqualTo(end(1));
        course.endings(0);
        course.ended(2);
        assertThat(course.acknowledged(0)).isEqualTo(end(3));
    }

    @Test
    void whatTheApplierCommitsIsAcknowledgedWithWhatComesBeforeIt() {
        course.read(place(5), 0);
        assertThat(course.acknowledged(0)).isEqualTo(new Ack(place(5), 0));
        client(1);
        course.read(place(15), 0);
        assertThat(course.acknowledged(0)).isEqualTo(new Ack(place(5), 0));
        decided(1);
        assertThat(course.acknowledged(0)).isEqualTo(new Ack(place(15), 1));
        course.read(place(17), 0);
        assertThat(course.acknowledged(0)).isEqualTo(new Ack(place(17), 1));
    }

    @Test
    void whatIsReadIsNotAcknowledgedBeforeItIsCaptured() {
        course.captured(1, SESSION, 0, 0);
        decided(1);
        assertThat(course.acknowledged(0)).as("its end isn't known").isNull();
        course.read(end(1).end(), 0);
        assertThat(course.acknowledged(0)).isEqualTo(end(1));
    }

    @Test
    void whatIsCapturedAgainWaitsAsBefore() {
        client(1);
        course.captured(1, SESSION + 1, 0, LIMIT / 2);
        assertThat(course.size()).isEqualTo(1);
        assertThat(course.endings(LIMIT)).as("since it was captured first").hasSize(1);
        course.captured(1, SESSION + 1, 0, LIMIT);
        assertThat(course.endings(3 * LIMIT)).isEmpty();
        course.ended(1);
        course.captured(1, SESSION + 1, 0, LIMIT);
        assertThat(course.isSettled()).isTrue();
    }

    /** What waits though it has passed waits for others of its group, and may have to be ended for these. */
    @Test
    void whatHasAVerdictIsNotInHandThoughItWaits() {
        assertThat(course.isInHand(1)).as("not captured").isFalse();
        client(1);
        assertThat(course.isInHand(1)).isTrue();
        decided(1);
        assertThat(course.isInHand(1)).isFalse();
        course.answered(1);
        assertThat(course.isInHand(1)).isTrue();
    }

    @Test
    void whatWasDecidedBeforeItIsCapturedIsSettled() {
        decided(2);
        client(1);
        client(2);
        assertThat(course.acknowledged(0)).isEqualTo(end(2));
        assertThat(course.endings(LIMIT)).isEmpty();
    }

    @Test
    void nobodyIsEndedForWhatTheServerHadCommittedBefore() {
        course.answered(2);
        client(1);
        client(2);
        client(3);
        decided(2, 1);
        assertThat(course.endings(LIMIT)).containsExactly(new Ending(3, SESSION + 3, Cause.UNDECIDED));
        assertThat(course.acknowledged(0)).isEqualTo(end(2));
        course.answered(3);
        course.ended(3);
        decided(3, 3);
        assertThat(course.endings(2 * LIMIT)).isEmpty();
        assertThat(course.acknowledged(0)).isEqualTo(end(3));
    }

    @Test
    void theLimitIsWaitedForOnceForEach() {
        course.captured(1, SESSION, 0, 0);
        course.captured(2, SESSION, 0, 30);
        assertThat(course.waitMillis(10, 1000)).isEqualTo(LIMIT - 10);
        course.endings(LIMIT);
        assertThat(course.waitMillis(LIMIT, 1000)).isEqualTo(30);
        assertThat(course.waitMillis(LIMIT, 5)).isEqualTo(5);
    }

    /** Whose lag would otherwise have all clients slowed, for as long as they are. */
    @Test
    void theAppliersCommitsAreNotHeldForLong() {
        AckCourse slowed = new AckCourse(10_000, 400);
        slowed.captured(1, SESSION + 1, 0, 0);
        slowed.read(place(10), 0);
        slowed.read(place(15), 5);
        slowed.captured(2, SESSION + 2, 0, 6);
        slowed.read(place(20), 6);
        slowed.decided(List.of(), 2);
        slowed.slow(1, 6, 1000);
        assertThat(slowed.acknowledged(104)).isNull();
        assertThat(slowed.waitMillis(55, 5_000)).isEqualTo(50);
        assertThat(slowed.acknowledged(105))
                .as("the whole of what the server commits together")
                .isEqualTo(new Ack(place(20), 2));
        slowed.captured(3, SESSION + 3, 0, 106);
        slowed.read(place(30), 106);
        slowed.decided(List.of(), 3);
        assertThat(slowed.acknowledged(300)).as("none of these waits behind it").isEqualTo(new Ack(place(20), 2));
        assertThat(slowed.acknowledged(506)).isEqualTo(new Ack(place(30), 3));
    }

    /** Captured, and read to its end. */
    private void client(long number) {
        course.captured(number, SESSION + number, 0, 0);
        course.read(end(number).end(), 0);
    }

    private void decided(long last, long... lost) {
        course.decided(LongStream.of(lost).boxed().toList(), last);
    }

    private static Ack end(long number) {
        return new Ack(place(10 * number), number);
    }

    private static BinlogPosition place(long offset) {
        return new BinlogPosition("binlog.000001", offset);
    }
}
