// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.applier.TailRepair;
import io.quorate.applier.TakenBack;
import io.quorate.core.ErrorCode;
import io.quorate.core.GtidSet;
import io.quorate.core.QuorateException;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.server.JoinCounts;
import io.quorate.node.server.LinkSignals;
import io.quorate.node.server.ServerAccess;
import io.quorate.node.thread.OwnedThread;
import io.quorate.sst.CloneAccount;
import io.quorate.sst.CloneCopy;
import io.quorate.sst.CopyProgress;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A full copy by MySQL's CLONE plugin.
 *
 * <ol>
 *   <li>The two servers make the copy ({@link CloneCopy}). From then on this server has the rows and GTIDs that the
 *       donor's server would have after a crash that lost nothing: it is at a position, and it also has transactions of
 *       the donor's clients that the order doesn't know yet.
 *   <li>So it is treated like a server after such a crash: once the order has all of those transactions, they are taken
 *       back ({@link TailRepair}) and then applied in their order, by an applier that works as if this server were the
 *       donor's.
 *   <li>Then it is this node's own server again. The GTIDs that it gave out before the copy were reserved at the
 *       beginning of step 2, because the copied data doesn't know them.
 * </ol>
 */
final class ClonedCopy {
    private static final Logger log = LoggerFactory.getLogger(ClonedCopy.class);
    private static final int ROW_NOT_FOUND = 1032;
    private static final int DUPLICATE = 1062;
    private static final long POLL_MILLIS = 250;
    private static final Duration LOCK_WAIT = Duration.ofSeconds(3);
    /**
     * A server that shuts down normally closes its port some time before its process ends. Where the process can't be
     * seen, this much time is allowed for it.
     */
    private static final long START_AFTER_NANOS = Duration.ofSeconds(2).toNanos();

    private static final long START_AGAIN_NANOS = Duration.ofSeconds(30).toNanos();
    private static final long START_LIMIT_SECONDS = 120;
    /** How long a copy may stand still whose donor is gone; {@link #STANDS_NANOS} if its donor is still SYNCED. */
    private static final long GONE_NANOS = Duration.ofSeconds(10).toNanos();

    private static final long STANDS_NANOS = Duration.ofMinutes(10).toNanos();

    private final Copying owner;
    private final Copying.Ports ports;
    private final ServerAccess access;
    private final LinkSignals signals;
    private final Copying.Donors donors;
    private final ByteBudget budget;
    private volatile CopyProgress progress;
    private ProcessHandle mysqld;
    private long unreachableSince;
    private long startedNanos;
    private long movedNanos;

    ClonedCopy(
            Copying owner,
            Copying.Ports ports,
            ServerAccess access,
            LinkSignals signals,
            Copying.Donors donors,
            ByteBudget budget) {
        this.owner = owner;
        this.ports = ports;
        this.access = access;
        this.signals = signals;
        this.donors = donors;
        this.budget = budget;
    }

    /** Called before another copy begins: there is no progress yet. */
    void reset() {
        progress = null;
    }

    /** How far the copy is; null before anything is copied. */
    CopyProgress look() {
        return progress;
    }

    // COPYING

    void run() throws SQLException, IOException, InterruptedException {
        Connection connection;
        try {
            connection = access.connectAlone();
        } catch (SQLException e) {
            awaitServer();
            return;
        }
        try (connection) {
            unreachableSince = 0;
            if (CloneCopy.running(connection) >= 0) {
                // This service began the copy before it was restarted.
                owner.waits(null);
                watch(connection);
            } else if (isCopied(connection)) {
                straighten(connection);
            } else {
                fetch(connection);
            }
        }
    }

    /** Whether the server holds a complete copy, which reaches at least to where this node's writeset cache begins. */
    private boolean isCopied(Connection connection) throws SQLException {
        return CloneCopy.isComplete(connection)
                && ServerAccess.applied(connection) >= owner.note().from();
    }

