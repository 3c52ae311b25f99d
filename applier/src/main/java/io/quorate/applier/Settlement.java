// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;
import io.quorate.core.CertifiedXid;
import io.quorate.core.ErrorCode;
import io.quorate.core.PreparedWrites;
import io.quorate.core.QuorateException;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Map;

/**
 * What becomes of an own prepared transaction at its place in the order: XA COMMIT when it passed, XA ROLLBACK when it
 * failed, or earlier when it holds locks that an earlier writeset needs. One that passes after it had to be rolled
 * back, or that the server lost in a crash, is applied from the record like anybody's. The mark that it left says which
 * of these it is: the mark is committed with it, or not at all.
 *
 * <p>The event in the binlog comes before the server knows the xid as prepared, so a first "unknown" says nothing, and
 * it is asked again. Were it prepared after all and passed, its locks would keep its own rows from being applied until
 * it is found.
 */
public final class Settlement {
    private static final int LOOKS_MAX = 5;
    /** Before the server is asked again. */
    public static final long PAUSE_MILLIS = 4;

    /** The server, asked about one prepared transaction. */
    public interface Server {
        /** XA COMMIT or XA ROLLBACK; false when it knows nothing as prepared by that name. */
        boolean decide(CertifiedXid xid, boolean commit) throws SQLException;

        /** The count of the last that its slot has committed, which left its mark. */
        long marked(CertifiedXid xid) throws SQLException;
    }

    /** How it stands. */
    public enum Outcome {
        /** Ask again after {@link #PAUSE_MILLIS}. */
        ASK_AGAIN,
        COMMITTED,
        ROLLED_BACK,
        /** It passed, and is not in the database, nor prepared. */
        TO_APPLY,
        /** It failed, and the server may come to know it as prepared later: nobody else would ever decide it. */
        STRAGGLES
    }

    private final Certified own;
    private final CertifiedXid xid;
    private final PreparedWrites prepared;
    private int looks;

    public Settlement(Certified own, PreparedWrites prepared) {
        this.own = own;
        this.xid = CertifiedXid.of(own.writeSet());
        this.prepared = prepared;
    }

    /**
     * Carries out the verdict, as far as the server knows of the transaction.
     *
     * @throws QuorateException {@link ErrorCode#UNDO_IMPOSSIBLE} when it failed and is committed here
     */
    public Outcome step(Server server) throws SQLException {
        long number = own.writeSet().gtid().number();
        if (!prepared.isOpen(number)) {
            return own.passed() ? Outcome.TO_APPLY : Outcome.ROLLED_BACK;
        }
        boolean decided = server.decide(xid, own.passed()) || server.marked(xid) >= xid.count();
        if (!decided && ++looks < LOOKS_MAX) {
            return Outcome.ASK_AGAIN;
        }
        // Only now: the server may have refused for a moment, and is asked again.
        prepared.settled(number);
        if (own.passed()) {
            return decided ? Outcome.COMMITTED : Outcome.TO_APPLY;
        }
        if (!decided) {
            return Outcome.STRAGGLES;
        }
        requireNotCommitted(server);
        return Outcome.ROLLED_BACK;
    }

    /**
     * It may have passed in a former life of the cluster, and the record of that be lost in a crash; or whoever
     * prepared it has committed it as well. Known as long as its slot has committed nothing since.
     */
    private void requireNotCommitted(Server server) throws SQLException {
        if (server.marked(xid) == xid.count()) {
            throw new QuorateException(
                    ErrorCode.UNDO_IMPOSSIBLE,
                    own.writeSet().gtid() + ", prepared as " + xid.sql() + ", is committed here and failed as seqno "
                            + own.seqno() + " in the order");
        }
    }

    /**
     * Rolls back what is known to fail against these writesets, before they meet its locks.
     *
     * @return how many there were
     */
    public static int clearWay(PreparedWrites prepared, Collection<Certified> group, Server server)
            throws SQLException {
        int rolledBack = 0;
        for (Map.Entry<Long, CertifiedXid> each : prepared.inTheWayOf(group).entrySet()) {
            if (server.decide(each.getValue(), false)) {
                prepared.settled(each.getKey());
                rolledBack++;
            }
        }
        return rolledBack;
    }
}
