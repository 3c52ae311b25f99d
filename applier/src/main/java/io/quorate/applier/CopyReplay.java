// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.GtidSet;
import io.quorate.core.Payload;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import io.quorate.core.binlog.Upserts;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import javax.sql.DataSource;

/**
 * Brings rows that were read at different moments to the same one: everything that was ordered since the first of them
 * was read is replayed over all of them, whether they have it or not ({@link Upserts}). No other session may write
 * meanwhile, and tables that are overwritten must have no unique keys except the primary one. One connection, nothing
 * in the binlog.
 */
public final class CopyReplay {
    private static final Duration READ_WAIT = Duration.ofSeconds(5);
    private static final Duration LOCK_WAIT = Duration.ofSeconds(50);
    private static final int GROUP_WRITESETS = 512;
    private static final int GROUP_BYTES = 4 << 20;

    private final DataSource workers;
    private final WriteSetLog writeSets;
    private final Function<Certified, Upserts.Rules> rules;
    private final LongFunction<String> note;

    /**
     * @param workers of connections as {@link ApplierDataSource} makes them
     * @param rules what becomes of a writeset's changes; null for leaving out all of it
     * @param note the statement that records progress, in the transaction that makes it
     */
    public CopyReplay(
            DataSource workers,
            WriteSetLog writeSets,
            Function<Certified, Upserts.Rules> rules,
            LongFunction<String> note) {
        this.workers = workers;
        this.writeSets = writeSets;
        this.rules = rules;
        this.note = note;
    }

    /**
     * The highest number of a server's own GTIDs that it has executed or is committing. No snapshot taken before shows
     * a higher one.
     *
     * @param not GTIDs that are executed and that no transaction has
     */
    public static long lastCommitting(Connection connection, UUID server, GtidSet not) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return GtidSets.givenOut(statement).minus(not).last(server);
        }
    }

    /** Numbers of a server's own transactions that failed and are undone, according to the connection's snapshot. */
    public static List<Long> undone(Connection connection) throws SQLException {
        return new ArrayList<>(UndoneTable.read(connection).keySet());
    }

    /**
     * Replays what is ordered after {@code from}, up to and including {@code upTo}.
     *
     * @param reached is told how far it is
     * @return false when it was stopped before the end
     * @throws QuorateException COPY_UNUSABLE for a change that can't be replayed over rows in an unknown state
     */
    public boolean run(long from, long upTo, BooleanSupplier goesOn, LongConsumer reached)
            throws SQLException, IOException, InterruptedException {
        AuxiliaryConnection auxiliary = new AuxiliaryConnection(workers);
        try (Session session = Session.open(workers, LOCK_WAIT);
                WriteSetLog.Cursor cursor = writeSets.read(from + 1)) {
            session.execute("SET SESSION sql_log_bin = 0");
            session.execute("SET SESSION rbr_exec_mode = 'IDEMPOTENT'");
            Statements statements = new Statements(new TableMaps(new SchemaCheck(auxiliary)), 1 << 20);
            for (long seqno = from; seqno < upTo; ) {
                if (!goesOn.getAsBoolean()) {
                    return false;
                }
                seqno = group(cursor, seqno, upTo, session, statements);
                reached.accept(seqno);
            }
            return true;
        } finally {
            auxiliary.close();
        }
    }

    private long group(WriteSetLog.Cursor cursor, long from, long upTo, Session session, Statements statements)
            throws SQLException, IOException, InterruptedException {
        List<Certified> group = new ArrayList<>();
        long bytes = 0;
        long seqno = from;
        while (seqno < upTo && seqno - from < GROUP_WRITESETS && bytes < GROUP_BYTES) {
            Certified c = cursor.next(READ_WAIT);
            if (c == null) {
                throw new IOException("the record does not go on at seqno " + (seqno + 1));
            }
            seqno = c.seqno();
            Certified instead = c.passed() ? instead(c) : null;
            if (instead != null) {
                group.add(instead);
                bytes += instead.writeSet().payload().size();
            }
        }
        if (!group.isEmpty()) {
            statements.begin(group, 0, null, null);
            session.binlog(statements);
        }
        session.execute(note.apply(seqno));
        session.commit();
        return seqno;
    }

    private Certified instead(Certified c) {
        Upserts.Rules rule = rules.apply(c);
        if (rule == null) {
            return null;
        }
        WriteSet w = c.writeSet();
        try {
            Payload payload = Upserts.of(w.payload(), rule, writeSets.spool());
            return payload.isEmpty() ? null : c.with(w.withPayload(payload));
        } catch (Upserts.Impossible e) {
            throw new QuorateException(ErrorCode.COPY_UNUSABLE, "seqno " + c.seqno() + ": " + e.getMessage(), e);
        }
    }
}
