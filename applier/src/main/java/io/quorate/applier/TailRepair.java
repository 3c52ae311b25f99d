// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.AppliedDdl;
import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.GtidSet;
import io.quorate.core.Keys;
import io.quorate.core.LogPosition;
import io.quorate.core.OwnWrites.Doomed;
import io.quorate.core.QuorateException;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import io.quorate.core.binlog.TakeBack;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a server that doesn't force its logs may have lost in a crash. What it kept is, by the order of its redo log, all
 * that was committed before the position row on disk; so every own writeset up to that seqno is there, for it was
 * ordered before the position came to be. Of own ones after it nobody can say: the binlog may name what the rows have
 * lost, and the rows may have what the binlog has lost. So they are taken back, all of them, in one transaction that leaves the rows as
 * they were at the position; from there everything is applied in its order, own ones too. DDL forces the redo log when it
 * commits; whatever comes before one that is executed is there.
 *
 * <p>Before it, the order must have taken all that the binlog has, and nothing may commit on the server meanwhile.
 */
public final class TailRepair {
    private static final Logger log = LoggerFactory.getLogger(TailRepair.class);
    private static final long BYTES_MAX = 256 << 20;
    private static final Duration READ_WAIT = Duration.ofSeconds(5);

    private final Access source;
    private final WriteSetLog writeSets;
    private final UUID server;
    private final String incarnation;
    private PositionTable.Position position;
    private Map<Long, Long> undone;
    private GtidSet executed;
    private GtidSet reserved;

    private TakeBack takeBack;

    private final List<Doomed> failed = new ArrayList<>();
    private final List<WriteSet> taken = new ArrayList<>();
    private long after;

    /** Where connections come from, and how long one waits for a lock. */
    public record Access(DataSource workers, Duration lockWait) {}

    /**
     * @param source of connections as {@link ApplierDataSource} makes them
     * @param writeSets the node's record, complete up to what the order has handed out
     */
    public TailRepair(Access source, WriteSetLog writeSets, UUID server, String incarnation) {
        this.source = source;
        this.writeSets = writeSets;
        this.server = server;
        this.incarnation = incarnation;
    }

    /**
     * Takes back what may be there and what may not.
     *
     * @param ordered how far the order has taken this server's GTIDs; more than the position's own ones
     * @param executedNow GTIDs in the server's executed set
     * @param reservedNow those of them that no transaction ever had here
     * @return what is not there any more; null when something else was committed meanwhile, which has to be ordered first
     * @throws QuorateException {@link ErrorCode#TAIL_UNCLEAR} before anything is touched
     */
    public TakenBack run(long ordered, GtidSet executedNow, GtidSet reservedNow)
            throws SQLException, IOException, InterruptedException {
        executed = executedNow;
        reserved = reservedNow;
        try (Connection connection = source.workers.getConnection()) {
            PositionTable.create(connection);
            position = PositionTable.read(connection);
            PositionTable.requireIncarnation(position, incarnation);
            PositionTable.addWorkers(connection, 1, incarnation);
            undone = UndoneTable.read(connection);
        }
        collect(ordered);
        requireNoCascades();
        return carryOut(executedNow.last(server));
    }

    /** First from where on own transactions are uncertain, and how far others' changes matter; then the rows. */
    private void collect(long ordered) throws IOException, InterruptedException {
        after = ordered;
        takeBack = new TakeBack(BYTES_MAX);
        long[] certain = {position.seqno()};
        long[] seenMax = {0};
        boolean[] first = {true};
        walk(c -> {
            if (isOwn(c)) {
                seenMax[0] = Math.max(seenMax[0], c.writeSet().lastSeen());
                after = first[0] ? c.writeSet().gtid().number() - 1 : after;
                first[0] = false;
            }
            if (ranHere(c)) {
                certain[0] = c.seqno();
            }
        });
        long[] lostFrom = {Long.MAX_VALUE};
        boolean[] lost = {false};
        walk(c -> {
            try {
                if (c.seqno() <= certain[0] && isOwn(c)) {
                    after = c.writeSet().gtid().number();
                } else if (c.seqno() > certain[0] && c.writeSet().isBarrier()) {
                    lost[0] |= isOwn(c);
                    lostFrom[0] = c.passed() ? Math.min(lostFrom[0], c.seqno()) : lostFrom[0];
                } else if (!isOwn(c)) {
                    if (c.passed() && c.seqno() <= seenMax[0]) {
                        takeBack.other(c.writeSet().payload(), c.seqno());
                    }
                } else if (!lost[0] && c.writeSet().lastSeen() < lostFrom[0]) {
                    own(c);
                }
            } catch (TakeBack.Impossible e) {
                throw unclear(e.getMessage());
            }
        });
    }

