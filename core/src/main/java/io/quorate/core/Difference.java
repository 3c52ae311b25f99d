// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Where a server holds something else than the order says, as far as that is known: these tables, and all that is
 * concerned by these writesets, which the server can't take or can't take back.
 *
 * @param seqnos writesets by their place in the order
 * @param writeSets writesets of which only the GTID is known
 */
public record Difference(Set<TableName> tables, Set<Long> seqnos, Set<Gtid> writeSets) {
    /** Nothing is known: it may be anywhere. */
    public static final Difference ANYWHERE = new Difference(Set.of(), Set.of(), Set.of());

    public Difference {
        tables = Set.copyOf(tables);
        seqnos = Set.copyOf(seqnos);
        writeSets = Set.copyOf(writeSets);
    }

    public static Difference in(TableName table) {
        return in(Set.of(table));
    }

    public static Difference in(Set<TableName> tables) {
        return new Difference(tables, Set.of(), Set.of());
    }

    public static Difference at(long seqno) {
        return new Difference(Set.of(), Set.of(seqno), Set.of());
    }

    public static Difference of(Set<Gtid> writeSets) {
        return new Difference(Set.of(), Set.of(), writeSets);
    }

    /** Whether nothing is known of where it is: then it may be anywhere. */
    public boolean mayBeAnywhere() {
        return tables.isEmpty() && seqnos.isEmpty() && writeSets.isEmpty();
    }

    /** This and another one. */
    public Difference and(Difference other) {
        return mayBeAnywhere() || other.mayBeAnywhere()
                ? ANYWHERE
                : new Difference(
                        both(tables, other.tables), both(seqnos, other.seqnos), both(writeSets, other.writeSets));
    }

    private static <T> Set<T> both(Set<T> one, Set<T> other) {
        return Stream.concat(one.stream(), other.stream()).collect(Collectors.toSet());
    }
}
