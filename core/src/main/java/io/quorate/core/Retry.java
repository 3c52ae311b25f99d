// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.time.Duration;
import java.util.Objects;

/**
 * Trying again, decided in one place: until when, after what pause, and when it is worth a line in the log. It neither
 * sleeps nor looks at a clock; the caller does both:
 *
 * <pre>
 * Retry retry = new Retry(POLICY, System.nanoTime());
 * for (String why; (why = attempt()) != null; ) {
 *     Retry.Next next = retry.failed(why, System.nanoTime());
 *     if (!next.again()) {
 *         return why;
 *     }
 *     if (next.tell()) {
 *         log.warn("not yet: {}", why);
 *     }
 *     Thread.sleep(next.pauseMillis());
 * }
 * </pre>
 *
 * For one thing that is tried, by one thread.
 */
public final class Retry {
    /**
     * How something is tried.
     *
     * @param attemptsMax it ends when this many attempts have failed; {@link Integer#MAX_VALUE} for no such bound
     * @param within it ends with the first failure after this time; null for no such bound
     * @param pause before the second attempt; every further pause is longer by as much
     * @param pauseMax the longest pause
     * @param quiet how many attempts may fail before anything is reported
     * @param tellEvery after how many attempts it is reported although nothing has changed
     */
    public record Policy(
            int attemptsMax, Duration within, Duration pause, Duration pauseMax, int quiet, int tellEvery) {
        private static final int TELL_EVERY = 60;

        public Policy {
            if (attemptsMax < 1
                    || (within != null && within.isNegative())
                    || pause.isNegative()
                    || pauseMax.compareTo(pause) < 0
                    || quiet < 0
                    || tellEvery < 1) {
                throw new IllegalArgumentException("no way to try again: attempts " + attemptsMax + ", within " + within
                        + ", pauses " + pause + " to " + pauseMax + ", quiet " + quiet + ", told every " + tellEvery);
            }
        }

        /** At most this many attempts. */
        public static Policy attempts(int max, Duration pause) {
            return new Policy(max, null, pause, pause, 0, TELL_EVERY);
        }

        /** For this long, and then once more. */
        public static Policy within(Duration time, Duration pause) {
            return new Policy(Integer.MAX_VALUE, time, pause, pause, 0, TELL_EVERY);
        }

        /**
         * Until it succeeds or somebody ends it.
         *
         * @param why there is no bound, for whoever reads the code
         */
        public static Policy unbounded(String why, Duration pause) {
            if (why.isBlank()) {
                throw new IllegalArgumentException("a retry without a bound needs a reason");
            }
            return new Policy(Integer.MAX_VALUE, null, pause, pause, 0, TELL_EVERY);
        }

        /** With pauses that grow up to this. */
        public Policy growingTo(Duration max) {
            return new Policy(attemptsMax, within, pause, max, quiet, tellEvery);
        }

        /** Reports the first failure after {@code silent} attempts, and then at least every {@code every} attempts. */
        public Policy telling(int silent, int every) {
            return new Policy(attemptsMax, within, pause, pauseMax, silent, every);
        }
    }

    /**
     * What to do after a failure.
     *
     * @param again whether to try again
     * @param pauseMillis how long to wait before; 0 when it is not tried again
     * @param tell whether to log it: the reason has changed, or it has been a while
     * @param attempts how many have failed, this one included
     */
    public record Next(boolean again, long pauseMillis, boolean tell, int attempts) {}

    private final Policy policy;
    private long startedNanos;
    private int attempts;
    private String told;
    private int toldAt;

    /** @param nowNanos any clock that runs evenly, in nanoseconds */
    public Retry(Policy policy, long nowNanos) {
        this.policy = policy;
        this.startedNanos = nowNanos;
    }

    /** It has succeeded, or made progress: the next failure counts as a first one. */
    public void reset(long nowNanos) {
        startedNanos = nowNanos;
        attempts = 0;
        told = null;
        toldAt = 0;
    }

    /** @param reason for people; the same one again is not reported as new */
    public Next failed(String reason, long nowNanos) {
        Objects.requireNonNull(reason, "reason");
        attempts++;
        boolean tell = attempts > policy.quiet && (!reason.equals(told) || attempts - toldAt >= policy.tellEvery);
        if (tell) {
            told = reason;
            toldAt = attempts;
        }
        boolean over = attempts >= policy.attemptsMax
                || (policy.within != null && nowNanos - startedNanos > policy.within.toNanos());
        return new Next(!over, over ? 0 : pauseMillis(), tell, attempts);
    }

    private long pauseMillis() {
        return Math.min(policy.pause.toMillis() * attempts, policy.pauseMax.toMillis());
    }
}