    private void fetch(Connection connection) throws SQLException, IOException, InterruptedException {
        CopyQuestion.CloneSource source;
        try {
            source = owner.ask(owner.note().donor());
        } catch (QuorateException e) {
            owner.keep(owner.note().again());
            throw e;
        }
        if (!source.server().equals(owner.note().donorServer())) {
            owner.keep(owner.note().again());
            return;
        }
        String donor = owner.note().donor();
        CloneRoute route = CloneRoute.to(source.host(), ports.properties());
        CloneAccount account = account(donor, route);
        NodeProperties.Sst sst = ports.properties().sst();
        CloneCopy.clear(
                connection, budget.perSecond(), new CloneCopy.Certificates(sst.tlsCa(), sst.tlsCert(), sst.tlsKey()));
        ServerAccess.closeAtStart(connection);
        mysqld = ServerAccess.process(connection).orElse(null);
        AtomicReference<Throwable> end = new AtomicReference<>();
        OwnedThread thread = OwnedThread.task(
                "quorate-clone",
                () -> {
                    try (Connection own = access.connectAlone()) {
                        log.info("CLONE: {}", CloneCopy.run(own, route.host(), source.port(), account));
                    }
                },
                (name, cause) -> end.set(cause));
        owner.waits(null);
        thread.start();
        while (thread.isAlive() && signals.task().serves()) {
            watch(connection);
            thread.awaitEnd(Duration.ofMillis(1));
        }
        if (!thread.isAlive()) {
            over(donor);
        }
        if (end.get() instanceof QuorateException refused) {
            log.info("the copy of {} has failed, trying again: {}", owner.note().donor(), refused.getMessage());
            ports.joins().count(JoinCounts.Step.COPY_BROKEN_OFF);
            owner.keep(owner.note().again());
            throw refused;
        } else if (end.get() != null) {
            log.info("CLONE: {}", end.get().toString());
        }
    }

    private CloneAccount account(String donor, CloneRoute route) throws IOException {
        CopyQuestion.CloneLogin login;
        try {
            login = donors.questions().ask(donor, new CopyQuestion.CloneWith(route.tls()));
        } catch (QuorateException e) {
            owner.keep(owner.note().again());
            throw e;
        } catch (IOException e) {
            throw new QuorateException(ErrorCode.COPY_NO_DONOR, donor + " doesn't answer: " + e.getMessage(), e);
        }
        return new CloneAccount(login.user(), login.password(), login.tls());
    }

    /** The donor's account for this copy isn't needed any more. If the donor doesn't hear that, it expires in a day. */
    private void over(String donor) {
        try {
            donors.questions().ask(donor, new CopyQuestion.CloneOver());
        } catch (IOException | QuorateException e) {
            log.info("{} keeps the account for the copy until it expires: {}", donor, e.getMessage());
        }
    }

    private void watch(Connection connection) throws InterruptedException {
        try {
            long running = connection.isValid(2) ? CloneCopy.running(connection) : -1;
            if (running >= 0) {
                CopyProgress now = CloneCopy.progress(connection);
                if (progress == null
                        || now.bytes() != progress.bytes()
                        || !now.stage().equals(progress.stage())) {
                    movedNanos = System.nanoTime();
                }
                progress = now;
                owner.tell(now.toString());
                endIfItStands(connection, running);
            }
        } catch (SQLException e) {
            log.debug("the server is about to restart, as it does at the end: {}", e.toString());
        }
        owner.pause(POLL_MILLIS);
    }

    /**
     * Breaks off a copy that stands still: MySQL waits for a donor that is gone far longer than another donor takes to
     * give the whole copy.
     */
    private void endIfItStands(Connection connection, long running) throws SQLException {
        boolean gone = donors.present().get().stream()
                .noneMatch(m -> m.node().equals(owner.note().donor()) && m.hasSyncedServer());
        long stands = System.nanoTime() - movedNanos;
        if (progress.needsDonor() && stands > (gone ? GONE_NANOS : STANDS_NANOS)) {
            log.warn(
                    "nothing has come from {} for {} s{}; breaking off",
                    owner.note().donor(),
                    TimeUnit.NANOSECONDS.toSeconds(stands),
                    gone ? ", which isn't SYNCED any more" : "");
            CloneCopy.breakOff(connection, running);
            movedNanos = System.nanoTime();
        }
    }

    /**
     * Waits for a server that can't be reached. That is normal when the copy is complete: mysqld restarts by itself, or
     * the start command or somebody starts it.
     */
    private void awaitServer() throws IOException, InterruptedException {
        long now = System.nanoTime();
        unreachableSince = unreachableSince == 0 ? now : unreachableSince;
        String command = ports.properties().mysql().startCommand();
        boolean ended = mysqld != null && !mysqld.isAlive();
        boolean longEnough = ended || now - unreachableSince > START_AFTER_NANOS;
        if (longEnough) {
            owner.waits(new QuorateException(
                            ErrorCode.COPY_TO_START, "mysqld has ended, to begin with what it has received")
                    .getMessage());
        }
        if (longEnough && !command.isEmpty() && (startedNanos == 0 || now - startedNanos > START_AGAIN_NANOS)) {
            startedNanos = now;
            start(command);
        }
        owner.pause(POLL_MILLIS);
    }

