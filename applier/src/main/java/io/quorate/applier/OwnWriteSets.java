// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;
import io.quorate.core.OrderedFirst;
import io.quorate.core.OwnWrites;
import java.util.Map;
import java.util.UUID;

/**
 * Which writesets of this server its database holds already: all of them, because they were captured after they were
 * committed, except those that a crash or {@link TailRepair} took from it. A transaction that failed and was taken back
 * counts as there and undone.
 */
public final class OwnWriteSets {
    private final UUID server;
    private final TakenBack takenBack;
    private final Map<Long, Long> undone;

    public OwnWriteSets(UUID server, TakenBack takenBack, Map<Long, Long> undone) {
        this.server = server;
        this.takenBack = takenBack;
        this.undone = undone;
    }

    /**
     * The register for what the binlog has beyond the order after a crash, while it isn't known yet what the server
     * lost. It was committed before the crash. So it may have been built on any failed transaction whose failure the
     * server saw only later, whatever the tables hold now.
     *
     * @param before what the database already lacked before that crash
     * @param ordered last seqno of the order; transactions that failed up to there were undone at their place, for any
     *     transaction that had seen that place
     */
    public static OwnWrites beforeRepair(UUID server, TakenBack before, long ordered) {
        return new OwnWrites(ordered, Map.of(), new OwnWriteSets(server, before, Map.of())::isHere);
    }

    public boolean isOwn(Certified writeSet) {
        return writeSet.writeSet().gtid().source().equals(server);
    }

    /** What the server has to do for a writeset at its place in the order. */
    public Duty duty(Certified writeSet) {
        if (OrderedFirst.trusts(writeSet.writeSet(), server)) {
            return Duty.NONE;
        }
        boolean ours = isOwn(writeSet);
        return Duty.of(writeSet, ours, ours && isHere(writeSet));
    }

    /** Whether an own writeset is in the database, or was and is undone. */
    public boolean isHere(Certified own) {
        long number = own.writeSet().gtid().number();
        return !takenBack.contains(number) || (!own.passed() && undone.containsKey(number));
    }
}
