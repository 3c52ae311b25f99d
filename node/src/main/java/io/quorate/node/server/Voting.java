// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.applier.Verdicts;
import io.quorate.certification.OrderedStream;
import io.quorate.core.Ballot;
import io.quorate.core.BallotCodec;
import io.quorate.core.TotalOrder;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * This server's part in deciding about definitions that some servers refuse: it asks, answers when others ask, and says
 * whether it votes. What it says goes into the order, and certification decides. Everything is said again until it has
 * come back by the order, for an entry may be lost on its way.
 */
final class Voting implements Verdicts {
    /** So long silent nodes are waited for. */
    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final long REPEAT_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long WAIT_MILLIS = 1000;
    private static final long LOOK_MILLIS = 20;

    private final String node;
    private final UUID server;
    private final OrderedStream stream;
    private final TotalOrder order;
    private final Refusals refusals;

    /** The definition that this server refuses; 0 for none. One at a time, for each is a barrier. */
    private long refused;

    private long refusedNanos;
    private long saidNanos;

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
        long now = System.nanoTime();
        if (refused != seqno) {
            refused = seqno;
            refusedNanos = now;
            saidNanos = now - REPEAT_NANOS;
        }
        Verdict verdict = verdict(seqno);
        if (verdict == Verdict.OPEN && now - saidNanos >= REPEAT_NANOS) {
            saidNanos = now;
            say(Ballot.Kind.REFUSED, seqno);
            if (now - refusedNanos >= CLOSE_NANOS) {
                say(Ballot.Kind.CLOSE, seqno);
            }
        }
        for (long left = WAIT_MILLIS / LOOK_MILLIS; left > 0 && verdict == Verdict.OPEN; left--) {
            Thread.sleep(LOOK_MILLIS);
            verdict = verdict(seqno);
        }
        return verdict;
    }

    private Verdict verdict(long seqno) {
        if (stream.isVoid(seqno)) {
            return Verdict.VOID;
        }
        return stream.ask(certifier -> certifier.stands(seqno)) ? Verdict.STANDS : Verdict.OPEN;
    }

    /**
     * Answers what others have asked; to be called now and then.
     *
     * @param applied the seqno up to which this server has applied the order
     * @param synced whether this server holds what the order says, so that it may vote from now on
     */
    void answer(long applied, boolean synced) {
        if (synced && !isVoter()) {
            say(Ballot.Kind.VOTER, 0);
        }
        for (long seqno : stream.ask(certifier -> certifier.unanswered(server))) {
            if (seqno <= applied) {
                say(Ballot.Kind.RAN, seqno);
            }
        }
    }

    /** This server doesn't hold what the order says any more. */
    void withdraw() {
        if (isVoter()) {
            say(Ballot.Kind.NO_VOTER, 0);
        }
    }

    private boolean isVoter() {
        return stream.ask(certifier -> certifier.isVoter(node, server));
    }

    private void say(Ballot.Kind kind, long seqno) {
        long micros = System.currentTimeMillis() * 1000;
        // Only what comes back by the order counts.
        var unused = order.submit(BallotCodec.encode(new Ballot(kind, node, server, seqno, micros)));
    }
}
