// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.conflict;

import io.quorate.capture.KeyExplainer;
import io.quorate.core.Certified;
import io.quorate.core.WriteSet;
import java.util.Map;
import java.util.Set;

/** Says of a conflict what the writesets don't. Asked by the journal's thread. */
@FunctionalInterface
public interface Explainer {
    /** Which keys these are; empty when that isn't known now. */
    Map<Long, KeyExplainer.Explained> explain(WriteSet w, Set<Long> hashes);

    /** The account of the client that committed it here, while its connection is open; null else. */
    default String accountOf(Certified loser) {
        return null;
    }
}
