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
 * Decides what becomes of an own prepared transaction at its place in the order: XA COMMIT when it passed, XA ROLLBACK
 * when it failed. It is rolled back earlier when it holds locks that an earlier writeset needs. A transaction that
 * passes after it had to be rolled back, or after the server lost it in a crash, is applied from the record like a
 * foreign one. Whether it is in the database is told by its mark, which is committed with it or not at all.
 *
 * <p>The event is in the binlog before the server knows the xid as prepared. So the server is asked again when its
 * first answer is "unknown". If the transaction has passed and is found to be prepared only later, its locks keep its
 * own rows from being applied until then.
 */
public final class Settlement {
    private static final int LOOKS_MAX = 5;
    /** The pause before the server is asked again. */
    public static final long PAUSE_MILLIS = 4;

    /** The server, as it is asked about one prepared transaction. */
    public interface Server {
        /** XA COMMIT or XA ROLLBACK; false when the server knows no prepared transaction of that name. */
        boolean decide(CertifiedXid xid, boolean commit) throws SQLException;

        /**
         * The count of the last transaction that was committed in the slot of {@code xid}, according to the mark that
         * it left.
         */
        long marked(CertifiedXid xid) throws SQLException;
    }

    /** What has become of the transaction. */
    public enum Outcome {
        /** Ask again after {@link #PAUSE_MILLIS}. */
        ASK_AGAIN,
        COMMITTED,
        ROLLED_BACK,
        /** It passed, and is neither in the database nor prepared. */
        TO_APPLY,
        /** It failed, and may turn up as prepared on the server later; nobody else would ever decide it then. */
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
     * Carries out the verdict, as far as the server knows the transaction.
     *
     * @throws QuorateException {@link ErrorCode#UNDO_IMPOSSIBLE} when the transaction failed and is committed here
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
        // Not any earlier: if the server had refused for a moment, it would have to be asked again.
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
     * Fails when a transaction that failed is committed here all the same. It may have passed in an earlier life of the
     * cluster, and a crash has taken that from the record; or the client that prepared it has committed it itself. This
     * can be told as long as nothing else was committed in its slot since.
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
     * Rolls back prepared transactions that are known to fail against these writesets, before the writesets meet their
     * locks.
     *
     * @return how many were rolled back
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
