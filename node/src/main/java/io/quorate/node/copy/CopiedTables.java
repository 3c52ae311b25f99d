// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSetLog;
import io.quorate.node.config.NodeProperties.Sst.Method;
import io.quorate.node.copy.DifferingTables.NotByTables;
import io.quorate.node.copy.StreamedCopy.NotByStream;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies the tables in which this server differs, and brings the whole server to their place in the order. If accounts,
 * views or stored programs differ, or everything is copied, all of these are replaced then by what the donor had at
 * that place.
 *
 * <p>When the tables are here ({@link StreamedCopy}), the rest of the server is still at its position. It has own
 * transactions beyond that, of which the failed ones may never be undone in the usual way: whatever stopped the applier
 * may have been the undo itself. So all own transactions after the position are taken back, as after a power failure
 * ({@link TailRepair}), and then everything is applied in its order. Both work with a record in which the copied tables
 * don't occur ({@link LogWithoutTables}). If everything was copied, nothing is taken back, and only what was defined
 * since the copy began is applied.
 *
 * <p>Each of these steps may be repeated after a crash: what was taken back is taken back to the same rows, and the
 * position says what was applied.
 */
final class CopiedTables {
    private static final Logger log = LoggerFactory.getLogger(CopiedTables.class);

    private final Copying owner;
    private final StreamedCopy streamed;
    private final Copying.Ports ports;
    private final AfterCopy afterCopy;

    CopiedTables(Copying owner, StreamedCopy streamed, Copying.Ports ports, AfterCopy afterCopy) {
        this.owner = owner;
        this.streamed = streamed;
        this.ports = ports;
        this.afterCopy = afterCopy;
    }

    /** Fetches the tables. */
    void fetch() throws NotByTables, SQLException, IOException, InterruptedException {
        long at;
        try {
            at = streamed.run(
                    owner.note().from(), owner.note().upTo(), owner.note().where());
        } catch (NotByStream e) {
            if (owner.note().where().mayBeAnywhere()) {
                owner.byClone(e);
                return;
            }
            throw new NotByTables(e.getMessage());
        }
        if (at < 0) {
            return;
        }
        try (Connection connection = owner.reach()) {
            if (owner.wasWrittenTo(connection)) {
                return;
            }
            if (owner.note().where().mayBeAnywhere() && streamed.bytesPerSecond() > 0) {
                CopyRates.read(ports.properties()).measured(Method.STREAM, streamed.bytesPerSecond());
            }
            // A statement that changes definitions forces all that was committed before it.
            Copying.unlogged(connection, "ALTER TABLE quorate.copy COMMENT = 'complete'");
            owner.keep(owner.note().tablesHere(at));
        }
    }

    /** Brings the other tables to where the copied ones are. */
    void finish() throws NotByTables, SQLException, IOException, InterruptedException {
        CopyPlan copy = streamed.plan();
        if (copy == null) {
            throw new NotByTables("it isn't known any more what was copied");
        }
        long at = owner.note().upTo();
        AfterCopy.Seen seen = (connection, defined) -> record(CopyExtent.of(copy, defined), at);
        if (!(copy.tables() == null ? afterCopy.goOn(seen, at) : afterCopy.bring(seen, at))) {
            return;
        }
        try (Connection connection = owner.reach()) {
            if (copy.objects()) {
                replaceObjects(connection);
            }
            streamed.open(connection);
            log.info("{}: as the order has them", copy.what());
            owner.finish(connection, at, afterCopy.reserved(connection));
            streamed.forget(connection);
        }
    }

    /** Only when all tables are there: before, views and triggers may name what isn't. */
    private void replaceObjects(Connection connection) throws NotByTables, SQLException {
        try {
            streamed.replaceObjects(connection);
        } catch (QuorateException e) {
            boolean refused = e.code() == ErrorCode.COPY_NOT_BY_STREAM || e.code() == ErrorCode.COPY_REFUSED;
            if (owner.note().where().mayBeAnywhere() || !refused) {
                throw e;
            }
            // Another method may not need the privileges that this one lacks.
            throw new NotByTables(e.detail());
        }
    }

    /** @param at the seqno at which the copied tables are */
    private WriteSetLog record(CopyExtent copied, long at) {
        return LogWithoutTables.ofTables(ports.cache(), copied.tables(), copied.defined()::of, copied::has, at);
    }
}
