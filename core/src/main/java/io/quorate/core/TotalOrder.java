// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.concurrent.CompletableFuture;

/**
 * The port to the log that a majority has fsynced. Entries are opaque bytes; every node is handed the same ones in the
 * same order.
 */
public interface TotalOrder extends AutoCloseable {
    /** The least that an order takes in a millisecond. */
    long BYTES_PER_MILLI_MIN = 5_000;

    /**
     * Asks for an entry to be ordered, through the leader, wherever that is. Calls from one thread reach a stable
     * leader in call order. Never blocks.
     *
     * @return completes when the leader says that the entry is in the log; fails when it may not be. Neither is proof:
     *     only the delivery to our own {@link OrderListener} is, and an entry that failed may still be ordered
     */
    CompletableFuture<Void> submit(Entry entry);

    /** The same of an array, which is not to be modified any more. */
    default CompletableFuture<Void> submit(byte[] entry) {
        return submit(Entry.of(entry));
    }

    /** For how long to wait the more because of so many bytes: an order that takes less is taken for a stopped one. */
    static long millisFor(long bytes) {
        return bytes / BYTES_PER_MILLI_MIN;
    }

    /** What this node knows of the quorum now. */
    Quorum quorum();

    @Override
    void close();

    /**
     * @param primary whether a majority is known to follow a leader this node hears from
     * @param leader the leader's node name, null when none is known
     * @param term Raft's term
     * @param silentMillis for how long nothing had been heard of a majority when this was noticed, or no entry could
     *     have reached the leader; 0 while there is one
     * @param cutOff what keeps this node's entries from a leader that is heard, or why others that are there don't let
     *     it in; null when it is nothing of the kind
     */
    record Quorum(boolean primary, String leader, long term, long silentMillis, String cutOff) {
        public static final Quorum NONE = new Quorum(false, null, 0);

        /** With a majority that has just been heard. */
        public Quorum(boolean primary, String leader, long term) {
            this(primary, leader, term, 0, null);
        }
    }
}
