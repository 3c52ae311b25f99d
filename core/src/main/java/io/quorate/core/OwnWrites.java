// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * The transactions that clients of this node's server have committed and whose fate is open: not ordered yet, or ordered
 * and failed and not undone for good. Two questions are answered from it.
 *
 * <p><b>What is to be undone?</b> Before the applier commits another node's writeset, every open transaction here that
 * conflicts with it is known to fail: it had not seen that writeset, which comes before it in the order. It is undone in
 * the database transaction that applies the winner, together with all that was built on it, so that nobody ever reads
 * the winner beside remains of the loser. What fails for another reason ({@link Verdict#TOO_OLD}) is undone where the
 * order has it.
 *
 * <p><b>What was a new transaction built on?</b> {@link WriteSet#builtOn} names the open transactions whose keys it
 * conflicts with and whose rows still stood when it committed. When one of them fails, it fails. Only the latest of a
 * chain is named: what that one was built on, it names itself. The certification needs no more, and a client's next
 * transaction after an undo is free of what went before, whether the loser is ordered by then or not.
 *
 * <p>Transactions that are {@link WriteSet.Kind#PREPARED} aren't among the open ones: nobody has seen them, so nothing is
 * built on them and nothing is to be undone. They may have been built on open ones themselves.
 *
 * <p>So what is undone and what fails are the same transactions: the first by the keys of the winner or by {@code builtOn}
 * here, the second by the same keys and the same {@code builtOn} in {@code certification}.
 *
 * <p>Decides only: it has no lock and waits for nothing, which is up to who shares it between threads. One object lives as
 * long as a session with the server.
 */
public final class OwnWrites implements OwnRegister {
    /**
     * A transaction to undo.
     *
     * @param number its GTID number
     * @param failedAt its seqno, 0 while it isn't ordered
     * @param writeSet null when it is ordered: read it from the record then
     */
    public record Doomed(long number, long failedAt, WriteSet writeSet) {}

    /**
     * What is to be undone.
     *
     * @param doomed the latest first
     * @param certain false when it depends on what the order is still to tell of transactions that were captured before:
     *     ask again later
     */
    public record Losers(List<Doomed> doomed, boolean certain) {
        public static final Losers NONE = new Losers(List.of(), true);
    }

    private final Predicate<Certified> isHere;
    private final NavigableMap<Long, OwnTransaction> open = new TreeMap<>();
    private final OwnKeys keys = new OwnKeys();
    private final PreparedWrites prepared = new PreparedWrites();
    /** Those of {@link #open} whose rows are gone, or will be when the commit under way succeeds. */
    private final Set<OwnTransaction> undone = new LinkedHashSet<>();

    private final Map<Long, Long> undoneBefore;
    private long unknownUntil;
    private long covered;
    private long coveredSeen;
    private long ordered;
    private long orderedSeen;
    private long applied;

    /**
     * @param applied the seqno of the position table when the session began
     * @param undone what was undone in earlier sessions, and at which seqno, by GTID number
     * @param isHere whether this server's database still has a writeset of its own
     */
    public OwnWrites(long applied, Map<Long, Long> undone, Predicate<Certified> isHere) {
        this.applied = applied;
        this.undoneBefore = new HashMap<>(undone);
        this.isHere = isHere;
    }

    /** Those that wait for their verdict. */
    public PreparedWrites prepared() {
        return prepared;
    }

    @Override
    public WriteSet captured(WriteSet w) {
        if (w.gtid().number() <= ordered) {
            return w;
        }
        boolean unknown = w.lastSeen() < unknownUntil;
        WriteSet complete = w.withBuiltOn(unknown ? WriteSet.builtOnAll() : builtOn(w));
        if (w.isPrepared()) {
            prepared.prepared(complete);
            return complete;
        }
        OwnTransaction own = new OwnTransaction(complete);
        own.guessed = unknown || isGuess(complete.builtOn());
        add(own);
        return complete;
    }

    private long[] builtOn(WriteSet w) {
        if (open.isEmpty()) {
            return WriteSet.BUILT_ON_NONE;
        }
        if (w.keys().touchEverything()) {
            boolean any =
                    open.headMap(w.gtid().number()).values().stream().anyMatch(own -> !own.isUndoneFor(w.lastSeen()));
            return any ? WriteSet.builtOnAll() : WriteSet.BUILT_ON_NONE;
        }
        return keys.builtOn(w);
    }

    private boolean isGuess(long[] builtOn) {
        for (long number : builtOn) {
            OwnTransaction own = open.get(number);
            if (own != null && own.undoneSometime) {
                return true;
            }
        }
        return false;
    }

    private void add(OwnTransaction own) {
        if (open.putIfAbsent(own.number, own) != null) {
            return;
        }
        Long before = undoneBefore.remove(own.number);
        if (before != null) {
            own.undoneAt = before;
            undone.add(own);
        }
        keys.add(own);
    }

    @Override
    public void covered(long number, long lastSeen) {
        covered = Math.max(covered, number);
        coveredSeen = Math.max(coveredSeen, lastSeen);
        forget();
    }

    /** Whether all that the server committed up to {@code number} is known here. */
    public boolean isCovered(long number) {
        return covered >= number;
    }

    @Override
    public void ordered(Collection<Certified> certified, long last, long lastSeen) {
        for (Certified c : certified) {
            if (!c.passed() && !c.writeSet().isPrepared()) {
                failed(c);
            }
        }
        ordered = Math.max(ordered, last);
        orderedSeen = Math.max(orderedSeen, lastSeen);
        for (OwnTransaction own : List.copyOf(open.headMap(ordered, true).values())) {
            if (own.failedAt == 0) {
                open.remove(own.number);
                keys.remove(own);
            }
        }
        covered = Math.max(covered, ordered);
        forget();
    }

    @Override
    public void failedUnknown(long seqno) {
        unknownUntil = Math.max(unknownUntil, seqno);
    }

    private void failed(Certified c) {
        long number = c.writeSet().gtid().number();
        OwnTransaction own = open.get(number);
        if (own == null) {
            if (!isHere.test(c)) {
                return;
            }
            own = new OwnTransaction(c.writeSet());
            add(own);
        }
        own.failedAt = c.seqno();
        own.writeSet = null;
        if (own.undoneAt == 0 && c.seqno() <= applied) {
            // Undone in its place at the latest.
            own.undoneSometime = true;
            own.undoneAt = c.seqno();
            undone.add(own);
        }
    }

    /**
     * What has to be undone before these writesets can be applied, the latest first: the order in which it is done.
     *
     * @param group consecutive writesets: those of other nodes that passed, and those of this one that failed
     * @param chosen what will be undone in any case. Who is known to lose only through a chain of keys may drop out of the
     *     answer when a link of it is forgotten; being chosen, it takes with it what was built on it all the same
     */
    public Losers toUndo(Collection<Certified> group, Collection<Doomed> chosen) {
        if (open.isEmpty()) {
            return Losers.NONE;
        }
        TreeSet<Long> doomed = new TreeSet<>();
        for (Doomed d : chosen) {
            if (open.containsKey(d.number())) {
                doomed.add(d.number());
            }
        }
        for (Certified c : group) {
            if (c.passed()) {
                keys.addLosers(c.writeSet().keys(), open.values(), doomed);
            } else {
                OwnTransaction own = open.get(c.writeSet().gtid().number());
                if (own != null) {
                    doomed.add(own.number);
                }
            }
        }
        boolean certain = addBuiltOn(doomed);
        List<Doomed> result = new ArrayList<>(doomed.size());
        for (long number : doomed.descendingSet()) {
            OwnTransaction own = open.get(number);
            if (own.undoneAt == 0) {
                result.add(new Doomed(number, own.failedAt, own.writeSet));
            }
        }
        return new Losers(result, certain);
    }

    /** Also through what is undone: something may have been built on it by its keys, and on what is doomed now by its rows. */
    private boolean addBuiltOn(NavigableSet<Long> doomed) {
        if (doomed.isEmpty()) {
            return true;
        }
        boolean certain = true;
        for (OwnTransaction own : open.tailMap(doomed.first(), false).values()) {
            boolean built = own.builtOn.length > 0 && own.builtOn[0] == 0;
            for (int i = 0; i < own.builtOn.length && !built; i++) {
                built = doomed.contains(own.builtOn[i]);
            }
            if (built) {
                certain &= !own.guessed || own.failedAt > 0 || doomed.contains(own.number);
                doomed.add(own.number);
            }
        }
        return certain;
    }

    /** The undo of these is about to be committed with position {@code seqno}. Must come before the commit. */
    public void undoing(Collection<Doomed> transactions, long seqno) {
        mark(transactions, seqno);
    }

    /** That commit did not happen. */
    public void notUndone(Collection<Doomed> transactions) {
        mark(transactions, 0);
    }

    private void mark(Collection<Doomed> transactions, long seqno) {
        for (Doomed d : transactions) {
            OwnTransaction own = open.get(d.number());
            if (own != null) {
                own.undoneAt = seqno;
                if (seqno > 0) {
                    undone.add(own);
                } else {
                    undone.remove(own);
                }
            }
        }
    }

    /** Everything up to {@code seqno} is in the database. */
    public void applied(long seqno) {
        applied = Math.max(applied, seqno);
        forget();
    }

    /** GTID numbers up to here need not be remembered as undone any more. */
    public long settledNumber() {
        return open.isEmpty() ? Math.min(ordered, covered) : Math.min(ordered, open.firstKey() - 1);
    }

    /** The last transaction up to {@code number} that the order hasn't decided, 0 for none. The capture must have read so far. */
    public long lastUndecided(long number) {
        Long last = open.floorKey(number);
        while (last != null && open.get(last).failedAt != 0) {
            last = open.lowerKey(last);
        }
        return last == null ? 0 : last;
    }

    /** How many are open, those undone and not yet passed by the order among them. */
    public int size() {
        return open.size();
    }

    /**
     * What is undone counts for nobody once all that was committed before the undo is captured. It is remembered until
     * that is ordered, too: until then some of it may have to be captured again.
     */
    private void forget() {
        for (Iterator<OwnTransaction> all = undone.iterator(); all.hasNext(); ) {
            OwnTransaction own = all.next();
            if (own.isUndoneFor(coveredSeen)) {
                keys.remove(own);
            }
            if (!own.indexed && own.failedAt > 0 && own.failedAt <= Math.min(applied, orderedSeen)) {
                open.remove(own.number);
                all.remove();
            }
        }
    }
}
