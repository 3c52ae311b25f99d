// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

class DispatchTest {
    private static final long GROUP_NANOS = 100;
    private static final long POSITION_NANOS = 1000;

    private final Schedule schedule = new Schedule(0, 3, 1000, 50);
    private final Dispatch dispatch =
            new Dispatch(schedule, Duration.ofNanos(GROUP_NANOS), Duration.ofNanos(POSITION_NANOS), 0);

    private static Feed.Due rows(long seqno, int bytes) {
        return new Feed.Due(Records.rows(seqno, 0, bytes), Duty.EXECUTE);
    }

    private Group take(long nowNanos, Feed.Due... due) {
        assertThat(dispatch.offer(new ArrayDeque<>(List.of(due)), true)).isTrue();
        return dispatch.take(nowNanos);
    }

    @Test
    void takesWhatThereIsRoomForAndLeavesTheRest() {
        Deque<Feed.Due> batch = new ArrayDeque<>(List.of(rows(1, 30), rows(2, 30), rows(3, 10)));
        assertThat(dispatch.offer(batch, true)).isFalse();
        assertThat(batch).hasSize(2);
        dispatch.committed(dispatch.take(0), true, 0);
        assertThat(dispatch.offer(batch, true)).isTrue();
        assertThat(batch).isEmpty();
    }

    @Test
    void holdsBackAGroupThatIsNotFullForTheInterval() {
        assertThat(take(0, rows(1, 1))).isNotNull();
        assertThat(take(1, rows(2, 1))).isNull();
        assertThat(dispatch.pauseNanos(1)).isEqualTo(GROUP_NANOS - 1);
        assertThat(dispatch.take(GROUP_NANOS)).isNotNull();
    }

    @Test
    void aFullGroupIsNotHeldBack() {
        take(0, rows(1, 1));
        assertThat(take(1, rows(2, 1), rows(3, 1), rows(4, 1))).isNotNull();
    }

    @Test
    void writesThePositionByItselfWhenNoRowsHaveBroughtItForLong() {
        assertThat(take(0, new Feed.Due(Records.rows(1, 0, 1), Duty.NONE))).isNull();
        assertThat(dispatch.take(POSITION_NANOS - 1)).isNull();
        Group position = dispatch.take(POSITION_NANOS);
        assertThat(position.hasWork()).isFalse();
        dispatch.committed(position, true, POSITION_NANOS);
        assertThat(dispatch.saved()).isEqualTo(1);
        assertThat(dispatch.take(3 * POSITION_NANOS)).as("it is written").isNull();
    }

    @Test
    void writesThePositionAtOnceAfterAClientsDefinition() {
        assertThat(take(0, new Feed.Due(Records.ddl(1), Duty.NONE)).hasWork()).isFalse();
    }

    @Test
    void tellsEachProgressOnce() {
        Group group = take(0, rows(1, 1), rows(2, 1));
        assertThat(dispatch.progress()).isNull();
        dispatch.committed(group, true, 1);
        assertThat(dispatch.progress()).isEqualTo(new Dispatch.Progress(2, 2, 1002));
        assertThat(dispatch.progress()).isNull();
    }
}
