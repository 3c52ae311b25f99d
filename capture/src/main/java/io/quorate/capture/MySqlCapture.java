// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.GtidSet;
import io.quorate.core.QuorateException;
import io.quorate.core.Spool;
import io.quorate.core.TableName;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads one MySQL server's binlog and hands over each transaction once, in order. When a connection is lost, falls
 * silent or fails, a new one resumes after the last transaction that the sink took; this is repeated without limit, at
 * growing intervals. A fault that a new connection can't repair (statement format, unknown events, damage, purged
 * binlogs) ends it with a code.
 */
public final class MySqlCapture implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(MySqlCapture.class);
    private static final Duration PAUSE_MIN = Duration.ofMillis(100);
    private static final Duration PAUSE_MAX = Duration.ofSeconds(5);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(60);
    private static final int HEARTBEATS_MISSED = 4;

    private final CaptureSettings settings;
    private final Spool spool;
    private final CaptureSink sink;
    private final Consumer<QuorateException> onFailure;
    private final SemiSyncReplica replica;
    private final Progress progress;
    private final ServerWeights weights = new ServerWeights();
    private final Map<TableName, TableDefinition> former = new HashMap<>();
    private final Counters counters = new Counters();
    private final Thread supervisor;
    private volatile boolean closed;

    /**
     * Prepares capture without touching the server.
     *
     * @param start where to begin; afterwards this object keeps its own position
     * @param sink takes the transactions
     * @param onFailure is told once, on the supervisor's thread, when capture has ended for good, unforeseen errors
     *     included
     */
    public MySqlCapture(
            CaptureSettings settings, CapturePosition start, CaptureSink sink, Consumer<QuorateException> onFailure) {
        this(settings, start, Spool.HEAP, sink, onFailure, null);
    }

    /**
     * As above.
     *
     * @param spool where large transactions are put
     * @param replica is told what a semi-sync replica has to know; null when the capture isn't to be one
     */
    public MySqlCapture(
            CaptureSettings settings,
            CapturePosition start,
            Spool spool,
            CaptureSink sink,
            Consumer<QuorateException> onFailure,
            SemiSyncReplica replica) {
        this.spool = spool;
        this.settings = settings;
        this.sink = sink;
        this.onFailure = onFailure;
        this.replica = replica;
        this.progress = new Progress(settings.server(), start);
        this.supervisor = new Thread(this::run, "capture-" + settings.port());
        supervisor.setDaemon(true);
    }

    /** Starts reading, on threads of its own; the server need not be there yet. */
    public void start() {
        supervisor.start();
    }

    /** What it has done so far. Any thread. */
    public CaptureStats stats() {
        return counters.snapshot();
    }

    /** What it has met by now and can't be ordered. Any thread. */
    public PassedOver passedOver() {
        return progress.passedOver();
    }

    /** Ends reading, within a minute at most. Once it returns, the sink is not called any more. */
    @Override
    public void close() {
        closed = true;
        supervisor.interrupt();
        try {
            supervisor.join(CLOSE_TIMEOUT.toMillis());
            if (supervisor.isAlive()) {
                LOG.warn("Capture of {} did not end within {}", settings, CLOSE_TIMEOUT);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try {
            supervise();
        } catch (RuntimeException | Error e) {
            LOG.error("Capture of {} ends for good", settings, e);
            onFailure.accept(new QuorateException(
                    ErrorCode.CAPTURE_FAILED, "the capture of " + settings + " ended because of " + e, e));
        }
    }

    private void supervise() {
        Duration pause = PAUSE_MIN;
        while (!closed) {
            long before = counters.transactions.sum();
            QuorateException end = connectAndRead();
            if (closed) {
                return;
            }
            counters.lastError = end.getMessage();
            if (!end.code().isRetryable()) {
                LOG.error("Capture of {} ends for good", settings, end);
                onFailure.accept(end);
                return;
            }
            pause = counters.transactions.sum() > before ? PAUSE_MIN : min(pause.multipliedBy(2), PAUSE_MAX);
            LOG.warn("Capture of {} resumes in {} ms: {}", settings, pause.toMillis(), end.getMessage());
            counters.restarts.increment();
            if (!sleep(pause)) {
                return;
            }
        }
    }

    /** Reads on one connection until it ends; returns the reason. */
    private QuorateException connectAndRead() {
        try (Connection connection = ServerConnection.open(settings)) {
            GtidSet absent = ServerConnection.check(connection, settings.server(), progress.resume());
            GtidSet tagged = absent.tagged(settings.server());
            if (!tagged.isEmpty()) {
                passOver(tagged);
            }
            if (!absent.isEmpty()) {
                LOG.warn(
                        "gtid_purged has {}, which this server's binlog never had. If rows came with them, as from a"
                                + " dump that was restored here, the other nodes lack them: compare the tables with"
                                + " quorate audit",
                        absent);
                progress.covered(absent);
                former.clear();
            }
            GtidSet resume = progress.resume();
            if (replica != null) {
                replica.awaitSettled();
            }
            Map<Integer, Collation> collations = SchemaCatalog.collations(connection);
            boolean lowerCaseNames = ServerConnection.lowerCaseNames(connection);
            TransactionReader transactions = new TransactionReader(
                    settings,
                    progress,
                    new TablePlans(
                            new SchemaCatalog(
                                    connection, counters, former, new DefinitionsAhead(connection, lowerCaseNames)),
                            new ComparisonForms(collations, weights, connection),
                            true),
                    collations,
                    lowerCaseNames,
                    spool,
                    sink,
                    counters);
            QuorateException end = read(new Tap(settings, resume.toString(), transactions, counters, replica));
            return end.code() == ErrorCode.BINLOG_PURGED && purgedSince(connection) ? againWithPurged(end) : end;
        } catch (SQLException e) {
            // The driver's own message is a paragraph; its cause says why in a few words.
            Throwable root = e;
            while (root.getCause() != null) {
                root = root.getCause();
            }
            return new QuorateException(
                    ErrorCode.SERVER_UNREACHABLE, settings + " can't be asked: " + root.getMessage(), e);
        } catch (QuorateException e) {
            return e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new QuorateException(ErrorCode.CAPTURE_FAILED, "interrupted", e);
        } catch (RuntimeException | Error e) {
            return new QuorateException(ErrorCode.CAPTURE_FAILED, "can't start reading " + settings + ": " + e, e);
        }
    }

    private void passOver(GtidSet tagged) {
        String why = "a client has committed under tagged GTIDs, and they are purged: " + tagged;
        if (!settings.handsOver()) {
            throw new QuorateException(ErrorCode.GTID_TAGGED, why);
        }
        LOG.error("{}", why);
        progress.passOver(Difference.ANYWHERE);
    }

    /**
     * Whether gtid_purged has got GTIDs since the binlog was asked for that this server's binlog never had. Then the
     * server refuses that request like one that needs purged files, and the next one is good.
     *
     * @throws QuorateException BINLOG_PURGED, BINLOG_LOST, WRONG_SERVER, when the next one would not be good
     */
    private boolean purgedSince(Connection connection) throws SQLException {
        return !ServerConnection.check(connection, settings.server(), progress.resume())
                .isEmpty();
    }

    private static QuorateException againWithPurged(QuorateException refused) {
        return new QuorateException(
                ErrorCode.SERVER_UNREACHABLE,
                "gtid_purged was set while the binlog was asked for: "
                        + refused.getCause().getMessage(),
                refused);
    }

    private QuorateException read(Tap tap) throws InterruptedException {
        tap.witnessed();
        DebeziumSession session = new DebeziumSession(settings, tap);
        try {
            Duration silence = settings.heartbeat().multipliedBy(HEARTBEATS_MISSED);
            while (true) {
                QuorateException end = tap.awaitEnd(settings.heartbeat());
                if (end != null) {
                    return end;
                }
                if (tap.isSilentFor(silence)) {
                    tap.failed(new QuorateException(
                            ErrorCode.SERVER_UNREACHABLE, "no sign of life from the server for " + silence));
                }
            }
        } finally {
            close(session, tap);
        }
    }

    /** The next connection must not begin before this one's reader has ended: both would write the same position. */
    private void close(DebeziumSession session, Tap tap) {
        boolean interrupted = Thread.interrupted();
        boolean done = false;
        while (!done) {
            try {
                session.close();
                while (!tap.awaitReaderGone(Duration.ofSeconds(10))) {
                    LOG.warn("The binlog reader of {} is still busy; waiting for it", settings);
                    tap.stop();
                }
                done = true;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean sleep(Duration pause) {
        try {
            Thread.sleep(pause.toMillis());
            return true;
        } catch (InterruptedException e) {
            return !closed;
        }
    }

    private static Duration min(Duration a, Duration b) {
        return a.compareTo(b) <= 0 ? a : b;
    }
}
