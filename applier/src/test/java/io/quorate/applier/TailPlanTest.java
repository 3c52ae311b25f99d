// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.GtidSet;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.LogPosition;
import io.quorate.core.OwnWrites.Doomed;
import io.quorate.core.QuorateException;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class TailPlanTest {
    private static final UUID SERVER = new UUID(0, 3);
    private static final String INCARNATION = new UUID(1, 2).toString();

    private final List<Certified> records = new ArrayList<>();

    private void own(long number, Verdict verdict, WriteSet.Kind kind) {
        Keys keys = new Keys(new long[] {100}, new byte[] {(byte) KeyType.EXCLUSIVE.ordinal()});
        own(number, verdict, kind, kind == WriteSet.Kind.DDL ? keys : Keys.NONE);
    }

    private void own(long number, Verdict verdict, WriteSet.Kind kind, Keys keys) {
        long seqno = records.size() + 1L;
        WriteSet w = new WriteSet(new Gtid(SERVER, number), 0, 0, kind, keys, new byte[0]);
        records.add(new Certified(seqno, verdict, 0, 0, new LogPosition(1, seqno), true, w));
    }

    private TailPlan plan(GtidSet executed, Set<Long> undone) throws Exception {
        TailPlan plan = new TailPlan(SERVER, INCARNATION, executed, new GtidSet(), undone, false);
        plan.make(0, 9, visitor -> records.forEach(visitor::visit));
        return plan;
    }

    private static GtidSet executed(long to) {
        return new GtidSet().add(SERVER, 1, to);
    }

    @Test
    void takesBackAllAfterThePosition() throws Exception {
        own(1, Verdict.PASSED, WriteSet.Kind.ROWS);
        own(2, Verdict.CONFLICT, WriteSet.Kind.ROWS);
        TailPlan plan = plan(executed(2), Set.of());
        assertThat(plan.after()).isZero();
        assertThat(plan.taken()).extracting(w -> w.gtid().number()).containsExactly(1L, 2L);
        assertThat(plan.failed()).extracting(Doomed::number).containsExactly(2L);
    }

    @Test
    void leavesWhatDdlHasForcedButForWhatFailedAndMayStandAgain() throws Exception {
        own(1, Verdict.PASSED, WriteSet.Kind.ROWS);
        own(2, Verdict.CONFLICT, WriteSet.Kind.ROWS);
        own(3, Verdict.CONFLICT, WriteSet.Kind.ROWS);
        own(4, Verdict.PASSED, WriteSet.Kind.DDL);
        own(5, Verdict.PASSED, WriteSet.Kind.ROWS);
        TailPlan plan = plan(executed(5), Set.of(3L));
        assertThat(plan.after()).isEqualTo(4);
        assertThat(plan.taken()).extracting(w -> w.gtid().number()).containsExactly(2L, 5L);
        assertThat(plan.failed()).extracting(Doomed::number).containsExactly(2L);
    }

    /** FLUSH PRIVILEGES, say. */
    @Test
    void whatDefinesNothingHasForcedNothingAndIsInNoWay() throws Exception {
        own(1, Verdict.PASSED, WriteSet.Kind.ROWS);
        own(2, Verdict.PASSED, WriteSet.Kind.DDL, Keys.NONE);
        own(3, Verdict.BUILT_ON_FAILED, WriteSet.Kind.DDL, Keys.NONE);
        own(4, Verdict.PASSED, WriteSet.Kind.ROWS);
        TailPlan plan = plan(executed(4), Set.of());
        assertThat(plan.after()).isZero();
        assertThat(plan.taken()).extracting(w -> w.gtid().number()).containsExactly(1L, 4L);
    }

    @Test
    void refusesWhatDependsOnDdlThatFailed() {
        own(1, Verdict.BUILT_ON_FAILED, WriteSet.Kind.DDL);
        assertThatThrownBy(() -> plan(executed(1), Set.of()))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.TAIL_UNCLEAR));
    }
}
