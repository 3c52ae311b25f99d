// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import io.quorate.core.Certified;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Certification with no index at all: keeps every writeset for ever and compares pair by pair, with the matrix
 * written out. Only the cut is taken from the certifier under test.
 */
final class Model {
    private static final String[] MATRIX = {
        // incoming S R U E, by found
        "--DD", "--DC", "DDCC", "CCCC",
    };

    private record Taken(long seqno, UUID origin, boolean barrier, boolean failed, Map<Long, KeyType> keys) {
        /** Whether a writeset of {@code asking} has to fail when it meets this one, unseen. */
        boolean countsFor(UUID asking) {
            return failed == origin.equals(asking);
        }
    }

    record Expected(Verdict verdict, long conflictsWith, long dependsOn) {}

    private final List<Taken> all = new ArrayList<>();
    private long lastSeqno;

    Expected expect(WriteSet w, long cut) {
        long seqno = ++lastSeqno;
        Map<Long, KeyType> keys = keys(w.keys());
        boolean everything = keys.get(Keys.EVERYTHING) == KeyType.EXCLUSIVE;
        long conflict = 0;
        long depends = w.isBarrier() || everything ? seqno - 1 : cut;
        boolean tooOld = false;
        for (Taken p : all) {
            char relation = relation(p, keys, everything);
            boolean unseen = p.seqno > w.lastSeen() && p.countsFor(w.gtid().source());
            if (p.seqno <= cut) {
                tooOld |= unseen;
                // Only a key's entry is forgotten with the cut, not that something was written.
                if (unseen && everything) {
                    conflict = p.seqno;
                }
                continue;
            }
            if (relation == 'C' && unseen) {
                conflict = p.seqno;
            }
            if (!p.failed && (relation != '-' || p.barrier)) {
                depends = Math.max(depends, p.seqno);
            }
        }
        boolean failed = conflict > 0 || tooOld;
        all.add(new Taken(seqno, w.gtid().source(), w.isBarrier(), failed, keys));
        if (!failed) {
            return new Expected(Verdict.PASSED, 0, depends);
        }
        return new Expected(conflict > 0 ? Verdict.CONFLICT : Verdict.TOO_OLD, conflict, depends);
    }

    /** Whether a conflict was missed: some writeset that counts, however long ago, that this one conflicts with. */
    boolean conflictsWithAnything(WriteSet w, long upTo) {
        Map<Long, KeyType> keys = keys(w.keys());
        for (Taken p : all) {
            if (p.seqno < upTo
                    && p.seqno > w.lastSeen()
                    && p.countsFor(w.gtid().source())
                    && relation(p, keys, keys.get(Keys.EVERYTHING) == KeyType.EXCLUSIVE) == 'C') {
                return true;
            }
        }
        return false;
    }

    private static char relation(Taken found, Map<Long, KeyType> incoming, boolean everything) {
        if (everything) {
            return 'C';
        }
        char strongest = '-';
        for (Map.Entry<Long, KeyType> key : withEverythingShared(incoming).entrySet()) {
            KeyType type = found.keys.get(key.getKey());
            char relation = type == null
                    ? '-'
                    : MATRIX[type.ordinal()].charAt(key.getValue().ordinal());
            if (relation == 'C' || (relation == 'D' && strongest == '-')) {
                strongest = relation;
            }
        }
        return strongest;
    }

    private static Map<Long, KeyType> withEverythingShared(Map<Long, KeyType> keys) {
        Map<Long, KeyType> more = new LinkedHashMap<>(keys);
        more.putIfAbsent(Keys.EVERYTHING, KeyType.SHARED);
        return more;
    }

    private static Map<Long, KeyType> keys(Keys keys) {
        Map<Long, KeyType> map = new HashMap<>();
        for (int i = 0; i < keys.size(); i++) {
            map.merge(keys.hash(i), keys.type(i), (a, b) -> a.compareTo(b) > 0 ? a : b);
        }
        return map;
    }

    /** How many entries the index has to keep: those that no later ones stand in for. */
    long entriesNeeded(long cut) {
        long needed = 0;
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).seqno > cut) {
                for (Map.Entry<Long, KeyType> key : all.get(i).keys.entrySet()) {
                    needed += isNeeded(i, key.getKey(), key.getValue()) ? 1 : 0;
                }
            }
        }
        return needed;
    }

    private boolean isNeeded(int i, long hash, KeyType type) {
        Taken one = all.get(i);
        UUID standIn = null;
        for (int j = i + 1; j < all.size(); j++) {
            Taken later = all.get(j);
            KeyType laterType = later.keys.get(hash);
            if (later.failed != one.failed || laterType == null || laterType.compareTo(type) < 0) {
                continue;
            }
            if (later.origin.equals(one.origin)) {
                return false;
            }
            // Two others: one of them counts for whoever asks. What failed counts for its own origin alone.
            if (!one.failed && standIn != null && !standIn.equals(later.origin)) {
                return false;
            }
            standIn = later.origin;
        }
        return true;
    }

    static Expected of(Certified c) {
        return new Expected(c.verdict(), c.conflictsWith(), c.dependsOn());
    }
}
