// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.AckTurns.Turn;
import java.util.List;
import org.junit.jupiter.api.Test;

class AckTurnsTest {
    private static final long LIMIT = 1000;
    private static final long RETRY = 100;

    private final AckCourse course = new AckCourse(LIMIT);
    private final AckTurns<String> turns = new AckTurns<>(course, RETRY);

    @Test
    void whatHasPassedIsAcknowledgedOnce() {
        turns.connected("first");
        client(1);
        assertThat(turns.next(0)).isNull();
        course.decided(List.of(), 1);
        assertThat(turns.isAckDue()).isTrue();
        Turn<String> turn = turns.next(0);
        assertThat(turn.acknowledges()).isTrue();
        assertThat(turn.to()).isEqualTo("first");
        assertThat(turn.ack().number()).isEqualTo(1);
        assertThat(turns.acknowledged(turn)).isTrue();
        assertThat(turns.isAckDue()).isFalse();
        assertThat(turns.next(0)).isNull();
    }

    @Test
    void nothingIsAcknowledgedWithoutAConnection() {
        client(1);
        course.decided(List.of(), 1);
        assertThat(turns.next(0)).isNull();
        turns.connected("first");
        assertThat(turns.next(0).acknowledges()).isTrue();
        turns.disconnected();
        assertThat(turns.next(0)).isNull();
    }

    /** It may be what the server has not heard. */
    @Test
    void anotherConnectionIsToldAnew() {
        turns.connected("first");
        client(1);
        course.decided(List.of(), 1);
        turns.acknowledged(turns.next(0));
        turns.connected("second");
        assertThat(turns.next(0).to()).isEqualTo("second");
    }

    @Test
    void aConnectionThatBreaksIsAskedNoMore() {
        turns.connected("first");
        client(1);
        course.decided(List.of(), 1);
        turns.notAcknowledged(turns.next(0));
        assertThat(turns.next(0)).isNull();
    }

    @Test
    void whatAFormerConnectionWasToldSaysNothingOfThePresentOne() {
        turns.connected("first");
        client(1);
        course.decided(List.of(), 1);
        Turn<String> former = turns.next(0);
        turns.connected("second");
        assertThat(turns.acknowledged(former)).isFalse();
        turns.notAcknowledged(former);
        assertThat(turns.next(0).to()).isEqualTo("second");
    }

    @Test
    void noConnectionBeginsBeforeEverybodyIsDecidedOrEnded() {
        assertThat(turns.mayConnect()).isTrue();
        client(1);
        client(2);
        assertThat(turns.mayConnect()).isFalse();
        course.decided(List.of(2L), 2);
        assertThat(turns.mayConnect()).isFalse();
        turns.ended(turns.next(0));
        assertThat(turns.mayConnect()).isTrue();
    }

    @Test
    void anAcknowledgementGoesBeforeTheEndOfASession() {
        turns.connected("first");
        client(1);
        client(2);
        course.decided(List.of(2L), 2);
        Turn<String> ack = turns.next(0);
        assertThat(ack.ack().number()).isEqualTo(1);
        turns.acknowledged(ack);
        Turn<String> end = turns.next(0);
        assertThat(end.acknowledges()).isFalse();
        assertThat(end.ending().number()).isEqualTo(2);
        turns.ended(end);
        assertThat(turns.next(0).ack().number()).isEqualTo(2);
    }

    /** Nobody hears OK for what its own session isn't ended for yet. */
    @Test
    void eachSessionIsEndedBeforeItsTransactionIsAcknowledged() {
        turns.connected("first");
        client(1);
        client(2);
        course.decided(List.of(1L, 2L), 2);
        Turn<String> first = turns.next(0);
        assertThat(first.ending().number()).isEqualTo(1);
        turns.ended(first);
        Turn<String> ack = turns.next(0);
        assertThat(ack.ack().number()).isEqualTo(1);
        turns.acknowledged(ack);
        assertThat(turns.next(0).ending().number()).isEqualTo(2);
    }

    @Test
    void whenASessionCantBeEndedAllAreTriedAgainAfterAPause() {
        turns.connected("first");
        client(1);
        client(2);
        course.decided(List.of(1L, 2L), 2);
        assertThat(turns.next(5).ending().number()).isEqualTo(1);
        turns.notEnded(5);
        assertThat(turns.next(5)).isNull();
        assertThat(turns.waitMillis(5, LIMIT)).isEqualTo(RETRY);
        assertThat(turns.next(5 + RETRY - 1)).isNull();
        Turn<String> again = turns.next(5 + RETRY);
        assertThat(again.ending().number()).isEqualTo(1);
        turns.ended(again);
        turns.acknowledged(turns.next(5 + RETRY));
        assertThat(turns.next(5 + RETRY).ending().number()).isEqualTo(2);
    }

    @Test
    void whoWaitsForTooLongIsLookedAtInTime() {
        client(1);
        assertThat(turns.waitMillis(LIMIT - 1, LIMIT)).isEqualTo(1);
        assertThat(turns.next(LIMIT - 1)).isNull();
        assertThat(turns.next(LIMIT).ending().cause()).isEqualTo(AckCourse.Cause.UNDECIDED);
    }

    private void client(long number) {
        course.captured(number, 1000 + number, 0);
        course.read(new BinlogPosition("binlog.000001", 100 * number));
    }
}
