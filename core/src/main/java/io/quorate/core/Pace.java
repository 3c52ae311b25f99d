// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/**
 * The interval between an origin's proposals. A round of the order costs every node about half a millisecond of CPU,
 * whatever it carries, so rounds take a share of the time and not all of it: the interval is {@value #ROUNDS} times
 * what a round took lately. On an idle machine that is some milliseconds. Where CPU or disks are scarce, rounds get
 * longer, and so fewer and fuller, which leaves the resources to the databases. The rounds' time is smoothed as TCP
 * smooths its round trips (RFC 6298), and a proposal that was sent twice does not count (Karn).
 */
final class Pace {
    static final int ROUNDS = 4;

    private final long minMillis;
    private final long maxMillis;
    /** In eighths of a millisecond. */
    private long smoothed = -1;

    Pace(long minMillis, long maxMillis) {
        this.minMillis = minMillis;
        this.maxMillis = maxMillis;
    }

    /** A proposal that was sent once was delivered this many milliseconds later. */
    void round(long millis) {
        smoothed = smoothed < 0 ? 8 * millis : smoothed + millis - smoothed / 8;
    }

    /** The interval from one proposal to the next, unless the next one is full. */
    long intervalMillis() {
        return Math.min(maxMillis, Math.max(minMillis, ROUNDS * smoothed / 8));
    }
}
