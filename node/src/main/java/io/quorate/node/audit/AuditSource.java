// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import io.quorate.certification.OrderedStream;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.node.audit.AuditQuestion.End;
import io.quorate.node.audit.AuditQuestion.FoundRow;
import io.quorate.node.audit.AuditQuestion.Next;
import io.quorate.node.audit.AuditQuestion.Repair;
import io.quorate.node.audit.AuditQuestion.Repaired;
import io.quorate.node.audit.AuditQuestion.Rows;
import io.quorate.node.audit.AuditQuestion.Settle;
import io.quorate.node.audit.AuditQuestion.Settled;
import io.quorate.node.audit.AuditQuestion.Shown;
import io.quorate.node.audit.AuditQuestion.ShownRows;
import io.quorate.node.audit.AuditQuestion.SumOf;
import io.quorate.node.audit.AuditQuestion.TableName;
import io.quorate.node.audit.AuditQuestion.Tables;
import io.quorate.node.audit.AuditQuestion.Versions;
import io.quorate.node.audit.AuditQuestion.WholeRow;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.question.Answers;
import io.quorate.node.question.Questions;
import io.quorate.node.server.ApplyProgress;
import io.quorate.node.server.ServerAccess;
import io.quorate.node.server.ServerSession;
import io.quorate.sst.audit.AuditedTable;
import io.quorate.sst.audit.AuditedTable.Row;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/** Answers what an audit asks about this node's server. Answers one question at a time. */
public final class AuditSource implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(AuditSource.class);
    private static final Duration LIMIT = Duration.ofSeconds(20);
    /** How long the server may take for an answer: tables without a key are read as a whole. */
    static final Duration ANSWERS_WITHIN = Duration.ofMinutes(5);

    /** How much of a value is shown. */
    static final int SHOWN_CHARACTERS = 200;

    private static final int SHOWN_ROWS_MAX = 1000;

    /** About how large a stretch may become; so a stretch of wide rows has fewer rows. */
    private static final long STRETCH_BYTES = 16 << 20;

    private final NodeProperties properties;
    private final ServerAccess access;
    private final Supplier<ServerSession> session;
    private final OrderedStream stream;
    private final ApplyProgress progress;
    private final BooleanSupplier synced;
    private final RowRepair repair;
    private volatile Connection connection;
    private volatile boolean closed;

    /**
     * @param session the session with the server; null while there is none
     * @param synced whether this node's server holds what the order says
     */
    public AuditSource(
            NodeProperties properties,
            ServerAccess access,
            Supplier<ServerSession> session,
            OrderedStream stream,
            ApplyProgress progress,
            BooleanSupplier synced,
            Questions questions,
            JsonMapper json) {
        this.properties = properties;
        this.access = access;
        this.session = session;
        this.stream = stream;
        this.progress = progress;
        this.synced = synced;
        this.repair = new RowRepair(properties, access, stream, questions, json);
    }

    public void register(Answers answers) {
        answers.on(
                Tables.class,
                q -> serve(server -> {
                    awaitApplied(q.after());
                    return new Versions(AuditedTable.all(server));
                }));
        answers.on(Settle.class, q -> serve(server -> new Settled(settled(server))));
        answers.on(Next.class, q -> serve(server -> next(server, q)));
        answers.on(SumOf.class, q -> serve(server -> table(server, q.table()).sum(server, q.stretch())));
        answers.on(
                Rows.class,
                q -> serve(server -> {
                    awaitApplied(q.after());
                    long most = properties.audit().keylessRowsMax();
                    return new Versions(table(server, q.table()).rows(server, q.stretch(), most));
                }));
        answers.on(
                WholeRow.class,
                q -> serve(server -> {
                    awaitApplied(q.after());
                    return new FoundRow(table(server, q.table()).row(server, q.identity(), false));
                }));
        answers.on(Shown.class, q -> serve(server -> shown(server, q)));
        answers.on(Repair.class, q -> serve(server -> new Repaired(repair.run(table(server, q.table()), q))));
        answers.requireAll(AuditQuestion.class);
    }

    /** Makes a node without a server refuse all these questions. */
    public static void refuse(Answers answers, Supplier<QuorateException> refusal) {
        answers.refuse(AuditQuestion.class, refusal);
    }

    /** Reads something from the server. */
    private interface Reading<A> {
        A read(Connection server) throws SQLException, InterruptedException;
    }

    /** @throws QuorateException AUDIT_REFUSED with the reason, when this node's server can't be compared now */
    private synchronized <A> A serve(Reading<A> reading) {
        if (closed || !synced.getAsBoolean()) {
            throw refused("is not SYNCED");
        }
        try {
            return reading.read(connection());
        } catch (SQLException e) {
            drop();
            throw refused(access.unreachable(e).getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw refused("ends");
        } catch (IllegalArgumentException e) {
            throw refused(e.getMessage());
        }
    }

    private Connection connection() throws SQLException {
        if (connection == null || !connection.isValid(2)) {
            drop();
            connection = access.connectAlone(ANSWERS_WITHIN);
            AuditedTable.prepare(connection);
        }
        return connection;
    }

    private AuditedTable table(Connection server, TableName name) throws SQLException {
        AuditedTable table = AuditedTable.read(server, name.schema(), name.name());
        if (table == null) {
            throw refused("has no table " + name);
        }
        return table;
    }

    /**
     * Waits until the order has everything that clients have committed on this server, and returns the last seqno that
     * is ordered. Servers that hold everything up to there, with the losers undone, don't differ by any of that.
     */
    private long settled(Connection server) throws SQLException, InterruptedException {
        ServerSession working = session.get();
        if (working == null) {
            throw refused("is not connected to its server");
        }
        long last = working.ownExecuted(server);
        await(
                () -> working.ownOrdered() >= last,
                "has commits of its clients that the order doesn't have yet, up to " + last);
        return stream.lastOrdered();
    }

    private void awaitApplied(long seqno) throws InterruptedException {
        await(() -> progress.lastApplied() >= seqno, "has not applied seqno " + seqno + " yet");
    }

    private void await(BooleanSupplier condition, String otherwise) throws InterruptedException {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            if (closed || System.nanoTime() > end) {
                throw refused(otherwise);
            }
            Thread.sleep(10);
        }
    }

    private End next(Connection server, Next question) throws SQLException {
        TableName name = question.table();
        AuditedTable table = AuditedTable.read(server, name.schema(), name.name());
        if (table == null) {
            return new End(null, 0, "it was dropped meanwhile");
        }
        String unreadable = question.from() == null ? table.unreadable(server) : null;
        if (unreadable != null) {
            return new End(null, 0, unreadable);
        }
        AuditedTable.Estimate estimate = table.estimate(server);
        if (!table.hasKey()) {
            long most = properties.audit().keylessRowsMax();
            return new End(
                    null,
                    estimate.rows(),
                    estimate.rows() <= most
                            ? null
                            : "it has no usable primary key and about " + estimate.rows()
                                    + " rows; quorate.audit.keyless-rows-max is " + most);
        }
        long rows = Math.max(
                1, Math.min(properties.audit().stretchRows(), STRETCH_BYTES / Math.max(1, estimate.bytesPerRow())));
        return new End(table.next(server, question.from(), rows), estimate.rows(), null);
    }

    private ShownRows shown(Connection server, Shown question) throws SQLException {
        if (question.identities().size() > SHOWN_ROWS_MAX) {
            throw refused("shows at most " + SHOWN_ROWS_MAX + " rows at a time");
        }
        AuditedTable table = table(server, question.table());
        Map<String, Row> rows = new LinkedHashMap<>();
        for (String identity : question.identities()) {
            Row row = table.shown(server, identity, SHOWN_CHARACTERS);
            if (row != null) {
                rows.put(identity, row);
            }
        }
        return new ShownRows(rows);
    }

    private QuorateException refused(String why) {
        return new QuorateException(ErrorCode.AUDIT_REFUSED, properties.node() + " " + why);
    }

    /** Closes the connection; a statement that is running on it ends with an error. */
    private void drop() {
        Connection before = connection;
        connection = null;
        if (before != null) {
            try {
                before.abort(Runnable::run);
            } catch (SQLException e) {
                log.debug("while closing: {}", e.toString());
            }
        }
    }

    /** Closes at once, without waiting for an answer that is being made. */
    @Override
    public void close() {
        closed = true;
        drop();
    }
}
