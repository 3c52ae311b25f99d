// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent.JoinChanged;
import io.quorate.core.NodeEvent.Part;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.node.join.JoinMachine.Step;
import io.quorate.transport.AdmissionPlan;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class JoinMachineTest {
    private static final AdmissionPlan.Way AS_MEMBER = new AdmissionPlan.Member(List.of());
    private static final AdmissionPlan.Way AS_JOINER = new AdmissionPlan.Joiner(2, "another address");
    private static final AdmissionPlan.Way OUT = new AdmissionPlan.TakenOut(2);
    private static final AdmissionPlan.Way UNKNOWN = new AdmissionPlan.Ask();

    /** How each step is reached. */
    private static final Map<Step, Consumer<JoinMachine>> WAYS = new EnumMap<>(Map.ofEntries(
            Map.entry(Step.BEGIN, m -> {}),
            Map.entry(Step.FINDING_PLACE, m -> m.begin(UNKNOWN, "n1")),
            Map.entry(Step.SETTLING_DATA, m -> m.begin(AS_JOINER, "n1")),
            Map.entry(Step.ASKING_IN, m -> {
                m.begin(AS_JOINER, "n1");
                m.dataSettled();
            }),
            Map.entry(Step.MEMBER, m -> m.begin(AS_MEMBER, "n1")),
            Map.entry(Step.AWAITING_COPY, m -> {
                m.begin(AS_MEMBER, "n1");
                m.differs(difference(), 9);
            }),
            Map.entry(Step.COPYING, m -> {
                m.begin(AS_MEMBER, "n1");
                m.copying("3 of 9 MB");
            }),
            Map.entry(Step.RECEIVING, m -> {
                m.begin(AS_MEMBER, "n1");
                m.missing(logPassed());
            }),
            Map.entry(Step.TAKEN_OUT, m -> m.begin(OUT, "n1")),
            Map.entry(Step.LEFT_BEHIND, m -> {
                m.begin(AS_MEMBER, "n1");
                m.leftBehind("life 2 has begun");
            }),
            Map.entry(Step.STAYING_OUT, m -> {
                m.begin(AS_MEMBER, "n1");
                m.leftBehind("life 2 has begun");
                m.staysOut("a history of its own");
            }),
            Map.entry(Step.FAILED, m -> {
                m.begin(AS_MEMBER, "n1");
                m.failed();
            })));

    private static QuorateException difference() {
        return new QuorateException(ErrorCode.APPLY_MISMATCH, "a row is missing");
    }

    private static QuorateException logPassed() {
        return new QuorateException(ErrorCode.ORDER_TOO_FAR_BEHIND, "the log begins later");
    }

    private static JoinMachine at(Step step) {
        JoinMachine machine = new JoinMachine();
        WAYS.get(step).accept(machine);
        assertThat(machine.at()).isEqualTo(step);
        return machine;
    }

    @Test
    void stepsFollowOneAnotherAsTheTableSays() {
        assertThat(Step.NEXT).hasToString("""
                BEGIN: FINDING_PLACE SETTLING_DATA MEMBER TAKEN_OUT
                FINDING_PLACE: SETTLING_DATA MEMBER FAILED
                SETTLING_DATA: ASKING_IN LEFT_BEHIND FAILED
                ASKING_IN: MEMBER RECEIVING TAKEN_OUT LEFT_BEHIND FAILED
                MEMBER: AWAITING_COPY COPYING RECEIVING TAKEN_OUT LEFT_BEHIND FAILED
                AWAITING_COPY: COPYING RECEIVING TAKEN_OUT LEFT_BEHIND FAILED
                COPYING: MEMBER AWAITING_COPY RECEIVING TAKEN_OUT LEFT_BEHIND FAILED
                RECEIVING: ASKING_IN MEMBER TAKEN_OUT LEFT_BEHIND FAILED
                TAKEN_OUT: SETTLING_DATA FAILED
                LEFT_BEHIND: SETTLING_DATA STAYING_OUT FAILED
                STAYING_OUT:
                FAILED:
                """);
    }

    /** Where each event leads from each step; a dash where it can't happen, and must not go by unseen. */
    @ParameterizedTest
    @CsvSource({
        // from, placed, settled, admitted, missing, received, copying, copied, takenOut, leftBehind, differs
        "FINDING_PLACE, MEMBER, -, -, same, -, same, same, same, same, same",
        "SETTLING_DATA, -, ASKING_IN, -, same, -, same, same, same, LEFT_BEHIND, same",
        "ASKING_IN, -, -, MEMBER, RECEIVING, -, same, same, TAKEN_OUT, LEFT_BEHIND, same",
        "MEMBER, -, -, -, RECEIVING, -, COPYING, same, TAKEN_OUT, LEFT_BEHIND, AWAITING_COPY",
        "AWAITING_COPY, -, -, -, RECEIVING, -, same, same, TAKEN_OUT, LEFT_BEHIND, same",
        "COPYING, -, -, -, RECEIVING, -, same, MEMBER, TAKEN_OUT, LEFT_BEHIND, AWAITING_COPY",
        "RECEIVING, -, -, -, same, MEMBER, same, same, TAKEN_OUT, LEFT_BEHIND, same",
        "TAKEN_OUT, -, -, -, same, -, same, same, same, same, same",
        "LEFT_BEHIND, -, -, -, same, -, same, same, same, same, same",
        "STAYING_OUT, -, -, -, same, -, same, same, same, same, same",
        "FAILED, -, -, -, same, -, same, same, same, same, same",
    })
    void eachEventLeadsWhereTheTableSays(
            Step from,
            String placed,
            String settled,
            String admitted,
            String missing,
            String received,
            String copying,
            String copied,
            String takenOut,
            String leftBehind,
            String differs) {
        require(from, placed, m -> m.placed(true));
        require(from, settled, JoinMachine::dataSettled);
        require(from, admitted, JoinMachine::admitted);
        require(from, missing, m -> m.missing(logPassed()));
        require(from, received, m -> m.received(false));
        require(from, copying, m -> m.copying("5 of 9 MB"));
        require(from, copied, m -> m.copying(null));
        require(from, takenOut, m -> m.takenOut("n1 was taken out"));
        require(from, leftBehind, m -> m.leftBehind("life 2 has begun"));
        require(from, differs, m -> m.differs(difference(), 9));
    }

    private static void require(Step from, String to, Consumer<JoinMachine> event) {
        JoinMachine machine = at(from);
        if (to.equals("-")) {
            assertThatThrownBy(() -> event.accept(machine)).isInstanceOf(IllegalStateException.class);
            assertThat(machine.at()).isEqualTo(from);
        } else {
            event.accept(machine);
            assertThat(machine.at()).hasToString(to.equals("same") ? from.name() : to);
        }
    }

    /** The work on the server has ended with that, and nobody would begin it again. */
    @Test
    void aDifferenceThatShowsWhileItIsOutIsMendedOnceItIsAMember() {
        JoinMachine machine = at(Step.TAKEN_OUT);
        machine.differs(difference(), 9);
        assertThat(machine.joins()).isTrue();
        machine.dataSettled();
        machine.admitted();
        assertThat(machine.at()).isEqualTo(Step.AWAITING_COPY);
        assertThat(machine.orderedThen()).isEqualTo(9);
        machine.copyBegins();
        machine.copying(null);
        assertThat(machine.at()).isEqualTo(Step.MEMBER);
    }

    @ParameterizedTest
    @EnumSource(Step.class)
    void whatCantBeMendedEndsWhateverHasBegun(Step from) {
        JoinMachine machine = at(from);
        machine.failed();
        assertThat(machine.at()).isEqualTo(from == Step.STAYING_OUT || from == Step.BEGIN ? from : Step.FAILED);
    }

    @ParameterizedTest
    @EnumSource(Step.class)
    void whoIsOutOrAsksAlreadyMayJoin(Step from) {
        JoinMachine machine = at(from);
        switch (from) {
            case TAKEN_OUT -> {
                assertThat(machine.joins()).isTrue();
                assertThat(machine.at()).isEqualTo(Step.SETTLING_DATA);
            }
            case BEGIN, FINDING_PLACE, SETTLING_DATA, ASKING_IN, LEFT_BEHIND ->
                assertThat(machine.joins()).isFalse();
            default ->
                assertThatThrownBy(machine::joins)
                        .isInstanceOfSatisfying(QuorateException.class, e -> assertThat(e.code())
                                .isEqualTo(ErrorCode.CONFIGURATION));
        }
    }

    @Test
    void whoAsksToBeAMemberIsNoneWhileItReceives() {
        JoinMachine machine = at(Step.ASKING_IN);
        machine.missing(new QuorateException(ErrorCode.ORDER_TOO_FAR_BEHIND, "because"));
        assertThat(machine.at()).isEqualTo(Step.RECEIVING);
        assertThat(machine.joins()).as("that is under way").isFalse();
    }

    @Test
    void whoAsksToBeAMemberReceivesWhatItMissedAndGoesOnAsking() {
        JoinMachine machine = at(Step.ASKING_IN);
        machine.missing(logPassed());
        assertThat(machine.isMember()).isFalse();
        machine.received(false);
        assertThat(machine.at()).isEqualTo(Step.ASKING_IN);
        assertThat(machine.shown()).isEqualTo(new JoinChanged(Part.JOINER, "asking the other nodes to be a member"));
        assertThat(machine.missing()).isNull();
    }

    @Test
    void aCacheFoundDamagedAtTheStartIsReceivedBeforeAnythingElseIsDone() {
        JoinMachine machine = new JoinMachine();
        machine.begin(AS_JOINER, "n1");
        machine.missing(logPassed());
        assertThat(machine.at()).as("it takes no part in the order yet").isEqualTo(Step.SETTLING_DATA);
        machine.dataSettled();
        assertThat(machine.at()).isEqualTo(Step.RECEIVING);
        machine.received(false);
        assertThat(machine.at()).isEqualTo(Step.ASKING_IN);
    }

    /** The transfer was broken off; nobody else remembers that it is needed. */
    @Test
    void whatAnOldLifeLeftMissingIsReceivedInTheNewOne() {
        JoinMachine machine = at(Step.RECEIVING);
        machine.leftBehind("life 2 has begun");
        machine.takenOver();
        machine.dataSettled();
        assertThat(machine.at()).isEqualTo(Step.RECEIVING);
        machine.received(false);
        assertThat(machine.at()).as("it is no member of the new life yet").isEqualTo(Step.ASKING_IN);
    }

    @Test
    void aStepThatIsEnteredAgainIsBegunAgain() {
        JoinMachine machine = at(Step.MEMBER);
        int before = machine.entered();
        machine.missing(logPassed());
        machine.received(false);
        assertThat(machine.at()).isEqualTo(Step.MEMBER);
        assertThat(machine.entered()).isGreaterThan(before);
        int then = machine.entered();
        machine.progress("no news of another step");
        assertThat(machine.entered()).isEqualTo(then);
    }

    @Test
    void whoseServerDiffersSaysWhyUntilItsCopyBegins() {
        JoinMachine machine = at(Step.AWAITING_COPY);
        assertThat(machine.isMember()).isTrue();
        assertThat(machine.shown().progress()).contains("QRT-5001", "a row is missing");
        assertThat(machine.difference()).hasMessageContaining("a row is missing");
        assertThat(machine.orderedThen()).isEqualTo(9);
        machine.copyBegins();
        assertThat(machine.at()).isEqualTo(Step.COPYING);
        assertThat(machine.difference()).isNull();
        assertThat(machine.shown().part()).isEqualTo(Part.JOINER);
    }

    /**
     * Found by the simulation: it waited until what it had committed was ordered, and the order could bring nothing any
     * more.
     */
    @Test
    void whatIsMissedWhileACopyIsAwaitedIsReceivedFirst() {
        JoinMachine machine = at(Step.AWAITING_COPY);
        machine.missing(logPassed());
        assertThat(machine.at()).isEqualTo(Step.RECEIVING);
        machine.received(false);
        assertThat(machine.at()).isEqualTo(Step.AWAITING_COPY);
        assertThat(machine.difference()).hasMessageContaining("a row is missing");
    }

    /** The others didn't have any more what it missed. */
    @Test
    void aCopyOfEverythingMendsTheDifferenceToo() {
        JoinMachine machine = at(Step.AWAITING_COPY);
        machine.missing(logPassed());
        machine.received(true);
        assertThat(machine.at()).isEqualTo(Step.MEMBER);
        assertThat(machine.difference()).isNull();
    }

    @Test
    void whoeverIsSaidToBeWrongWhileItWaitsGetsACopyOfMore() {
        JoinMachine machine = at(Step.AWAITING_COPY);
        Difference more = Difference.in(new TableName("d", "t"));
        machine.copyIsAsked(new QuorateException(ErrorCode.COPY_ASKED, "wanted", null, more));
        assertThat(machine.at()).isEqualTo(Step.AWAITING_COPY);
        assertThat(machine.difference().code()).isEqualTo(ErrorCode.COPY_ASKED);
        assertThat(machine.orderedThen()).isEqualTo(9);
    }

    /** Once the end of one hid that the other went on. */
    @Test
    void aCopyThatEndsDoesNotHideWhatElseGoesOn() {
        JoinMachine machine = at(Step.COPYING);
        machine.missing(logPassed());
        machine.progress("receiving what was missed");
        machine.copying(null);
        assertThat(machine.shown()).isEqualTo(new JoinChanged(Part.JOINER, "receiving what was missed"));
        machine.copying("7 of 9 MB");
        assertThat(machine.shown()).isEqualTo(new JoinChanged(Part.JOINER, "receiving what was missed"));
    }

    @Test
    void showsWhatTheNodeIsForItsClusterAndHowFarItIs() {
        assertThat(at(Step.MEMBER).shown()).isEqualTo(new JoinChanged(Part.MEMBER, ""));
        assertThat(at(Step.COPYING).shown()).isEqualTo(new JoinChanged(Part.JOINER, "3 of 9 MB"));
        assertThat(at(Step.STAYING_OUT).shown()).isEqualTo(new JoinChanged(Part.OUT, "a history of its own"));
        assertThat(at(Step.TAKEN_OUT).shown().progress()).contains("QRT-", "n1 was taken out");
        for (Step step : Step.values()) {
            assertThat(at(step).shown().part()).isEqualTo(step.part());
        }
    }

    @Test
    void itsPartInTheOrderIsStartedAgainOnceNothingHasComeForAWhile() {
        JoinMachine machine = at(Step.ASKING_IN);
        assertThat(machine.isStuck(5, 1_000)).isFalse();
        assertThat(machine.isStuck(5, 1_000 + JoinMachine.STUCK_MILLIS)).isFalse();
        assertThat(machine.isStuck(6, 2_000 + JoinMachine.STUCK_MILLIS))
                .as("something came")
                .isFalse();
        long since = 2_000 + JoinMachine.STUCK_MILLIS;
        assertThat(machine.isStuck(6, since + JoinMachine.STUCK_MILLIS + 1)).isTrue();
        assertThat(machine.isStuck(6, since + JoinMachine.STUCK_MILLIS + 2))
                .as("it has just been")
                .isFalse();
    }

    @Test
    void whoIsForcedToGoOnAloneIsAMember() {
        JoinMachine asking = at(Step.ASKING_IN);
        asking.alone();
        assertThat(asking.at()).isEqualTo(Step.MEMBER);
        JoinMachine copying = at(Step.COPYING);
        copying.alone();
        assertThat(copying.at()).isEqualTo(Step.COPYING);
    }
}
