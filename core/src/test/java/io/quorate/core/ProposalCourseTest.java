// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.ProposalCourse.Submission;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ProposalCourseTest {
    private static final UUID ORIGIN = new UUID(1, 2);
    private static final long[] NOTHING = new long[0];
    private static final ProposalWindow.Limits LIMITS = new ProposalWindow.Limits(100, 2, 1000, 0, 0, 500);
    private static final ProposalCourse.Timing TIMING = new ProposalCourse.Timing(2000, 100);

    private final ProposalCourse course = course(true);

    private static ProposalCourse course(boolean primary) {
        return new ProposalCourse(new ProposalWindow(ORIGIN, OriginPosition.NONE, LIMITS), TIMING, primary, 0);
    }

    private void captured(ProposalCourse into, long number, long nowMillis) {
        WriteSet w = new WriteSet(new Gtid(ORIGIN, number), 0, 0, WriteSet.Kind.ROWS, Keys.NONE, new byte[90]);
        into.captured(w, NOTHING, nowMillis);
    }

    private static OriginPosition at(long number) {
        return new OriginPosition(number, 0, NOTHING);
    }

    private static long last(Submission submission) {
        long last = ProposalCodec.decode(ByteBuffer.wrap(submission.entry().toArray()))
                .last();
        assertThat(submission.last()).as("what a submission says of itself").isEqualTo(last);
        return last;
    }

    @Test
    void submitsNothingWithoutAMajority() {
        ProposalCourse alone = course(false);
        captured(alone, 1, 0);
        assertThat(alone.next(0)).isNull();
        assertThat(alone.waitMillis(0)).as("nor does it look all the time").isEqualTo(500);
        alone.quorumChanged(true, 10);
        assertThat(last(alone.next(10))).isEqualTo(1);
    }

    @Test
    void goesBackAfterAFailureAndWaitsAMoment() {
        captured(course, 1, 0);
        captured(course, 2, 0);
        Submission first = course.next(0);
        course.next(0);
        course.failed(first, "no leader", 5);
        assertThat(course.next(5)).isNull();
        assertThat(course.waitMillis(5)).isEqualTo(100);
        assertThat(course.next(105).entry()).isEqualTo(first.entry());
        assertThat(last(course.next(105))).isEqualTo(2);
        assertThat(course.resends()).isEqualTo(1);
    }

    @Test
    void hearsOnlyOnceOfFailuresThatBelongTogether() {
        captured(course, 1, 0);
        captured(course, 2, 0);
        Submission first = course.next(0);
        Submission second = course.next(0);
        course.failed(first, "no leader", 5);
        course.next(105);
        course.failed(second, "no leader", 106);
        assertThat(course.next(106)).as("what was sent again stays under way").isNotNull();
        assertThat(course.resends()).isEqualTo(1);
    }

    @Test
    void aLargeOneIsGivenTheTimeThatItTakes() {
        WriteSet large = new WriteSet(new Gtid(ORIGIN, 1), 0, 0, WriteSet.Kind.ROWS, Keys.NONE, new byte[10_000_000]);
        course.captured(large, NOTHING, 0);
        assertThat(course.next(0)).isNotNull();
        course.next(TIMING.resendMillis() + 1_990);
        assertThat(course.resends()).isZero();
        course.next(TIMING.resendMillis() + 2_010);
        assertThat(course.resends()).isEqualTo(1);
    }

    @Test
    void goesBackWhenTheOrderMissesSomething() {
        captured(course, 1, 0);
        captured(course, 2, 0);
        course.next(0);
        course.next(0);
        course.gap(20);
        assertThat(course.next(119)).isNull();
        assertThat(last(course.next(120))).isEqualTo(1);
    }

    @Test
    void sendsAgainWhatIsUnderWayForTooLong() {
        captured(course, 1, 0);
        Submission first = course.next(100);
        assertThat(course.next(2100)).isNull();
        assertThat(course.next(2101).entry()).isEqualTo(first.entry());
        assertThat(course.resends()).isEqualTo(1);
    }

    @Test
    void anyDeliveryShowsThatTheOrderWorks() {
        captured(course, 1, 0);
        captured(course, 2, 0);
        course.next(0);
        course.next(0);
        course.delivered(at(1), 1500);
        assertThat(course.next(3000)).isNull();
        assertThat(last(course.next(3501))).isEqualTo(2);
    }

    @Test
    void timeWithNothingUnderWayDoesNotCount() {
        captured(course, 1, 0);
        course.next(0);
        course.delivered(at(1), 10);
        captured(course, 2, 9000);
        assertThat(course.next(9000)).isNotNull();
        assertThat(course.next(9001)).isNull();
        assertThat(course.resends()).isZero();
    }

    @Test
    void aNewQuorumIsSentEverythingThatIsOpenAtOnce() {
        captured(course, 1, 0);
        course.next(0);
        course.quorumChanged(true, 30);
        assertThat(last(course.next(30))).isEqualTo(1);
    }

    @Test
    void isFullUntilDeliveriesEmptyIt() {
        for (int i = 1; !course.isFull(); i++) {
            captured(course, i, 0);
        }
        while (course.isFull()) {
            course.delivered(at(last(course.next(0))), 0);
        }
        assertThat(course.isIdle()).isFalse();
        for (Submission next; (next = course.next(0)) != null; ) {
            course.delivered(at(last(next)), 0);
        }
        assertThat(course.isIdle()).isTrue();
        assertThat(course.bytes()).isZero();
    }
}
