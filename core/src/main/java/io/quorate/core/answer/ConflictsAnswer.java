// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

import java.util.List;

/** {@code /actuator/conflicts}: the latest transactions that lost against another, newest first. */
public sealed interface ConflictsAnswer {
    /** Name of the node asked. */
    String node();

    /**
     * What showed that the node's server held something else than the order said, oldest first. It got a full copy
     * each time, or is INCONSISTENT since.
     */
    List<Mismatch> mismatches();

    /** Without the transactions' rows. */
    record Brief(String node, List<Line> conflicts, List<Mismatch> mismatches) implements ConflictsAnswer {
        public Brief {
            node = LeftOut.orEmpty(node);
            conflicts = LeftOut.orEmpty(conflicts);
            mismatches = LeftOut.orEmpty(mismatches);
        }
    }

    /** With the transactions' rows, when asked for {@code full=true}. */
    record Full(String node, List<ConflictAnswer> conflicts, List<Mismatch> mismatches) implements ConflictsAnswer {
        public Full {
            node = LeftOut.orEmpty(node);
            conflicts = LeftOut.orEmpty(conflicts);
            mismatches = LeftOut.orEmpty(mismatches);
        }
    }

    /**
     * One of these transactions, in short; a {@link ConflictAnswer} has everything.
     *
     * @param seqno the loser's place in the order
     * @param verdict why it lost: {@code CONFLICT}, {@code TOO_OLD}, {@code BUILT_ON_FAILED}, {@code NOT_REPEATABLE} or
     *     {@code VOID}
     * @param met what both touched, empty when the rows don't show it
     * @param loser its GTID
     * @param committed when the loser was, by its server's clock
     * @param account whose client committed it; null when it is another node's, or gone
     * @param rows how many the loser changed
     * @param winnerSeqno of the one it lost against, or the failed or void one it was built on; null when that is no
     *     longer known
     * @param winner its GTID, null likewise
     * @param undone whether the loser was undone on the node asked, for people
     */
    record Line(
            long seqno,
            String verdict,
            List<ConflictAnswer.Met> met,
            String loser,
            String committed,
            String account,
            long rows,
            Long winnerSeqno,
            String winner,
            String undone) {
        public Line {
            verdict = LeftOut.orEmpty(verdict);
            met = LeftOut.orEmpty(met);
            loser = LeftOut.orEmpty(loser);
            committed = LeftOut.orEmpty(committed);
            undone = LeftOut.orEmpty(undone);
        }
    }

    /**
     * A row that an undo found changed.
     *
     * @param at when, by this node's clock
     * @param what the row as the transaction left it and as it was found
     */
    record Mismatch(String at, String what) {
        public Mismatch {
            at = LeftOut.orEmpty(at);
            what = LeftOut.orEmpty(what);
        }
    }
}
