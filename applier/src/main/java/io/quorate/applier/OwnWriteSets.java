// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;
import io.quorate.core.GtidSet;
import java.util.UUID;

/**
 * Which writesets of this server its database holds already. All that were captured in the server's present life do:
 * they were captured because they were committed. Of those from before, a crash of a server that doesn't flush at every
 * commit may have lost some that the order has; what its executed GTIDs lack has to be applied like a remote one.
 *
 * <p>Exact under these conditions, which {@link Applier#start} names: {@code lastBefore} was taken before
 * {@code executed}, and nothing captured in the present life has a seqno up to {@code lastBefore} without being in
 * {@code executed}. A transaction between its binlog write and its commit is not in gtid_executed yet; it is in
 * gtid_owned, which is therefore read first and added.
 */
final class OwnWriteSets {
    private final UUID server;
    private final long lastBefore;
    private final GtidSet executed;

    /**
     * @param lastBefore own writesets above this seqno are from the server's present life
     * @param executed GTIDs the server has executed or is committing
     */
    OwnWriteSets(UUID server, long lastBefore, GtidSet executed) {
        this.server = server;
        this.lastBefore = lastBefore;
        this.executed = executed;
    }

    boolean isOwn(Certified writeSet) {
        return writeSet.writeSet().gtid().source().equals(server);
    }

    /** Whether an own writeset that passed is in the database. */
    boolean isHere(Certified own) {
        return own.seqno() > lastBefore || executed.contains(own.writeSet().gtid());
    }
}
