// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.WriteSet;

/** Takes what capture has read. Called on the binlog reader's thread, once per transaction, in the binlog's order. */
@FunctionalInterface
public interface CaptureSink {
    /**
     * A transaction of this server is covered. The call may block: that is the back pressure on the reader, and the
     * only bound on how far capture runs ahead. If it throws, it has not taken the transaction, which is then read
     * again.
     *
     * @param number the transaction's GTID number, above that of every earlier call
     * @param lastSeen highest seqno applied at this server by then
     * @param undecided GTID numbers of XA PREPAREs up to {@code number} neither committed nor rolled back, ascending;
     *     the same array as in the call before when nothing changed; not to be modified
     * @param writeSet what it changed; null when other nodes have nothing to apply: the applier's own transactions, an
     *     XA PREPARE, an XA ROLLBACK, an empty transaction
     * @throws InterruptedException when capture is closed meanwhile
     */
    void covered(long number, long lastSeen, long[] undecided, WriteSet writeSet) throws InterruptedException;
}
