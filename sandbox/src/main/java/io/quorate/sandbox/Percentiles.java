// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.util.Arrays;

/** Keeps measured values, up to a limit, and computes their percentiles. */
final class Percentiles {
    private final int max;
    private long[] values = new long[256];
    private int count;

    Percentiles(int max) {
        this.max = max;
    }

    synchronized void add(long value) {
        if (count == max) {
            return;
        }
        if (count == values.length) {
            values = Arrays.copyOf(values, Math.min(max, 2 * count));
        }
        values[count++] = value;
    }

    synchronized int count() {
        return count;
    }

    /** The smallest value that is not less than {@code percent} of all; 0 when there is none. */
    synchronized long at(int percent) {
        if (count == 0) {
            return 0;
        }
        long[] sorted = Arrays.copyOf(values, count);
        Arrays.sort(sorted);
        return sorted[Math.max(0, (int) Math.ceil(count * percent / 100.0) - 1)];
    }
}
