// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import io.quorate.applier.CopyReplay;
import io.quorate.applier.PositionTable.Position;
import io.quorate.certification.OrderedStream;
import io.quorate.core.ErrorCode;
import io.quorate.core.GtidSet;
import io.quorate.core.Identifiers;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.copy.CopyQuestion.CatalogAfter;
import io.quorate.node.copy.CopyQuestion.Contents;
import io.quorate.node.copy.CopyQuestion.Head;
import io.quorate.node.copy.CopyQuestion.Lacked;
import io.quorate.node.copy.CopyQuestion.LackedOf;
import io.quorate.node.copy.CopyQuestion.RowsOfStretch;
import io.quorate.node.copy.CopyQuestion.RowsOfTables;
import io.quorate.node.copy.CopyQuestion.TablesAfter;
import io.quorate.node.question.Answers;
import io.quorate.node.question.StreamedReply;
import io.quorate.node.server.ApplyProgress;
import io.quorate.node.server.ServerAccess;
import io.quorate.node.server.ServerLifeFile;
import io.quorate.node.server.ServerSession;
import io.quorate.sst.audit.AuditedTable;
import io.quorate.sst.audit.AuditedTable.Stretch;
import io.quorate.sst.stream.Catalog;
import io.quorate.sst.stream.Moment;
import io.quorate.sst.stream.RowWriter;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The donor's side of method {@code stream}. Every request stands for itself: it is answered by a consistent read of
 * this node's server, together with what the server had at that moment. The node stays SYNCED. Nothing is locked except
 * tables that must be read as a whole, and those only while a snapshot is opened.
 */
final class StreamSource implements GivenCopies {
    private static final Logger log = LoggerFactory.getLogger(StreamSource.class);
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final long POLL_MILLIS = 5;
    private static final int LOCK_WAIT_SECONDS = 1;
    private static final int COMPRESSION = 1;
    private static final long ROWS_MAX = 1_000_000;
    /** ER_LOCK_WAIT_TIMEOUT. The next one is ER_TABLE_DEF_CHANGED, of a snapshot that is older than its table. */
    private static final int LOCKED = 1205;

    private static final int REDEFINED = 1412;

    private final NodeProperties properties;
    private final ServerAccess access;
    private final Supplier<ServerSession> session;
    private final OrderedStream stream;
    private final ApplyProgress progress;
    private final BooleanSupplier synced;
    private final Supplier<@Nullable OfferWhileWaiting> offer;
    private final LongAdder bytes = new LongAdder();
    private final DonorPace pace;

    /**
     * @param session the session with the server; null while there is none
     * @param synced whether this node's server holds what the order says
     * @param offer what it can give though it isn't SYNCED, but waits for a copy; null when that is nothing
     */
    StreamSource(
            NodeProperties properties,
            ServerAccess access,
            Supplier<ServerSession> session,
            OrderedStream stream,
            ApplyProgress progress,
            BooleanSupplier synced,
            Supplier<@Nullable OfferWhileWaiting> offer) {
        this.properties = properties;
        this.access = access;
        this.session = session;
        this.stream = stream;
        this.progress = progress;
        this.synced = synced;
        this.offer = offer;
        this.pace = new DonorPace(
                stream::lastOrdered, progress::lastApplied, properties.sst().donorLagMax(), System::nanoTime);
    }

    @Override
    public long heldMillis() {
        return pace.heldMillis();
    }

    @Override
    public long bytes() {
        return bytes.sum();
    }

    void register(Answers answers) {
        answers.on(
                CatalogAfter.class,
                q -> contents(q.after(), List.of(), connection -> Catalog.read(connection, q.omitted())));
        answers.on(
                TablesAfter.class,
                q -> contents(q.after(), q.tables(), connection -> Catalog.read(connection, q.tables())));
        answers.streamed(
                RowsOfStretch.class,
                (q, reply) -> read(q.after(), q.tables(), (connection, server) -> {
                    rows(connection, server, q, reply);
                    return null;
                }));
        answers.streamed(
                RowsOfTables.class,
                (q, reply) -> read(q.after(), q.tables(), (connection, server) -> {
                    tables(connection, server, q, reply);
                    return null;
                }));
        answers.on(LackedOf.class, this::lacked);
    }

    private Lacked lacked(LackedOf question) {
        try (Connection connection = access.connectAlone()) {
            return new Lacked(lacked(connection, question.tables()));
        } catch (SQLException e) {
            throw refused(ErrorCode.COPY_NO_DONOR, access.unreachable(e).getMessage());
        }
    }

    /** Those of the tables that a server doesn't have. */
    static List<TableName> lacked(Connection connection, List<TableName> tables) throws SQLException {
        List<TableName> lacked = new ArrayList<>();
        for (TableName name : tables) {
            if (AuditedTable.read(connection, name.schema(), name.table()) == null) {
                lacked.add(name);
            }
        }
        return lacked;
    }

