// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.function.LongPredicate;

/**
 * Decides what is done about sessions that hold locks for which the head, the group to commit next, is waiting. If a
 * later group is among them, or among the sessions that they are waiting for in turn, it is asked to yield at once: it
 * waits for the head to commit, which InnoDB can't see. A prepared transaction that waits for its verdict is rolled
 * back at once, because it can be applied later. A client session is killed after a grace period, because what is
 * certified has to commit on every node, and the client's transaction would fail certification anyway.
 */
public final class Blockers {
    /** Stands for the session of a prepared transaction, which has none. */
    public static final long PREPARED = 0;

    /** One session waits for a lock that another one holds. */
    public interface Wait {
        long waiter();

        long holder();
    }

    /** What is done about the sessions that are in the way. */
    public enum Way {
        NOTHING,
        OTHERS_YIELD,
        /**
         * Roll back everything that is prepared and to be certified: the server doesn't say which of these transactions
         * holds the lock. If there are none, the grace period decides.
         */
        ROLL_BACK_PREPARED,
        /** Kill the sessions that the head is waiting for. */
        KILL
    }

    private Blockers() {}

    /**
     * @param head the session that executes the head
     * @param ours tells whether a session executes a group
     */
    public static Way way(long head, Collection<? extends Wait> waits, LongPredicate ours, boolean graceIsOver) {
        if (waitsForOurs(head, waits, ours)) {
            return Way.OTHERS_YIELD;
        }
        if (waits.stream().anyMatch(wait -> wait.waiter() == head && wait.holder() == PREPARED)) {
            return Way.ROLL_BACK_PREPARED;
        }
        return graceIsOver ? Way.KILL : Way.NOTHING;
    }

    /** Whether, in the chain of sessions that wait for one another, a later group holds what the head needs. */
    private static boolean waitsForOurs(long head, Collection<? extends Wait> waits, LongPredicate ours) {
        Set<Long> seen = new HashSet<>(Set.of(head));
        Deque<Long> toVisit = new ArrayDeque<>(seen);
        while (!toVisit.isEmpty()) {
            long waiter = toVisit.poll();
            for (Wait wait : waits) {
                if (wait.waiter() == waiter && seen.add(wait.holder())) {
                    if (wait.holder() != PREPARED && ours.test(wait.holder())) {
                        return true;
                    }
                    toVisit.add(wait.holder());
                }
            }
        }
        return false;
    }
}
