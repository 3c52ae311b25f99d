// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.applier.PositionTable.Position;
import io.quorate.core.TotalOrder;
import java.io.IOException;

/** The MySQL server beside this node, as the rest of the node sees it. An arbitrator has none: {@link NoServer}. */
public interface Server extends AutoCloseable {
    /**
     * What is in it.
     *
     * @param position how far of the order it holds
     * @param empty whether nobody has made a table in it
     */
    record Contents(Position position, boolean empty) {}

    /** Whether there is one, up or down. */
    boolean exists();

    /** Host and port; null where there is none. */
    String address();

    /** Begins to work on it, unless that has begun. */
    void start();

    /** Whether clients may write; carried out later. */
    void writable(boolean value);

    /** Ends the work on it for good: the node is INCONSISTENT. */
    void stopWorking();

    /** Ends the session and has none until {@link #resume}; returns when it is over. */
    void suspend() throws InterruptedException;

    void resume();

    void quorumChanged(TotalOrder.Quorum quorum);

    /** The session there is, null while there is none. */
    ServerSession session();

    /** @throws IOException when it can't be reached, with the reason as its message */
    Contents contents() throws IOException;

    @Override
    void close();
}
