// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.function.LongPredicate;

/**
 * What is done about those who hold locks that the group to commit next waits for. A later group of ours among them, or
 * among those they wait for in turn, is asked to yield at once: it waits for the head to commit, which InnoDB can't
 * see. What is prepared and waits for its verdict is rolled back at once, for it can be applied later. A client's
 * session is killed after a grace, because what is certified has to commit on every node and the client's transaction
 * would fail certification anyway.
 */
public final class Blockers {
    /** The session of a prepared transaction: none. */
    public static final long PREPARED = 0;

    /** One session waits for a lock that another one holds. */
    public interface Wait {
        long waiter();

        long holder();
    }

    /** What is done about them. */
    public enum Way {
        NOTHING,
        OTHERS_YIELD,
        /**
         * All that is prepared and to be certified: the server doesn't say whose the lock is. If there is none, the
         * grace decides.
         */
        ROLL_BACK_PREPARED,
        /** Those whom the head waits for. */
        KILL
    }

    private Blockers() {}

    /**
     * @param head the session that executes the head
     * @param ours whether a session executes a group
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

    /** Whether at the end of the chain of who waits for whom, a later group holds what the head needs. */
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
