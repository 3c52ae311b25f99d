// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.conflict;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.quorate.core.answer.ConflictAnswer;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Counts what the journal has, by a table that it concerns and the reason. Clients name tables as they like, and a
 * meter stays for as long as the service runs: tables beyond a number are counted together. Not thread-safe.
 */
final class ConflictCounters {
    static final String NAME = "quorate.conflicts";
    static final int TABLES_MAX = 100;
    static final String OTHER = "other";

    private final MeterRegistry meters;
    private final Set<String> tables = new HashSet<>();

    ConflictCounters(MeterRegistry meters) {
        this.meters = meters;
    }

    void count(Conflict conflict) {
        Stream<String> concerned = conflict.met().isEmpty()
                ? conflict.loser().rows().stream().map(ConflictAnswer.Row::table)
                : conflict.met().stream().map(ConflictAnswer.Met::table);
        concerned.findFirst().ifPresent(table -> count(table, conflict.verdict()));
    }

    void count(String table, String cause) {
        Counter.builder(NAME)
                .description("transactions that lost or are void, by a table and the reason")
                .tag("table", known(table) ? table : OTHER)
                .tag("cause", cause)
                .register(meters)
                .increment();
    }

    private boolean known(String table) {
        return tables.contains(table) || (tables.size() < TABLES_MAX && tables.add(table));
    }
}
