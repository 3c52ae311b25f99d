// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport.rpc;

import org.apache.ratis.server.raftlog.RaftLog;

/**
 * Finds where a follower's log departs from the leader's, going back in steps that double. Ratis goes back by one entry
 * per round trip, each time with everything it has after that entry; for a leader that was cut off under load,
 * thousands of times. If a step went too far, the follower answers with the end of what it knows to be committed, where
 * both logs are the same; the leader continues from there.
 *
 * <p>One for each follower and term of a leader; guarded by its caller.
 */
final class DepartureSearch {
    private static final int STEPS_BY_ONE = 3;

    private long matchBefore = RaftLog.INVALID_LOG_INDEX;
    private int refusals;

    /**
     * Where to try next, after the follower has refused entries.
     *
     * @param sent index of the first entry that was sent, -1 when none was
     * @param answered the index it asks for
     * @param byOne what Ratis would try next
     * @param match the last entry that it has acknowledged to this leader, -1 for none
     * @param least the steps don't go back beyond this index
     */
    long next(long sent, long answered, long byOne, long match, long least) {
        boolean tooFar = answered > sent && sent != RaftLog.INVALID_LOG_INDEX;
        refusals = tooFar || match != matchBefore ? 0 : refusals + 1;
        matchBefore = match;
        long from = Math.max(match + 1, least);
        if (tooFar || refusals <= STEPS_BY_ONE || byOne <= from) {
            return byOne;
        }
        return Math.max(from, byOne - (1L << Math.min(refusals - STEPS_BY_ONE, 30)));
    }
}