    /** Reads something from the server. */
    private interface Reading<A> {
        A read(Connection connection, UUID server) throws SQLException, IOException, InterruptedException;
    }

    /**
     * Reads once the server holds everything up to a seqno.
     *
     * @param tables the tables that are read
     */
    private <A> A read(long after, List<TableName> tables, Reading<A> reading) throws IOException {
        if (!tables.stream().allMatch(table -> TableName.isSchemaOfUsers(table.schema()))) {
            throw refused(ErrorCode.COPY_REFUSED, "gives tables of users alone, not " + tables);
        }
        boolean waits = !synced.getAsBoolean();
        if (waits) {
            requireGivenWhileWaiting(tables);
        } else {
            await(() -> progress.lastApplied() >= after, "has not applied seqno " + after + " yet");
        }
        try (Connection connection = access.connectAlone()) {
            RowWriter.prepare(connection);
            if (!waits) {
                // What is given counts as being of this position, which is written a little later than it is reached.
                await(
                        () -> ServerAccess.applied(connection) >= after,
                        "has not written the position " + after + " yet");
            } else if (ServerAccess.applied(connection) < after) {
                throw refused(ErrorCode.COPY_DONOR_BEHIND, "waits for a copy, and has not applied seqno " + after);
            }
            UUID server = ServerAccess.uuid(connection);
            // Own transactions that the order has must be in the rows. Some are ordered before they are committed.
            long ordered = stream.own().last();
            await(
                    () -> ServerAccess.executed(connection).last(server) >= ordered,
                    "has not committed its own transaction " + ordered + ", which is ordered");
            return reading.read(connection, server);
        } catch (SQLException e) {
            if (AuditedTable.lacksTablespace(e)) {
                throw refused(
                        ErrorCode.COPY_REFUSED,
                        "can't read " + TableName.some(tables) + ": " + e.getMessage() + "; put its files into the data"
                                + " directories of all servers and ALTER TABLE ... IMPORT TABLESPACE, or drop it");
            }
            throw e.getErrorCode() == REDEFINED || e.getErrorCode() == LOCKED
                    ? refused(ErrorCode.COPY_TOO_EARLY, "can't read " + tables + " now: " + e.getMessage())
                    : refused(ErrorCode.COPY_NO_DONOR, access.unreachable(e).getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw refused(ErrorCode.COPY_NO_DONOR, "ends");
        } catch (IllegalArgumentException e) {
            throw refused(ErrorCode.COPY_REFUSED, e.getMessage());
        }
    }

    /** Nobody writes to a server that waits, and what its clients had committed is decided. */
    private void requireGivenWhileWaiting(List<TableName> tables) {
        OfferWhileWaiting offered = offer.get();
        if (offered == null) {
            throw refused(ErrorCode.COPY_NO_DONOR, "is not SYNCED");
        }
        if (!Collections.disjoint(offered.notGiven(), tables)) {
            throw refused(
                    ErrorCode.COPY_NO_DONOR, "waits for a copy of " + TableName.some(offered.notGiven()) + " itself");
        }
    }

    /** Whether something holds that is waited for. */
    private interface Condition<E extends Exception> {
        boolean holds() throws E;
    }

    private <E extends Exception> void await(Condition<E> condition, String otherwise) throws E {
        long end = System.nanoTime() + LIMIT.toNanos();
        try {
            while (!condition.holds()) {
                if (System.nanoTime() > end) {
                    throw refused(ErrorCode.COPY_TOO_EARLY, otherwise);
                }
                Thread.sleep(POLL_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw refused(ErrorCode.COPY_NO_DONOR, "ends");
        }
    }

    private interface Definitions {
        Catalog read(Connection connection) throws SQLException;
    }

    private Contents contents(long after, List<TableName> tables, Definitions definitions) throws IOException {
        return read(after, tables, (connection, server) -> {
            ServerSession working = working();
            Position before = ServerAccess.position(connection);
            Catalog catalog = definitions.read(connection);
            Moment moment = moment(connection, server, before.seqno());
            long ordered = decided(working, moment);
            return new Contents(moment, before.log(), ordered, catalog, ServerAccess.tableBytes(connection));
        });
    }

    private void rows(Connection connection, UUID server, RowsOfStretch question, StreamedReply<Head> reply)
            throws SQLException, IOException, InterruptedException {
        ServerSession working = working();
        snapshot(connection);
        Moment moment = moment(connection, server, ServerAccess.applied(connection));
        AuditedTable table = table(connection, question.table());
        Stretch stretch = question.stretch();
        if (question.bytes() > 0) {
            long perRow = Math.max(1, table.estimate(connection).bytesPerRow());
            long rows = Math.max(1, Math.min(ROWS_MAX, question.bytes() / perRow));
            stretch = new Stretch(stretch.from(), table.next(connection, stretch.from(), rows));
        }
        try (DataOutputStream compressed = compressed(reply.begin(new Head(moment, stretch.to())))) {
            new RowWriter(compressed).write(connection, table, stretch);
            compressed.writeLong(decided(working, moment));
        }
    }

    /**
     * Nobody writes to the tables while the snapshot is opened, so of these tables it holds exactly what the moment
     * says.
     */
    private void tables(Connection connection, UUID server, RowsOfTables question, StreamedReply<Head> reply)
            throws SQLException, IOException, InterruptedException {
        ServerSession working = working();
        Moment moment;
        try (Connection locks = access.connectAlone();
                Statement statement = locks.createStatement()) {
            statement.execute("SET SESSION lock_wait_timeout = " + LOCK_WAIT_SECONDS);
            statement.execute(question.tables().stream()
                    .map(t -> Identifiers.quoted(t.schema(), t.table()) + " READ")
                    .collect(Collectors.joining(", ", "LOCK TABLES ", "")));
            snapshot(connection);
            moment = moment(connection, server, ServerAccess.applied(connection));
            statement.execute("UNLOCK TABLES");
        }
        try (DataOutputStream compressed = compressed(reply.begin(new Head(moment, null)))) {
            for (TableName name : question.tables()) {
                new RowWriter(compressed).write(connection, table(connection, name), Stretch.ALL);
            }
            compressed.writeLong(decided(working, moment));
        }
    }

    private static void snapshot(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT");
        }
    }

    /**
     * What is in rows that have been read when the server was at {@code applied}. Whatever clients have committed until
     * now may be in them too.
     */
    private Moment moment(Connection connection, UUID server, long applied) throws SQLException {
        List<Long> undone = new ArrayList<>(CopyReplay.undone(connection));
        OfferWhileWaiting offered = offer.get();
        if (offered != null) {
            undone.addAll(offered.failed());
        }
        GtidSet reserved = ServerLifeFile.read(properties.dataDir()).reservedOf(ServerAccess.purged(connection));
        return new Moment(server, applied, CopyReplay.lastCommitting(connection, server, reserved), undone);
    }

    /** The session with the server; null while that waits for a copy. */
    private @Nullable ServerSession working() {
        ServerSession working = session.get();
        if (working == null && offer.get() == null) {
            throw refused(ErrorCode.COPY_NO_DONOR, "has no session with its server");
        }
        return working;
    }

    /**
     * Waits until the order has decided on everything that clients had committed at that moment. A session that lasts
     * until then has seen all of it captured and ordered: none of it was lost with a server that doesn't force its
     * logs.
     *
     * @return the seqno by which the order has decided
     */
    private long decided(@Nullable ServerSession working, Moment moment) throws InterruptedException {
        if (working == null) {
            return decidedBefore(moment);
        }
        long end = System.nanoTime() + LIMIT.toNanos();
        while (working.undecided(moment.own(), LIMIT) != 0) {
            if (session.get() != working || System.nanoTime() > end) {
                throw refused(
                        ErrorCode.COPY_TOO_EARLY,
                        "has not got its own transactions up to " + moment.own() + " ordered");
            }
            Thread.sleep(2);
        }
        if (session.get() != working) {
            throw refused(ErrorCode.COPY_NO_DONOR, "has lost its server meanwhile");
        }
        return stream.lastOrdered();
    }

    /** Likewise, of a server that waits: it must still wait, and nobody may have written there meanwhile. */
    private long decidedBefore(Moment moment) {
        if (offer.get() == null) {
            throw refused(ErrorCode.COPY_NO_DONOR, "doesn't wait for a copy any more");
        }
        if (stream.positionOf(moment.server()).last() < moment.own()) {
            throw refused(
                    ErrorCode.COPY_TOO_EARLY,
                    "has transactions up to " + moment.own() + " of its own that aren't ordered");
        }
        return stream.lastOrdered();
    }

    private AuditedTable table(Connection connection, TableName name) throws SQLException {
        AuditedTable table = AuditedTable.read(connection, name.schema(), name.table());
        if (table == null) {
            throw refused(ErrorCode.COPY_TOO_EARLY, "has no table " + name);
        }
        return table;
    }

    private DataOutputStream compressed(OutputStream answer) throws IOException {
        OutputStream counted = new BufferedOutputStream(new Counted(answer), 64 << 10);
        return new DataOutputStream(new ZstdOutputStreamNoFinalizer(counted, COMPRESSION).setChecksum(true));
    }

    private QuorateException refused(ErrorCode code, String why) {
        log.debug("a piece of a copy is refused: {}", why);
        return new QuorateException(code, properties.node() + " " + why);
    }

    private final class Counted extends java.io.FilterOutputStream {
        Counted(OutputStream out) {
            super(out);
        }

        @Override
        public void write(byte[] b, int offset, int length) throws IOException {
            if (offer.get() == null) {
                pace.await();
            }
            out.write(b, offset, length);
            bytes.add(length);
        }
    }
}
