// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.core.Ballot;
import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.Proposal;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/** The ballots as they are in the order, counted once more, to see that what certification makes of them is right. */
final class Poll {
    /** What is known of a definition when it passes: who gave it, whether that server held what the order says then. */
    private record Definition(UUID origin, boolean inPlace, boolean added, boolean equalTags) {}

    private static final class Question {
        private final Set<UUID> electorate = new LinkedHashSet<>();
        private final Set<UUID> ran = new LinkedHashSet<>();
        private final Set<UUID> refused = new LinkedHashSet<>();
        private boolean answered;
    }

    private final Dispute dispute;
    private final TreeMap<String, UUID> voters = new TreeMap<>();
    /** How far each server had applied the order, by what it said with its proposals. */
    private final Map<UUID, Long> applied = new HashMap<>();

    private final TreeMap<Long, Definition> definitions = new TreeMap<>();
    /** Those of which so many had run it that nobody need be asked. */
    private final Set<Long> certain = new HashSet<>();

    private final Map<Long, Question> questions = new HashMap<>();
    /** In which entry each was first there; the time doesn't count. */
    private final Map<Ballot, Integer> seen = new HashMap<>();

    private final Map<Integer, UUID> standIns = new HashMap<>();
    /** The last entry that is one, of those that were handed to somebody. */
    private int proposals = -1;

    private boolean over;

    Poll(Dispute dispute) {
        this.dispute = dispute;
    }

    /** A part of the order is forgotten, and with it what was said there; nothing is counted from now on. */
    void end() {
        over = true;
    }

    boolean isOver() {
        return over;
    }

    int voters() {
        return voters.size();
    }

    /**
     * A definition has passed.
     *
     * @param before what the order has before it
     * @param rows as they are there
     */
    void passed(Certified definition, List<Certified> before, Rows rows) {
        Gtid gtid = definition.writeSet().gtid();
        boolean inPlace = true;
        for (int i = before.size() - 1;
                i >= 0 && before.get(i).seqno() > definition.writeSet().lastSeen();
                i--) {
            Certified c = before.get(i);
            boolean foreign = !c.writeSet().gtid().source().equals(gtid.source())
                    || c.writeSet().isPrepared();
            inPlace &= !(foreign && c.passed() && touchesTags(c));
        }
        boolean added = Dispute.isAdded(definition.writeSet().payload().toArray());
        definitions.put(definition.seqno(), new Definition(gtid.source(), inPlace, added, rows.hasEqualTags()));
    }

    private static boolean touchesTags(Certified c) {
        return c.writeSet().isBarrier()
                ? Dispute.isOfTags(c.writeSet())
                : Change.decode(c.writeSet().payload().toArray()).stream()
                        .anyMatch(change -> change.table() == Table.TAG);
    }

    /** A server has proposed something, and has applied the order that far. */
    void proposed(int index, Proposal proposal) {
        if (index <= proposals) {
            return;
        }
        proposals = index;
        applied.merge(proposal.origin(), proposal.lastSeen(), Math::max);
        for (long seqno : definitions.keySet()) {
            Question q = ask(seqno);
            if (!questions.containsKey(seqno) && !q.ran.isEmpty() && 2 * q.ran.size() >= q.electorate.size()) {
                certain.add(seqno);
            }
        }
    }

    /** Whether the same was said in an earlier entry. */
    boolean isRepeated(int index, Ballot ballot) {
        return seen.getOrDefault(timeless(ballot), index) < index;
    }

    private static Ballot timeless(Ballot b) {
        return new Ballot(b.kind(), b.node(), b.server(), b.seqno(), 0);
    }

