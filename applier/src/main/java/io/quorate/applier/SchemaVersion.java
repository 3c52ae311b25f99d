// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.TableName;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Counts the definitions passed, so that each worker forgets what it knows of their tables when it next starts a group.
 */
final class SchemaVersion {
    /** Whoever is further behind forgets all tables. */
    private static final int HELD_MAX = 256;

    /** The tables of the last definitions; empty where they aren't known. */
    private final Deque<Set<TableName>> held = new ArrayDeque<>();

    private long version;

    /**
     * What has changed.
     *
     * @param tables their names in lower case; empty where any may have
     */
    record Changes(long version, Set<TableName> tables) {}

    /** What has changed since that version; null when nothing has. */
    synchronized Changes since(long before) {
        if (version == before) {
            return null;
        }
        long toSkip = held.size() - (version - before);
        List<Set<TableName>> since =
                toSkip < 0 ? List.of() : held.stream().skip(toSkip).toList();
        if (since.stream().anyMatch(Set::isEmpty)) {
            return new Changes(version, Set.of());
        }
        Set<TableName> tables = new HashSet<>();
        since.forEach(each -> each.forEach(name -> tables.add(name.inLowerCase())));
        return new Changes(version, tables);
    }

    /**
     * A definition has been passed.
     *
     * @param tables that it may have changed; empty where they aren't known
     */
    synchronized void changed(Set<TableName> tables) {
        version++;
        held.add(tables);
        if (held.size() > HELD_MAX) {
            held.remove();
        }
    }
}
