// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.trace;

import io.quorate.core.Gtid;
import org.jspecify.annotations.Nullable;

/**
 * A part of a transaction's way that is over.
 *
 * @param parent id of the span that it belongs to; 0 for the root
 * @param startMicros microseconds since the epoch, by this node's clock; those of a commit by its server's
 * @param seqno its place in the order; 0 while that isn't known
 * @param verdict null while that isn't known
 */
record TracedSpan(
        TraceIds trace,
        String name,
        long id,
        long parent,
        long startMicros,
        long endMicros,
        Gtid gtid,
        long seqno,
        @Nullable Boolean verdict) {
    /** The root of a trace, at the node whose client has committed. */
    static final String TRANSACTION = "transaction";

    /** At every other node. */
    static final String APPLY = "apply";

    boolean isLost() {
        return Boolean.FALSE.equals(verdict);
    }
}
