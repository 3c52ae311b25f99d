// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which open transactions hold which keys; a part of {@link OwnWrites} and of {@link PreparedWrites}. Not thread-safe.
 */
final class OwnKeys {
    private static final int BUILT_ON_MAX = 64;

    /** Per key, the transactions that hold it REFERENCE or stronger. */
    private final Map<Long, Touches> touches = new HashMap<>();
    /** Per key, how many transactions hold it SHARED. */
    private final Map<Long, Integer> shared = new HashMap<>();
    /** Those that hold so many keys that these aren't in {@link #touches}, by rising number. */
    private final List<Large> large = new ArrayList<>();
    /** How many consist of guarded rows. */
    private int guarded;

    /**
     * A transaction with many keys. An index of them would take a hundred bytes for each; but there are few such
     * transactions, so whoever looks for a key looks in each.
     */
    private record Large(OwnTransaction own, Keys sorted) {
        /** How it holds a key that isn't SHARED; -1 if it doesn't. */
        int type(long hash) {
            int type = sorted.typeOrdinalOf(hash);
            return type == KeyType.SHARED.ordinal() ? -1 : type;
        }
    }

    private static boolean isLarge(OwnTransaction own) {
        return own.keys.size() >= Keys.SORTED_FROM;
    }

    void add(OwnTransaction own) {
        if (isLarge(own)) {
            int at = large.size();
            while (at > 0 && large.get(at - 1).own.number > own.number) {
                at--;
            }
            large.add(at, new Large(own, own.keys.sortedIfMany()));
        }
        for (int i = 0; i < own.keys.size(); i++) {
            if (own.keys.type(i) == KeyType.SHARED) {
                shared.merge(own.keys.hash(i), 1, Integer::sum);
            } else if (isIndexed(own, own.keys.hash(i))) {
                touches.computeIfAbsent(own.keys.hash(i), hash -> new Touches()).add(own, own.keys.typeOrdinal(i));
            }
        }
        own.indexed = true;
        guarded += own.isGuarded() ? 1 : 0;
    }

    private static boolean isIndexed(OwnTransaction own, long hash) {
        return !isLarge(own) || Keys.isReserved(hash);
    }

    void remove(OwnTransaction own) {
        if (!own.indexed) {
            return;
        }
        own.indexed = false;
        guarded -= own.isGuarded() ? 1 : 0;
        large.removeIf(each -> each.own == own);
        for (int i = 0; i < own.keys.size(); i++) {
            long hash = own.keys.hash(i);
            if (own.keys.type(i) == KeyType.SHARED) {
                shared.computeIfPresent(hash, (h, count) -> count == 1 ? null : count - 1);
            } else if (isIndexed(own, hash)) {
                Touches list = touches.get(hash);
                list.remove(own);
                if (list.size() == 0) {
                    touches.remove(hash);
                }
            }
        }
    }

    /**
     * The open transactions that {@code w} was built on; if there are more than {@value #BUILT_ON_MAX}, it counts as
     * built on all.
     */
    long[] builtOn(WriteSet w) {
        Set<Long> numbers = new TreeSet<>();
        builtOn(w, Keys.EVERYTHING, KeyType.SHARED.ordinal(), numbers);
        for (int i = 0; i < w.keys().size() && numbers.size() <= BUILT_ON_MAX; i++) {
            builtOn(w, w.keys().hash(i), w.keys().typeOrdinal(i), numbers);
        }
        if (numbers.size() > BUILT_ON_MAX) {
            return WriteSet.builtOnAll();
        }
        return numbers.isEmpty()
                ? WriteSet.BUILT_ON_NONE
                : numbers.stream().mapToLong(n -> n).toArray();
    }

    /** Goes back from the latest, until the earlier ones conflict with one that is already named. */
    private void builtOn(WriteSet w, long hash, int type, Set<Long> numbers) {
        for (Large each : large) {
            int found = each.type(hash);
            // One that was built on by a later one need not be named, but may.
            if (found >= 0 && isBuiltOn(w, hash, type, each.own, found)) {
                numbers.add(each.own.number);
            }
        }
        Touches list = touches.get(hash);
        if (list == null) {
            return;
        }
        boolean updated = false;
        for (int i = list.size() - 1; i >= 0 && numbers.size() <= BUILT_ON_MAX; i--) {
            int found = list.type(i);
            if (!isBuiltOn(w, hash, type, list.own(i), found)) {
                continue;
            }
            boolean strong = found != KeyType.REFERENCE.ordinal();
            if (strong && updated) {
                if (found == KeyType.EXCLUSIVE.ordinal()) {
                    return;
                }
                continue;
            }
            numbers.add(list.own(i).number);
            if (found == KeyType.EXCLUSIVE.ordinal()) {
                return;
            }
            updated |= strong;
        }
    }

