// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.core.AppliedDdl;
import io.quorate.core.ErrorCode;
import io.quorate.core.GtidSet;
import io.quorate.core.QuorateException;

/**
 * Refuses a server that took part in another cluster of the same name, whose data directories are gone: what it says of
 * the order is about that cluster's.
 */
final class FormerCluster {
    private FormerCluster() {}

    /**
     * Refuses a server that has run definitions of a cluster of this name, although it holds nothing of the order. It
     * would take definitions that are still to come for those, and pass over them.
     */
    static void requireNoDefinitions(String cluster, String incarnation, GtidSet executed) {
        GtidSet definitions = executed.above(AppliedDdl.source(incarnation), 0);
        if (!definitions.isEmpty()) {
            throw new QuorateException(
                    ErrorCode.SERVER_USED,
                    "the server has run definitions of an earlier cluster " + cluster + " (" + definitions
                            + " in gtid_executed), and holds nothing of this one's order");
        }
    }

    /**
     * Refuses a server that has applied more than was ever ordered.
     *
     * @param applied the server's position
     * @param ordered the order's last seqno, asked later than the position
     */
    static void requireWithinOrder(String cluster, long applied, long ordered) {
        if (applied > ordered) {
            throw new QuorateException(
                    ErrorCode.SERVER_USED,
                    "the server holds the order of an earlier cluster " + cluster + " up to seqno " + applied
                            + "; this one's ends at " + ordered);
        }
    }
}
