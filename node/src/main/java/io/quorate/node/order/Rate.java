// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.order;

import java.time.Duration;
import java.util.ArrayDeque;

/** How fast a count has been rising lately. One thread counts. */
public final class Rate {
    private final long windowMillis;

    private record Mark(long millis, long count) {}

    private final ArrayDeque<Mark> marks = new ArrayDeque<>();
    private volatile long last;

    public Rate(Duration window) {
        windowMillis = window.toMillis();
    }

    /** Notes that the count is {@code count} now, and returns how much it rises in a second. */
    public long at(long nowMillis, long count) {
        marks.add(new Mark(nowMillis, count));
        while (marks.size() > 2 && nowMillis - marks.peek().millis > windowMillis) {
            marks.remove();
        }
        Mark before = marks.peek();
        long millis = nowMillis - before.millis;
        last = millis == 0 ? 0 : Math.max(0, (count - before.count) * 1000 / millis);
        return last;
    }

    /** What {@link #at} returned last. Any thread may ask. */
    public long last() {
        return last;
    }
}
