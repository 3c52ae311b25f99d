// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.Certified;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScheduleTest {
    private final Schedule schedule = new Schedule(0, 16, 1000, Long.MAX_VALUE);

    @Test
    void gathersWhatIsOfferedUntilAWorkerTakesIt() {
        offer(Records.rows(1, 0, 10), Records.rows(2, 1, 10), Records.rows(3, 0, 10));
        Group group = schedule.take(true);
        assertThat(group.work()).hasSize(3);
        assertThat(group.needs()).isZero();
        schedule.committed(group);
        assertThat(schedule.committed()).isEqualTo(3);
    }

    @Test
    void aGroupWaitsForWhatItDependsOn() {
        offer(Records.rows(1, 0, 10));
        Group first = schedule.take(true);
        offer(Records.rows(2, 1, 10));
        assertThat(schedule.take(true)).isNull();
        schedule.committed(first);
        assertThat(schedule.take(true).first()).isEqualTo(2);
    }

    @Test
    void gathersWhileAnExecutedGroupWaitsForItsTurn() {
        offer(Records.rows(1, 0, 10));
        Group head = schedule.take(true);
        offer(Records.rows(2, 0, 10));
        Group second = schedule.take(true);
        assertThat(schedule.turn(head)).isEqualTo(Schedule.Turn.COMMIT);
        offer(Records.rows(3, 0, 10));
        assertThat(schedule.turn(second)).isEqualTo(Schedule.Turn.WAIT);
        assertThat(schedule.take(true)).as("it would wait behind two commits").isNull();
        offer(Records.rows(4, 0, 10));
        schedule.committed(head);
        assertThat(schedule.take(true).work()).hasSize(2);
    }

    @Test
    void aFullGroupDoesNotGather() {
        offer(Records.rows(1, 0, 10));
        Group head = schedule.take(true);
        offer(Records.rows(2, 0, 10));
        assertThat(schedule.turn(schedule.take(true))).isEqualTo(Schedule.Turn.WAIT);
        assertThat(schedule.turn(head)).isEqualTo(Schedule.Turn.COMMIT);
        for (long s = 3; s <= 18; s++) {
            offer(Records.rows(s, 0, 10));
        }
        assertThat(schedule.take(true).work()).hasSize(16);
    }

    @Test
    void aGroupThatYieldsKeepsNoneWaiting() {
        offer(Records.rows(1, 0, 10));
        Group head = schedule.take(true);
        offer(Records.rows(2, 0, 10));
        Group second = schedule.take(true);
        assertThat(schedule.turn(second)).isEqualTo(Schedule.Turn.WAIT);
        offer(Records.rows(3, 0, 10));
        schedule.yieldAllButHead();
        assertThat(schedule.turn(second)).isEqualTo(Schedule.Turn.YIELD);
        assertThat(schedule.isHead(head)).isTrue();
        assertThat(schedule.take(true)).isNotNull();
    }

    @Test
    void closesAGroupRatherThanMakeItWaitForARunningOne() {
        offer(Records.rows(1, 0, 10));
        Group running = schedule.take(true);
        for (long s = 2; s <= 9; s++) {
            schedule.offer(Records.rows(s, 0, 10), Duty.EXECUTE, true);
        }
        schedule.offer(Records.rows(10, 1, 10), Duty.EXECUTE, true);
        Group beside = schedule.take(true);
        assertThat(beside.last()).isEqualTo(9);
        assertThat(schedule.take(true)).isNull();
        schedule.committed(running);
        assertThat(schedule.take(true).first()).isEqualTo(10);
    }

    @Test
    void holdsSoManyBytesOrOneThatIsLarger() {
        Schedule bounded = new Schedule(0, 16, 1000, 3000);
        bounded.offer(Records.rows(1, 0, 1500), Duty.EXECUTE, true);
        Group first = bounded.take(true);
        bounded.offer(Records.rows(2, 0, 1000), Duty.EXECUTE, true);
        Group second = bounded.take(true);
        assertThat(bounded.offer(Records.rows(3, 0, 501), Duty.EXECUTE, true)).isFalse();
        assertThat(bounded.offer(Records.rows(3, 0, 501), Duty.NONE, true)).isTrue();
        assertThat(bounded.offer(Records.rows(4, 0, 500), Duty.EXECUTE, true)).isTrue();
        bounded.committed(first);
        bounded.committed(second);
        assertThat(bounded.offer(Records.rows(5, 0, 5000), Duty.EXECUTE, true)).isFalse();
        bounded.committed(bounded.take(true));
        assertThat(bounded.offer(Records.rows(5, 0, 5000), Duty.EXECUTE, true)).isTrue();
        assertThat(bounded.offer(Records.rows(6, 0, 1), Duty.EXECUTE, true)).isFalse();
        bounded.committed(bounded.take(true));
        assertThat(bounded.offer(Records.rows(6, 0, 1), Duty.EXECUTE, true)).isTrue();
    }

    @Test
    void ddlIsAloneAfterAllBeforeItAndBeforeAllAfter() {
        offer(Records.rows(1, 0, 10), Records.ddl(2), Records.rows(3, 0, 10));
        Group before = schedule.take(true);
        assertThat(schedule.take(true)).isNull();
        schedule.committed(before);
        Group ddl = schedule.take(true);
        assertThat(ddl.isBarrier()).isTrue();
        assertThat(ddl.work()).hasSize(1);
        assertThat(schedule.take(true)).isNull();
        schedule.committed(ddl);
        assertThat(schedule.take(true).first()).isEqualTo(3);
    }

    @Test
    void ownWriteSetsCountAsCommittedWithoutAGroup() {
        schedule.offer(Records.rows(1, 0, 10), Duty.NONE, true);
        schedule.offer(Records.rows(2, 0, 10), Duty.NONE, true);
        assertThat(schedule.committed()).isEqualTo(2);
        assertThat(schedule.take(true)).isNull();
        Group position = schedule.takePositionOnly();
        assertThat(position.last()).isEqualTo(2);
        assertThat(position.hasWork()).isFalse();
        schedule.committed(position);
        assertThat(schedule.committed()).isEqualTo(2);
    }

    @Test
    void ownWriteSetsAreNotPassedBeforeWhatRuns() {
        offer(Records.rows(1, 0, 10));
        Group running = schedule.take(true);
        schedule.offer(Records.rows(2, 0, 10), Duty.NONE, true);
        assertThat(schedule.committed()).isZero();
        schedule.committed(running);
        assertThat(schedule.committed()).isEqualTo(2);
    }

    @Test
    void aLargeWriteSetIsAGroupOfItsOwn() {
        offer(Records.rows(1, 0, 10), Records.rows(2, 0, 5000), Records.rows(3, 0, 10));
        assertThat(schedule.take(true).last()).isEqualTo(1);
        assertThat(schedule.take(true).last()).isEqualTo(2);
        assertThat(schedule.take(true).last()).isEqualTo(3);
    }

    @Test
    void whatIsPreparedHereMakesGroupsOfItsOwn() {
        offer(Records.rows(1, 0, 10));
        for (long s = 2; s <= 3; s++) {
            Certified own = Records.record(s, 0, WriteSet.Kind.PREPARED, new byte[10]);
            assertThat(schedule.offer(own, Duty.SETTLE, false)).isTrue();
        }
        schedule.offer(Records.rows(4, 0, 10), Duty.NONE, false);
        offer(Records.rows(5, 0, 10));
        Group before = schedule.take(true);
        assertThat(before.last()).isEqualTo(1);
        assertThat(before.isSettling()).isFalse();
        Group own = schedule.take(true);
        assertThat(own.isSettling()).isTrue();
        assertThat(own.work()).extracting(Certified::seqno).containsExactly(2L, 3L);
        assertThat(own.last()).isEqualTo(4);
        assertThat(own.transactions()).isZero();
        Group after = schedule.take(true);
        assertThat(after.first()).isEqualTo(5);
        assertThat(after.isSettling()).isFalse();
    }

    @Test
    void whatIsToBeDoneDependsOnWhoseItIsAndWhatBecameOfIt() {
        Certified passed = Records.rows(1, 0, 10);
        Certified failed = new Certified(2, Verdict.CONFLICT, 1, 1, passed.position(), true, passed.writeSet());
        Certified prepared = Records.record(3, 0, WriteSet.Kind.PREPARED, new byte[10]);
        assertThat(Duty.of(passed, false, false)).isEqualTo(Duty.EXECUTE);
        assertThat(Duty.of(passed, true, true)).isEqualTo(Duty.NONE);
        assertThat(Duty.of(passed, true, false)).isEqualTo(Duty.EXECUTE);
        assertThat(Duty.of(failed, false, false)).isEqualTo(Duty.NONE);
        assertThat(Duty.of(failed, true, true)).isEqualTo(Duty.EXECUTE);
        assertThat(Duty.of(failed, true, false)).isEqualTo(Duty.NONE);
        assertThat(Duty.of(prepared, true, true)).isEqualTo(Duty.SETTLE);
        assertThat(Duty.of(prepared, false, false)).isEqualTo(Duty.EXECUTE);
    }

    private void offer(Certified... writeSets) {
        for (Certified c : writeSets) {
            assertThat(schedule.offer(c, Duty.EXECUTE, false)).isTrue();
        }
    }

    /** Plays random orders against random workers and checks every promise at every step. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void keepsItsPromisesUnderRandomPlay(long seed) {
        new Play(seed).run();
    }

    private static final class Play {
        private static final int COUNT = 5000;
        private final long seed;
        private final Random random;
        private final int transactionsMax;
        private final int bytesMax;
        private final Schedule schedule;
        private final ArrayDeque<Group> running = new ArrayDeque<>();
        private final Map<Long, Certified> offered = new HashMap<>();
        private final List<Long> skipped = new ArrayList<>();
        private long next = 1;
        private long committed;
        private long covered;

        Play(long seed) {
            this.seed = seed;
            random = new Random(seed);
            transactionsMax = 1 + random.nextInt(20);
            bytesMax = 50 + random.nextInt(500);
            schedule = new Schedule(0, transactionsMax, bytesMax, Long.MAX_VALUE);
        }

        void run() {
            int workers = 1 + random.nextInt(4);
            for (int idleSteps = 0; committed < COUNT; idleSteps++) {
                long before = committed + next + running.size();
                int what = random.nextInt(3);
                if (what == 0 && next <= COUNT) {
                    offer(running.size() < workers);
                } else if (what == 1 && running.size() < workers) {
                    take();
                } else if (what == 2 && !running.isEmpty()) {
                    commit(running.peek());
                }
                idleSteps = committed + next + running.size() == before ? idleSteps : 0;
                assertThat(idleSteps)
                        .as("steps without progress, seed %d", seed)
                        .isLessThan(1000);
            }
        }

        private void offer(boolean idle) {
            Certified c = random.nextInt(50) == 0 ? Records.ddl(next) : rows();
            boolean skip = random.nextInt(5) == 0;
            if (offered.putIfAbsent(next, c) != null) {
                c = offered.get(next);
                skip = skipped.contains(next);
            }
            if (skip && !skipped.contains(next)) {
                skipped.add(next);
            }
            if (schedule.offer(c, skip ? Duty.NONE : Duty.EXECUTE, idle)) {
                next++;
            }
            check();
        }

        private Certified rows() {
            long back = 1 + (long) (random.nextDouble() * random.nextDouble() * 60);
            return Records.rows(next, Math.max(0, next - back), 1 + random.nextInt(100));
        }

        private void take() {
            Group group = schedule.take(random.nextBoolean());
            if (group == null) {
                return;
            }
            long expectedFirst =
                    running.isEmpty() ? committed + 1 : running.peekLast().last() + 1;
            assertThat(group.first()).as("groups are a prefix, seed %d", seed).isEqualTo(expectedFirst);
            for (Certified c : group.work()) {
                if (c.dependsOn() < group.first()) {
                    assertThat(c.dependsOn()).as("dependency, seed %d", seed).isLessThanOrEqualTo(committed);
                }
                assertThat(skipped).doesNotContain(c.seqno());
            }
            for (long s = group.first(); s <= group.last(); s++) {
                assertThat(skipped.contains(s) || group.work().contains(offered.get(s)))
                        .isTrue();
                if (offered.get(s).writeSet().isBarrier()) {
                    assertThat(group.first()).as("barrier alone, seed %d", seed).isEqualTo(group.last());
                    assertThat(running).as("after all before, seed %d", seed).isEmpty();
                }
            }
            assertThat(running.stream().anyMatch(Group::isBarrier)).isFalse();
            assertThat(group.work().size()).isLessThanOrEqualTo(transactionsMax);
            assertThat(group.work().size() <= 1 || group.bytes() <= bytesMax).isTrue();
            running.add(group);
            check();
        }

        private void commit(Group group) {
            schedule.committed(running.poll());
            committed = group.last();
            check();
        }

        private void check() {
            assertThat(schedule.committed()).as("seed %d", seed).isGreaterThanOrEqualTo(committed);
            for (long s = committed + 1; s <= schedule.committed(); s++) {
                assertThat(skipped)
                        .as("only skipped ones are passed over, seed %d", seed)
                        .contains(s);
            }
            committed = schedule.committed();
            covered = Math.max(covered, committed);
            assertThat(committed).isEqualTo(covered);
        }
    }
}
