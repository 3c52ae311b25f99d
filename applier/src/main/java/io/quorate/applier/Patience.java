// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.Retry;
import java.sql.SQLException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides how often a worker tries again after a failure that may pass. Only the number of tries counts, not the time,
 * so there is no clock.
 */
public final class Patience {
    private static final Logger log = LoggerFactory.getLogger(Patience.class);
    private static final Duration LOCKED_OUT = Duration.ofSeconds(1);
    /** Most locks are gone after fewer tries; who holds the others is worth a question to the server. */
    private static final int ASKS_FROM = 5;

    private static final Retry.Policy READ_ONLY = Retry.Policy.unbounded(
                    "the order is kept in the cache meanwhile, and only whoever made the server read-only knows"
                            + " for how long",
                    Duration.ofSeconds(1))
            .telling(0, 30);

    private final Retry.Policy policy;
    private Retry locks;
    /** Counts over several groups: a server that takes no writes won't take those of the next group either. */
    private final Retry readOnly = new Retry(READ_ONLY, 0);

    /**
     * @param retriesMax how often one step that meets locks is tried again. If only a client's session holds the lock,
     *     it is killed long before that. While a backup or the like keeps everybody from writing, there is no bound.
     */
    public Patience(int retriesMax) {
        this.policy = Retry.Policy.attempts(retriesMax, Duration.ofMillis(10))
                .growingTo(Duration.ofSeconds(1))
                .telling(9, 10);
        begin();
    }

    /** Something else is tried now: the count for locks begins again. */
    void begin() {
        locks = new Retry(policy, 0);
    }

    /** A group is in the database: the server takes writes. */
    void cameThrough() {
        readOnly.reset(0);
    }

    /** Whether the same step may succeed later. */
    static boolean mayPass(SQLException e) {
        SqlErrors error = SqlErrors.of(e);
        return error == SqlErrors.LOCK || error == SqlErrors.READ_ONLY;
    }

    /**
     * How long to wait after a failure; below zero when waiting doesn't help.
     *
     * @throws QuorateException when the step was tried often enough
     */
    long pauseMillis(SQLException e, Group group, ApplyCourse.Place place) {
        return switch (SqlErrors.of(e)) {
            case LOCK -> afterLock(e, group, place);
            case READ_ONLY -> afterRefusal(e, group, place);
            default -> -1;
        };
    }

    private long afterLock(SQLException e, Group group, ApplyCourse.Place place) {
        place.count(ApplyCourse.Happening.MET_LOCKS);
        if (place.isHead()) {
            place.othersYield();
        }
        // Which lock it was differs from one failure to the next, and is no news.
        Retry.Next next = locks.failed("locks", 0);
        boolean lasts = next.attempts() >= ASKS_FROM || !next.again();
        if (lasts && place.isLockedOut()) {
            begin();
            return LOCKED_OUT.toMillis();
        }
        if (!next.again()) {
            throw new QuorateException(
                    ErrorCode.APPLY_FAILED,
                    group + " met locks " + next.attempts() + " times, last: " + ApplyErrors.describe(e),
                    e);
        }
        if (next.tell()) {
            log.warn("{} still meets locks after {} tries: {}", group, next.attempts(), e.getMessage());
        }
        return next.pauseMillis();
    }

    private long afterRefusal(SQLException e, Group group, ApplyCourse.Place place) {
        place.count(ApplyCourse.Happening.MET_READ_ONLY);
        Retry.Next next = readOnly.failed(e.getMessage(), 0);
        if (next.tell()) {
            log.warn("the server takes no writes ({}); {} waits for it", e.getMessage(), group);
        }
        return next.pauseMillis();
    }
}
