// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * How far an applier is behind the order, as a time: the age of the first writeset that isn't applied. It is found by
 * this node's own clock, from looks at how far the order is; between two looks it is taken to have grown evenly. Not
 * thread-safe.
 */
public final class Backlog {
    /** With more looks than this, every other one is forgotten. */
    private static final int LOOKS_MAX = 512;

    private record Look(long millis, long ordered) {}

    private final ArrayDeque<Look> looks = new ArrayDeque<>();

    /**
     * Milliseconds since the first writeset was ordered that isn't applied; 0 when all are.
     *
     * @param ordered the last seqno that is ordered by now
     * @param applied the seqno up to which everything is applied
     */
    public long lagMillis(long nowMillis, long ordered, long applied) {
        if (!looks.isEmpty() && ordered < looks.peekLast().ordered) {
            looks.clear(); // Another life of the cluster, or of the server.
        }
        looks.add(new Look(nowMillis, ordered));
        Look before = null;
        while (!looks.isEmpty() && looks.peek().ordered <= applied) {
            before = looks.poll();
        }
        if (looks.isEmpty()) {
            looks.add(before);
            return 0;
        }
        Look after = looks.peek();
        if (before != null) {
            looks.addFirst(before);
        }
        thin();
        return nowMillis - (before == null ? after.millis : between(before, after, applied + 1));
    }

    private static long between(Look before, Look after, long seqno) {
        double share = (double) (seqno - before.ordered) / (after.ordered - before.ordered);
        return before.millis + (long) (share * (after.millis - before.millis));
    }

    private void thin() {
        if (looks.size() <= LOOKS_MAX) {
            return;
        }
        List<Look> kept = new ArrayList<>();
        boolean keep = true;
        for (Iterator<Look> each = looks.iterator(); each.hasNext(); keep = !keep) {
            Look look = each.next();
            if (keep || !each.hasNext()) {
                kept.add(look);
            }
        }
        looks.clear();
        looks.addAll(kept);
    }
}
