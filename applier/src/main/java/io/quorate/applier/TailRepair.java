// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;
import io.quorate.core.Difference;
import io.quorate.core.Gtid;
import io.quorate.core.GtidSet;
import io.quorate.core.Keys;
import io.quorate.core.LogPosition;
import io.quorate.core.Payload;
import io.quorate.core.QuorateException;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import io.quorate.core.binlog.Inverse;
import io.quorate.core.binlog.TableMap;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repairs what a server that doesn't force its logs may have lost in a crash. By the order of its redo log, it has kept
 * everything that was committed before the position row on disk. So every own writeset up to that seqno is there,
 * because it was ordered before that position existed. About later own writesets nobody can say: the binlog may name
 * transactions whose rows are lost, and the rows may have transactions that the binlog has lost. So all of these are
 * taken back, in one transaction that leaves the rows as they were at the position; from there everything is applied in
 * its order, own transactions too. DDL forces the redo log when it commits, so everything before an executed DDL
 * statement is there.
 *
 * <p>Before that, the order must have taken everything that the binlog has, and nothing may commit on the server
 * meanwhile.
 */
public final class TailRepair {
    private static final Logger log = LoggerFactory.getLogger(TailRepair.class);

    private final boolean certain;
    private final Access source;
    private final WriteSetLog writeSets;
    private final UUID server;
    private final String incarnation;
    private PositionTable.Position position;
    private TailPlan plan;

    /** Where connections come from, and how long they wait for a lock. */
    public record Access(DataSource workers, Duration lockWait) {}

    /**
     * @param source of connections as {@link ApplierDataSource} makes them
     * @param writeSets the node's record, complete up to what the order has handed out
     */
    public TailRepair(Access source, WriteSetLog writeSets, UUID server, String incarnation) {
        this(source, writeSets, server, incarnation, false);
    }

    /**
     * For a copy of a server. It lost nothing, so every transaction is undone by itself, the last one first, which
     * needs no primary keys. If that is done a second time, after a crash of this node, the server refuses by a
     * duplicate key (1062).
     */
    public static TailRepair ofCopy(Access source, WriteSetLog writeSets, UUID server, String incarnation) {
        return new TailRepair(source, writeSets, server, incarnation, true);
    }

    private TailRepair(Access source, WriteSetLog writeSets, UUID server, String incarnation, boolean certain) {
        this.certain = certain;
        this.source = source;
        this.writeSets = writeSets;
        this.server = server;
        this.incarnation = incarnation;
    }

    /**
     * Takes back the transactions that may or may not be there.
     *
     * @param ordered how far the order has taken this server's GTIDs; more than the position's own ones
     * @param executedNow GTIDs in the server's executed set
     * @param reservedNow those of them that no transaction ever had here
     * @return what is no longer there; null when something else was committed meanwhile, which has to be ordered first
     * @throws QuorateException {@link ErrorCode#TAIL_UNCLEAR}; then nothing is changed
     */
    public TakenBack run(long ordered, GtidSet executedNow, GtidSet reservedNow)
            throws SQLException, IOException, InterruptedException {
        try (Connection connection = source.workers.getConnection()) {
            PositionTable.create(connection);
            position = PositionTable.read(connection);
            PositionTable.requireIncarnation(position, incarnation);
            PositionTable.addWorkers(connection, 1, incarnation);
            plan = new TailPlan(
                    server,
                    incarnation,
                    executedNow,
                    reservedNow,
                    UndoneTable.read(connection).keySet(),
                    certain);
        }
        plan.make(position.seqno(), ordered, this::walk);
        requireNoCascades();
        return carryOut(executedNow.last(server));
    }

    private void walk(TailPlan.Visitor visitor) throws IOException, InterruptedException {
        writeSets.each(position.seqno() + 1, writeSets.last(), visitor::visit);
    }

    private void requireNoCascades() throws SQLException {
        AuxiliaryConnection auxiliary = new AuxiliaryConnection(source.workers);
        try {
            Cascades cascades = new Cascades(auxiliary);
            for (WriteSet w : plan.taken()) {
                try {
                    cascades.require(w);
                } catch (QuorateException e) {
                    throw plan.unclear(w.gtid() + ": " + e.getMessage(), Difference.in(TableMap.tables(w.payload())));
                }
            }
        } finally {
            auxiliary.close();
        }
    }

    /** One transaction, marked as the applier's by its position row. */
    private TakenBack carryOut(long executedLast) throws SQLException {
        AuxiliaryConnection auxiliary = new AuxiliaryConnection(source.workers);
        try (Session session = Session.open(source.workers, source.lockWait)) {
            Statements statements = new Statements(new TableMaps(new SchemaCheck(auxiliary)), 1 << 20);
            PositionRow row = new PositionRow(0, incarnation);
            byte[] update = row.update(position.seqno(), position.log(), System.currentTimeMillis() * 1000);
            if (certain) {
                undo(session, statements, row, update);
            } else {
                session.execute("SET SESSION rbr_exec_mode = 'IDEMPOTENT'");
                run(session, statements, row, update, plan.takeBack().deletes());
                session.execute("SET SESSION rbr_exec_mode = 'STRICT'");
                run(session, statements, row, null, plan.takeBack().inserts());
            }
            if (!plan.failed().isEmpty()) {
                session.execute(UndoneTable.insertAhead(plan.failed()));
            }
            if (session.lastGtid(server) > executedLast) {
                session.rollback();
                return null;
            }
            session.commit();
        } catch (SQLException e) {
            if (!SqlErrors.isAboutContents(e)) {
                throw e;
            }
            // A table has been altered since, so that what a row was before isn't possible there any more.
            throw plan.unclear(e.getMessage(), Difference.in(plan.tables()));
        } finally {
            auxiliary.close();
        }
        log.info(
                "{} own transactions after number {} were taken back, to be applied from seqno {} on",
                plan.taken().size(),
                plan.after(),
                position.seqno() + 1);
        return new TakenBack(plan.after(), executedLast);
    }

    private void undo(Session session, Statements statements, PositionRow row, byte[] update) throws SQLException {
        run(session, statements, row, update, Payload.NONE);
        session.execute(UndoneTable.MARK_ONCE);
        List<WriteSet> taken = new ArrayList<>(plan.taken());
        taken.sort(Comparator.comparingLong((WriteSet w) -> w.gtid().number()).reversed());
        for (WriteSet w : taken) {
            run(session, statements, row, null, Inverse.of(w.payload(), writeSets.spool()));
        }
    }

    private void run(Session session, Statements statements, PositionRow row, byte[] update, Payload events)
            throws SQLException {
        WriteSet w =
                new WriteSet(new Gtid(server, Math.max(1, plan.after())), 0, 0, WriteSet.Kind.ROWS, Keys.NONE, events);
        Certified c = new Certified(position.seqno(), Verdict.PASSED, 0, 0, LogPosition.START, false, w);
        statements.begin(events.isEmpty() ? List.of() : List.of(c), 0, row, update);
        session.binlog(statements);
    }
}
