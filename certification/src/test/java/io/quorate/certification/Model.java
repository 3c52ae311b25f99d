// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import io.quorate.core.Certified;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.Proposal;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Certification with no index at all: keeps every passed writeset for ever and compares pair by pair, with the matrix
 * written out. Only the cut is taken from the certifier under test.
 */
final class Model {
    private static final String[] MATRIX = {
        // incoming S R U E, by found
        "--DD", "--DC", "DDCC", "CCCC",
    };

    private record Passed(long seqno, UUID origin, boolean barrier, Map<Long, KeyType> keys) {
        boolean isForeignTo(WriteSet w) {
            return w.isPrepared() || !origin.equals(w.gtid().source());
        }
    }

    /** What was prepared counts as another's for all. */
    private static final UUID PREPARED = new UUID(-1, -1);

    record Expected(Verdict verdict, long conflictsWith, long dependsOn) {}

    private record Failed(long seqno, UUID origin, long number) {}

    private final List<Passed> all = new ArrayList<>();
    private final List<Failed> failed = new ArrayList<>();
    private final Map<UUID, Long> reported = new HashMap<>();
    private long lastSeqno;

    Expected expect(WriteSet w, long cut) {
        long seqno = ++lastSeqno;
        Map<Long, KeyType> keys = keys(w.keys());
        boolean everything = keys.get(Keys.EVERYTHING) == KeyType.EXCLUSIVE;
        long conflict = 0;
        long depends = w.isBarrier() || everything ? seqno - 1 : cut;
        boolean tooOld = false;
        for (Passed p : all) {
            char relation = relation(p, keys, everything);
            boolean unseen = p.seqno > w.lastSeen() && p.isForeignTo(w);
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
            if (relation != '-' || p.barrier) {
                depends = Math.max(depends, p.seqno);
            }
        }
        long under = failedUnder(w);
        if (conflict == 0 && under == 0 && !tooOld) {
            UUID origin = w.isPrepared() ? PREPARED : w.gtid().source();
            all.add(new Passed(seqno, origin, w.isBarrier(), keys));
            return new Expected(Verdict.PASSED, 0, depends);
        }
        if (!w.isPrepared()) {
            failed.add(new Failed(seqno, w.gtid().source(), w.gtid().number()));
        }
        if (conflict > 0) {
            return new Expected(Verdict.CONFLICT, conflict, depends);
        }
        return new Expected(under > 0 ? Verdict.BUILT_ON_FAILED : Verdict.TOO_OLD, under, depends);
    }

    /** What an origin has once reported as seen stays seen, though these random orders take some of it back. */
    void took(Proposal p) {
        reported.merge(p.origin(), p.lastSeen(), Math::max);
    }

    private long failedUnder(WriteSet w) {
        long latest = 0;
        long seen = Math.max(w.lastSeen(), reported.getOrDefault(w.gtid().source(), 0L));
        for (Failed f : failed) {
            boolean named = w.isBuiltOnAll() || Arrays.stream(w.builtOn()).anyMatch(n -> n == f.number);
            if (f.origin.equals(w.gtid().source()) && f.seqno > seen && named) {
                latest = f.seqno;
            }
        }
        return latest;
    }

    /** Whether a conflict was missed: some passed writeset, however long ago, that this one conflicts with. */
    boolean conflictsWithAnything(WriteSet w, long upTo) {
        Map<Long, KeyType> keys = keys(w.keys());
        for (Passed p : all) {
            if (p.seqno < upTo
                    && p.seqno > w.lastSeen()
                    && p.isForeignTo(w)
                    && relation(p, keys, keys.get(Keys.EVERYTHING) == KeyType.EXCLUSIVE) == 'C') {
                return true;
            }
        }
        return false;
    }

    private static char relation(Passed found, Map<Long, KeyType> incoming, boolean everything) {
        if (everything) {
            return 'C';
        }
        char strongest = '-';
        for (Map.Entry<Long, KeyType> key : withEverythingShared(incoming).entrySet()) {
            KeyType type = found.keys.get(key.getKey());
            boolean ordered = type != null
                    && MATRIX[type.ordinal()].charAt(key.getValue().ordinal()) == 'D'
                    && incoming.containsKey(key.getKey());
            char relation = type == null
                    ? '-'
                    : MATRIX[type.ordinal()].charAt(key.getValue().ordinal());
            if (ordered && incoming.containsKey(Keys.NO_ROWS_BEFORE)) {
                return 'C';
            }
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
        UUID standIn = null;
        for (int j = i + 1; j < all.size(); j++) {
            KeyType later = all.get(j).keys.get(hash);
            if (later != null && later.compareTo(type) >= 0) {
                UUID origin = all.get(j).origin;
                if (origin.equals(all.get(i).origin) || (standIn != null && !standIn.equals(origin))) {
                    return false;
                }
                standIn = origin;
            }
        }
        return true;
    }

    static Expected of(Certified c) {
        return new Expected(c.verdict(), c.conflictsWith(), c.dependsOn());
    }
}
