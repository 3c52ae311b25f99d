// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import java.util.LinkedHashMap;
import java.util.Map;

/** What this node's server said about the latest definitions that it refused, by seqno. Any thread. */
public final class Refusals {
    private static final int KEPT_MAX = 64;

    private final Map<Long, String> errors = new LinkedHashMap<>();

    synchronized void add(long seqno, String error) {
        errors.put(seqno, error);
        while (errors.size() > KEPT_MAX) {
            errors.remove(errors.keySet().iterator().next());
        }
    }

    /** Null when it didn't refuse that one, or that is too long ago. */
    public synchronized String of(long seqno) {
        return errors.get(seqno);
    }
}