    private static boolean isBuiltOn(WriteSet w, long hash, int type, OwnTransaction own, int found) {
        return own.number < w.gtid().number()
                && Matrix.isBuiltOn(found, type)
                && !(own.definition && fitsFormer(w, hash))
                && !own.isUndoneFor(w.lastSeen())
                && !(own.keepsColumns && !w.isDefinition());
    }

    private static boolean fitsFormer(WriteSet w, long table) {
        return w.keys().contains(Keys.fitsFormer(table));
    }

    /** Adds those that wrote rows of a table that is defined with these keys: they hold its lock. */
    void addWritersTo(Keys definition, Collection<OwnTransaction> open, Set<Long> writers) {
        for (int i = 0; i < definition.size(); i++) {
            long hash = definition.hash(i);
            if (Matrix.isDefinitionOf(definition.typeOrdinal(i), KeyType.SHARED.ordinal())
                    && shared.containsKey(hash)) {
                open.stream().filter(own -> own.keys.contains(hash)).forEach(own -> writers.add(own.number));
            }
        }
    }

    /** Adds the numbers of the open transactions that lose against a writeset with these keys. */
    void addLosers(Keys winner, Collection<OwnTransaction> open, Set<Long> doomed) {
        if (winner.touchEverything()) {
            open.forEach(own -> doomed.add(own.number));
            return;
        }
        for (int i = 0; i < winner.size(); i++) {
            long hash = winner.hash(i);
            int found = winner.typeOrdinal(i);
            Touches list = touches.get(hash);
            for (int n = 0; list != null && n < list.size(); n++) {
                if (loses(list.own(n), list.type(n), found)) {
                    doomed.add(list.own(n).number);
                }
            }
            for (Large each : large) {
                int type = each.type(hash);
                if (type >= 0 && loses(each.own, type, found)) {
                    doomed.add(each.own.number);
                }
            }
            boolean conflict = Matrix.conflicts(found, KeyType.SHARED.ordinal());
            if ((conflict || guarded > 0) && shared.containsKey(hash)) {
                open.stream()
                        .filter(own -> own.keys.contains(hash))
                        .filter(own -> conflict || (own.isGuarded() && own.losesGuarded(hash, found)))
                        .forEach(own -> doomed.add(own.number));
            }
        }
        Touches everything = touches.get(Keys.EVERYTHING);
        for (int n = 0; everything != null && n < everything.size(); n++) {
            if (everything.own(n).everything) {
                doomed.add(everything.own(n).number);
            }
        }
    }

    private static boolean loses(OwnTransaction own, int type, int found) {
        return Matrix.conflicts(found, type) || (own.strict && Matrix.orders(found, type));
    }

    /** The holders of one key, by rising GTID number; those that leave are mostly the first. */
    private static final class Touches {
        private OwnTransaction[] owns = new OwnTransaction[2];
        private byte[] types = new byte[2];
        private int from;
        private int to;

        int size() {
            return to - from;
        }

        OwnTransaction own(int i) {
            return owns[from + i];
        }

        int type(int i) {
            return types[from + i];
        }

        void add(OwnTransaction own, int type) {
            if (to == owns.length) {
                int size = size();
                int room = Math.max(2, 2 * size);
                OwnTransaction[] moved = new OwnTransaction[room];
                byte[] movedTypes = new byte[room];
                System.arraycopy(owns, from, moved, 0, size);
                System.arraycopy(types, from, movedTypes, 0, size);
                owns = moved;
                types = movedTypes;
                from = 0;
                to = size;
            }
            int at = to++;
            // Only the remains of an earlier session are entered after later numbers.
            for (; at > from && owns[at - 1].number > own.number; at--) {
                owns[at] = owns[at - 1];
                types[at] = types[at - 1];
            }
            owns[at] = own;
            types[at] = (byte) type;
        }

        void remove(OwnTransaction own) {
            int at = from;
            while (owns[at] != own) {
                at++;
            }
            System.arraycopy(owns, from, owns, from + 1, at - from);
            System.arraycopy(types, from, types, from + 1, at - from);
            owns[from++] = null;
        }
    }
}
