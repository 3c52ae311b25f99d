// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.trace;

import io.quorate.core.Certified;
import io.quorate.core.WriteSet;
import java.util.List;
import java.util.UUID;

/**
 * Hears how far transactions have come, to make traces of some of them. Calls come from any thread and return at once.
 */
public interface Traces {
    /** There are none. */
    Traces OFF = new Traces() {};

    // At the node whose client has committed.

    /** A capture begins. What the one before it had captured is forgotten; it is captured again if it isn't ordered. */
    default void captureBegins() {}

    /**
     * A client's transaction was read from the binlog. One that was read before may come again.
     *
     * @param awaited whether its client waits for the verdict, and {@link #acknowledged} or {@link #ended} will come
     */
    default void captured(WriteSet w, boolean awaited) {}

    /** All up to that GTID number are handed to the order, perhaps again. */
    default void proposed(long last) {}

    /** Clients have got their OK for all up to that GTID number. */
    default void acknowledged(long number) {}

    /** The client of this transaction won't hear OK, because its session was ended. */
    default void ended(long number) {}

    // At every node.

    /**
     * The order has handed out these, by rising seqno.
     *
     * @param self the server beside this node; null while that isn't known
     */
    default void ordered(List<Certified> certified, UUID self) {}

    /** The server has everything up to {@code seqno}, as was found when a session with it began. */
    default void startFrom(long seqno) {}

    /** The applier has brought the server everything up to {@code seqno}. */
    default void applied(long seqno) {}
}
