// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.nio.ByteBuffer;

/**
 * What the total order delivers to. {@link #deliver} and {@link #checkpoint} come from one thread and must not wait for
 * anything but this node's own disk.
 */
public interface OrderListener {
    /** The position after which this node must be handed entries when it starts; all before is durable in its own stores. */
    LogPosition resumeAfter();

    /**
     * One entry of the order. After a restart some entries may come again; taking them again must change nothing.
     *
     * @param resumeAfter what {@link #resumeAfter} may answer once the effects of this entry are durable; its index is not
     *     above the entry's, never falls, and stays back while parts of a larger entry are still missing
     * @param entry the bytes given to {@link TotalOrder#submit}, read-only, valid during the call only
     */
    void deliver(LogPosition resumeAfter, ByteBuffer entry);

    /**
     * Makes everything delivered so far durable.
     *
     * @return the position up to which the order may forget its own log as far as this node is concerned
     */
    LogPosition checkpoint();

    /** The quorum as this node sees it has changed. Comes from any thread; returns at once. */
    void quorumChanged(TotalOrder.Quorum quorum);

    /** The order can't go on at this node: its log is unreadable, its disk full. Comes from any thread, once. */
    void orderFailed(QuorateException cause);
}
