// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.applier.Verdicts;
import io.quorate.certification.OrderedStream;
import io.quorate.core.Ballot;
import io.quorate.core.BallotCodec;
import io.quorate.node.server.VotingCourse;
import java.util.UUID;

/** What a server says about definitions, and when, the product's {@link VotingCourse} decides; here is the order. */
final class Voting implements Verdicts, VotingCourse.Order {
    private final Node node;
    private final World world;
    private final UUID server;
    private final VotingCourse course = new VotingCourse(this);

    Voting(Node node) {
        this.node = node;
        this.world = node.world;
        this.server = node.uuid();
    }

    void answer(long applied, boolean synced) {
        course.answer(world.bugs.contains(Bug.ANSWERED_TOO_EARLY) ? Long.MAX_VALUE : applied, synced);
    }

    void withdraw() {
        course.withdraw();
    }

    @Override
    public boolean isVoid(long seqno) {
        return !world.bugs.contains(Bug.VERDICT_NOT_ASKED) && node.stream().isVoid(seqno);
    }

    @Override
    public Verdict onRefused(long seqno) {
        return course.refused(seqno, world.millis() * world.dispute.clock);
    }

    @Override
    public Verdict verdict(long seqno) {
        OrderedStream stream = node.stream();
        return Verdicts.of(stream.isVoid(seqno), stream.ask(certifier -> certifier.stands(seqno)));
    }

    @Override
    public long[] unanswered() {
        return node.stream().ask(certifier -> certifier.unanswered(server));
    }

    @Override
    public boolean isVoter() {
        return node.stream().ask(certifier -> certifier.isVoter(node.name(), server));
    }

    @Override
    public void say(Ballot.Kind kind, long seqno) {
        world.statistics.ballots++;
        world.trace(node.name() + " says " + kind + (seqno > 0 ? " to seqno " + seqno : ""));
        byte[] ballot = BallotCodec.encode(new Ballot(kind, node.name(), server, seqno, world.now()));
        world.order().submit(node, ballot, () -> {});
    }
}
