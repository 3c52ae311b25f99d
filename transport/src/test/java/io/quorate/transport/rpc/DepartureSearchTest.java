// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import org.junit.jupiter.api.Test;

/** Against a follower that answers as Ratis 3.3.0's do: checkInconsistentAppendEntries. */
class DepartureSearchTest {
    private static final int OUTSTANDING_MAX = 8;
    private static final int BATCH = 10;

    @Test
    void findsItWhereverItIs() {
        for (int committed = -1; committed < 70; committed += 7) {
            for (int common = committed; common < committed + 40; common += 3) {
                for (int own = 0; own < 70; own++) {
                    assertThat(roundTrips(committed, common, own, 3000))
                            .as("committed %d, common %d, %d of its own", committed, common, own)
                            .isLessThan(40);
                }
            }
        }
    }

    @Test
    void findsItSoonAmongThousands() {
        for (int own = 1000; own < 50_000; own += 777) {
            assertThat(roundTrips(1000, 1003, own, 100_000))
                    .as("%d of its own", own)
                    .isLessThan(60);
        }
    }

    /**
     * @param committed the last index that the follower knows to be committed
     * @param common the last one that is the same in both logs
     * @param own how many it has after that, which the leader's log hasn't
     * @param end the last index of the leader's log
     * @return in which of its answers, OUTSTANDING_MAX at most being on their way, entries were taken for the first
     *     time
     */
    private static int roundTrips(long committed, long common, int own, long end) {
        DepartureSearch search = new DepartureSearch();
        ArrayDeque<Long> sent = new ArrayDeque<>();
        long next = end;
        for (int answers = 1; answers < 1000; answers++) {
            while (sent.size() < OUTSTANDING_MAX && next <= end) {
                sent.add(next);
                next += BATCH;
            }
            long first = sent.remove();
            long previous = first - 1;
            long answered;
            if (first <= committed) {
                answered = committed + 1;
            } else if (previous > common) {
                answered = Math.min(common + own + 1, previous);
            } else {
                return answers;
            }
            long byOne = answered == first && answered > 0 ? answered - 1 : answered;
            next = search.next(first, answered, byOne, -1, 1);
        }
        return Integer.MAX_VALUE;
    }
}
