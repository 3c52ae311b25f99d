// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/**
 * Decides how fast clients get the OK that they may have: at most at a given rate, or at any. It is a token bucket with
 * a bottom and a lid: nobody is held for longer than a given time, whatever the rate says, so that clients never stand
 * still because of it; and what isn't used can't be saved up for longer than a moment. A rate is given for some time
 * only, and has to be given again; a node that doesn't hear what the others can do slows nobody.
 *
 * <p>This class only decides; time comes in as an argument, from any clock that never goes back. Not thread-safe.
 */
final class AckPace {
    /** Who waits for the next token looks no sooner than this, so that a server hears of several commits at once. */
    private static final long STEP_MILLIS = 10;

    /** What can be saved up, for a look that comes late. */
    private static final long SAVED_MILLIS = 50;

    private final long holdMaxMillis;
    private double perMilli = Double.POSITIVE_INFINITY;
    private long untilMillis = Long.MIN_VALUE;
    private double tokens;
    private long filledMillis;

    /** @param holdMaxMillis nobody is held for longer than this */
    AckPace(long holdMaxMillis) {
        this.holdMaxMillis = holdMaxMillis;
    }

    /** Until that time, at most so many a second get their OK. */
    void slow(double perSecond, long nowMillis, long untilMillis) {
        if (isSlow(nowMillis)) {
            fill(nowMillis);
        } else {
            tokens = 0;
            filledMillis = nowMillis;
        }
        this.perMilli = perSecond / 1000;
        this.untilMillis = untilMillis;
    }

    boolean isSlow(long nowMillis) {
        return nowMillis < untilMillis && perMilli < Double.POSITIVE_INFINITY;
    }

    /** Whether one that could have had its OK since {@code sinceMillis} gets it now; uses up what that takes. */
    boolean passes(long sinceMillis, long nowMillis) {
        if (!isSlow(nowMillis)) {
            return true;
        }
        fill(nowMillis);
        if (tokens >= 1) {
            tokens--;
            return true;
        }
        return nowMillis - sinceMillis >= holdMaxMillis;
    }

    private void fill(long nowMillis) {
        double saved = tokens + (nowMillis - filledMillis) * perMilli;
        tokens = Math.min(saved, Math.max(1, SAVED_MILLIS * perMilli));
        filledMillis = nowMillis;
    }

    /** Milliseconds until it may pass, at least one. */
    long waitMillis(long sinceMillis, long nowMillis) {
        double token = Math.ceil((1 - tokens) / perMilli) - (nowMillis - filledMillis);
        long next = (long) Math.min(token, Integer.MAX_VALUE);
        long lid = Math.min(untilMillis, sinceMillis + holdMaxMillis) - nowMillis;
        return Math.max(1, Math.min(Math.max(STEP_MILLIS, next), lid));
    }
}
