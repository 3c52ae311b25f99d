// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/**
 * Decides how fast clients get the OK that they may have: at most at a given rate, or at any. It is a token bucket that
 * is filled in steps, with a bottom and a lid: a server with little CPU needs much less of it for some commits at once
 * than for the same ones each by itself; nobody is held for longer than a given time, whatever the rate says, so that
 * clients never stand still because of it; and what isn't used is saved up for one step only. A rate is given for some
 * time only, and has to be given again; a node that doesn't hear what the others can do slows nobody.
 *
 * <p>This class only decides; time comes in as an argument, from any clock that never goes back. Not thread-safe.
 */
final class AckPace {
    private static final long STEP_MILLIS = 100;

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
        boolean goesOn = isSlow(nowMillis);
        if (goesOn) {
            fill(nowMillis);
        }
        perMilli = perSecond / 1000;
        this.untilMillis = untilMillis;
        if (!goesOn) {
            tokens = STEP_MILLIS * perMilli;
            filledMillis = nowMillis;
        }
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
        long steps = (nowMillis - filledMillis) / STEP_MILLIS;
        double saved = tokens + steps * STEP_MILLIS * perMilli;
        tokens = Math.min(saved, 1 + STEP_MILLIS * perMilli);
        filledMillis += steps * STEP_MILLIS;
    }

    /** Milliseconds until it may pass, at least one. */
    long waitMillis(long sinceMillis, long nowMillis) {
        double steps = Math.ceil((1 - tokens) / (perMilli * STEP_MILLIS));
        long next = (long) Math.min(steps * STEP_MILLIS, Integer.MAX_VALUE) - (nowMillis - filledMillis);
        long lid = Math.min(untilMillis, sinceMillis + holdMaxMillis) - nowMillis;
        return Math.max(1, Math.min(next, lid));
    }
}
