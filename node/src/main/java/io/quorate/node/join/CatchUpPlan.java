// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import java.time.Duration;

/**
 * When a node that catches up is to change over to a full copy: apply may take hours for what a copy brings in minutes.
 * It goes by what it measures, changes over once, and gives a copy up that doesn't begin, for catching up has nothing
 * to lose by going on. Decides only; time comes in as an argument. For one thread.
 */
final class CatchUpPlan {
    /** What it has gained since it began to catch up says little before. */
    static final Duration MEASURED_AFTER = Duration.ofSeconds(20);

    static final Duration ASK_AGAIN = Duration.ofMinutes(1);
    /** How much faster it has to be, by estimates. */
    static final int FASTER = 3;
    /** A copy that was not necessary is given up when nothing comes of it. */
    static final Duration GIVE_UP = Duration.ofMinutes(2);
    /** Seconds to catch up of a node that doesn't gain. */
    static final long FOR_EVER = Long.MAX_VALUE;

    /** What is to be done now. */
    enum Next {
        NOTHING,
        /** Estimate how long a copy would take, and tell {@link #isFaster}. */
        ESTIMATE,
        /** Give up the copy that it has changed over to. */
        GIVE_UP
    }

    private final long switchAfterSeconds;
    private boolean catchingUp;
    private long sinceMillis;
    private long behindThen;
    private long behind;
    private long seconds;
    private boolean asked;
    private long askedMillis;
    private boolean changed;
    private long changedMillis;
    private boolean tried;

    /** @param switchAfter as long as a node may go on catching up in any case */
    CatchUpPlan(Duration switchAfter) {
        this.switchAfterSeconds = switchAfter.toSeconds();
    }

    /**
     * A regular look.
     *
     * @param copying whether a copy is to be made, or is being made
     * @param joined whether the node catches up
     * @param behindNow writesets that are ordered and not applied
     */
    Next next(boolean copying, boolean joined, long behindNow, long nowMillis) {
        if (copying) {
            catchingUp = false;
            boolean late = changed && nowMillis - changedMillis > GIVE_UP.toMillis();
            return late ? Next.GIVE_UP : Next.NOTHING;
        }
        changed = false;
        if (!joined) {
            catchingUp = false;
            return Next.NOTHING;
        }
        behind = behindNow;
        if (!catchingUp) {
            catchingUp = true;
            sinceMillis = nowMillis;
            behindThen = behindNow;
        }
        boolean early = nowMillis - sinceMillis <= MEASURED_AFTER.toMillis()
                || (asked && nowMillis - askedMillis <= ASK_AGAIN.toMillis());
        if (tried || early) {
            return Next.NOTHING;
        }
        seconds = secondsToCatchUp(nowMillis);
        if (seconds <= switchAfterSeconds) {
            return Next.NOTHING;
        }
        asked = true;
        askedMillis = nowMillis;
        return Next.ESTIMATE;
    }

    /**
     * If it goes on gaining as it has since it began. One long statement gains nothing while it runs: that counts only
     * when it has gone on for as long as a node may be catching up.
     */
    private long secondsToCatchUp(long nowMillis) {
        long gained = behindThen - behind;
        long elapsed = (nowMillis - sinceMillis) / 1000;
        return gained > 0 ? (long) ((double) behind * elapsed / gained) : elapsed > switchAfterSeconds ? FOR_EVER : 0;
    }

    /** As they were estimated last, {@link #FOR_EVER} when it doesn't gain. */
    long secondsToCatchUp() {
        return seconds;
    }

    /** Whether a copy that takes so long is faster by far, so that the node changes over to it. */
    boolean isFaster(long copySeconds) {
        return copySeconds <= seconds / FASTER;
    }

    /** It has begun to change over, and won't a second time. */
    void tries() {
        tried = true;
    }

    /** It has changed over. */
    void changed(long nowMillis) {
        changed = true;
        changedMillis = nowMillis;
    }

    /** Whether the copy under way was not necessary, so that it can be given up. */
    boolean isChanged() {
        return changed;
    }

    /** It goes on catching up, or was told that it can't. */
    void givenUp() {
        changed = false;
    }
}
