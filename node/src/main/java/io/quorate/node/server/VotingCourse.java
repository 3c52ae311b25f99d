// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.applier.Verdicts.Verdict;
import io.quorate.core.Ballot.Kind;

/**
 * Decides what a server says about definitions that some servers refuse: it asks, answers when others ask, and says
 * whether it votes. Everything is said again until it has come back by the order, for an entry may be lost on its way.
 * No thread and no clock of its own; for one thread at a time.
 */
public final class VotingCourse {
    /** So long silent nodes are waited for. */
    private static final long CLOSE_MILLIS = 10_000;

    private static final long REPEAT_MILLIS = 2000;

    /** The order, as this server sees it and speaks to it. */
    public interface Order {
        /** What the nodes have found about the definition at {@code seqno}. */
        Verdict verdict(long seqno);

        /** The definitions about which others ask and this server hasn't answered, by rising seqno. */
        long[] unanswered();

        /** Whether this server votes. */
        boolean isVoter();

        /** Says something that may be lost: only what comes back by the order counts. */
        void say(Kind kind, long seqno);
    }

    private final Order order;

    /** The definition that this server refuses; 0 for none. One at a time, for each is a barrier. */
    private long refused;

    private long refusedMillis;
    private long saidMillis;

    public VotingCourse(Order order) {
        this.order = order;
    }

    /** The server refuses the definition at {@code seqno}; to be called again while the verdict is open. */
    public Verdict refused(long seqno, long nowMillis) {
        if (refused != seqno) {
            refused = seqno;
            refusedMillis = nowMillis;
            saidMillis = nowMillis - REPEAT_MILLIS;
        }
        Verdict verdict = order.verdict(seqno);
        if (verdict == Verdict.OPEN && nowMillis - saidMillis >= REPEAT_MILLIS) {
            saidMillis = nowMillis;
            order.say(Kind.REFUSED, seqno);
            if (nowMillis - refusedMillis >= CLOSE_MILLIS) {
                order.say(Kind.CLOSE, seqno);
            }
        }
        return verdict;
    }

    /**
     * Answers what others have asked; to be called now and then.
     *
     * @param applied the seqno up to which this server has applied the order
     * @param synced whether this server holds what the order says, so that it may vote from now on
     */
    public void answer(long applied, boolean synced) {
        if (synced && !order.isVoter()) {
            order.say(Kind.VOTER, 0);
        }
        for (long seqno : order.unanswered()) {
            if (seqno <= applied) {
                order.say(Kind.RAN, seqno);
            }
        }
    }

    /** The server doesn't hold what the order says any more. */
    public void withdraw() {
        if (order.isVoter()) {
            order.say(Kind.NO_VOTER, 0);
        }
    }
}
