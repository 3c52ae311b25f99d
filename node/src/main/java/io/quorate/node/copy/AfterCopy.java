// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.applier.Applier;
import io.quorate.applier.ApplierListener;
import io.quorate.applier.DefinitionTexts;
import io.quorate.applier.SharedOwnWrites;
import io.quorate.applier.TailRepair;
import io.quorate.applier.TakenBack;
import io.quorate.applier.Verdicts;
import io.quorate.capture.DefinedTables;
import io.quorate.core.ErrorCode;
import io.quorate.core.GtidSet;
import io.quorate.core.OwnWrites;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSetLog;
import io.quorate.node.copy.DifferingTables.NotByTables;
import io.quorate.node.server.LinkSignals;
import io.quorate.node.server.ServerAccess;
import io.quorate.node.server.ServerLifeFile;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Applies what was ordered since a copy was made, once it is here, until the whole server is at one place in the order.
 * No client writes meanwhile, so nothing is captured.
 */
final class AfterCopy {
    private static final long POLL_MILLIS = 250;
    private static final Duration LOCK_WAIT = Duration.ofSeconds(3);

    private final Copying owner;
    private final Copying.Ports ports;
    private final ServerAccess access;
    private final LinkSignals signals;

    /** What was ordered, as a server is to see it. */
    @FunctionalInterface
    interface Seen {
        /** @param connection to the server */
        WriteSetLog of(Connection connection, DefinedTables defined) throws SQLException;
    }

    AfterCopy(Copying owner, Copying.Ports ports, ServerAccess access, LinkSignals signals) {
        this.owner = owner;
        this.ports = ports;
        this.access = access;
        this.signals = signals;
    }

    /**
     * Takes back what this server has committed after its position, and applies the order from there.
     *
     * @param record makes what was ordered as this server is to see it
     * @return false when that isn't done: the link has something else to do, or somebody has written to the server
     * @throws NotByTables when what the server holds stands against it
     */
    boolean bring(Seen record, long upTo) throws NotByTables, SQLException, IOException, InterruptedException {
        UUID server;
        GtidSet executed;
        GtidSet reserved;
        WriteSetLog seen;
        try (Connection connection = owner.reach()) {
            access.readOnly(connection, true);
            server = ServerAccess.uuid(connection);
            executed = ServerAccess.executed(connection);
            reserved = reserved(connection);
            seen = record.of(connection, DefinedTables.at(connection));
        }
        long ordered = ports.stream().positionOf(server).last();
        try {
            TakenBack back = new TailRepair(
                            new TailRepair.Access(access.workers(), LOCK_WAIT), seen, server, ports.incarnation())
                    .run(ordered, executed, reserved);
            return back != null && run(seen, server, back, upTo);
        } catch (QuorateException e) {
            throw notByTables(e);
        }
    }

    /** As {@link #bring}, on a server that has committed nothing after its position. */
    boolean goOn(Seen record, long upTo) throws NotByTables, SQLException, IOException, InterruptedException {
        UUID server;
        WriteSetLog seen;
        try (Connection connection = owner.reach()) {
            if (ServerAccess.applied(connection) >= upTo) {
                return true;
            }
            server = ServerAccess.uuid(connection);
            seen = record.of(connection, DefinedTables.at(connection));
        }
        try {
            return run(seen, server, TakenBack.NONE, upTo);
        } catch (QuorateException e) {
            throw notByTables(e);
        }
    }

    /** More differs than was known, or what was committed here can't be taken back. */
    private static NotByTables notByTables(QuorateException e) {
        if (e.code().kind() != ErrorCode.Kind.DIFFERENCE) {
            throw e;
        }
        return new NotByTables(e.getMessage(), e.difference());
    }

    /** The server's own GTIDs that are executed though no transaction there has them. */
    GtidSet reserved(Connection connection) throws SQLException {
        return ServerLifeFile.read(ports.properties().dataDir()).reservedOf(ServerAccess.purged(connection));
    }

    /**
     * Applies up to {@code upTo}.
     *
     * @param record what was ordered
     * @param server whose own transactions the tables hold
     * @param back those of them that were taken back
     * @return false when the link has something else to do
     */
    boolean run(WriteSetLog record, UUID server, TakenBack back, long upTo)
            throws SQLException, IOException, InterruptedException {
        try (Connection connection = owner.reach()) {
            access.readOnly(connection, true);
        }
        AtomicReference<Exception> failure = new AtomicReference<>();
        Applier applier = new Applier(
                ports.properties().applierSettings(),
                access.workers(),
                record,
                server,
                ports.incarnation(),
                (applied, undone, isHere) -> {
                    SharedOwnWrites register = new SharedOwnWrites(new OwnWrites(applied, undone, isHere));
                    ports.stream().tell(register, server);
                    register.covered(Long.MAX_VALUE, 0);
                    return register;
                },
                new Asked(),
                DefinitionTexts.UNREAD,
                new Listener(failure));
        try {
            applier.start(back);
            owner.waits(null);
            while (applier.appliedSeqno() < upTo
                    && failure.get() == null
                    && signals.task().serves()) {
                owner.tell("it is here; applying what was ordered meanwhile, " + (upTo - applier.appliedSeqno())
                        + " writesets to go");
                owner.pause(POLL_MILLIS);
            }
        } finally {
            applier.close();
        }
        if (failure.get() instanceof SQLException e) {
            throw e;
        } else if (failure.get() instanceof QuorateException e) {
            throw e;
        }
        return applier.appliedSeqno() >= upTo;
    }

    private final class Asked implements Verdicts {
        @Override
        public boolean isVoid(long seqno) {
            return ports.stream().isVoid(seqno);
        }

        @Override
        public Verdict onRefused(long seqno) {
            // Then the copy is no good.
            return Verdict.STANDS;
        }
    }

    private record Listener(AtomicReference<Exception> failure) implements ApplierListener {
        @Override
        public void applied(long seqno, int transactions, long originCommittedMicros) {}

        @Override
        public void failed(QuorateException cause) {
            failure.compareAndSet(null, cause);
        }

        @Override
        public void databaseLost(SQLException cause) {
            failure.compareAndSet(null, cause);
        }
    }
}
