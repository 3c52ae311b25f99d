// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.OwnWrites.Doomed;
import io.quorate.core.OwnWrites.Losers;
import io.quorate.core.WriteSet;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Knows which definitions that clients of this server have run, and that lost, come again later in the order. Several
 * instances of an application that boot at once run the same definitions, one after the other. A server that is behind
 * in applying has then run several of them before the first one comes to its place: that one lost, and so did those
 * that were built on it. If the order brings the same ones in the same sequence, and nothing between them that they
 * would matter to, the server may keep them: it will hold what the order says as soon as it has come to the last one.
 */
public final class OrderedLater {
    private static final int LOOK_AHEAD_MAX = 10_000;

    private final UUID server;
    private final DefinitionTexts texts;
    /** Their seqnos, by the GTID numbers of this server's own. */
    private final Map<Long, Long> places = new ConcurrentHashMap<>();

    /** What follows in the order. */
    @FunctionalInterface
    public interface Order {
        /** The next writeset; null when there is none yet. */
        Certified next() throws IOException, InterruptedException;
    }

    private enum Step {
        PASSED_OVER,
        FOUND,
        IN_THE_WAY
    }

    /** @param server its UUID */
    public OrderedLater(UUID server, DefinitionTexts texts) {
        this.server = server;
        this.texts = texts;
    }

    /**
     * The definitions among a definition's losers that the order brings again; none if it doesn't bring all of them.
     *
     * @param losers the latest first
     * @param writeSets theirs
     * @param alike those that leave no difference once the definition has been run
     * @param seqno the definition's
     * @param order what comes after that
     */
    public List<Doomed> among(
            List<Doomed> losers, List<WriteSet> writeSets, List<Doomed> alike, long seqno, Order order)
            throws IOException, InterruptedException {
        List<Doomed> later = new ArrayList<>();
        List<WriteSet> own = new ArrayList<>();
        for (int i = losers.size() - 1; i >= 0; i--) {
            WriteSet loser = writeSets.get(i);
            if (loser.isDefinition() && !loser.isUpkeep() && !alike.contains(losers.get(i))) {
                later.add(losers.get(i));
                own.add(loser);
            }
        }
        boolean follow = !later.isEmpty()
                && !alike.isEmpty()
                && later.get(0).number() > alike.get(0).number();
        return follow && areAll(own, seqno, order) ? later : List.of();
    }

    private boolean areAll(List<WriteSet> own, long seqno, Order order) throws IOException, InterruptedException {
        places.values().removeIf(place -> place <= seqno);
        if (own.stream().allMatch(each -> places.containsKey(each.gtid().number()))) {
            return true;
        }
        Map<Long, Long> found = new HashMap<>();
        for (int read = 0; found.size() < own.size(); read++) {
            Certified next = read < LOOK_AHEAD_MAX ? order.next() : null;
            List<WriteSet> missing = own.subList(found.size(), own.size());
            switch (next == null ? Step.IN_THE_WAY : step(missing, next)) {
                case PASSED_OVER -> {
                    // It makes no difference to any of them.
                }
                case FOUND -> found.put(missing.get(0).gtid().number(), next.seqno());
                case IN_THE_WAY -> {
                    return false;
                }
            }
        }
        places.putAll(found);
        return true;
    }

    /** The losers of a group without those that come after it. */
    public Losers without(Losers losers, Collection<Certified> group) {
        if (places.isEmpty()) {
            return losers;
        }
        long last = group.stream().mapToLong(Certified::seqno).max().orElse(0);
        return new Losers(
                losers.doomed().stream()
                        .filter(loser -> places.getOrDefault(loser.number(), 0L) <= last)
                        .toList(),
                losers.certain());
    }

    private Step step(List<WriteSet> missing, Certified next) {
        WriteSet w = next.writeSet();
        if (missing.stream().anyMatch(each -> each.gtid().equals(w.gtid()))) {
            // At its own place it has to be undone at the latest.
            return Step.IN_THE_WAY;
        }
        if (!next.passed() || missing.stream().noneMatch(each -> matters(each.keys(), w))) {
            return Step.PASSED_OVER;
        }
        boolean same = w.isDefinition()
                && !w.gtid().source().equals(server)
                && texts.likeness(missing.get(0), w) == DefinitionTexts.Likeness.SAME;
        return same ? Step.FOUND : Step.IN_THE_WAY;
    }

    /** Whether what comes between makes a difference to a definition that has been run too early, or the other way. */
    private static boolean matters(Keys definition, WriteSet between) {
        if (between.keys().touchEverything() || (between.isBarrier() && !between.isDefinition())) {
            return true;
        }
        for (int i = 0; i < definition.size(); i++) {
            int type = isOfObject(definition.hash(i)) ? between.keys().typeOrdinalOf(definition.hash(i)) : -1;
            if (type >= 0 && !fit(definition.type(i), KeyType.of(type), between.isDefinition())) {
                return true;
            }
        }
        return false;
    }

    /** A key that is reserved says something about the writeset, but for these. */
    private static boolean isOfObject(long hash) {
        return !Keys.isReserved(hash) || hash == Keys.EVERYTHING || hash == Keys.OBJECTS || hash == Keys.DEFINED_TABLES;
    }

    /**
     * Both need the same thing, which neither changes; or rows that fit the table after the definition as well. Rows
     * take the key of their table as UPDATE where they were written under a definition that was on its way.
     */
    private static boolean fit(KeyType definition, KeyType between, boolean isDefinition) {
        return isDefinition
                ? definition == KeyType.REFERENCE && between == KeyType.REFERENCE
                : definition == KeyType.UPDATE && (between == KeyType.SHARED || between == KeyType.UPDATE);
    }
}