    /** Whether it is DDL that this server has executed, which forced everything before it. */
    private boolean ranHere(Certified c) {
        if (!c.writeSet().isBarrier()) {
            return false;
        }
        Gtid ran = isOwn(c) ? c.writeSet().gtid() : new Gtid(AppliedDdl.source(incarnation), c.seqno());
        return executed.contains(ran) && !reserved.contains(ran);
    }

    private void own(Certified c) throws TakeBack.Impossible {
        WriteSet w = c.writeSet();
        if (w.isPrepared()) {
            if (c.passed()) {
                takeBack.prepared(w.payload());
            }
            return;
        }
        boolean mayBeHere = executed.contains(w.gtid()) && !reserved.contains(w.gtid());
        if (!mayBeHere || undone.containsKey(w.gtid().number())) {
            return;
        }
        taken.add(w);
        takeBack.own(w.payload(), w.lastSeen());
        if (!c.passed()) {
            failed.add(new Doomed(w.gtid().number(), c.seqno(), null));
        }
    }

    private boolean isOwn(Certified c) {
        return c.writeSet().gtid().source().equals(server);
    }

    private interface Visitor {
        void visit(Certified c);
    }

    private void walk(Visitor visitor) throws IOException, InterruptedException {
        long last = writeSets.last();
        if (last <= position.seqno()) {
            return;
        }
        try (WriteSetLog.Cursor cursor = writeSets.read(position.seqno() + 1)) {
            for (long seqno = position.seqno() + 1; seqno <= last; seqno++) {
                Certified c = cursor.next(READ_WAIT);
                if (c == null) {
                    throw new IOException("the record does not go on at seqno " + seqno);
                }
                visitor.visit(c);
            }
        }
    }

    private void requireNoCascades() throws SQLException {
        AuxiliaryConnection auxiliary = new AuxiliaryConnection(source.workers);
        try {
            Cascades cascades = new Cascades(auxiliary);
            for (WriteSet w : taken) {
                try {
                    cascades.require(w);
                } catch (QuorateException e) {
                    throw unclear(w.gtid() + ": " + e.getMessage());
                }
            }
        } finally {
            auxiliary.close();
        }
    }

    private QuorateException unclear(String why) {
        return new QuorateException(
                ErrorCode.TAIL_UNCLEAR,
                "after its restart this server may lack any of its own transactions after number " + after
                        + ", and they can't be taken back to be applied anew: " + why);
    }

    /** One transaction, marked as the applier's by its position row. */
    private TakenBack carryOut(long executedLast) throws SQLException {
        AuxiliaryConnection auxiliary = new AuxiliaryConnection(source.workers);
        try (Session session = Session.open(source.workers, source.lockWait)) {
            Statements statements =
                    new Statements(new TableMaps(new SchemaCheck(auxiliary)), 1 << 20, packetMax(session.connection()));
            PositionRow row = new PositionRow(0, incarnation);
            byte[] update = row.update(position.seqno(), position.log(), System.currentTimeMillis() * 1000);
            session.execute("SET SESSION rbr_exec_mode = 'IDEMPOTENT'");
            run(session, statements, row, update, takeBack.deletes());
            session.execute("SET SESSION rbr_exec_mode = 'STRICT'");
            run(session, statements, row, null, takeBack.inserts());
            if (!failed.isEmpty()) {
                session.execute(UndoneTable.insert(failed, Math.max(1, position.seqno()))
                        .replace("INSERT", "INSERT IGNORE"));
            }
            if (session.lastGtid(server) > executedLast) {
                session.rollback();
                return null;
            }
            session.commit();
        } finally {
            auxiliary.close();
        }
        log.info(
                "{} own transactions after {} are applied anew from seqno {} on, {} rows went back to where they were",
                taken.size(),
                after,
                position.seqno() + 1,
                takeBack.rows());
        return new TakenBack(after, executedLast);
    }

    private void run(Session session, Statements statements, PositionRow row, byte[] update, byte[] events)
            throws SQLException {
        WriteSet w = new WriteSet(new Gtid(server, Math.max(1, after)), 0, 0, WriteSet.Kind.ROWS, Keys.NONE, events);
        Certified c = new Certified(position.seqno(), Verdict.PASSED, 0, 0, LogPosition.START, false, w);
        statements.begin(events.length == 0 ? List.of() : List.of(c), 0, row, update);
        for (byte[] next; (next = statements.next()) != null; ) {
            session.binlog(next);
        }
    }

    private static int packetMax(Connection connection) throws SQLException {
        return (int) (Applier.EVENTS_PER_PACKET * Applier.packetMax(connection));
    }
}
