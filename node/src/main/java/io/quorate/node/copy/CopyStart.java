// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.capture.PassedOver;
import io.quorate.core.CertifiedXid;
import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.GtidSet;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.node.member.MemberReport;
import io.quorate.node.server.JoinCounts;
import io.quorate.node.server.NodeIdentity;
import io.quorate.node.server.OwnNumbers;
import io.quorate.node.server.ServerAccess;
import io.quorate.node.server.ServerSession;
import io.quorate.sst.CloneCopy;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Begins a copy: chooses what is copied and by which method, has everything ordered that clients have committed on this
 * server, and keeps them from committing more.
 */
final class CopyStart {
    private static final Logger log = LoggerFactory.getLogger(CopyStart.class);

    private final Copying owner;
    private final CopyMethod method;
    private final Supplier<ServerSession> sessions;
    private final Copying.Ports ports;
    private final ServerAccess access;
    private final Copying.Donors donors;

    CopyStart(
            Copying owner,
            CopyMethod method,
            Supplier<ServerSession> sessions,
            Copying.Ports ports,
            ServerAccess access,
            Copying.Donors donors) {
        this.owner = owner;
        this.method = method;
        this.sessions = sessions;
        this.ports = ports;
        this.access = access;
        this.donors = donors;
    }

    void run() throws SQLException, IOException, InterruptedException {
        if (owner.budget().isPaused()) {
            // MySQL's CLONE can't be held up once it has begun.
            waits(PieceFetcher.PAUSED);
            return;
        }
        MemberReport donor = donor();
        if (donor == null) {
            waits("no node with a server is SYNCED and has applied seqno "
                    + owner.note().from()
                    + (owner.note().isUntouched() && owner.note().from() > 0
                            ? ". Where no server is any more, because all differ, choose the one whose tables are"
                                    + " right: quorate heal --trust"
                            : ""));
            return;
        }
        boolean everything = owner.note().where().mayBeAnywhere();
        CopyQuestion.CloneSource source = everything ? choose(donor.node()).source() : null;
        try (Connection connection = closed()) {
            if (connection == null) {
                return;
            }
            if (source == null) {
                CopyPlan.delete(ports.properties().dataDir());
                long ordered = ports.stream().lastOrdered();
                CopyNote note = owner.note();
                long last = lastOfOurs(connection);
                owner.keep(note.streaming(last, ordered));
            } else {
                cloneFrom(donor.node(), source, connection);
            }
        }
    }

    /** Who can give a copy; null when nobody can. */
    @Nullable
    MemberReport donor() {
        Set<TableName> ofWaiting = owner.ofWaiting(null);
        return donors.present().get().stream()
                .filter(m -> PieceFetcher.canGive(m, owner.note().from(), ofWaiting))
                .min(MemberReport.nearest(ports.properties().zone()))
                .orElse(null);
    }

    /**
     * Has everything ordered that clients have committed on this server, and keeps them from committing more.
     *
     * @return a connection; null when the link has something else to do
     */
    Connection closed() throws SQLException, IOException, InterruptedException {
        try (ServerSession session = sessions.get()) {
            owner.tell("what this server has committed is being ordered first");
            if (!session.drain()) {
                return null;
            }
            session.withdraw();
            if (leavesOut(session.passedOver())) {
                return null;
            }
        }
        Connection connection = owner.reach();
        try {
            ServerAccess.requireSettings(connection);
            access.readOnly(connection, true);
            requireNothingUndecided(connection);
            return connection;
        } catch (SQLException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    /**
     * Notes what this server has committed and can't be ordered: it is never captured again, and all that it changed is
     * copied.
     *
     * @return whether more is copied than was known
     */
    private boolean leavesOut(PassedOver met) throws SQLException, IOException {
        Path directory = ports.properties().dataDir();
        boolean refused = OwnNumbers.isRefused(directory);
        if (!refused && met.gtids().isEmpty()) {
            return false;
        }
        Difference changed = refused ? Difference.ANYWHERE : met.where();
        if (changed != null) {
            owner.keep(owner.note().wider(owner.note().where().and(changed)));
        }
        try (Connection connection = owner.reach()) {
            UUID server = ServerAccess.uuid(connection);
            GtidSet known = new GtidSet().addAll(met.gtids());
            if (refused) {
                long ordered = ports.stream().positionOf(server).last();
                known.addAll(OwnNumbers.giveUp(directory, connection, server, ordered));
            }
            NodeIdentity.note(ports.properties(), known);
        }
        OwnNumbers.givenUp(directory);
        return changed != null;
    }

    private void waits(String why) throws InterruptedException {
        owner.waits(why);
        owner.pause(Copying.POLL_MILLIS);
    }

    private void cloneFrom(String donor, CopyQuestion.CloneSource source, Connection connection)
            throws SQLException, IOException {
        CloneCopy.expect(connection);
        GtidSet reserved = GtidSet.parse(source.reserved());
        owner.keep(owner.note().copying(lastOfOurs(connection), donor, source.server(), reserved));
        log.info(
                "copying the server of {} at {}:{}, about {} MB, with MySQL's CLONE; what this server holds goes",
                donor,
                source.host(),
                source.port(),
                source.bytes() >> 20);
        ports.joins().count(JoinCounts.Step.COPY_BEGUN);
    }

    private CopyMethod.Choice choose(String donor) throws SQLException {
        try (Connection connection = owner.reach()) {
            return method.choose(() -> owner.ask(donor), () -> {
                CloneCopy.prepare(connection, "this node's server", "CLONE_ADMIN");
                return ServerAccess.version(connection);
            });
        }
    }

    /**
     * Fails when clients of this server have prepared transactions that they still have to decide themselves: those
     * would be lost. Transactions that are prepared in the remains of an earlier copy don't matter; after such a copy
     * {@code ownLast} is known already.
     */
    private void requireNothingUndecided(Connection connection) throws SQLException {
        long given = ServerAccess.executed(connection).last(ServerAccess.uuid(connection));
        List<String> undecided = CloneCopy.prepared(connection).stream()
                .filter(xid -> !xid.endsWith("," + CertifiedXid.FORMAT))
                .toList();
        if (owner.note().ownLast() == 0 && given > 0 && !undecided.isEmpty()) {
            throw new QuorateException(
                    ErrorCode.COPY_UNDECIDED,
                    "clients have prepared transactions on this server that they have not decided: XA COMMIT or"
                            + " XA ROLLBACK "
                            + String.join("; ", undecided));
        }
    }

    /** The highest GTID number this server ever gave out. */
    long lastOfOurs(Connection connection) throws SQLException {
        UUID server = ServerAccess.uuid(connection);
        long executed = ServerAccess.executed(connection).last(server);
        return Math.max(
                Math.max(owner.note().ownLast(), executed),
                ports.stream().positionOf(server).last());
    }
}
