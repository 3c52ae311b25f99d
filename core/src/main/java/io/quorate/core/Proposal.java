// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/**
 * What an origin asks the total order to take: the next section of its own binlog. It says "between {@code previous}
 * and {@code last}, these writesets and nothing else of mine". So an empty proposal is useful too: it moves the
 * origin's position past transactions that were not its own (the applier's) and carries its {@code lastSeen} to
 * everyone.
 *
 * <p>Submissions arrive "at least once, in any order"; the link to {@code previous} turns that into "exactly once, in
 * order". The state machine takes a proposal only where it continues what it has of that origin, drops what it has
 * seen, and leaves out what would open a gap, until the origin sends the missing part again.
 *
 * @param origin the server's UUID, which is the source of its GTIDs
 * @param previous the GTID number after which the section starts, 0 for the very first
 * @param last the GTID number up to which it reaches, at least {@code previous}
 * @param lastSeen the highest seqno applied at the origin by {@code last}
 * @param undecided GTID numbers up to {@code last} of XA PREPAREs neither committed nor rolled back by {@code last},
 *     ascending: after a restart the origin reads those again
 * @param writeSets ascending by GTID number, all of this origin, all within ({@code previous}, {@code last}]
 */
public record Proposal(
        UUID origin, long previous, long last, long lastSeen, long[] undecided, List<WriteSet> writeSets) {
    public Proposal {
        writeSets = List.copyOf(writeSets);
        long at = previous;
        for (WriteSet w : writeSets) {
            if (!w.gtid().source().equals(origin)
                    || w.gtid().number() <= at
                    || w.gtid().number() > last) {
                throw new IllegalArgumentException(
                        w.gtid() + " does not belong into " + origin + ":(" + previous + "," + last + "]");
            }
            at = w.gtid().number();
        }
        if (last < previous) {
            throw new IllegalArgumentException("last " + last + " before previous " + previous);
        }
    }

    @Override
    public String toString() {
        return origin + ":(" + previous + "," + last + "] " + writeSets.size() + " writesets, lastSeen " + lastSeen
                + (undecided.length == 0 ? "" : ", undecided " + Arrays.toString(undecided));
    }
}
