// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import java.util.List;
import java.util.UUID;

/**
 * What a server's rows had when they were read: everything ordered up to a seqno, and of what came after it some of the
 * server's own transactions, which it commits before they are ordered.
 *
 * @param server its UUID
 * @param applied everything up to this seqno is in the rows
 * @param own no own transaction with a higher GTID number is in them
 * @param undone numbers of own transactions that failed and are not in them any more
 */
public record Moment(UUID server, long applied, long own, List<Long> undone) {
    /** Whether the rows have what a writeset brings that passed; {@link OrderScan#isSpoilt} says when that is clear. */
    boolean has(Certified c) {
        Gtid gtid = c.writeSet().gtid();
        return c.seqno() <= applied || (gtid.source().equals(server) && gtid.number() <= own);
    }

    /** Whether the server may show at that moment what one of its own clients has done and no node is to have. */
    public boolean mayShow(Certified failed) {
        return !failed.passed() && mayShow(failed.seqno(), failed.writeSet().gtid());
    }

    /** Whether the rows may have what one of the server's own clients has done before it is applied everywhere. */
    boolean mayShow(long seqno, Gtid gtid) {
        return seqno > applied
                && gtid.source().equals(server)
                && gtid.number() <= own
                && !undone.contains(gtid.number());
    }
}
