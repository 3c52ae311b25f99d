// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/**
 * How far apart an origin's proposals go. A round of the order costs every node about a millisecond of CPU whatever it
 * carries, so rounds take a share of the time and not all of it: the pause is {@value #ROUNDS} times what a round took
 * lately. On an idle machine that is some milliseconds; where CPU or disks are short rounds get longer, fewer and
 * fuller, which leaves what there is to the databases. The rounds' time is smoothed as TCP smooths its round trips (RFC
 * 6298), and one that was sent twice does not count (Karn).
 */
final class Pace {
    static final int ROUNDS = 4;

    private final long minMillis;
    private final long maxMillis;
    /** Eighths of a millisecond. */
    private long smoothed = -1;

    Pace(long minMillis, long maxMillis) {
        this.minMillis = minMillis;
        this.maxMillis = maxMillis;
    }

    /** A proposal was delivered that many milliseconds after it was sent, once. */
    void round(long millis) {
        smoothed = smoothed < 0 ? 8 * millis : smoothed + millis - smoothed / 8;
    }

    /** From one proposal to the next, unless that one is full. */
    long intervalMillis() {
        return Math.min(maxMillis, Math.max(minMillis, ROUNDS * smoothed / 8));
    }
}
