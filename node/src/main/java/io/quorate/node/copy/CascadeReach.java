// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.capture.DefinedTables;
import io.quorate.core.Certified;
import io.quorate.core.Keys;
import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import io.quorate.core.binlog.TableMap;
import io.quorate.node.copy.DifferingTables.NotByTables;
import io.quorate.sst.stream.Catalog;
import java.io.IOException;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Which tables transactions reached by cascades ({@link Keys#CASCADES}). Foreign keys may have been dropped, and tables
 * renamed, since they were written; but a transaction's keys have those of the tables that it reached. They are hashes,
 * so they are looked for among the names of all tables that there are, and of those that definitions name which the
 * transaction hadn't seen.
 */
final class CascadeReach {
    /** Tables that one transaction changed, and all that it changed or reached. */
    private record Reach(Set<TableName> changed, Set<TableName> all) {}

    /** Says which tables a definition names; null for that of a trigger, whose table may be copied. */
    interface Named {
        @Nullable
        Set<TableName> of(Certified definition) throws NotByTables;
    }

    private final Named named;
    private final WriteSetLog log;
    private final UUID server;
    private final Map<Long, TableName> byKey = new HashMap<>();
    private final Set<Reach> reaches = new HashSet<>();
    /** Tables changed by transactions of which nothing tells what they reached. */
    private final Set<Set<TableName>> unknown = new HashSet<>();
    /** The lowest seqno that any of them had seen; {@link Long#MAX_VALUE} where there are none. */
    private long seen = Long.MAX_VALUE;

    CascadeReach(Named named, WriteSetLog log, UUID server) {
        this.named = named;
        this.log = log;
        this.server = server;
    }

    /** Whether it cascaded where this server is, or will have. */
    private boolean isConcerned(Certified c) {
        WriteSet w = c.writeSet();
        return !w.isDefinition()
                && w.keys().contains(Keys.CASCADES)
                && (c.passed() || w.gtid().source().equals(server));
    }

    /** Of what is ordered after the server's position, each in its turn. */
    void meet(Certified c) {
        if (isConcerned(c)) {
            seen = Math.min(seen, c.writeSet().lastSeen());
        }
    }

    /**
     * Finds what those that were met reached.
     *
     * @param position after which they are ordered
     * @param upTo up to where they are
     * @return the tables of each definition, up to the position, that one of them hadn't seen
     */
    Set<Set<TableName>> find(long position, long upTo, Catalog donors)
            throws NotByTables, IOException, InterruptedException {
        Set<Set<TableName>> unseen = new HashSet<>();
        if (seen == Long.MAX_VALUE) {
            return unseen;
        }
        if (log.first() > seen + 1) {
            throw new NotByTables("the record no longer has the definitions that a cascade hadn't seen");
        }
        donors.tables().forEach(table -> name(new TableName(table.schema(), table.name())));
        log.each(seen + 1, upTo, c -> {
            Set<TableName> tables = c.writeSet().isDefinition() ? named.of(c) : null;
            if (tables == null) {
                return;
            }
            tables.forEach(this::name);
            if (c.seqno() <= position && c.passed()) {
                unseen.add(tables);
            }
        });
        log.each(position + 1, upTo, c -> {
            if (isConcerned(c)) {
                take(c.writeSet());
            }
        });
        return unseen;
    }

    private void name(TableName table) {
        byKey.put(DefinedTables.key(table), table);
    }

    private void take(WriteSet w) {
        Set<TableName> changed = Set.copyOf(TableMap.tables(w.payload()));
        if (w.keys().contains(Keys.CASCADES_ANYWHERE)) {
            unknown.add(changed);
            return;
        }
        Set<TableName> all = new HashSet<>(changed);
        for (int i = 0; i < w.keys().size(); i++) {
            TableName reached = byKey.get(w.keys().hash(i));
            if (reached != null) {
                all.add(reached);
            }
        }
        reaches.add(new Reach(changed, all));
    }

    /** Adds what was reached by those that changed one of these tables. */
    void reach(Set<TableName> tables) {
        for (Reach each : reaches) {
            if (!Collections.disjoint(each.changed, tables)) {
                tables.addAll(each.all);
            }
        }
    }

    /** @throws NotByTables where they were changed by one of which nothing tells what it reached */
    void requireKnown(Set<TableName> tables) throws NotByTables {
        for (Set<TableName> changed : unknown) {
            if (!Collections.disjoint(changed, tables)) {
                throw new NotByTables("foreign keys of " + TableName.some(List.copyOf(changed))
                        + " may have cascaded to tables that aren't known any more");
            }
        }
    }
}
