// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.Keys;
import io.quorate.core.LogPosition;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.LongUnaryOperator;

/** Certified writesets for tests. */
final class Records {
    static final UUID ORIGIN = UUID.fromString("00000000-0000-0000-0000-00000000000a");

    private Records() {}

    static Certified rows(long seqno, long dependsOn, int bytes) {
        return record(seqno, dependsOn, WriteSet.Kind.ROWS, new byte[bytes]);
    }

    static Certified ddl(long seqno) {
        return record(seqno, seqno - 1, WriteSet.Kind.DDL, new byte[10]);
    }

    static Certified record(long seqno, long dependsOn, WriteSet.Kind kind, byte[] payload) {
        return certified(
                seqno, dependsOn, new WriteSet(new Gtid(ORIGIN, seqno), 0, 1000 + seqno, kind, Keys.NONE, payload));
    }

    static Certified certified(long seqno, long dependsOn, WriteSet writeSet) {
        return new Certified(seqno, Verdict.PASSED, 0, dependsOn, new LogPosition(1, seqno), true, writeSet);
    }

    /** Gives writesets seqnos from {@code first} on, each with what it depends on. */
    static List<Certified> certified(List<WriteSet> writeSets, long first, LongUnaryOperator dependsOn) {
        List<Certified> result = new ArrayList<>(writeSets.size());
        for (WriteSet writeSet : writeSets) {
            long seqno = first + result.size();
            result.add(certified(seqno, Math.min(dependsOn.applyAsLong(seqno), seqno - 1), writeSet));
        }
        return result;
    }
}
