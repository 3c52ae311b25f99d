// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.ist.IncrementalTransfer.Offer;
import io.quorate.ist.RejoinCourse.AskServer;
import io.quorate.ist.RejoinCourse.Beginning;
import io.quorate.ist.RejoinCourse.Cause;
import io.quorate.ist.RejoinCourse.Copy;
import io.quorate.ist.RejoinCourse.EmptyCache;
import io.quorate.ist.RejoinCourse.GoOn;
import io.quorate.ist.RejoinCourse.Here;
import io.quorate.ist.RejoinCourse.Receive;
import io.quorate.ist.RejoinCourse.Step;
import io.quorate.ist.RejoinCourse.WantCopy;
import io.quorate.ist.TransferCourse.Goal;
import io.quorate.ist.TransferCourse.Kind;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class RejoinCourseTest {
    private static final Copy MAY = new Copy(true, false);
    private static final Copy IS_TO = new Copy(true, true);
    private static final Here SERVER = new Here(true, 5, 90, 100, 700);
    private static final Here SERVER_EMPTY_CACHE = new Here(true, 91, 90, 100, 700);
    private static final Here ARBITRATOR = new Here(false, 5, 90, 100, 700);

    private static QuorateException failure(ErrorCode code) {
        return new QuorateException(code, "because");
    }

    @ParameterizedTest
    @CsvSource({
        // why, with a server, an empty cache, a copy pending
        "LOG_PASSED, true,  false, false, Receive[goal=Goal[kind=RECORDS_AND_STATE; until=700]]",
        "LOG_PASSED, true,  false, true,  Receive[goal=Goal[kind=STATE; until=700]]",
        "LOG_PASSED, true,  true,  false, AskServer[]",
        "LOG_PASSED, true,  true,  true,  AskServer[]",
        "LOG_PASSED, false, false, false, Receive[goal=Goal[kind=STATE; until=700]]",
        "LOG_PASSED, false, true,  false, EmptyCache[next=101]",
        "CACHE_LOST, true,  false, false, AskServer[]",
        "CACHE_LOST, true,  true,  false, AskServer[]",
        "CACHE_LOST, true,  true,  true,  AskServer[]",
        "CACHE_LOST, false, false, false, EmptyCache[next=101]",
        "CACHE_LOST, false, true,  false, EmptyCache[next=101]",
    })
    void whatIsDoneFirstIsDecidedByWhatIsLeft(
            Cause cause, boolean server, boolean empty, boolean pending, String expected) {
        Here here = new Here(server, empty ? 91 : 5, 90, 100, 700);
        assertThat(new RejoinCourse(cause).next(here, new Copy(pending, pending)))
                .hasToString(expected.replace(';', ','));
    }

    @ParameterizedTest
    @CsvSource({
        "LOG_PASSED, false, Receive[goal=Goal[kind=RECORDS_AND_STATE; until=700]]",
        "LOG_PASSED, true,  Receive[goal=Goal[kind=STATE; until=700]]",
        "CACHE_LOST, false, Receive[goal=Goal[kind=RECORDS; until=100]]",
        "CACHE_LOST, true,  EmptyCache[next=101]",
    })
    void anEmptyCacheBeginsAfterWhatTheServerHolds(Cause cause, boolean pending, String then) {
        RejoinCourse course = new RejoinCourse(cause);
        course.next(SERVER_EMPTY_CACHE, MAY);
        assertThat(course.next(SERVER_EMPTY_CACHE, MAY))
                .as("asked until it answers")
                .isEqualTo(new AskServer());
        course.serverHolds(42);
        assertThat(course.next(SERVER_EMPTY_CACHE, MAY)).isEqualTo(new EmptyCache(43));
        course.done();
        assertThat(course.next(SERVER_EMPTY_CACHE, new Copy(true, pending))).hasToString(then.replace(';', ','));
    }

    @Test
    void whoHasReceivedGoesOn() {
        RejoinCourse course = new RejoinCourse(Cause.LOG_PASSED);
        course.next(SERVER, MAY);
        course.received(250);
        assertThat(course.next(SERVER, MAY)).isEqualTo(new GoOn());
    }

    @Test
    void whoseRecordsNobodyHoldsBeginsWithTheStateAndACopyWhatComesAfterItIsKept() {
        RejoinCourse course = new RejoinCourse(Cause.LOG_PASSED);
        course.next(SERVER, MAY);
        assertThat(course.failed(failure(ErrorCode.CACHE_PASSED), SERVER, MAY, 0))
                .isNull();
        assertThat(course.next(SERVER, MAY)).isEqualTo(new Receive(Goal.state(700)));
        course.received(250);
        assertThat(course.next(SERVER, MAY)).isEqualTo(new WantCopy(250));
        course.done();
        assertThat(course.next(SERVER, IS_TO)).isEqualTo(new GoOn());
    }

    @Test
    void whoseCacheAloneIsLostKeepsForTheCopyWhatComesAfterWhatItCertified() {
        RejoinCourse course = new RejoinCourse(Cause.CACHE_LOST);
        course.next(SERVER, MAY);
        course.serverHolds(42);
        course.done();
        assertThat(course.next(SERVER, MAY)).isEqualTo(new Receive(Goal.records(100)));
        assertThat(course.failed(failure(ErrorCode.CACHE_PASSED), SERVER, MAY, 0))
                .isNull();
        assertThat(course.next(SERVER, MAY)).isEqualTo(new EmptyCache(101));
        course.done();
        assertThat(course.next(SERVER, MAY)).isEqualTo(new WantCopy(100));
    }

    @Test
    void whoMayNotHaveACopyAsksAgainForRecords() {
        RejoinCourse course = new RejoinCourse(Cause.LOG_PASSED);
        course.next(SERVER, Copy.NONE);
        assertThat(course.failed(failure(ErrorCode.CACHE_PASSED), SERVER, Copy.NONE, 0))
                .contains("QRT-6004", "because");
        assertThat(course.next(SERVER, Copy.NONE)).isEqualTo(new Receive(Goal.recordsAndState(700)));
    }

    @Test
    void aCopyForWhichNobodyGivesTheStateNowIsNoReasonToStop() {
        RejoinCourse course = new RejoinCourse(Cause.LOG_PASSED);
        course.next(SERVER, MAY);
        course.failed(failure(ErrorCode.CACHE_PASSED), SERVER, MAY, 0);
        course.next(SERVER, MAY);
        assertThat(course.failed(failure(ErrorCode.ORDER_INTERRUPTED), SERVER, MAY, 0))
                .isEqualTo("because");
        assertThat(course.next(SERVER, MAY))
                .as("somebody with the records may have come")
                .isEqualTo(new Receive(Goal.recordsAndState(700)));
    }

    /**
     * Found by the simulation: two of three were below the log, and the third could not be elected without one of them.
     */
    @Test
    void whomNobodyGivesAnythingTakesPartMeanwhileForTheOthersMayNeedItsVote() {
        RejoinCourse course = new RejoinCourse(Cause.LOG_PASSED);
        Here complete = new Here(true, 5, 100, 100, 700);
        course.next(complete, MAY);
        assertThat(askInVain(course, complete, 1_000)).isEqualTo(new Receive(Goal.recordsAndState(700)));
        assertThat(askInVain(course, complete, 10_999)).isEqualTo(new Receive(Goal.recordsAndState(700)));
        assertThat(course.votesMeanwhile()).isFalse();
        assertThat(askInVain(course, complete, 11_000)).isEqualTo(new GoOn());
        assertThat(course.votesMeanwhile()).isTrue();
    }

    @Test
    void whatComesMeanwhileIsAReasonToGoOnAsking() {
        RejoinCourse course = new RejoinCourse(Cause.LOG_PASSED);
        course.next(SERVER, MAY);
        askInVain(course, new Here(true, 5, 100, 100, 700), 1_000);
        askInVain(course, new Here(true, 5, 101, 100, 700), 20_000);
        assertThat(course.votesMeanwhile()).isFalse();
        askInVain(course, new Here(true, 5, 101, 100, 700), 30_000);
        assertThat(course.votesMeanwhile()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "LOG_PASSED, CACHE_PASSED,      100", // the others are there, and have said that they don't hold it
        "LOG_PASSED, ORDER_INTERRUPTED, 99", // it could not go on in the order
        "CACHE_LOST, ORDER_INTERRUPTED, 100",
    })
    void whoseVoteWouldNotHelpGoesOnAsking(Cause cause, ErrorCode code, long cacheLast) {
        RejoinCourse course = new RejoinCourse(cause);
        Here here = new Here(false, 5, cacheLast, 100, 700);
        if (course.next(here, Copy.NONE) instanceof EmptyCache) {
            course.done();
        }
        for (long millis = 0; millis <= 60_000; millis += 10_000) {
            course.failed(failure(code), here, Copy.NONE, millis);
        }
        assertThat(course.votesMeanwhile()).isFalse();
        assertThat(course.next(here, Copy.NONE)).isInstanceOf(Receive.class);
    }

    private static Object askInVain(RejoinCourse course, Here here, long nowMillis) {
        course.failed(failure(ErrorCode.ORDER_INTERRUPTED), here, MAY, nowMillis);
        return course.next(here, MAY);
    }

    @ParameterizedTest
    @EnumSource(ErrorCode.class)
    void onlyWhatPassesIsTriedAgain(ErrorCode code) {
        RejoinCourse course = new RejoinCourse(Cause.LOG_PASSED);
        course.next(SERVER, Copy.NONE);
        switch (code) {
            case CACHE_PASSED, ORDER_INTERRUPTED, ORDER_BUSY, DISK_LOW ->
                assertThat(course.failed(failure(code), SERVER, Copy.NONE, 0)).isNotNull();
            default ->
                assertThatThrownBy(() -> course.failed(failure(code), SERVER, Copy.NONE, 0))
                        .isInstanceOf(QuorateException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(ErrorCode.class)
    void aTransferMendsWhatTheOthersStillHave(ErrorCode code) {
        Cause expected =
                switch (code) {
                    case ORDER_TOO_FAR_BEHIND -> Cause.LOG_PASSED;
                    case CACHE_CORRUPT, CACHE_PASSED -> Cause.CACHE_LOST;
                    default -> null;
                };
        assertThat(Cause.of(failure(code))).isEqualTo(expected);
    }

    @Test
    void aNodeThatHoldsNothingBeginsWithACopyAsTheOthersLogsAllow() {
        Offer whole = new Offer("n1", 0, 1, 20, 0, -1);
        Offer cut = new Offer("n2", 0, 1, 20, 10, 30);
        assertThat(RejoinCourse.beginWithCopy(Copy.NONE, List.of(cut))).isEqualTo(Beginning.REFUSED);
        assertThat(RejoinCourse.beginWithCopy(MAY, List.of(whole))).isEqualTo(Beginning.COPY_ALONE);
        assertThat(RejoinCourse.beginWithCopy(MAY, List.of(whole, cut))).isEqualTo(Beginning.STATE_AND_COPY);
        RejoinCourse course = RejoinCourse.ofCopy();
        assertThat(course.next(new Here(true, 1, 0, 0, 0), MAY)).isEqualTo(new Receive(Goal.state(0)));
        course.received(250);
        assertThat(course.next(SERVER, MAY)).isEqualTo(new WantCopy(250));
    }

    @Test
    void whatAnArbitratorMissedIsNotAskedFor() {
        RejoinCourse course = new RejoinCourse(Cause.LOG_PASSED);
        assertThat(course.next(ARBITRATOR, Copy.NONE)).isEqualTo(new Receive(new Goal(Kind.STATE, 700)));
        course.received(250);
        assertThat(course.next(ARBITRATOR, Copy.NONE)).isEqualTo(new GoOn());
    }

    @Test
    void itsStepsFollowOneAnotherAsTheTableSays() {
        assertThat(Step.NEXT).hasToString("""
                BEGIN: EMPTY_CACHE RECEIVE
                EMPTY_CACHE: RECEIVE
                RECEIVE: KEEP_FOR_COPY WANT_COPY GO_ON
                KEEP_FOR_COPY: WANT_COPY
                WANT_COPY: GO_ON
                GO_ON:
                """);
    }
}
