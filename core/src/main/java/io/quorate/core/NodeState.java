// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/** Where a node stands; the names are Galera's, so that its users read them without a manual. */
public enum NodeState {
    /** Started; no majority has been heard of yet. */
    OPEN,
    /** Receives the order; its MySQL server is not reachable, or not yet looked at. */
    CONNECTED,
    /** Receives a full copy or an incremental transfer. */
    JOINER,
    /** Has a state of the cluster and catches up with what was ordered since. */
    JOINED,
    /** Caught up: clients may write. */
    SYNCED,
    /** As SYNCED, and feeds a joiner. */
    DONOR,
    /** Votes and keeps the order, and has no MySQL server. */
    ARBITRATOR,
    /** Without a majority: nothing is ordered, writes are refused. */
    NON_PRIMARY,
    /** No member any more, because somebody asked for that; or not yet again. */
    LEFT,
    /** Out of the cluster for good, with an error code. Its data must be looked at. */
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
