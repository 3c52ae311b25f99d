// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.core.LogPosition;
import java.util.ArrayList;
import java.util.List;

/**
 * A node's part in the order, as Raft has it: the log on its disk, from some entry on, and the highest term it promised
 * to follow. What it is the leader of, and how far it knows the log to be a majority's, is gone with the service.
 */
final class Replica {
    /** One and the same object in all logs that have it. */
    static final class Entry {
        private final int term;
        private final byte[] bytes;

        /** @param bytes null for what a leader begins with */
        Entry(int term, byte[] bytes) {
            this.term = term;
            this.bytes = bytes;
        }

        int term() {
            return term;
        }

        byte[] bytes() {
            return bytes;
        }
    }

    /** What a leader's log and this one have in common can't be told: the leader's doesn't reach back so far. */
    static final int UNBRIDGED = -1;

    final Node node;
    /** As which of those of its node's name it takes part. */
    final int generation;
    /** Names the directory that it is in. */
    final String directory;

    // On disk.
    private final List<Entry> entries = new ArrayList<>();
    private int first;
    private int termBefore;
    int promised;

    /** Taken out of the cluster: neither heard nor told anything any more. */
    boolean out;

    // In memory.
    int leads;
    int heard;
    private int matching;
    private int committed;

    Replica(Node node, int generation, String directory) {
        this.node = node;
        this.generation = generation;
        this.directory = directory;
    }

    /** Index of the first entry that is there. */
    int first() {
        return first;
    }

    /** Index of the next entry. */
    int end() {
        return first + entries.size();
    }

    int size() {
        return entries.size();
    }

    /** Up to where it knows that a majority has it. */
    int committed() {
        return committed;
    }

    /** Up to where it has what the leader of a term has. */
    int matching(int term) {
        return leads == term ? end() : heard == term ? matching : 0;
    }

    Entry entry(int index) {
        return entries.get(index - first);
    }

    int lastTerm() {
        return termAt(end() - 1);
    }

    private int termAt(int index) {
        return index < first ? termBefore : entry(index).term();
    }

    /** Whether a log that ends so is as long in Raft's sense: who has it may lead who has this. */
    boolean isCoveredBy(Replica that) {
        return that.lastTerm() != lastTerm() ? that.lastTerm() > lastTerm() : that.end() >= end();
    }

    void append(Entry entry) {
        entries.add(entry);
    }

    /** The service starts. What its stores hold was a majority's, and a log that ends before that is dropped. */
    void restart(LogPosition stored) {
        leads = 0;
        heard = 0;
        committed = first;
        install(stored);
    }

    void commit(int upTo) {
        committed = Math.max(committed, Math.min(upTo, end()));
    }

    /** Forgets what comes before an entry, which goes on from a checkpoint. */
    void purge(int upTo) {
        if (upTo > first) {
            int count = Math.min(upTo, end()) - first;
            termBefore = termAt(first + count - 1);
            entries.subList(0, count).clear();
            first += count;
        }
    }

    /** Goes on after a checkpoint that came from another node, in place of entries that nobody else has. */
    void install(LogPosition position) {
        int next = (int) position.index() + 1;
        boolean others = next >= first && next <= end() && termAt(next - 1) != position.term();
        if (next > end() || others) {
            entries.clear();
            first = next;
            termBefore = (int) position.term();
        }
        committed = Math.max(committed, next);
    }

    /** Where this log and the leader's part, {@link #UNBRIDGED} when the leader has forgotten it. */
    private int common(Replica leader) {
        int index = Math.min(end(), leader.end());
        if (index < leader.first || index < first) {
            return UNBRIDGED;
        }
        while (index > Math.max(first, leader.first) && termAt(index - 1) != leader.termAt(index - 1)) {
            index--;
        }
        return index == 0 || termAt(index - 1) == leader.termAt(index - 1) ? index : UNBRIDGED;
    }

    /** Takes over what the leader has; false when the leader has forgotten what is needed for that. */
    boolean follow(Replica leader) {
        int common = common(leader);
        if (common == UNBRIDGED) {
            return false;
        }
        World.require(
                common >= committed,
                () -> "entry " + common + " is taken back from n" + node.number
                        + ", which had it as a majority's up to " + committed);
        entries.subList(common - first, entries.size()).clear();
        for (int i = common; i < leader.end(); i++) {
            entries.add(leader.entry(i));
        }
        heard = leader.leads;
        promised = leader.leads;
        matching = end();
        leads = 0;
        return true;
    }

    @Override
    public String toString() {
        return "log " + first + " to " + end() + ", committed " + committed + (leads > 0 ? ", leads " + leads : "");
    }
}
