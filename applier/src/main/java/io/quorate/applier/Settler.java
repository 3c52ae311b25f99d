// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;
import io.quorate.core.CertifiedXid;
import io.quorate.core.ErrorCode;
import io.quorate.core.PreparedWrites;
import io.quorate.core.QuorateException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides this server's prepared transactions. They get XA COMMIT at their place in the order if they passed, and XA
 * ROLLBACK if they failed, or earlier if they hold locks that an earlier writeset needs. A transaction that passes
 * after it had to be rolled back, or that the server lost in a crash, is applied from the record like any other. Its
 * mark says which of these is the case: the mark is committed with the transaction, or not at all.
 */
final class Settler implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Settler.class);
    /** XAER_NOTA: not prepared, or not yet visible as such, or decided before. */
    private static final int UNKNOWN_XID = 1397;

    private static final int LOOKS_MAX = 5;
    private static final long LOOK_MILLIS = 4;
    private static final Duration STRAGGLER_LIMIT = Duration.ofMinutes(1);

    private final AuxiliaryConnection connection;
    private final PreparedWrites prepared;
    private final Pipeline pipeline;
    private final Counters counters;
    private final Queue<Straggler> stragglers = new ConcurrentLinkedQueue<>();

    /** A transaction that failed and could not be rolled back yet. */
    private record Straggler(CertifiedXid xid, long untilNanos) {}

    Settler(AuxiliaryConnection connection, PreparedWrites prepared, Pipeline pipeline, Counters counters) {
        this.connection = connection;
        this.prepared = prepared;
        this.pipeline = pipeline;
        this.counters = counters;
    }

    /** The record has a prepared transaction of ours that will have to be settled here. */
    void expect(Certified own) {
        prepared.prepared(own.writeSet());
    }

    /**
     * Carries out the verdict. Everything before it is committed.
     *
     * @return false when it passed and is neither in the database nor prepared: it has to be applied
     * @throws QuorateException {@link ErrorCode#UNDO_IMPOSSIBLE} when it failed and is committed here
     */
    boolean settle(Certified own) throws SQLException, InterruptedException {
        CertifiedXid xid = CertifiedXid.of(own.writeSet());
        long number = own.writeSet().gtid().number();
        boolean open = prepared.isOpen(number);
        boolean decided = open && decided(own.passed() ? "XA COMMIT " : "XA ROLLBACK ", xid);
        // Only now, because the server may have refused for a moment, and is asked again.
        prepared.settled(number);
        if (!own.passed()) {
            if (open && !decided) {
                stragglers.add(new Straggler(xid, System.nanoTime() + STRAGGLER_LIMIT.toNanos()));
            } else if (open) {
                requireNotCommitted(own, xid);
            }
            return true;
        }
        if (decided) {
            counters.settled.increment();
            return true;
        }
        log.info("seqno {}, prepared here as {}, had to be rolled back and is applied now", own.seqno(), xid.sql());
        return false;
    }

    /**
     * The event is in the binlog before the server knows the xid as prepared, so a first "unknown" proves nothing.
     *
     * @return whether it is decided now, or was committed before. If it was prepared after all, and passed, its locks
     *     would keep its own rows from being applied until it is found
     */
    private boolean decided(String verb, CertifiedXid xid) throws SQLException, InterruptedException {
        for (int look = 1; ; look++) {
            if (decide(verb, xid) || isMarked(xid)) {
                return true;
            }
            if (look == LOOKS_MAX) {
                return false;
            }
            pipeline.pause(LOOK_MILLIS);
        }
    }

    /**
     * Tries again to roll back transactions that failed before the server knew them as prepared: nobody else would ever
     * decide them.
     */
    void sweep() throws SQLException {
        for (Iterator<Straggler> all = stragglers.iterator(); all.hasNext(); ) {
            Straggler straggler = all.next();
            if (decide("XA ROLLBACK ", straggler.xid) || straggler.untilNanos - System.nanoTime() < 0) {
                all.remove();
            }
        }
    }

    /** False when there is nothing to decide. */
    private boolean decide(String verb, CertifiedXid xid) throws SQLException {
        boolean[] decided = {true};
        connection.run(c -> {
            try (Statement statement = c.createStatement()) {
                statement.execute(verb + xid.sql());
            } catch (SQLException e) {
                if (e.getErrorCode() != UNKNOWN_XID) {
                    throw e;
                }
                decided[0] = false;
            }
        });
        return decided[0];
    }

    private boolean isMarked(CertifiedXid xid) throws SQLException {
        return count(xid) >= xid.count();
    }

    private long count(CertifiedXid xid) throws SQLException {
        long[] count = {0};
        connection.run(c -> count[0] = MarkTable.count(c, xid.slot()));
        return count[0];
    }

    /**
     * The transaction may have passed in a former life of the cluster, and its record may have been lost in a crash; or
     * the client that prepared it has also committed it. This is known as long as its slot has committed nothing since.
     */
    private void requireNotCommitted(Certified own, CertifiedXid xid) throws SQLException {
        if (count(xid) == xid.count()) {
            throw new QuorateException(
                    ErrorCode.UNDO_IMPOSSIBLE,
                    own.writeSet().gtid() + ", prepared as " + xid.sql() + ", is committed here and failed as seqno "
                            + own.seqno() + " in the order");
        }
    }

    /**
     * Rolls back the transactions that are known to fail against these writesets, before the group meets their locks.
     */
    void clearWay(Collection<Certified> group) throws SQLException {
        for (Map.Entry<Long, CertifiedXid> each : prepared.inTheWayOf(group).entrySet()) {
            if (decide("XA ROLLBACK ", each.getValue())) {
                prepared.settled(each.getKey());
                counters.preparedRolledBack.increment();
            }
        }
    }

    /**
     * Rolls back everything that is prepared and waits for certification: one of these transactions holds a lock that
     * the next group to commit needs, and the server doesn't say which.
     *
     * @return how many there were
     */
    int rollBackAll() throws SQLException {
        List<CertifiedXid> all = new ArrayList<>();
        connection.run(c -> recover(c, all));
        int rolledBack = 0;
        for (CertifiedXid xid : all) {
            rolledBack += decide("XA ROLLBACK ", xid) ? 1 : 0;
        }
        counters.preparedRolledBack.add(rolledBack);
        return rolledBack;
    }

    private static void recover(Connection connection, List<CertifiedXid> all) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("XA RECOVER CONVERT XID")) {
            while (row.next()) {
                byte[] both = HexFormat.of().parseHex(row.getString(4).substring("0x".length()));
                byte[] global = new byte[row.getInt(2)];
                byte[] branch = new byte[row.getInt(3)];
                System.arraycopy(both, 0, global, 0, global.length);
                System.arraycopy(both, global.length, branch, 0, branch.length);
                CertifiedXid.of(global, branch, row.getLong(1)).ifPresent(all::add);
            }
        }
    }

    @Override
    public void close() {
        connection.close();
    }
}
