// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.nio.ByteBuffer;

/**
 * Receives what the total order delivers. {@link #deliver} and {@link #checkpoint} come from one thread and must not
 * wait for anything but this node's own disk.
 */
public interface OrderListener {
    /**
     * The position after which this node must be handed entries when it starts; everything before it is durable in the
     * node's own stores.
     */
    LogPosition resumeAfter();

    /**
     * One entry of the order. After a restart some entries may come again; taking them again must change nothing.
     *
     * @param resumeAfter what {@link #resumeAfter} may answer once the effects of this entry are durable; its index is
     *     not above the entry's, never falls, and stays back while fragments of a larger entry are still missing
     * @param entry the bytes given to {@link TotalOrder#submit}, read-only, valid during the call only
     */
    void deliver(LogPosition resumeAfter, ByteBuffer entry);

    /**
     * Looks at an entry of another node before it is taken into the order's log. What is in there can only be left out.
     *
     * @param submitter name of the node that it comes from
     * @param entry the bytes, read-only, valid during the call only
     * @throws QuorateException when it can't be an entry of that node, or is one that this version doesn't know
     */
    default void check(String submitter, ByteBuffer entry) {}

    /**
     * As {@link #check}, the first piece of a larger entry of another node: whether it says of itself that it is one
     * of that node, which all nodes can read. What else is wrong with it all nodes find alike when they have all of it.
     */
    default void checkBeginning(String submitter, ByteBuffer piece) {}

    /**
     * Makes everything delivered so far durable.
     *
     * @return the position up to which this node no longer needs the order's log
     */
    LogPosition checkpoint();

    /** The quorum as this node sees it has changed. Called on any thread; returns at once. */
    void quorumChanged(TotalOrder.Quorum quorum);

    /** The order can't go on at this node: its log is unreadable, or its disk is full. Called once, on any thread. */
    void orderFailed(QuorateException cause);
}
