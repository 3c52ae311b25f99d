// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.Keys;
import io.quorate.core.LogPosition;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class TraceCourseTest {
    private static final UUID OWN = new UUID(1, 1);
    private static final UUID OTHER = new UUID(2, 2);
    private static final long COMMITTED = 1000;

    private final List<TracedSpan> spans = new ArrayList<>();
    private final AtomicInteger dropped = new AtomicInteger();
    private final AtomicLong now = new AtomicLong(COMMITTED);
    private final TraceCourse course = course(1);

    private TraceCourse course(int oneOf) {
        return new TraceCourse(oneOf, "n1", now::get, spans::add, dropped::incrementAndGet);
    }

    private static WriteSet writeSet(UUID server, long number) {
        return new WriteSet(new Gtid(server, number), 0, COMMITTED, WriteSet.Kind.ROWS, Keys.NONE, new byte[0]);
    }

    private static Certified certified(UUID server, long number, long seqno, Verdict verdict) {
        return new Certified(seqno, verdict, 0, 0, LogPosition.START, true, writeSet(server, number));
    }

    private void captured(long number, boolean awaited, long at) {
        now.set(at);
        course.captured(writeSet(OWN, number), awaited);
    }

    private void proposed(long last, long at) {
        now.set(at);
        course.proposed(last);
    }

    private void ordered(UUID server, long number, long seqno, Verdict verdict, long at) {
        now.set(at);
        course.ordered(List.of(certified(server, number, seqno, verdict)), OWN);
    }

    private void applied(long seqno, long at) {
        now.set(at);
        course.applied(seqno);
    }

    /** Each as {@code name start-end}. */
    private List<String> said() {
        List<String> said = spans.stream()
                .map(s -> s.name() + " " + s.startMicros() + "-" + s.endMicros())
                .toList();
        spans.clear();
        return said;
    }

    @Test
    void whereNobodyWaitsTheRootEndsWithTheVerdict() {
        captured(1, false, 1010);
        proposed(1, 1030);
        assertThat(spans).isEmpty();
        ordered(OWN, 1, 17, Verdict.PASSED, 1100);
        assertThat(spans).allSatisfy(s -> {
            assertThat(s.trace()).isEqualTo(TraceIds.of(new Gtid(OWN, 1)));
            assertThat(s.seqno()).isEqualTo(17);
            assertThat(s.verdict()).isTrue();
            assertThat(s.parent())
                    .isEqualTo(s.name().equals("transaction") ? 0 : s.trace().root());
        });
        assertThat(spans.get(0).id()).isEqualTo(spans.get(0).trace().root());
        assertThat(said())
                .containsExactly(
                        "transaction 1000-1100", "captured 1000-1010", "proposed 1010-1030", "ordered 1030-1100");
    }

    @Test
    void whereClientsWaitItEndsWithTheirOk() {
        captured(1, true, 1010);
        captured(2, true, 1020);
        proposed(2, 1030);
        ordered(OWN, 1, 17, Verdict.PASSED, 1100);
        ordered(OWN, 2, 18, Verdict.PASSED, 1110);
        assertThat(spans).isEmpty();
        now.set(1200);
        course.acknowledged(1);
        assertThat(said())
                .containsExactly(
                        "transaction 1000-1200",
                        "captured 1000-1010",
                        "proposed 1010-1030",
                        "ordered 1030-1100",
                        "acknowledged 1100-1200");
        now.set(1300);
        course.acknowledged(2);
        assertThat(said()).contains("transaction 1000-1300", "acknowledged 1110-1300");
    }

    @Test
    void whoseSessionWasEndedHasWaitedUntilThen() {
        captured(1, true, 1010);
        captured(2, true, 1020);
        proposed(2, 1030);
        ordered(OWN, 1, 17, Verdict.CONFLICT, 1100);
        now.set(1150);
        course.ended(1);
        assertThat(spans).isNotEmpty().allMatch(TracedSpan::isLost);
        assertThat(said()).contains("transaction 1000-1150", "ordered 1030-1100");
        now.set(5000);
        course.ended(2);
        assertThat(spans).isNotEmpty().allMatch(s -> s.verdict() == null && s.seqno() == 0);
        assertThat(said()).containsExactly("transaction 1000-5000", "captured 1000-1020", "proposed 1020-1030");
        ordered(OWN, 2, 18, Verdict.PASSED, 6000);
        course.acknowledged(2);
        assertThat(spans).isEmpty();
    }

    @Test
    void whoWasAnsweredBeforeTheVerdictIsTracedToTheVerdict() {
        captured(1, true, 1010);
        course.acknowledged(1);
        assertThat(spans).isEmpty();
        ordered(OWN, 1, 17, Verdict.PASSED, 1100);
        assertThat(said()).containsExactly("transaction 1000-1100", "captured 1000-1010", "ordered 1010-1100");
    }

    @Test
    void whatIsCapturedOrProposedAgainIsTracedOnce() {
        captured(1, false, 1010);
        proposed(1, 1030);
        captured(1, false, 1040);
        proposed(1, 1050);
        ordered(OWN, 1, 17, Verdict.PASSED, 1100);
        assertThat(said()).hasSize(4).contains("captured 1000-1010", "proposed 1010-1030");
        ordered(OWN, 1, 17, Verdict.PASSED, 1200);
        assertThat(spans).isEmpty();
    }

    @Test
    void whatTheOrderHadBeforeItWasReadAgainHasNoTrace() {
        captured(1, false, 1010);
        captured(2, false, 1020);
        ordered(OWN, 2, 18, Verdict.PASSED, 1100);
        assertThat(spans).allMatch(s -> s.gtid().number() == 2);
        spans.clear();
        course.captureBegins();
        ordered(OWN, 1, 17, Verdict.PASSED, 1200);
        assertThat(spans).isEmpty();
    }

    @Test
    void elsewhereItIsFromTheOrderToTheServer() {
        course.startFrom(0);
        ordered(OTHER, 5, 1, Verdict.PASSED, 1100);
        ordered(OTHER, 6, 2, Verdict.CONFLICT, 1110);
        ordered(OTHER, 7, 3, Verdict.PASSED, 1120);
        assertThat(spans).isEmpty();
        applied(2, 1200);
        TracedSpan span = spans.get(0);
        assertThat(span.trace()).isEqualTo(TraceIds.of(new Gtid(OTHER, 5)));
        assertThat(span.parent()).isEqualTo(span.trace().root());
        assertThat(said()).containsExactly("apply 1100-1200");
        applied(3, 1300);
        assertThat(said()).containsExactly("apply 1120-1300");
    }

    @Test
    void whatTheServerHasAlreadyIsNotAppliedNow() {
        ordered(OTHER, 5, 1, Verdict.PASSED, 1100);
        ordered(OTHER, 6, 2, Verdict.PASSED, 1110);
        course.startFrom(1);
        ordered(OTHER, 5, 1, Verdict.PASSED, 1120);
        ordered(OTHER, 6, 2, Verdict.PASSED, 1130);
        applied(2, 1200);
        assertThat(said()).containsExactly("apply 1110-1200");
    }

    @Test
    void onlyWhatIsSampledIsTraced() {
        int oneOf = 10;
        TraceCourse some = course(oneOf);
        long[] numbers = LongStream.rangeClosed(1, 100).toArray();
        for (long number : numbers) {
            some.captured(writeSet(OWN, number), false);
            some.ordered(
                    List.of(
                            certified(OWN, number, 2 * number - 1, Verdict.PASSED),
                            certified(OTHER, number, 2 * number, Verdict.PASSED)),
                    OWN);
            some.applied(2 * number);
        }
        assertThat(spans.stream().map(TracedSpan::gtid).distinct())
                .isNotEmpty()
                .allMatch(gtid -> TraceIds.isSampled(gtid, oneOf))
                .hasSize((int) LongStream.of(numbers)
                        .mapToObj(number -> List.of(new Gtid(OWN, number), new Gtid(OTHER, number)))
                        .flatMap(List::stream)
                        .filter(gtid -> TraceIds.isSampled(gtid, oneOf))
                        .count());
    }

    @Test
    void aClockThatIsSetBackMakesNoSpanThatEndsBeforeItBegins() {
        captured(1, true, 900);
        proposed(1, 800);
        ordered(OWN, 1, 17, Verdict.PASSED, 700);
        now.set(600);
        course.acknowledged(1);
        ordered(OTHER, 5, 18, Verdict.PASSED, 500);
        applied(18, 400);
        assertThat(spans).hasSize(6).allMatch(s -> s.startMicros() <= s.endMicros());
    }

    @Test
    void whatIsUnderWayDoesNotGrowWithoutLimit() {
        int more = 3;
        for (long i = 1; i <= TraceCourse.UNDER_WAY_MAX + more; i++) {
            captured(i, false, 1010);
            ordered(OTHER, i, i, Verdict.PASSED, 1020);
        }
        assertThat(dropped.get()).isEqualTo(2 * more);
        applied(Long.MAX_VALUE, 1100);
        assertThat(spans).hasSize(TraceCourse.UNDER_WAY_MAX);
    }
}
