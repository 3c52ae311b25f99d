// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.Collection;
import java.util.HashMap;
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
    /** How many consist of guarded rows. */
    private int guarded;

    void add(OwnTransaction own) {
        for (int i = 0; i < own.keys.size(); i++) {
            if (own.keys.type(i) == KeyType.SHARED) {
                shared.merge(own.keys.hash(i), 1, Integer::sum);
            } else {
                touches.computeIfAbsent(own.keys.hash(i), hash -> new Touches()).add(own, own.keys.typeOrdinal(i));
            }
        }
        own.indexed = true;
        guarded += own.isGuarded() ? 1 : 0;
    }

    void remove(OwnTransaction own) {
        if (!own.indexed) {
            return;
        }
        own.indexed = false;
        guarded -= own.isGuarded() ? 1 : 0;
        for (int i = 0; i < own.keys.size(); i++) {
            long hash = own.keys.hash(i);
            if (own.keys.type(i) == KeyType.SHARED) {
                shared.computeIfPresent(hash, (h, count) -> count == 1 ? null : count - 1);
            } else {
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
        Touches list = touches.get(hash);
        long before = w.gtid().number();
        long lastSeen = w.lastSeen();
        if (list == null) {
            return;
        }
        boolean updated = false;
        for (int i = list.size() - 1; i >= 0 && numbers.size() <= BUILT_ON_MAX; i--) {
            int found = list.type(i);
            if (list.own(i).number >= before
                    || !Matrix.isBuiltOn(found, type)
                    || (list.own(i).definition && fitsFormer(w, hash))
                    || list.own(i).isUndoneFor(lastSeen)
                    || (list.own(i).keepsColumns && !w.isDefinition())) {
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
                if (Matrix.conflicts(found, list.type(n))
                        || (list.own(n).strict && Matrix.orders(found, list.type(n)))) {
                    doomed.add(list.own(n).number);
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
