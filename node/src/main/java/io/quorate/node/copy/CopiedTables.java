// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.applier.TailRepair;
import io.quorate.applier.TakenBack;
import io.quorate.capture.DefinedTables;
import io.quorate.core.GtidSet;
import io.quorate.core.TableName;
import io.quorate.core.WriteSetLog;
import io.quorate.node.server.LinkSignals;
import io.quorate.node.server.ServerAccess;
import io.quorate.node.server.ServerLifeFile;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;

/**
 * Brings a server to one place in the order of which some tables are there already, because they were copied. The
 * server is at its position, except for the copied tables, and has own transactions beyond it, of which the failed ones
 * may never be undone in the usual way: whatever stopped the applier may have been the undo itself. So all own
 * transactions after the position are taken back, as after a power failure ({@link TailRepair}), and then everything is
 * applied in its order. Both work with a record in which the copied tables don't occur ({@link LogWithoutTables}).
 *
 * <p>Each of these steps may be repeated after a crash: what was taken back is taken back to the same rows, and the
 * position says what was applied.
 */
final class CopiedTables {
    private static final Duration LOCK_WAIT = Duration.ofSeconds(3);

    private final FullCopy owner;
    private final FullCopy.Ports ports;
    private final ServerAccess access;
    private final LinkSignals signals;

    CopiedTables(FullCopy owner, FullCopy.Ports ports, ServerAccess access, LinkSignals signals) {
        this.owner = owner;
        this.ports = ports;
        this.access = access;
        this.signals = signals;
    }

    /**
     * Brings the other tables to where the copied ones are.
     *
     * @param tables the copied ones
     * @param at the seqno at which they are
     * @return false when that isn't done: the link has something else to do, or somebody has written to the server
     * @throws io.quorate.core.QuorateException TAIL_UNCLEAR when own transactions can't be taken back
     */
    boolean bring(Set<TableName> tables, long at) throws SQLException, IOException, InterruptedException {
        UUID server;
        GtidSet executed;
        GtidSet reserved;
        DefinedTables defined;
        try (Connection connection = owner.reach()) {
            access.readOnly(connection, true);
            server = ServerAccess.uuid(connection);
            executed = ServerAccess.executed(connection);
            reserved = ServerLifeFile.read(ports.properties().dataDir()).reservedOf(ServerAccess.purged(connection));
            defined = DefinedTables.at(connection);
        }
        WriteSetLog record = new LogWithoutTables(ports.cache(), tables, defined::of, at);
        long ordered = ports.stream().positionOf(server).last();
        TakenBack back = new TailRepair(
                        new TailRepair.Access(access.workers(), LOCK_WAIT), record, server, ports.incarnation())
                .run(ordered, executed, reserved);
        if (back == null) {
            return false;
        }
        return new AfterCopy(owner, ports, access, signals).run(record, server, back, at);
    }
}