    /**
     * For a {@link Bug}: one of those who are asked that hasn't said anything when this entry is first there; null when
     * there is none. The same for every node.
     */
    UUID silent(int index, long seqno) {
        if (!standIns.containsKey(index)) {
            Question q = questions.get(seqno);
            Set<UUID> silent = new LinkedHashSet<>(q == null ? Set.of() : q.electorate);
            if (q != null) {
                silent.removeAll(q.ran);
                silent.removeAll(q.refused);
            }
            standIns.put(index, silent.isEmpty() ? null : silent.iterator().next());
        }
        return standIns.get(index);
    }

    /** For a {@link Bug}: another one that votes when this entry is first there. The same for every node. */
    UUID other(int index, UUID server) {
        return standIns.computeIfAbsent(index, i -> voters.values().stream()
                .filter(v -> !v.equals(server))
                .findFirst()
                .orElse(server));
    }

    /**
     * A ballot is in the order.
     *
     * @param isVoid whether certification makes the definition void by it
     * @param stands whether it stands now, by certification's word
     */
    void take(int index, Ballot ballot, boolean isVoid, boolean stands) {
        if (over) {
            return;
        }
        seen.putIfAbsent(timeless(ballot), index);
        switch (ballot.kind()) {
            case VOTER -> voters.put(ballot.node(), ballot.server());
            case NO_VOTER -> voters.remove(ballot.node(), ballot.server());
            default -> about(ballot, isVoid, stands);
        }
    }

    private void about(Ballot ballot, boolean isVoid, boolean stands) {
        long seqno = ballot.seqno();
        if (ballot.kind() == Ballot.Kind.REFUSED) {
            questions.computeIfAbsent(seqno, this::ask);
        }
        Question q = questions.get(seqno);
        if (q == null || q.answered) {
            World.require(!isVoid, () -> "definition " + seqno + " is void by " + ballot);
            return;
        }
        if (q.ran.contains(ballot.server()) || q.refused.contains(ballot.server())) {
            // Its first word counts.
        } else if (q.electorate.contains(ballot.server()) && ballot.kind() == Ballot.Kind.RAN) {
            q.ran.add(ballot.server());
        } else if (q.electorate.contains(ballot.server()) && ballot.kind() == Ballot.Kind.REFUSED) {
            q.refused.add(ballot.server());
        }
        q.answered = isVoid || stands;
        dispute.answered(isVoid, stands);
        boolean closed = ballot.kind() == Ballot.Kind.CLOSE;
        int all = q.electorate.size();
        int ran = q.ran.size();
        int refused = q.refused.size();
        String votes = " with " + refused + " refusals and " + ran + " successes of " + all;
        World.require(
                !isVoid || 2 * refused > all || (closed && refused >= ran),
                () -> "definition " + seqno + " is void" + votes);
        World.require(
                !stands
                        || certain.contains(seqno)
                        || (ran > 0 && (2 * (all - ran) <= all || (closed && ran >= refused))),
                () -> "definition " + seqno + " stands" + votes);
        if (q.answered && !dispute.isTampered()) {
            requireByRows(seqno, isVoid, votes);
        }
    }

    /** Where nobody has tampered, what becomes of a definition is what the order's rows make of it at its place. */
    private void requireByRows(long seqno, boolean isVoid, String votes) {
        Definition d = definitions.get(seqno);
        boolean indexed = dispute.isIndexed(seqno - 1);
        boolean impossible = d.added == indexed || (d.added && d.equalTags);
        World.require(
                impossible == isVoid,
                () -> "definition " + seqno + (isVoid ? " is void" : " stands") + votes + ", and the order's rows "
                        + (impossible ? "stand against it" : "allow it"));
    }

    private Question ask(long seqno) {
        Question q = new Question();
        q.electorate.addAll(voters.values());
        Definition d = definitions.get(seqno);
        if (d != null && q.electorate.contains(d.origin)) {
            if (d.inPlace) {
                q.ran.add(d.origin);
            } else {
                q.electorate.remove(d.origin);
            }
        }
        q.electorate.stream()
                .filter(server -> applied.getOrDefault(server, 0L) >= seqno)
                .forEach(q.ran::add);
        return q;
    }
}
