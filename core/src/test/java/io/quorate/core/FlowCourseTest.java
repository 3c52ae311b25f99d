// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.quorate.core.FlowCourse.Quota;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FlowCourseTest {
    private static final long TARGET = 1000;
    private static final long AIM = 750;
    private static final long PATIENCE = 10_000;

    private final FlowCourse course = new FlowCourse("n1", TARGET, PATIENCE);
    private final Map<String, FlowCourse.Heard> heard = new HashMap<>();
    private final List<String> waitedFor = new ArrayList<>(List.of("n1", "n2", "n3"));

    private long ordered = 1_000_000;
    private long definitions;

    FlowCourseTest() {
        report("n1", 0, 300, 300);
        report("n2", 0, 300, 0);
        report("n3", 0, 300, 0);
    }

    @Test
    void aServerThatKeepsUpLeavesRoomForMuchMoreThanItApplies() {
        assertThat(look(0).perSecond())
                .as("300 ahead of one with 300/s, in a quarter of a second")
                .isEqualTo(3000);
        report("n1", 0, 2000, 2000);
        report("n2", 50, 2000, 0);
        report("n3", 60, 2000, 0);
        assertThat(look(250).perSecond()).isBetween(5000.0, 6000.0);
    }

    @Test
    void atThreeQuartersOfTheTargetWritersMayOrderWhatIsApplied() {
        report("n3", AIM, 120, 0);
        Quota quota = look(0);
        assertThat(quota.slowest()).isEqualTo("n3");
        assertThat(quota.perSecond()).isCloseTo(120, within(0.1));
    }

    @Test
    void theFurtherBehindTheLessIsOrderedThoughNeverNothing() {
        double last = Double.POSITIVE_INFINITY;
        for (long lag = 250; lag <= 1500; lag += 250) {
            report("n3", lag, 400, 0);
            double now = look(lag).perSecond();
            assertThat(now).as("%s ms behind", lag).isLessThan(last).isPositive();
            last = now;
        }
        assertThat(last).isCloseTo(200, within(0.1));
        report("n3", 2250, 1000, 0);
        assertThat(look(1750).perSecond()).as("a tenth").isCloseTo(100, within(0.1));
        report("n3", 2250, 0, 0);
        assertThat(look(2000).perSecond()).isCloseTo(50, within(0.1));
    }

    /** Until then it was unknown how fast it is; afterwards it isn't, for some time. */
    @Test
    void whoWasBehindIsKnown() {
        report("n3", 0, 10, 0);
        assertThat(look(0).perSecond()).isEqualTo(3000);
        report("n3", TARGET / 4, 100, 0);
        look(250);
        report("n3", 0, 100, 0);
        assertThat(look(500).perSecond()).isCloseTo(300, within(0.1));
        assertThat(look(10_249).perSecond()).isCloseTo(300, within(0.1));
        assertThat(look(10_250).perSecond()).isEqualTo(3000);
    }

    @Test
    void whatIsAheadOfAServerAlreadyCounts() {
        heard("n3", new FlowReport(100, 250, 10, 0, null, false));
        assertThat(look(0).perSecond()).isCloseTo(500, within(0.1));
    }

    @Test
    void theSlowestDecides() {
        report("n2", 600, 80, 0);
        report("n3", 500, 200, 0);
        assertThat(look(0).slowest()).isEqualTo("n2");
    }

    @Test
    void writersShareEvenlyAndWhoNeedsLessGetsThat() {
        heard("n1", new FlowReport(0, 0, 2000, 500, "n3", false));
        heard("n2", new FlowReport(0, 0, 2000, 700, "n3", false));
        heard("n3", new FlowReport(AIM, 225, 300, 40, null, false));
        assertThat(look(0).perSecond()).isCloseTo(130, within(0.1));
    }

    /** It is held back itself, so what it does says nothing of what it needs. */
    @Test
    void whoIsSlowedKeepsItsShareHoweverLittleItDoes() {
        heard("n2", new FlowReport(0, 0, 300, 10, "n3", false));
        report("n3", AIM, 300, 0);
        assertThat(look(0).perSecond()).isCloseTo(150, within(0.1));
    }

    @Test
    void whoHasNotWrittenYetGetsAShareAtOnce() {
        report("n1", 0, 300, 0);
        heard("n2", new FlowReport(0, 0, 300, 300, "n3", false));
        report("n3", AIM, 300, 0);
        assertThat(look(0).perSecond()).isCloseTo(150, within(0.1));
    }

    @Test
    void whoIsNoMemberWithASyncedServerOrIsDesyncedIsNotWaitedFor() {
        report("n3", 60_000, 0, 0);
        waitedFor.remove("n3");
        assertThat(look(0).slowest()).isNotEqualTo("n3");
    }

    @Test
    void whoIsntHeardIsNotWaitedFor() {
        report("n3", 60_000, 0, 0);
        assertThat(look(0).slowest()).isEqualTo("n3");
        heard.remove("n3");
        assertThat(look(250).slowest()).isNotEqualTo("n3");
    }

    @Test
    void whoSaysItIsLeftBehindIsNotWaitedFor() {
        heard("n3", new FlowReport(60_000, 0, 10, 0, null, true));
        assertThat(look(0).slowest()).isNotEqualTo("n3");
    }

    @Test
    void whereNobodyIsWaitedForThereIsNoLimit() {
        waitedFor.clear();
        assertThat(look(0)).isEqualTo(Quota.NONE);
    }

    /** Its clients, held, would hold what it applies. Others slow theirs for it all the same. */
    @Test
    void aServerThatAppliesDefinitionsSlowsNoneOfItsClients() {
        report("n3", 2_000, 100, 0);
        assertThat(look(0).slowest()).isEqualTo("n3");
        definitions = 5;
        assertThat(look(100)).isEqualTo(Quota.NONE);
        definitions = 4;
        assertThat(look(200).slowest()).isEqualTo("n3");
    }

    @Test
    void withoutATargetNobodyIsSlowed() {
        FlowCourse never = new FlowCourse("n1", 0, PATIENCE);
        report("n3", 60_000, 0, 0);
        assertThat(never.look(heard, waitedFor, ordered, 0, 0)).isEqualTo(Quota.NONE);
    }

    @Test
    void aNodeThatHoldsOthersUpForTooLongIsLeftBehindUntilItIsLevel() {
        report("n1", TARGET, 10, 0);
        heard("n2", new FlowReport(0, 0, 10, 10, "n1", false));
        look(0);
        look(PATIENCE - 1);
        assertThat(course.isLeftBehind()).isFalse();
        look(PATIENCE);
        assertThat(course.isLeftBehind()).isTrue();
        assertThat(look(PATIENCE).slowest())
                .as("it doesn't wait for itself either")
                .isNotEqualTo("n1");
        report("n1", TARGET / 4, 10, 0);
        look(PATIENCE + 250);
        assertThat(course.isLeftBehind()).isTrue();
        report("n1", TARGET / 4 - 1, 10, 0);
        look(PATIENCE + 500);
        look(PATIENCE + 1249);
        assertThat(course.isLeftBehind()).isTrue();
        look(PATIENCE + 1250);
        assertThat(course.isLeftBehind()).isFalse();
    }

    @Test
    void patienceBeginsAnewWhenTheNodeHasBeenWithinTheTarget() {
        heard("n2", new FlowReport(0, 0, 10, 10, "n1", false));
        report("n1", TARGET, 10, 0);
        look(0);
        report("n1", TARGET - 1, 100, 0);
        look(PATIENCE - 1000);
        look(PATIENCE - 1);
        report("n1", TARGET, 10, 0);
        look(PATIENCE);
        assertThat(course.isLeftBehind()).isFalse();
    }

    /** As of one that commits many at once and then none for a while. */
    @Test
    void aMomentWithinTheTargetIsNoNewBeginningAndAMomentBeyondItIsNone() {
        heard("n2", new FlowReport(0, 0, 10, 10, "n1", false));
        for (long now = 0; now < 3 * PATIENCE; now += 500) {
            report("n1", now % 1000 == 0 ? TARGET + 100 : AIM, 100, 0);
            look(now);
        }
        assertThat(course.isLeftBehind()).isFalse();
        for (long now = 3 * PATIENCE; now < 4 * PATIENCE; now += 500) {
            assertThat(course.isLeftBehind()).isFalse();
            report("n1", now % 1000 == 0 ? 2 * TARGET : AIM, 100, 0);
            look(now);
        }
        report("n1", TARGET, 100, 0);
        look(4 * PATIENCE + 500);
        assertThat(course.isLeftBehind()).isTrue();
    }

    /** A writeset takes longer to it than is aimed at, however few there are. */
    @Test
    void whoIsNotHelpedByTheSlowestWritersIsLeftBehindThoughWithinTheTarget() {
        heard("n2", new FlowReport(0, 0, 30, 30, "n1", false));
        heard("n1", new FlowReport(TARGET - 1, 30, 30, 0, null, false));
        look(0);
        look(PATIENCE - 1);
        assertThat(course.isLeftBehind()).isFalse();
        look(PATIENCE);
        assertThat(course.isLeftBehind()).isTrue();
    }

    /** As where all nodes are in commit mode async. */
    @Test
    void whoHoldsUpNobodyIsNotLeftBehind() {
        report("n1", TARGET, 10, 0);
        look(0);
        look(2 * PATIENCE);
        assertThat(course.isLeftBehind()).isFalse();
        heard("n2", new FlowReport(0, 0, 10, 10, "n1", false));
        look(3 * PATIENCE);
        look(4 * PATIENCE);
        assertThat(course.isLeftBehind()).isTrue();
    }

    /** As of one that has so little CPU that its reports are late, and of one that has just ended. */
    @Test
    void whileNothingIsHeardOfAServerNoMoreIsOrderedThanItAppliesAndNoLessEither() {
        report("n3", 300, 200, 0);
        double before = look(0).perSecond();
        assertThat(before).isGreaterThan(220);
        ordered += 40;
        assertThat(look(150).perSecond()).isLessThan(before).isGreaterThan(200);
        ordered += 300;
        look(300);
        assertThat(look(900).perSecond()).isCloseTo(200, within(0.1));
        assertThat(look(1900).perSecond()).isCloseTo(200, within(0.1));
        ordered += 100;
        report("n2", 0, 300, 0);
        report("n3", 100, 200, 0);
        assertThat(look(2000).perSecond()).isGreaterThan(300);
    }

    @Test
    void whatNobodyCouldHaveAppliedYetIsNotHeldAgainstAServer() {
        look(0);
        look(5000);
        ordered += 5;
        assertThat(look(5100).perSecond()).as("nothing was written for long").isGreaterThan(2900);
    }

    private Quota look(long now) {
        return course.look(heard, waitedFor, ordered, definitions, now);
    }

    private void heard(String node, FlowReport report) {
        heard.put(node, new FlowCourse.Heard(report, ordered - report.queue()));
    }

    /** What is in the queue is applied in the time that it took to get there. */
    private void report(String node, long lag, long applied, long own) {
        heard(node, new FlowReport(lag, lag * applied / 1000, applied, own, null, false));
    }
}
