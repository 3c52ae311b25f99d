// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static io.quorate.core.NodeState.ARBITRATOR;
import static io.quorate.core.NodeState.CONNECTED;
import static io.quorate.core.NodeState.DONOR;
import static io.quorate.core.NodeState.INCONSISTENT;
import static io.quorate.core.NodeState.JOINED;
import static io.quorate.core.NodeState.JOINER;
import static io.quorate.core.NodeState.LEFT;
import static io.quorate.core.NodeState.NON_PRIMARY;
import static io.quorate.core.NodeState.OPEN;
import static io.quorate.core.NodeState.SYNCED;

/**
 * Derives a node's state from events alone. Not thread-safe: the node's loop thread owns it.
 *
 * <p>A node is CONNECTED when it has a majority but no server, and JOINED when it has both. It is SYNCED once it has
 * applied everything that was ordered when it joined, and little is left of what was ordered since. It falls back to
 * NON_PRIMARY or CONNECTED when it loses one of the two, but never to JOINED because of lag alone: falling behind is a
 * matter of flow control. It is JOINER while it receives what it missed outside the order, and DONOR instead of SYNCED
 * while it gives a transfer. INCONSISTENT is final.
 *
 * <p>A node without a server is ARBITRATOR where others are CONNECTED and beyond.
 *
 * <p>An election is not a loss of the majority: for a short grace a SYNCED node without a majority stays SYNCED, and
 * its clients' writes wait to be ordered, as they do anyway.
 */
public final class NodeMachine {
    /** A node that is this close to the order's end counts as caught up; otherwise, under load, it might never be. */
    private final long syncedLagMax;

    private final long silenceMaxMillis;
    private final boolean arbitrator;

    private NodeState state = OPEN;
    private TotalOrder.Quorum quorum = TotalOrder.Quorum.NONE;
    private boolean databaseUp;
    private String databaseReason = "not looked at yet";
    private QuorateException failure;
    /** Why there is no space on the disk; null when there is. */
    private String diskReason;

    private NodeEvent.Part part = NodeEvent.Part.MEMBER;
    private String joinProgress = "";

    private boolean donating;
    /** While no leader is heard, nobody knows how far behind this node is: it may have been cut off for long. */
    private boolean leaderHeard;

    private long lastOrdered;
    private long lastApplied;
    /** What had been ordered when the node became JOINED; -1 until the first progress after that. */
    private long target = -1;

    private long nowMillis;
    /** When a majority was heard last; of interest while there is none. */
    private long heardMillis;

    /**
     * @param syncedLagMax how many writesets a node may be behind when it becomes SYNCED
     * @param silenceMaxMillis how long nothing may be heard of a majority before the node is NON_PRIMARY; an election
     *     takes less, even on a slow machine
     */
    public NodeMachine(long syncedLagMax, long silenceMaxMillis) {
        this(syncedLagMax, silenceMaxMillis, false);
    }

    private NodeMachine(long syncedLagMax, long silenceMaxMillis, boolean arbitrator) {
        this.syncedLagMax = syncedLagMax;
        this.silenceMaxMillis = silenceMaxMillis;
        this.arbitrator = arbitrator;
    }

    /** The machine of a node without a server. */
    public static NodeMachine ofArbitrator(long silenceMaxMillis) {
        return new NodeMachine(0, silenceMaxMillis, true);
    }

    /** Takes an event; true when it changes the state. */
    public boolean on(NodeEvent event) {
        NodeState before = state;
        if (event instanceof NodeEvent.QuorumChanged e) {
            nowMillis = e.nowMillis();
            if (quorum.primary()) {
                heardMillis = nowMillis - e.quorum().silentMillis();
            }
            quorum = e.quorum();
        } else if (event instanceof NodeEvent.DatabaseUp) {
            databaseUp = true;
            databaseReason = "";
        } else if (event instanceof NodeEvent.DatabaseDown e) {
            databaseUp = false;
            databaseReason = e.reason();
        } else if (event instanceof NodeEvent.Progress e) {
            leaderHeard = e.lastOrdered() >= 0;
            lastOrdered = leaderHeard ? e.lastOrdered() : lastOrdered;
            lastApplied = e.lastApplied();
            nowMillis = e.nowMillis();
            if (state == JOINED && target < 0 && leaderHeard) {
                target = lastOrdered;
            }
        } else if (event instanceof NodeEvent.DiskLow e) {
            diskReason = e.reason();
        } else if (event instanceof NodeEvent.JoinChanged e) {
            part = e.part();
            joinProgress = e.progress();
        } else if (event instanceof NodeEvent.Donating e) {
            donating = e.gives();
        } else if (event instanceof NodeEvent.Failed e && failure == null) {
            failure = e.cause();
        }
        state = next();
        if (state != before) {
            target = -1;
        }
        return state != before;
    }

    private NodeState next() {
        if (failure != null) {
            return INCONSISTENT;
        }
        if (part == NodeEvent.Part.OUT) {
            return LEFT;
        }
        if (diskReason != null) {
            return NON_PRIMARY;
        }
        if (part == NodeEvent.Part.JOINER) {
            return JOINER;
        }
        if ((state == OPEN || state == JOINER || state == LEFT) && !quorum.primary()) {
            return OPEN;
        }
        if (state == NON_PRIMARY && !quorum.primary()) {
            return NON_PRIMARY;
        }
        if (!quorum.primary() && nowMillis - heardMillis >= silenceMaxMillis) {
            return NON_PRIMARY;
        }
        if (arbitrator) {
            return ARBITRATOR;
        }
        if (!databaseUp) {
            return CONNECTED;
        }
        if (state.writable() || caughtUp()) {
            return donating ? DONOR : SYNCED;
        }
        return JOINED;
    }

    private boolean caughtUp() {
        return state == JOINED
                && leaderHeard
                && target >= 0
                && lastApplied >= target
                && lastOrdered - lastApplied <= syncedLagMax;
    }

    public NodeState state() {
        return state;
    }

    /** One sentence on why the node is not SYNCED, empty when it is. */
    public String reason() {
        return switch (state) {
            case OPEN -> cutOffOr("no majority of the nodes has been heard of yet");
            case NON_PRIMARY ->
                diskReason != null
                        ? new QuorateException(ErrorCode.DISK_LOW, diskReason).getMessage()
                        : new QuorateException(ErrorCode.NO_QUORUM, cutOffOr("this node has lost the majority"))
                                .getMessage();
            case CONNECTED -> "MySQL server: " + databaseReason;
            case JOINED ->
                leaderHeard
                        ? "catching up: " + Math.max(0, lastOrdered - lastApplied) + " writesets behind"
                        : "waiting for the leader to say how far the order is";
            case JOINER, LEFT -> joinProgress;
            case SYNCED, DONOR, ARBITRATOR -> "";
            case INCONSISTENT -> failure.getMessage();
        };
    }

    private String cutOffOr(String otherwise) {
        return quorum.cutOff() != null ? quorum.cutOff() : otherwise;
    }

    public TotalOrder.Quorum quorum() {
        return quorum;
    }

    /** What made the node INCONSISTENT, null when nothing did. */
    public QuorateException failure() {
        return failure;
    }
}
