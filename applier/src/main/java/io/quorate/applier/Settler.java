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
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides this server's prepared transactions, as {@link Settlement} says: at their place in the order, or earlier if
 * they hold locks that an earlier writeset needs.
 */
final class Settler implements Settlement.Server, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Settler.class);
    /** XAER_NOTA: not prepared, or not yet visible as such, or decided before. */
    private static final int UNKNOWN_XID = 1397;

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

    /**
     * Carries out the verdict. Everything before it is committed.
     *
     * @return false when it passed and is neither in the database nor prepared: it has to be applied
     * @throws QuorateException {@link ErrorCode#UNDO_IMPOSSIBLE} when it failed and is committed here
     */
    boolean settle(Certified own) throws SQLException, InterruptedException {
        Settlement settlement = new Settlement(own, prepared);
        Settlement.Outcome outcome;
        while ((outcome = settlement.step(this)) == Settlement.Outcome.ASK_AGAIN) {
            pipeline.pause(Settlement.PAUSE_MILLIS);
        }
        CertifiedXid xid = CertifiedXid.of(own.writeSet());
        switch (outcome) {
            case COMMITTED -> counters.settled.increment();
            case STRAGGLES -> stragglers.add(new Straggler(xid, System.nanoTime() + STRAGGLER_LIMIT.toNanos()));
            case TO_APPLY ->
                log.info(
                        "seqno {}, prepared here as {}, had to be rolled back and is applied now",
                        own.seqno(),
                        xid.sql());
            default -> {}
        }
        return outcome != Settlement.Outcome.TO_APPLY;
    }

    /**
     * Tries again to roll back transactions that failed before the server knew them as prepared: nobody else would ever
     * decide them.
     */
    void sweep() throws SQLException {
        for (Iterator<Straggler> all = stragglers.iterator(); all.hasNext(); ) {
            Straggler straggler = all.next();
            if (decide(straggler.xid, false) || straggler.untilNanos - System.nanoTime() < 0) {
                all.remove();
            }
        }
    }

    @Override
    public boolean decide(CertifiedXid xid, boolean commit) throws SQLException {
        boolean[] decided = {true};
        connection.run(c -> {
            try (Statement statement = c.createStatement()) {
                statement.execute((commit ? "XA COMMIT " : "XA ROLLBACK ") + xid.sql());
            } catch (SQLException e) {
                if (e.getErrorCode() != UNKNOWN_XID) {
                    throw e;
                }
                decided[0] = false;
            }
        });
        return decided[0];
    }

    @Override
    public long marked(CertifiedXid xid) throws SQLException {
        long[] count = {0};
        connection.run(c -> count[0] = MarkTable.count(c, xid.slot()));
        return count[0];
    }

    /**
     * Rolls back the transactions that are known to fail against these writesets, before the group meets their locks.
     */
    void clearWay(Collection<Certified> group) throws SQLException {
        counters.preparedRolledBack.add(Settlement.clearWay(prepared, group, this));
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
            rolledBack += decide(xid, false) ? 1 : 0;
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
