// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.ist.RejoinCourse;
import io.quorate.node.copy.CopyQuestion.Head;
import io.quorate.node.member.MemberReport;
import io.quorate.node.question.StreamedAnswer;
import io.quorate.node.server.JoinCounts;
import io.quorate.node.server.ServerAccess;
import io.quorate.node.thread.Faults;
import io.quorate.node.thread.OwnedThread;
import io.quorate.sst.audit.AuditedTable;
import io.quorate.sst.stream.CopyLedger;
import io.quorate.sst.stream.Moment;
import io.quorate.sst.stream.OrderScan;
import io.quorate.sst.stream.Piece;
import io.quorate.sst.stream.RowLoader;
import io.quorate.sst.stream.Unit;
import java.io.DataInputStream;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches the pieces of a copy, several at a time, each from whatever node can give it. A piece that failed is fetched
 * again, from another node if the first one is gone.
 */
final class PieceFetcher implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(PieceFetcher.class);
    /** ER_RECORD_FILE_FULL. */
    private static final int TABLE_FULL = 1114;

    private static final String FREE_SPACE =
            ": free space on the volume of this node's server; it goes on by itself then";
    private static final Duration ORDERED_WITHIN = Duration.ofSeconds(30);
    /**
     * The pause before a piece is fetched again. There is no limit to how often: another node may take the donor's
     * place at any time, and what has arrived is kept.
     */
    private static final long AGAIN_MILLIS = 1000;

    /** The memory outside the heap that a piece may ask for, as a power of two: 8 MiB. What donors send needs less. */
    private static final int WINDOW_LOG_MAX = 23;

    private static final long POLL_MILLIS = 50;
    static final String PAUSED = "it is paused; quorate transfer resume";

    private final Copying.Ports ports;
    private final ServerAccess access;
    private final Copying.Donors donors;
    private final CopyLedger ledger;
    private final OrderScan scan;
    private final long since;
    private final @Nullable Collection<TableName> ofWaiting;
    private final ByteBudget budget;
    private final LinkedBlockingDeque<Piece> queue = new LinkedBlockingDeque<>();
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicReference<Exception> failure = new AtomicReference<>();
    private final AtomicLong bytes = new AtomicLong();
    private final List<OwnedThread> threads = new ArrayList<>();
    private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
    private final Map<TableName, Set<Map<String, String>>> computedUnder;
    /** Servers that wait for a copy themselves, and stay before the place with which this copy begins. */
    private final Set<String> behind = ConcurrentHashMap.newKeySet();

    private volatile String donor;
    private volatile String obstacle;
    private volatile boolean closed;

    /**
     * @param since donors must have applied everything up to this seqno
     * @param ofWaiting tables that may come from a server which waits for a copy of others; null for none
     * @param computedUnder settings under which rows of tables were computed, as far as they are known by now
     * @param before name of the node that is preferred
     */
    PieceFetcher(
            Copying.Ports ports,
            ServerAccess access,
            Copying.Donors donors,
            CopyLedger ledger,
            OrderScan scan,
            long since,
            @Nullable Collection<TableName> ofWaiting,
            Map<TableName, Set<Map<String, String>>> computedUnder,
            String before,
            ByteBudget budget) {
        this.donor = before;
        this.ports = ports;
        this.access = access;
        this.donors = donors;
        this.ledger = ledger;
        this.scan = scan;
        this.since = since;
        this.ofWaiting = ofWaiting;
        this.computedUnder = computedUnder;
        this.budget = budget;
    }

    void start(List<Piece> missing, int streams) {
        queue.addAll(missing);
        open.set(missing.size());
        for (int i = 0; i < streams; i++) {
            threads.add(OwnedThread.task("quorate-stream-" + i, this::work, this::ended)
                    .start());
        }
    }

    /** Whether all pieces are here, including those that became known only while others were fetched. */
    boolean isDone() {
        return open.get() == 0;
    }

    /** Throws whatever ended the fetching, if it has failed. */
    void requireGoing() throws SQLException, IOException {
        Exception e = failure.get();
        if (e instanceof SQLException sql) {
            throw sql;
        } else if (e instanceof IOException io) {
            throw io;
        } else if (e instanceof RuntimeException other) {
            throw other;
        }
    }

    long bytes() {
        return bytes.get();
    }

    /** Name of the node from which pieces are fetched. */
    String donor() {
        return donor;
    }

    /** Why nothing comes; null when something does. */
    String obstacle() {
        return obstacle;
    }

    /** A failure that ends one of the threads ends the whole fetching. */
    private void ended(String thread, Throwable cause) {
        boolean known =
                cause instanceof SQLException || cause instanceof IOException || cause instanceof RuntimeException;
        failure.compareAndSet(null, known ? (Exception) cause : Faults.explained(thread, cause));
    }

    private void work() throws SQLException, IOException, InterruptedException {
        Connection connection = null;
        try {
            while (!closed && failure.get() == null && open.get() > 0) {
                Piece piece = budget.isPaused() ? null : queue.poll(POLL_MILLIS, TimeUnit.MILLISECONDS);
                if (piece == null) {
                    obstacle = budget.isPaused() ? PAUSED : obstacle;
                    Thread.sleep(budget.isPaused() ? POLL_MILLIS : 0);
                    continue;
                }
                if (connection == null && !hasDonor(piece)) {
                    continue; // It may be hours before there is one.
                }
                if (connection == null) {
                    connection = access.connectToLoad();
                    connections.add(connection);
                    RowLoader.prepare(connection);
                }
                if (!fetched(piece, connection)) {
                    // The server may not be done with what this connection asked for.
                    abort(connection);
                    connection = null;
                }
            }
        } finally {
            abort(connection);
        }
    }

    private boolean hasDonor(Piece piece) throws InterruptedException {
        try {
            chosen();
            return true;
        } catch (QuorateException e) {
            if (!e.code().isRetryable() || RejoinCourse.mends(e)) {
                throw e;
            }
            waits(piece, e.detail());
            return false;
        }
    }

    private void abort(Connection connection) {
        if (connection != null) {
            connections.remove(connection);
            try {
                connection.abort(Runnable::run);
            } catch (SQLException e) {
                log.debug("while closing: {}", e.toString());
            }
        }
    }

    /** @return whether the connection can be used again */
    private boolean fetched(Piece wanted, Connection connection)
            throws SQLException, IOException, InterruptedException {
        Piece[] piece = {wanted};
        try {
            if (fetch(piece, connection)) {
                open.decrementAndGet();
            } else {
                queue.addFirst(piece[0]);
            }
            obstacle = null;
            return true;
        } catch (QuorateException e) {
            if (!e.code().isRetryable() || RejoinCourse.mends(e)) {
                throw e;
            }
            waits(piece[0], e.detail());
        } catch (java.io.EOFException | java.net.SocketException e) {
            waits(piece[0], donor + " broke off: " + e);
        } catch (IOException e) {
            waits(piece[0], "nothing comes from " + donor + ": " + e.getMessage());
        } catch (SQLException e) {
            if (!(e.getCause() instanceof IOException) && !connection.isValid(2)) {
                throw e;
            }
            waits(piece[0], e.getMessage() + (e.getErrorCode() == TABLE_FULL ? FREE_SPACE : ""));
        }
        return false;
    }

    private void waits(Piece piece, String why) throws InterruptedException {
        if (!closed && !why.equals(obstacle)) {
            obstacle = why;
            log.info("a piece of {} comes again: {}", piece.unit().tables(), why);
            ports.joins().count(JoinCounts.Step.PIECE_BROKEN_OFF);
        }
        queue.addLast(piece);
        Thread.sleep(AGAIN_MILLIS);
    }

    /**
     * @return false when the piece has to be read again, because it may hold changes of a transaction that has failed
     *     since
     */
    private boolean fetch(Piece[] piece, Connection connection) throws SQLException, IOException, InterruptedException {
        Unit unit = piece[0].unit();
        String asked = chosen();
        donor = asked;
        try (StreamedAnswer<Head> answer = donors.questions().open(asked, question(piece[0]))) {
            Head head = answer.head();
            if (!piece[0].bounded()) {
                bounded(piece, head.to(), connection);
            }
            // This seldom fails; but when it does, no rows have been sent in vain yet.
            require(unit, head.moment(), ports.stream().lastOrdered());
            load(piece[0], head.moment(), answer.rest(), connection);
            return true;
        } catch (Spoilt e) {
            log.debug("a piece of {} comes again: {}", unit.tables(), e.getMessage());
            connection.rollback();
            return false;
        } catch (QuorateException e) {
            if (e.code() == ErrorCode.COPY_DONOR_BEHIND) {
                behind.add(asked);
            }
            throw e;
        }
    }

    private CopyQuestion.Rows question(Piece piece) {
        Unit unit = piece.unit();
        return unit.whole()
                ? new CopyQuestion.RowsOfTables(since, unit.tables())
                : new CopyQuestion.RowsOfStretch(
                        since,
                        unit.tables().get(0),
                        piece.stretch(),
                        piece.bounded() ? 0 : ports.properties().sst().chunk().toBytes());
    }

    /**
     * Throws when what was read may hold changes that no node is to have, or when tables were altered since the copy
     * began.
     */
    private void require(Unit unit, Moment moment, long upTo) throws IOException, InterruptedException, Spoilt {
        scan.advance(upTo);
        if (scan.firstOfTables() > 0) {
            throw new TablesChanged(scan.firstOfTables());
        }
        if (scan.isSpoilt(unit, moment)) {
            throw new Spoilt("it may hold what has failed");
        }
    }

    private static final class Spoilt extends Exception {
        private static final long serialVersionUID = 1L;

        Spoilt(String what) {
            super(what);
        }
    }

    /** Notes where the piece ends, which is known now, and queues the next piece, which begins there. */
    private void bounded(Piece[] piece, String to, Connection connection) throws SQLException {
        Piece bounded = piece[0].endingAt(to);
        if (!ledger.bounded(connection, bounded)) {
            // An earlier commit of this piece was not answered. A new run finds out what the ledger says.
            throw new SQLException("the ledger has " + bounded + " already");
        }
        connection.commit();
        piece[0] = bounded;
        Piece next = bounded.next();
        if (next != null) {
            open.incrementAndGet();
            queue.addFirst(next);
        }
    }

    private void load(Piece piece, Moment moment, DataInputStream in, Connection connection)
            throws SQLException, IOException, InterruptedException, Spoilt {
        long rows = 0;
        long[] came = {0};
        DataInputStream plain = new DataInputStream(new ZstdInputStreamNoFinalizer(in).setLongMax(WINDOW_LOG_MAX));
        for (TableName name : piece.unit().tables()) {
            AuditedTable table = AuditedTable.read(connection, name.schema(), name.table());
            if (table == null) {
                throw new TableGone(name);
            }
            rows += new RowLoader(
                            plain,
                            count -> {
                                came[0] += count;
                                bytes.addAndGet(count);
                                budget.take(count);
                            },
                            access::connectAlone,
                            computedUnder)
                    .load(connection, table);
        }
        long upTo = awaitOrdered(ports, Math.max(plain.readLong(), moment.applied()), () -> closed);
        require(piece.unit(), moment, upTo);
        ledger.done(connection, piece, new CopyLedger.Done(moment, upTo, rows, came[0]));
        connection.commit();
    }

    /** Tables were altered since the copy began. */
    static final class TablesChanged extends RuntimeException {
        private static final long serialVersionUID = 1L;
        final transient long seqno;

        TablesChanged(long seqno) {
            super("tables were changed at seqno " + seqno);
            this.seqno = seqno;
        }
    }

    /** Somebody has dropped a table here that is being copied. */
    static final class TableGone extends RuntimeException {
        private static final long serialVersionUID = 1L;

        TableGone(TableName name) {
            super("this server has no table " + name + " any more");
        }
    }

    /** Whoever could give tables though it waits for a copy itself is before the place with which this one begins. */
    static final class DonorsBehind extends RuntimeException {
        private static final long serialVersionUID = 1L;

        DonorsBehind(Set<String> nodes) {
            super(String.join(", ", nodes) + " can't give it from where it begins");
        }
    }

    /** The donor to ask: the same one as long as it is available, so that no other node is bothered. */
    private String chosen() {
        return choose(donors.present().get(), ports.properties().zone(), since, ofWaiting, donor, behind);
    }

    /**
     * Chooses a node that can give a copy.
     *
     * @param ofWaiting tables that may come from a server which waits for a copy of others; null for none
     * @param before name of the node that is preferred
     * @param behind names of those that can't while they wait for a copy themselves
     * @throws DonorsBehind when only these are left
     */
    static String choose(
            List<MemberReport> present,
            String zone,
            long since,
            @Nullable Collection<TableName> ofWaiting,
            String before,
            Set<String> behind) {
        List<MemberReport> could =
                present.stream().filter(m -> canGive(m, since, ofWaiting)).toList();
        List<MemberReport> can = could.stream()
                .filter(m -> m.hasSyncedServer() || !behind.contains(m.node()))
                .toList();
        if (can.isEmpty() && !could.isEmpty()) {
            throw new DonorsBehind(behind);
        }
        return can.stream()
                .min(Comparator.<MemberReport>comparingInt(m -> m.hasSyncedServer() ? 0 : 1)
                        .thenComparing(m -> m.node().equals(before) ? 0 : 1)
                        .thenComparing(MemberReport.nearest(zone)))
                .orElseThrow(() -> new QuorateException(
                        ErrorCode.COPY_NO_DONOR, "no node with a server is SYNCED and has applied seqno " + since))
                .node();
    }

    /** Whether a node can give a copy; how far a server is that waits, it knows better than its report. */
    static boolean canGive(MemberReport m, long since, @Nullable Collection<TableName> ofWaiting) {
        return m.hasSyncedServer() ? m.applied() >= since : m.gives(ofWaiting);
    }

    /**
     * Waits until this node has everything up to a seqno in its record.
     *
     * @return the last seqno that the record has
     */
    static long awaitOrdered(Copying.Ports ports, long seqno, BooleanSupplier ends) throws InterruptedException {
        long end = System.nanoTime() + ORDERED_WITHIN.toNanos();
        while (ports.stream().lastOrdered() < seqno) {
            if (ends.getAsBoolean() || System.nanoTime() > end) {
                throw new QuorateException(
                        ErrorCode.COPY_TOO_EARLY,
                        "this node hasn't got the order up to seqno " + seqno + " yet, where the donor is");
            }
            Thread.sleep(5);
        }
        return ports.stream().lastOrdered();
    }

    @Override
    public void close() {
        closed = true;
        threads.forEach(OwnedThread::expectEnd);
        connections.forEach(this::abort);
        threads.forEach(OwnedThread::close);
    }
}
