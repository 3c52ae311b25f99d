// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.certification.Certification;
import io.quorate.certification.Certifier;
import io.quorate.certification.OrderedStream;
import io.quorate.core.Ballot;
import io.quorate.core.Certified;
import io.quorate.core.LogPosition;
import io.quorate.core.Proposal;
import java.nio.ByteBuffer;
import java.util.List;

/** The product's stream, with an eye on what it makes of every entry, and with the bugs that are planted there. */
final class WatchedStream extends OrderedStream {
    private final Node node;
    private final World world;
    private Certifier state;
    private Replica.Entry entry;

    WatchedStream(Node node, Certifier state) {
        super(
                state,
                node.storage().position(),
                node.storage().log(),
                node.storage()::save,
                event -> {
                    throw new Violation(node.name() + ": " + event);
                },
                quorum -> {},
                Failures.NOBODY);
        this.node = node;
        this.world = node.world;
        this.state = state;
    }

    void deliver(Replica.Entry next, LogPosition at) {
        entry = next;
        if (next.bytes() == null) {
            world.decided.take((int) at.index(), next, state.digest(), List.of(), node);
        } else {
            deliver(at, ByteBuffer.wrap(next.bytes()));
        }
    }

    @Override
    protected Certification certify(Certifier certifier, Proposal sent, LogPosition at) {
        int index = (int) at.index();
        boolean spoilt = world.bugs.contains(Bug.PURGED_TOO_EARLY) && index % 3 == 0;
        Proposal proposal = spoilt ? Spoilt.withoutKeys(sent) : Spoilt.proposal(sent, certifier, world);
        Certification result = super.certify(certifier, proposal, at);
        if (result.link() == Certification.Link.DUPLICATE && world.bugs.contains(Bug.DUPLICATE_TAKEN)) {
            result = super.certify(certifier, Spoilt.renamed(proposal, index), at);
        }
        World.require(result.link() != Certification.Link.IMPOSSIBLE, () -> "impossible: " + proposal);
        world.decided.take(index, entry, certifier.digest(), result.certified(), node);
        if (result.link() == Certification.Link.TAKEN) {
            world.decided.proposed(index, proposal);
        }
        return result;
    }

    @Override
    protected Certified vote(Certifier certifier, Ballot said, LogPosition at) {
        int index = (int) at.index();
        Certified verdict = null;
        for (Ballot ballot : Spoilt.ballots(said, index, world)) {
            Certified found = super.vote(certifier, ballot, at);
            verdict = found == null ? verdict : found;
        }
        boolean stands = certifier.stands(said.seqno());
        world.decided.voted(index, said, verdict != null, stands);
        world.decided.take(index, entry, certifier.digest(), verdict == null ? List.of() : List.of(verdict), node);
        return verdict;
    }

    @Override
    public void install(Certifier received, LogPosition at) {
        boolean forgets = at.equals(LogPosition.START);
        if (!forgets) {
            world.decided.requireDigest((int) at.index(), received.digest(), node);
        }
        state = !forgets && world.bugs.contains(Bug.TRANSFER_STATE_KEPT) ? state : received;
        super.install(state, at);
    }
}