    private static void start(String command) throws IOException, InterruptedException {
        log.info("starting mysqld: {}", command);
        Process process = new ProcessBuilder("/bin/sh", "-c", command)
                .redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(new java.io.File("/dev/null")))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (!process.waitFor(START_LIMIT_SECONDS, TimeUnit.SECONDS)) {
            log.warn("quorate.mysql.start-command has not ended after {} s; it goes on", START_LIMIT_SECONDS);
        } else if (process.exitValue() != 0) {
            log.warn("quorate.mysql.start-command ended with {}", process.exitValue());
        }
    }

    /** Brings the rows back to what they were at the server's position; see {@link TailRepair}. */
    private void straighten(Connection connection) throws SQLException, IOException, InterruptedException {
        UUID donor = owner.note().donorServer();
        access.readOnly(connection, true);
        if (!reserve(connection)) {
            log.warn("somebody has written to this server before it was closed; copying it anew");
            owner.againByClone();
            return;
        }
        GtidSet executed = ServerAccess.executed(connection);
        long last = executed.minus(owner.note().reserved()).last(donor);
        long ordered = ports.stream().positionOf(donor).last();
        if (ordered < last || ports.stream().lastOrdered() < ServerAccess.applied(connection)) {
            owner.waits("waiting until the order has the donor's transactions up to " + last + ", it has " + ordered);
            owner.pause(POLL_MILLIS);
            return;
        }
        long upTo = ports.stream().lastOrdered();
        TakenBack back;
        try {
            back = TailRepair.ofCopy(
                            new TailRepair.Access(access.workers(), LOCK_WAIT),
                            ports.cache(),
                            donor,
                            ports.incarnation())
                    .run(ordered, executed, owner.note().reserved());
        } catch (QuorateException e) {
            if (e.code() != ErrorCode.TAIL_UNCLEAR) {
                throw e;
            }
            throw anew(e.detail(), e);
        } catch (SQLException e) {
            if (e.getErrorCode() != ROW_NOT_FOUND && e.getErrorCode() != DUPLICATE) {
                throw e;
            }
            // The rows were brought back before already, and this service ended before it could note that.
            throw anew(e.getMessage(), e);
        }
        if (back != null) {
            owner.keep(owner.note().straight(back.after(), upTo));
        }
    }

    private QuorateException anew(String why, Exception cause) throws IOException {
        owner.keep(owner.note().again());
        return new QuorateException(
                ErrorCode.COPY_UNUSABLE,
                "what clients had just committed at the donor can't be taken back, another copy may have none of that: "
                        + why,
                cause);
    }

    /**
     * Reserves the GTIDs that the server gave out before the copy, so that it never gives them out again; false when it
     * has given out GTIDs since the copy.
     */
    private boolean reserve(Connection connection) throws SQLException {
        UUID server = ServerAccess.uuid(connection);
        if (owner.note().ownLast() == 0) {
            return true;
        }
        GtidSet ours = new GtidSet().add(server, 1, owner.note().ownLast());
        if (ours.minus(ServerAccess.purged(connection)).isEmpty()) {
            return true;
        }
        if (ServerAccess.executed(connection).last(server) > 0) {
            return false;
        }
        ServerAccess.reserve(connection, ours);
        return true;
    }

    // STRAIGHT

    /**
     * Applies what was ordered since the copy, until every transaction of the donor that was in the copy has been
     * applied at its place in the order.
     */
    void apply(AfterCopy afterCopy) throws SQLException, IOException, InterruptedException {
        // Whatever the donor commits from now on is not on this server, however high its number.
        TakenBack back = new TakenBack(owner.note().after(), Long.MAX_VALUE);
        if (afterCopy.run(
                ports.cache(), owner.note().donorServer(), back, owner.note().upTo())) {
            finish();
        }
    }

    /** Removes what belonged to the donor alone; from now on the server is this node's own. */
    private void finish() throws SQLException, IOException {
        try (Connection connection = owner.reach()) {
            int prepared = CloneCopy.rollBackPrepared(connection);
            if (prepared > 0) {
                log.info("{} transactions that were prepared at the donor were rolled back here", prepared);
            }
            Copying.unlogged(connection, "DELETE FROM quorate.undone", "DELETE FROM quorate.certified");
            long last = owner.note().ownLast();
            GtidSet ours = last == 0 ? new GtidSet() : new GtidSet().add(ServerAccess.uuid(connection), 1, last);
            CloneAccount.dropAll(connection);
            ServerAccess.closeAtStartNoMore(connection);
            owner.finish(connection, owner.note().upTo(), ours);
        }
        // Others may have been the donor of an attempt that this service, or they, didn't see the end of.
        String self = ports.properties().node();
        donors.present().get().stream()
                .filter(m -> m.hasSyncedServer() && !m.node().equals(self))
                .forEach(m -> over(m.node()));
        progress = null;
    }
}
