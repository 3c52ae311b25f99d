// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.AckCourse.Ending;
import io.quorate.core.AckTurns.Acknowledgement;
import io.quorate.core.AckTurns.End;
import java.util.List;
import org.junit.jupiter.api.Test;

class AckTurnsTest {
    private static final long LIMIT = 1000;
    private static final long RETRY = 100;

    private final AckCourse course = new AckCourse(LIMIT, 0);
    private final AckTurns<String> turns = new AckTurns<>(course, RETRY);

    @Test
    void whatHasPassedIsAcknowledgedOnce() {
        turns.connected("first");
        client(1);
        assertThat(turns.next(0)).isNull();
        course.decided(List.of(), 1);
        assertThat(turns.isAckDue(0)).isTrue();
        Acknowledgement<String> turn = ack(0);
        assertThat(turn.to()).isEqualTo("first");
        assertThat(turn.ack().number()).isEqualTo(1);
        assertThat(turns.acknowledged(turn)).isTrue();
        assertThat(turns.isAckDue(0)).isFalse();
        assertThat(turns.next(0)).isNull();
    }

    @Test
    void nothingIsAcknowledgedWithoutAConnection() {
        client(1);
        course.decided(List.of(), 1);
        assertThat(turns.next(0)).isNull();
        turns.connected("first");
        assertThat(turns.next(0)).isInstanceOf(Acknowledgement.class);
        turns.disconnected();
        assertThat(turns.next(0)).isNull();
    }

    /** It may be what the server has not heard. */
    @Test
    void anotherConnectionIsToldAnew() {
        turns.connected("first");
        client(1);
        course.decided(List.of(), 1);
        turns.acknowledged(ack(0));
        turns.connected("second");
        assertThat(ack(0).to()).isEqualTo("second");
    }

    @Test
    void aConnectionThatBreaksIsAskedNoMore() {
        turns.connected("first");
        client(1);
        course.decided(List.of(), 1);
        turns.notAcknowledged(ack(0));
        assertThat(turns.next(0)).isNull();
    }

    @Test
    void whatAFormerConnectionWasToldSaysNothingOfThePresentOne() {
        turns.connected("first");
        client(1);
        course.decided(List.of(), 1);
        Acknowledgement<String> former = ack(0);
        turns.connected("second");
        assertThat(turns.acknowledged(former)).isFalse();
        turns.notAcknowledged(former);
        assertThat(ack(0).to()).isEqualTo("second");
    }

    @Test
    void noConnectionBeginsBeforeEverybodyIsDecidedOrEnded() {
        assertThat(turns.mayConnect()).isTrue();
        client(1);
        client(2);
        assertThat(turns.mayConnect()).isFalse();
        course.decided(List.of(2L), 2);
        assertThat(turns.mayConnect()).isFalse();
        turns.ended(ending(0));
        assertThat(turns.mayConnect()).isTrue();
    }

    @Test
    void anAcknowledgementGoesBeforeTheEndOfASession() {
        turns.connected("first");
        client(1);
        client(2);
        course.decided(List.of(2L), 2);
        Acknowledgement<String> ack = ack(0);
        assertThat(ack.ack().number()).isEqualTo(1);
        turns.acknowledged(ack);
        Ending end = ending(0);
        assertThat(end.number()).isEqualTo(2);
        turns.ended(end);
        assertThat(ack(0).ack().number()).isEqualTo(2);
    }

    /** Nobody hears OK for what its own session isn't ended for yet. */
    @Test
    void eachSessionIsEndedBeforeItsTransactionIsAcknowledged() {
        turns.connected("first");
        client(1);
        client(2);
        course.decided(List.of(1L, 2L), 2);
        Ending first = ending(0);
        assertThat(first.number()).isEqualTo(1);
        turns.ended(first);
        Acknowledgement<String> ack = ack(0);
        assertThat(ack.ack().number()).isEqualTo(1);
        turns.acknowledged(ack);
        assertThat(ending(0).number()).isEqualTo(2);
    }

    @Test
    void whenASessionCantBeEndedAllAreTriedAgainAfterAPause() {
        turns.connected("first");
        client(1);
        client(2);
        course.decided(List.of(1L, 2L), 2);
        assertThat(ending(5).number()).isEqualTo(1);
        turns.notEnded(5);
        assertThat(turns.next(5)).isNull();
        assertThat(turns.waitMillis(5, LIMIT)).isEqualTo(RETRY);
        assertThat(turns.next(5 + RETRY - 1)).isNull();
        Ending again = ending(5 + RETRY);
        assertThat(again.number()).isEqualTo(1);
        turns.ended(again);
        turns.acknowledged(ack(5 + RETRY));
        assertThat(ending(5 + RETRY).number()).isEqualTo(2);
    }

    @Test
    void whoWaitsForTooLongIsLookedAtInTime() {
        client(1);
        assertThat(turns.waitMillis(LIMIT - 1, LIMIT)).isEqualTo(1);
        assertThat(turns.next(LIMIT - 1)).isNull();
        assertThat(ending(LIMIT).cause()).isEqualTo(AckCourse.Cause.UNDECIDED);
    }

    private void client(long number) {
        course.captured(number, 1000 + number, 0, 0);
        course.read(new BinlogPosition("binlog.000001", 100 * number), 0);
    }

    private Acknowledgement<String> ack(long nowMillis) {
        return (Acknowledgement<String>) turns.next(nowMillis);
    }

    private Ending ending(long nowMillis) {
        return ((End<String>) turns.next(nowMillis)).ending();
    }
}
