// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.applier.TailRepair;
import io.quorate.applier.TakenBack;
import io.quorate.core.ErrorCode;
import io.quorate.core.GtidSet;
import io.quorate.core.QuorateException;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out what a mysqld that was started anew has lost, and has it repaired, before anything commits on it. In steps, for
 * most of them wait for the order:
 *
 * <ol>
 *   <li>A probe comes through the order: what this node knows of its own origin is current.
 *   <li>A server that forces its logs and lacks no GTID that is ordered is as it was left. Otherwise all GTIDs that it may
 *       have lost are reserved, before it gives them out again: the order would take new transactions for those it has.
 *   <li>What its binlog has and the order hasn't is captured and ordered.
 *   <li>{@link TailRepair}: the rows go back to the position on disk, from where all is applied from the order.
 * </ol>
 *
 * Remembered only at the end ({@link ServerLife}): whatever interrupts or refuses it, the next session begins anew.
 */
final class LostTail {
    private static final Logger log = LoggerFactory.getLogger(LostTail.class);
    /** More own transactions than can be on their way to the order: the server may have lost them too. */
    private static final long MARGIN = 10_000;

    private static final long PROBE_AGAIN_NANOS = Duration.ofSeconds(1).toNanos();
    private static final Duration LOCK_WAIT = Duration.ofSeconds(3);

    /** What the session is to do. */
    enum Need {
        /** Nothing: ask again soon. */
        WAIT,
        /** Capture what the binlog has. */
        CAPTURE,
        /** Start the applier. */
        READY
    }

    private final ServerSession.Parts parts;
    private final ServerAccess access;
    private final UUID server;
    private final long baseline;
    private final Path directory;
    private final long started;
    private ServerLife kept;
    private int nonce;
    private long probedNanos;
    private boolean probing;
    /** The last own GTID number that the order must have before anything is taken back; -1 before the check. */
    private long awaited = -1;

    private boolean ready;

    LostTail(ServerSession.Parts parts, ServerAccess access, NodeIdentity identity, Connection connection)
            throws SQLException {
        this.parts = parts;
        this.access = access;
        this.server = identity.server();
        this.baseline = identity.baseline().last(server);
        this.directory = parts.properties().dataDir();
        this.kept = ServerLife.read(directory);
        this.started = ServerAccess.started(connection);
        this.ready = kept.started() == started;
    }

    boolean isReady() {
        return ready;
    }

    /** Own transactions that the database lacks. */
    TakenBack takenBack() {
        return kept.takenBack();
    }

    /** GTIDs of this server that no transaction ever had, or only one that it lost: not to be looked for in its binlog. */
    GtidSet reserved(Connection connection) throws SQLException {
        return kept.reservedOf(ServerAccess.purged(connection));
    }

    /**
     * The last own GTID number that was ordered when it was found out what the database lacks. A node whose own store has lost
     * its end doesn't know that any more; before the order tells it again, what was taken back would look open.
     */
    long orderedThen(Connection connection) throws SQLException {
        TakenBack lacked = kept.takenBack();
        if (lacked.equals(TakenBack.NONE)) {
            return 0;
        }
        GtidSet had = ServerAccess.executed(connection).minus(reserved(connection));
        return had.minus(had.above(server, lacked.upTo())).last(server);
    }

    /** Remembers it when the server stops forcing its logs. */
    void lookAtSettings(Connection connection) throws SQLException, IOException {
        if (ready && kept.durable() && !isDurable(connection)) {
            done(false, kept.reserved(), kept.takenBack());
        }
    }

    private static boolean isDurable(Connection connection) throws SQLException {
        return ServerAccess.forcesBinlog(connection) && ServerAccess.forcesRedoLog(connection);
    }

    /** Goes on as far as it can. */
    Need step(Connection connection) throws SQLException, IOException, InterruptedException {
        if (awaited < 0) {
            if (!isCurrent()) {
                return Need.WAIT;
            }
            look(connection);
        }
        if (ready) {
            return Need.READY;
        }
        if (ordered() < awaited) {
            return Need.CAPTURE;
        }
        repair(connection);
        return ready ? Need.READY : Need.CAPTURE;
    }

    /** Whether a probe has come through the order: what this node knows of its own origin is current. */
    boolean isCurrent() {
        if (!parts.order().quorum().primary()) {
            return false;
        }
        if (!probing) {
            probing = true;
            // Differs from those of earlier sessions and lives that may still come.
            nonce = (int) (System.nanoTime() & 0x3fff_ffff);
            submit();
        } else if (System.nanoTime() - probedNanos > PROBE_AGAIN_NANOS) {
            submit();
        }
        return parts.stream().isProbed(nonce);
    }

    private void submit() {
        probedNanos = System.nanoTime();
        // Whether it succeeds is seen by its delivery.
        var unused = parts.order().submit(parts.stream().probe(nonce));
    }

    /** How far the order, or what all nodes began with, has this server's GTIDs. */
    private long ordered() {
        return Math.max(baseline, parts.stream().own().last());
    }

    private void look(Connection connection) throws SQLException, IOException {
        long ordered = ordered();
        GtidSet executed = ServerAccess.executed(connection);
        GtidSet purged = ServerAccess.purged(connection);
        boolean durable = isDurable(connection);
        GtidSet missing = new GtidSet().add(server, baseline + 1, ordered).minus(executed);
        boolean isNew = kept.isNone() && !parts.stream().isKnown();
        if (isNew || (durable && kept.durable() && missing.isEmpty())) {
            done(durable, kept.reservedOf(purged), TakenBack.NONE);
            return;
        }
        GtidSet reserved = kept.reservedOf(purged);
        GtidSet unlogged = purged.above(server, ordered).minus(reserved);
        if (!unlogged.isEmpty() && !ServerAccess.forcesBinlog(connection)) {
            throw new QuorateException(
                    ErrorCode.BINLOG_SHORT,
                    "the binlog lost " + unlogged + ", which were never ordered, and the tables did not");
        }
        long last = executed.minus(reserved).last(server);
        GtidSet next = new GtidSet().addAll(missing);
        long from = Math.max(ordered, executed.last(server)) + 1;
        next.add(server, from, from + MARGIN - 1);
        kept = new ServerLife(kept.started(), kept.durable(), reserved, next, kept.takenBack());
        kept.write(directory);
        ServerAccess.reserve(connection, next);
        awaited = last;
        log.info(
                "mysqld was started anew, {}; the order has its transactions up to {}, it has them up to {}{}",
                durable ? "and lacks some" : "and does not force its logs at each commit",
                ordered,
                last,
                missing.isEmpty() ? "" : " and lost " + missing);
    }

    private void repair(Connection connection) throws SQLException, IOException, InterruptedException {
        GtidSet purged = ServerAccess.purged(connection);
        GtidSet reserved = kept.reservedOf(purged);
        GtidSet executed = ServerAccess.executed(connection);
        long last = executed.minus(reserved).last(server);
        if (last > awaited) {
            awaited = last;
            return;
        }
        TakenBack takenBack = new TailRepair(
                        new TailRepair.Access(access.workers(), LOCK_WAIT), parts.cache(), server, parts.incarnation())
                .run(ordered(), executed, reserved);
        if (takenBack != null) {
            done(isDurable(connection), reserved, takenBack);
        }
    }

    private void done(boolean durable, GtidSet reserved, TakenBack takenBack) throws IOException {
        kept = new ServerLife(started, durable, reserved, new GtidSet(), takenBack);
        kept.write(directory);
        awaited = Math.max(0, awaited);
        ready = true;
    }
}
