// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/** The state of a node; the names are Galera's, so that its users read them without a manual. */
public enum NodeState {
    /** Started; no majority has been heard of yet. */
    OPEN,
    /** Receives the order; its MySQL server is not reachable, or not checked yet. */
    CONNECTED,
    /** Receives a full copy or an incremental transfer. */
    JOINER,
    /** Has a state of the cluster and is catching up with what was ordered since. */
    JOINED,
    /** Caught up: clients may write. */
    SYNCED,
    /** Like SYNCED, and gives a transfer or a copy to a joiner. */
    DONOR,
    /** Votes and keeps the order, and has no MySQL server. */
    ARBITRATOR,
    /** Without a majority: nothing is ordered, and writes are refused. */
    NON_PRIMARY,
    /** No longer a member, because somebody asked for that; or not yet a member again. */
    LEFT,
    /** Out of the cluster for good, with an error code. Its data must be examined. */
    INCONSISTENT;

    /** Whether the node does all it is there for. */
    public boolean isReady() {
        return writable() || this == ARBITRATOR;
    }

    /** Whether clients may write to this node's MySQL server. */
    public boolean writable() {
        return this == SYNCED || this == DONOR;
    }
}
