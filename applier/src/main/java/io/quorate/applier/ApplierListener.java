// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.QuorateException;
import java.sql.SQLException;

/** What the applier tells its owner. Calls come from the applier's threads and must return at once. */
public interface ApplierListener {
    /**
     * Everything up to {@code seqno} is in the database. Called in order, never twice for a seqno; a call covers
     * everything since the one before.
     *
     * @param transactions how many writesets of other origins the call covers; 0 when there were only own or failed
     *     ones
     * @param originCommittedMicros when the last of them was committed at its origin, by the origin's clock
     */
    void applied(long seqno, int transactions, long originCommittedMicros);

    /**
     * Clients are to be kept from writing until told otherwise: a definition is about to be run, and what they write to
     * its tables before it would be lost, or they commit faster than their commits can be undone.
     *
     * @return whether that will be done; false where no clients write
     */
    default boolean holdClients(boolean hold) {
        return false;
    }

    /** The applier has stopped for good: this node can't go on. Called once. */
    void failed(QuorateException cause);

    /**
     * A connection to the server broke, so the applier has stopped. Create a new one when the server is back; the
     * position row ensures that nothing is applied twice. Called once.
     */
    void databaseLost(SQLException cause);
}
