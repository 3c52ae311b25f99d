// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.BinlogPosition;
import java.io.IOException;

/**
 * What a capture that is its server's semi-sync replica tells, besides the transactions. The server gives its clients
 * OK only when a position at or after the end of their commits has been acknowledged. The calls come on the capture's
 * threads, one at a time.
 */
public interface SemiSyncReplica {
    /** Acknowledges a position on one binlog connection. May be called by any thread, one at a time. */
    @FunctionalInterface
    interface Acknowledger {
        /** @throws IOException when the connection has ended; there will be another one */
        void acknowledge(BinlogPosition position) throws IOException;
    }

    /**
     * Called before each connection. The server counts everything that a connection doesn't ask for as acknowledged by
     * it, and that is everything captured by now. So this waits until no client is left who could be told OK too early.
     */
    void awaitSettled() throws InterruptedException;

    /** A connection is open. Positions from before may be acknowledged on it. */
    void connected(Acknowledger acknowledger);

    /**
     * The binlog has been read up to the end of a transaction, and the sink has taken it.
     *
     * @param endsGroup whether it is the last of those that the server commits together. Right after a connection
     *     began, and where no client waits, the server doesn't say so
     */
    void read(BinlogPosition end, boolean endsGroup);
}
