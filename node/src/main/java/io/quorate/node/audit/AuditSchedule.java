// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import java.time.Duration;
import java.time.Instant;

/**
 * When an audit begins by itself, and how much of the servers' time it takes.
 *
 * @param interval time between the end of an audit and the beginning of the next; zero when none begins by itself
 * @param share the share of the time in which it works, above 0 and at most 1
 */
record AuditSchedule(Duration interval, double share) {
    private static final Duration REST_MAX = Duration.ofSeconds(10);

    /** @param last the last audit; null when there was none */
    boolean isDue(AuditState last, Instant now) {
        return !interval.isZero()
                && (last == null || Instant.parse(last.ended()).plus(interval).isBefore(now));
    }

    /** For how long an audit rests after it has worked for so long. */
    long restMillis(long workedNanos) {
        return Math.min((long) (workedNanos / 1e6 * (1 - share) / share), REST_MAX.toMillis());
    }
}
