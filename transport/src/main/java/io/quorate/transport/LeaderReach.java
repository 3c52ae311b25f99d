// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Decides whether a follower that hears its leader over Raft's port is cut off from it all the same. Entries go to the
 * leader over another port: while that is closed, clients' writes would wait for an order that they can't get into.
 *
 * <p>A node that isn't primary needs that connection to become so. One that is primary may be without it for as long as
 * without a leader, counted from when that node began to lead: nobody missed a connection to it before.
 */
final class LeaderReach {
    private final long nanosMax;
    private String leader;
    private long sinceNanos;

    LeaderReach(Duration max) {
        nanosMax = max.toNanos();
    }

    /** Whom this node takes for the leader; null for nobody. */
    void leads(String now, long nowNanos) {
        if (!Objects.equals(leader, now)) {
            leader = now;
            sinceNanos = nowNanos;
        }
    }

    /**
     * What cuts this node off from the leader; null when nothing does yet.
     *
     * @param primary whether the node is primary
     * @param broken what keeps entries from the leader; null when nothing does
     */
    Unreachable cutOff(boolean primary, Unreachable broken, long nowNanos) {
        if (broken == null) {
            return null;
        }
        long nanos = Math.min(TimeUnit.MILLISECONDS.toNanos(broken.millis()), nowNanos - sinceNanos);
        return primary && nanos <= nanosMax
                ? null
                : new Unreachable(TimeUnit.NANOSECONDS.toMillis(nanos), broken.why());
    }
}
