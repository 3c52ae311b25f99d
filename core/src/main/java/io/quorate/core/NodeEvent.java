// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/** What can happen to a node, as its state machine sees it. */
public sealed interface NodeEvent {
    /**
     * The order has, or has lost, a majority.
     *
     * @param nowMillis what time it is
     */
    record QuorumChanged(TotalOrder.Quorum quorum, long nowMillis) implements NodeEvent {}

    /** The MySQL server answers, its settings are right, and applier and capture have been started on it. */
    record DatabaseUp() implements NodeEvent {}

    /** The MySQL server does not answer, or its settings are wrong. */
    record DatabaseDown(String reason) implements NodeEvent {}

    /**
     * Reported regularly, several times a second.
     *
     * @param lastOrdered seqno of the last writeset the order has, as its leader reports it; -1 while the leader isn't
     *     heard
     * @param lastApplied what the server holds
     * @param nowMillis what time it is
     */
    record Progress(long lastOrdered, long lastApplied, long nowMillis) implements NodeEvent {}

    /**
     * This node has left the order until there is space on its disk, or has joined it again.
     *
     * @param reason why it left; null when it has joined
     */
    record DiskLow(String reason) implements NodeEvent {}

    /** What a node is for its cluster. */
    enum Part {
        /** It takes part in the order as a member, with or without the others. */
        MEMBER,
        /** It is to be a member and isn't one yet, or receives from other nodes what it missed. */
        JOINER,
        /** It is no member, and does nothing to be one. */
        OUT
    }

    /**
     * How this node's joining stands.
     *
     * @param progress how far that is or what it waits for, for people; of no interest for a member
     */
    record JoinChanged(Part part, String progress) implements NodeEvent {}

    /** Whether this node is giving a transfer now. */
    record Donating(boolean gives) implements NodeEvent {}

    /** Something fatal. */
    record Failed(QuorateException cause) implements NodeEvent {}
}
