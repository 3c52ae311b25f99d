// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.applier.Verdicts;
import io.quorate.certification.OrderedStream;
import io.quorate.core.Ballot;
import io.quorate.core.BallotCodec;
import io.quorate.core.TotalOrder;
import io.quorate.node.thread.MonotonicClock;
import java.util.UUID;

/**
 * This server's part in deciding about definitions that some servers refuse. What it says, and when, {@link
 * VotingCourse} decides; here are the order and the clock.
 */
final class Voting implements Verdicts {
    private static final long WAIT_MILLIS = 1000;
    private static final long LOOK_MILLIS = 20;

    private final String node;
    private final UUID server;
    private final OrderedStream stream;
    private final TotalOrder order;
    private final Refusals refusals;
    private final VotingCourse course = new VotingCourse(new OfOrder());

    Voting(String node, UUID server, OrderedStream stream, TotalOrder order, Refusals refusals) {
        this.node = node;
        this.server = server;
        this.stream = stream;
        this.order = order;
        this.refusals = refusals;
    }

    @Override
    public void refusal(long seqno, String error) {
        refusals.add(seqno, error);
    }

    @Override
    public boolean isVoid(long seqno) {
        return stream.isVoid(seqno);
    }

    @Override
    public synchronized Verdict onRefused(long seqno) throws InterruptedException {
        Verdict verdict = course.refused(seqno, MonotonicClock.millis());
        for (long left = WAIT_MILLIS / LOOK_MILLIS; left > 0 && verdict == Verdict.OPEN; left--) {
            Thread.sleep(LOOK_MILLIS);
            verdict = verdict(seqno);
        }
        return verdict;
    }

    private Verdict verdict(long seqno) {
        return Verdicts.of(isVoid(seqno), stream.ask(certifier -> certifier.stands(seqno)));
    }

    /** As {@link VotingCourse#answer}. */
    void answer(long applied, boolean synced) {
        course.answer(applied, synced);
    }

    /** This server doesn't hold what the order says any more. */
    void withdraw() {
        course.withdraw();
    }

    private final class OfOrder implements VotingCourse.Order {
        @Override
        public Verdict verdict(long seqno) {
            return Voting.this.verdict(seqno);
        }

        @Override
        public long[] unanswered() {
            return stream.ask(certifier -> certifier.unanswered(server));
        }

        @Override
        public boolean isVoter() {
            return stream.ask(certifier -> certifier.isVoter(node, server));
        }

        @Override
        public void say(Ballot.Kind kind, long seqno) {
            long micros = System.currentTimeMillis() * 1000;
            var unused = order.submit(BallotCodec.encode(new Ballot(kind, node, server, seqno, micros)));
        }
    }
}
