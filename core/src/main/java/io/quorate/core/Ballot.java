// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.UUID;

/**
 * What a node has to say, by the order, about a definition that was ordered: so that all nodes decide alike what
 * becomes of a statement that some servers took and others refused.
 *
 * @param kind what it says
 * @param node name of the node that says it
 * @param server the UUID of its server
 * @param seqno of the definition; 0 where the kind is about none
 * @param micros when it was said, microseconds since the epoch by that node's clock
 */
public record Ballot(Kind kind, String node, UUID server, long seqno, long micros) {
    /** What a ballot says. */
    public enum Kind {
        /** The node votes from now on. */
        VOTER,
        /** The node doesn't vote any more, until it says otherwise. */
        NO_VOTER,
        /** The server has run the definition, or holds what it would hold if it had. */
        RAN,
        /** The server refuses the definition because of what it holds. */
        REFUSED,
        /** Those who haven't answered by now are not waited for any longer. */
        CLOSE
    }
}
