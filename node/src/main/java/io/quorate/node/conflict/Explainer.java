// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.conflict;

import io.quorate.capture.KeyExplainer;
import io.quorate.core.Certified;
import io.quorate.core.WriteSet;
import java.util.Map;
import java.util.Set;

/** Tells about a conflict what the writesets don't say. Asked by the journal's thread. */
@FunctionalInterface
public interface Explainer {
    /** Which keys these hashes stand for; empty when that isn't known now. */
    Map<Long, KeyExplainer.Explained> explain(WriteSet w, Set<Long> hashes);

    /**
     * The account of the client that committed the loser on this node, if its connection is still open; otherwise null.
     */
    default String accountOf(Certified loser) {
        return null;
    }
}
