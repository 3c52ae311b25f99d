// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.TableName;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Counts the definitions passed, so that each worker forgets what it knows of their tables when it next starts a group.
 */
final class SchemaVersion {
    /** Whoever is further behind forgets all tables. */
    private static final int HELD_MAX = 256;

    /** The tables of the last definitions. */
    private final Deque<Optional<Set<TableName>>> held = new ArrayDeque<>();

    private long version;

    /**
     * What has changed.
     *
     * @param tables their names in lower case; null where any may have
     */
    record Changes(long version, Set<TableName> tables) {}

    /** What has changed since that version; null when nothing has. */
    synchronized Changes since(long before) {
        if (version == before) {
            return null;
        }
        long toSkip = held.size() - (version - before);
        if (toSkip < 0 || held.stream().skip(toSkip).anyMatch(Optional::isEmpty)) {
            return new Changes(version, null);
        }
        Set<TableName> tables = new HashSet<>();
        held.stream().skip(toSkip).forEach(each -> each.get().forEach(name -> tables.add(name.inLowerCase())));
        return new Changes(version, tables);
    }

    /**
     * A definition has been passed.
     *
     * @param tables that it may have changed; null where they aren't known
     */
    synchronized void changed(Set<TableName> tables) {
        version++;
        held.add(Optional.ofNullable(tables));
        if (held.size() > HELD_MAX) {
            held.remove();
        }
    }
}
