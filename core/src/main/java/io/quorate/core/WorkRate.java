// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.ArrayDeque;

/**
 * How fast a server works off what waits for it, from looks at how far it is. A server with little CPU commits many
 * writesets at once and then none for a second, and a rate over any fixed time would be nothing in between and too much
 * afterwards: this one is taken over at least two such steps. Time in which nothing waits doesn't count. Not
 * thread-safe.
 */
public final class WorkRate {
    /** So many steps at least, one more than that in marks. */
    private static final int STEPS_MIN = 2;

    private final long windowMillis;

    private record Mark(long millis, long count) {}

    private final ArrayDeque<Mark> marks = new ArrayDeque<>();
    /** From the step before the last one to that. */
    private long gapMillis;

    /** @param windowMillis time over which the rate is taken, if it is as long as two steps */
    public WorkRate(long windowMillis) {
        this.windowMillis = windowMillis;
    }

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
        while (marks.size() > STEPS_MIN + 1 && nowMillis - marks.peek().millis > windowMillis) {
            marks.remove();
        }
        Mark first = marks.peek();
        long end = Math.max(marks.peekLast().millis, nowMillis - gapMillis);
        long rate = end == first.millis ? 0 : (marks.peekLast().count - first.count) * 1000 / (end - first.millis);
        if (!waits) {
            marks.removeLast();
            marks.add(new Mark(nowMillis, count));
        }
        return rate;
    }
}
