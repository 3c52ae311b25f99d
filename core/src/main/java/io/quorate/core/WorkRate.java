// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.ArrayDeque;
import java.util.Iterator;

/**
 * How fast a server works off what waits for it, from looks at how far it is. A server with little CPU commits many
 * writesets at once and then none for a while; over any short time its rate would be nothing now and far too much then.
 * So the rate is taken over at least two such steps, and it is the lower one of a short and a long time: the short one
 * shows at once that a server has become slow, the long one doesn't take a good moment for more. Time in which nothing
 * waits doesn't count. Not thread-safe.
 */
public final class WorkRate {
    private static final long SHORT_MILLIS = 500;
    private static final long LONG_MILLIS = 2000;

    /** So many steps at least, which is one mark more. */
    private static final int STEPS_MIN = 2;

    private record Mark(long millis, long count) {}

    private final ArrayDeque<Mark> marks = new ArrayDeque<>();
    /** From the step before the last one to that. */
    private long gapMillis;

    /**
     * Notes how far the server is, and returns how much it does in a second.
     *
     * @param count what it has done
     * @param waits whether there is more for it to do
     */
    public long at(long nowMillis, long count, boolean waits) {
        Mark last = marks.peekLast();
        if (last == null || count < last.count) {
            marks.clear();
            marks.add(new Mark(nowMillis, count));
            return 0;
        }
        if (count > last.count) {
            gapMillis = nowMillis - last.millis;
            marks.add(new Mark(nowMillis, count));
        }
        while (marks.size() > STEPS_MIN + 1 && nowMillis - marks.peek().millis > LONG_MILLIS) {
            marks.remove();
        }
        long rate = Math.min(since(marks.peek(), nowMillis), since(firstWithin(SHORT_MILLIS, nowMillis), nowMillis));
        if (!waits) {
            marks.removeLast();
            marks.add(new Mark(nowMillis, count));
        }
        return rate;
    }

    private Mark firstWithin(long millis, long nowMillis) {
        Iterator<Mark> each = marks.iterator();
        Mark first = each.next();
        for (int left = marks.size(); left > STEPS_MIN + 1 && nowMillis - first.millis > millis; left--) {
            first = each.next();
        }
        return first;
    }

    /** Until the last step; but when the next one takes longer than that did, it counts against the server. */
    private long since(Mark first, long nowMillis) {
        long end = Math.max(marks.peekLast().millis, nowMillis - gapMillis);
        return end == first.millis ? 0 : (marks.peekLast().count - first.count) * 1000 / (end - first.millis);
    }
}
