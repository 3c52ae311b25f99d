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
 * The transactions that clients of this node's server have committed and whose fate is open: they are not ordered yet,
 * or they are ordered, have failed, and are not undone for good. It answers two questions.
 *
 * <p><b>What has to be undone?</b> Before the applier commits another node's writeset, every open transaction here that
 * conflicts with it is known to fail, because it had not seen that writeset, which comes before it in the order. It is
 * undone in the database transaction that applies the winner, together with everything that was built on it, so that
 * nobody ever reads the winner beside remains of the loser. A transaction that fails for another reason ({@link
 * Verdict#TOO_OLD}) is undone at its place in the order.
 *
 * <p><b>What was a new transaction built on?</b> {@link WriteSet#builtOn} names the open transactions whose keys it
 * conflicts with and whose rows were still there when it committed. When one of them fails, it fails. Only the latest
 * of a chain is named, because that one names what it was built on itself. The certification needs no more, and after
 * an undo a client's next transaction doesn't depend on what went before, whether the loser is ordered by then or not.
 *
 * <p>Transactions that are {@link WriteSet.Kind#PREPARED} aren't among the open ones: nobody has seen them, so nothing
 * is built on them and nothing has to be undone. They may themselves have been built on open ones.
 *
 * <p>So the transactions that are undone are the same that fail. Which ones are undone is decided here, by the keys of
 * the winner or by {@code builtOn}; which ones fail is decided in {@code certification}, by the same keys and the same
 * {@code builtOn}.
 *
 * <p>This class only decides: it has no lock and waits for nothing; that is up to its owner, which shares it between
 * threads. One object lives as long as a session with the server.
 */
public final class OwnWrites implements OwnRegister {
    /**
     * A transaction to undo.
     *
     * @param number its GTID number
     * @param failedAt its seqno, 0 while it isn't ordered
     * @param writeSet null when it is ordered: then read it from the record
     */
    public record Doomed(long number, long failedAt, WriteSet writeSet) {}

    /**
     * What has to be undone.
     *
     * @param doomed the latest first
     * @param certain false when it depends on what the order has yet to say about transactions that were captured
     *     before: ask again later
     */
    public record Losers(List<Doomed> doomed, boolean certain) {
        public static final Losers NONE = new Losers(List.of(), true);
    }

    private final Predicate<Certified> isHere;
    private final NavigableMap<Long, OwnTransaction> open = new TreeMap<>();
    private final OwnKeys keys = new OwnKeys();
    private final OwnDefinitions definitions = new OwnDefinitions();
    private final PreparedWrites prepared = new PreparedWrites();
    /** Those of {@link #open} whose rows are gone, or will be when the commit in progress succeeds. */
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

    /** The prepared transactions that wait for their verdict. */
    public PreparedWrites prepared() {
        return prepared;
    }

    @Override
    public WriteSet captured(WriteSet w) {
        if (w.gtid().number() <= ordered) {
            return w;
        }
        boolean unknown = w.lastSeen() < unknownUntil;
        WriteSet guarded = w.isDefinition() ? w : definitions.guarded(w);
        WriteSet complete = guarded.withBuiltOn(unknown ? WriteSet.builtOnAll() : builtOn(guarded));
        if (w.isPrepared()) {
            prepared.prepared(complete);
            return complete;
        }
        if (w.isDefinition()) {
            definitions.captured(w);
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
        long[] known = keys.builtOn(w);
        return !w.isDefinition() && w.keys().contains(Keys.NO_ROWS_BEFORE)
                ? definitions.builtOn(w, known, open.values())
                : known;
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

    /** Whether everything that the server committed up to {@code number} is known here. */
    public boolean isCovered(long number) {
        return covered >= number;
    }

    @Override
    public void ordered(Collection<Certified> certified, long last, long lastSeen) {
        for (Certified c : certified) {
            if (c.writeSet().isDefinition()) {
                definitions.ordered(c, isHere.test(c));
            }
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
            // It was undone at its own place in the order at the latest.
            own.undoneSometime = true;
            own.undoneAt = c.seqno();
            undone.add(own);
        }
    }

    /**
     * The transactions that have to be undone before these writesets can be applied, the latest first, which is the
     * order in which they are undone.
     *
     * @param group consecutive writesets: those of other nodes that passed, and those of this one that failed
     * @param chosen what will be undone in any case. A transaction that is known to lose only through a chain of keys
     *     may drop out of the answer when a link of the chain is forgotten; if it is chosen, what was built on it is
     *     undone all the same
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

    /**
     * Follows also transactions that are undone: a transaction may have been built on one of them by its keys, and on a
     * doomed one by its rows.
     */
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

    /** The commit that was to undo these did not happen. */
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

    /**
     * The last transaction up to {@code number} that the order hasn't decided, 0 for none. The capture must have read
     * that far.
     */
    public long lastUndecided(long number) {
        Long last = open.floorKey(number);
        while (last != null && open.get(last).failedAt != 0) {
            last = open.lowerKey(last);
        }
        return last == null ? 0 : last;
    }

    /** How many are open, including those that are undone and not yet passed by the order. */
    public int size() {
        return open.size();
    }

    /**
     * An undone transaction no longer matters once everything that was committed before the undo is captured. It is
     * remembered until that is also ordered, because until then some of it may have to be captured again.
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
