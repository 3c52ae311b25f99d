// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.TableName;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The names of the tables that each database has, or had: what a DROP DATABASE drops is in no log. They are asked for
 * before the binlog is read, and then follow it. There may be too many, never too few; where that isn't certain,
 * nothing is said.
 */
final class KnownTables {
    /** Names of tables that are gone are among them; more than half of it aren't asked for. */
    private static final int TABLES_MAX = 200_000;

    /** No transaction comes after it. */
    private static final long UNKNOWN = Long.MAX_VALUE;

    /**
     * The tables that a server has.
     *
     * @param own GTID number of the last transaction of its own that they may be without
     */
    record Present(Set<TableName> names, long own) {}

    private final Supplier<Present> server;
    private final Map<String, Set<TableName>> bySchema = new HashMap<>();
    private int size;
    /** Of own transactions after this number it is known what there was before them. */
    private long after = UNKNOWN;

    private boolean tooMany;

    /** @param server says what it has now; null when it doesn't at once, and then it is asked again */
    KnownTables(Supplier<Present> server) {
        this.server = server;
        ask();
    }

    /**
     * The tables that a database may have had when one of this server's own transactions dropped it.
     *
     * @param number of that transaction
     * @return null when they aren't known
     */
    Set<TableName> of(String schema, long number) {
        return number > after ? bySchema.getOrDefault(key(schema), Set.of()) : null;
    }

    /**
     * A definition was read.
     *
     * @param number GTID number of this server's own; 0 of another one's
     */
    void defined(Statement statement, long number) {
        if (statement.tables() != null) {
            statement.tables().forEach(this::add);
        } else if (statement.dropsSchema()) {
            if (number > after) {
                // An earlier one may have been run before there was what the server has said that it has.
                Set<TableName> gone =
                        bySchema.remove(key(statement.objects().names().get(0).schema()));
                size -= gone == null ? 0 : gone.size();
            }
        } else if (statement.scope() == Statement.Scope.EVERYTHING) {
            // It may have made any.
            after = UNKNOWN;
        }
        if (size > TABLES_MAX) {
            bySchema.clear();
            size = 0;
            after = UNKNOWN;
        }
        ask();
    }

    private void ask() {
        if (after == UNKNOWN && !tooMany) {
            Present present = server.get();
            tooMany = present != null && present.names().size() > TABLES_MAX / 2;
            if (present != null && !tooMany) {
                present.names().forEach(this::add);
                after = present.own();
            }
        }
    }

    private void add(TableName name) {
        size += bySchema.computeIfAbsent(key(name.schema()), schema -> new HashSet<>())
                        .add(name)
                ? 1
                : 0;
    }

    /** Where names that differ in case are others, one of them may have the other one's tables besides. */
    private static String key(String schema) {
        return schema.toLowerCase(Locale.ROOT);
    }
}
