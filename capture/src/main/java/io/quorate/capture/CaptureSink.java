// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.WriteSet;

/** Takes what capture read. Called on the binlog reader's thread, one call a transaction, in the binlog's order. */
@FunctionalInterface
public interface CaptureSink {
    /**
     * A transaction of this server is covered. It may block: that is the back pressure on the reader, and the only
     * bound on how far capture runs ahead. A call that throws has not taken the transaction; it is read again.
     *
     * @param number the transaction's GTID number, above that of every earlier call
     * @param lastSeen highest seqno applied at this server by then
     * @param undecided GTID numbers of XA PREPAREs up to {@code number} neither committed nor rolled back, ascending;
     *     the same array as in the call before when nothing changed; not to be modified
     * @param writeSet what it changed; null when that is nothing others must apply: the applier's own transactions, an
     *     XA PREPARE, an XA ROLLBACK, an empty transaction
     * @throws InterruptedException when capture is closed meanwhile
     */
    void covered(long number, long lastSeen, long[] undecided, WriteSet writeSet) throws InterruptedException;
}
