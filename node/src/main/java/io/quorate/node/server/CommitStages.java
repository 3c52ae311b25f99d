// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import java.util.ArrayDeque;
import java.util.Iterator;

/**
 * Measures how long clients' commits take from stage to stage until their OK. Numbers come in ascending order, except
 * those that are captured again, which aren't measured again. Not thread-safe.
 */
final class CommitStages {
    private static final class Commit {
        private final long number;
        private final long capturedNanos;
        private long proposedNanos;
        private long decidedNanos;

        Commit(long number, long capturedNanos) {
            this.number = number;
            this.capturedNanos = capturedNanos;
        }
    }

    private final AckStats stats;
    private final ArrayDeque<Commit> commits = new ArrayDeque<>();
    private long decided;

    CommitStages(AckStats stats) {
        this.stats = stats;
    }

    /** @param committedMicros when the server wrote it to its binlog, by its clock */
    void captured(long number, long committedMicros, long nowNanos) {
        if (number <= decided || (!commits.isEmpty() && number <= commits.peekLast().number)) {
            return;
        }
        stats.captured(Math.max(0, System.currentTimeMillis() * 1000 - committedMicros) * 1000);
        commits.add(new Commit(number, nowNanos));
    }

    /** Those that are proposed again aren't measured again. */
    void proposed(long last, long nowNanos) {
        for (Commit c : commits) {
            if (c.number > last) {
                break;
            }
            if (c.proposedNanos == 0 && c.decidedNanos == 0) {
                c.proposedNanos = nowNanos;
                stats.proposed(nowNanos - c.capturedNanos);
            }
        }
    }

    /** What the order has from an earlier capture is decided without having been proposed by this one. */
    void decided(long last, long nowNanos) {
        decided = Math.max(decided, last);
        for (Commit c : commits) {
            if (c.number > last) {
                break;
            }
            if (c.decidedNanos == 0) {
                c.decidedNanos = nowNanos;
                stats.ordered(nowNanos - (c.proposedNanos == 0 ? c.capturedNanos : c.proposedNanos));
            }
        }
    }

    void acknowledged(long number, long nowNanos) {
        for (Iterator<Commit> it = commits.iterator(); it.hasNext(); ) {
            Commit c = it.next();
            if (c.number > number) {
                break;
            }
            if (c.decidedNanos != 0) {
                stats.acknowledged(nowNanos - c.decidedNanos);
            }
            it.remove();
        }
    }
}
