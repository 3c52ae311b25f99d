// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.core.Certified;
import io.quorate.core.Keys;
import io.quorate.core.Payload;
import io.quorate.core.Spool;
import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import io.quorate.core.binlog.Projection;
import io.quorate.core.binlog.TableMap;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The node's record as a server sees it that holds some tables otherwise than the order says, up to a seqno: their
 * definitions become writesets of nothing. Where the tables are as they are at that seqno already, their rows are cut
 * out of each writeset, too. What applies the order, and what takes own transactions back, then leaves these tables
 * alone without knowing of it.
 */
final class LogWithoutTables implements WriteSetLog {
    private final WriteSetLog log;
    private final Set<TableName> tables;
    private final Function<WriteSet, @Nullable Set<TableName>> defined;
    private final Predicate<WriteSet> copiedObjects;
    private final UnaryOperator<Payload> rows;
    private final boolean reached;
    private final long upTo;

    /**
     * @param tables closed as {@link DifferingTables} says, so that a definition is of these tables alone or of none
     * @param defined the tables that a definition names, as {@link io.quorate.capture.DefinedTables#of} says
     * @param copiedObjects whether a definition is of a database, accounts, views and the like that are copied, too
     * @param rows what is left of a writeset's row events
     * @param reached whether the tables to which one of these rows cascaded are among the tables
     * @param upTo the seqno at which the tables are
     */
    private LogWithoutTables(
            WriteSetLog log,
            Set<TableName> tables,
            Function<WriteSet, @Nullable Set<TableName>> defined,
            Predicate<WriteSet> copiedObjects,
            UnaryOperator<Payload> rows,
            boolean reached,
            long upTo) {
        this.log = log;
        this.tables = tables;
        this.defined = defined;
        this.copiedObjects = copiedObjects;
        this.rows = rows;
        this.reached = reached;
        this.upTo = upTo;
    }

    /** Of a server whose tables are as they are at {@code upTo}; for the rest as the constructor. */
    static LogWithoutTables ofTables(
            WriteSetLog log,
            Set<TableName> tables,
            Function<WriteSet, @Nullable Set<TableName>> defined,
            Predicate<WriteSet> copiedObjects,
            long upTo) {
        return new LogWithoutTables(
                log,
                tables,
                defined,
                copiedObjects,
                payload -> TableMap.without(payload, tables, log.spool()),
                true,
                upTo);
    }

    /**
     * Of a server that has its own definitions of some tables, and their rows as the order has them, but for columns
     * that it has dropped.
     *
     * @param columns the names of their columns
     */
    static LogWithoutTables ofDefinitions(
            WriteSetLog log,
            Map<TableName, Set<String>> columns,
            Function<WriteSet, @Nullable Set<TableName>> defined,
            long upTo) {
        return new LogWithoutTables(
                log,
                columns.keySet(),
                defined,
                definition -> false,
                payload -> Projection.of(payload, columns::get, log.spool()),
                false,
                upTo);
    }

    @Override
    public long first() {
        return log.first();
    }

    @Override
    public long last() {
        return log.last();
    }

    @Override
    public void append(List<Certified> batch) {
        throw new UnsupportedOperationException("for reading only");
    }

    @Override
    public void force() throws IOException {
        log.force();
    }

    @Override
    public Spool spool() {
        return log.spool();
    }

    @Override
    public Cursor read(long seqno) throws IOException {
        Cursor cursor = log.read(seqno);
        return new Cursor() {
            @Override
            public Certified next(Duration timeout) throws IOException, InterruptedException {
                Certified c = cursor.next(timeout);
                return c == null || c.seqno() > upTo ? c : without(c);
            }

            @Override
            public void close() {
                cursor.close();
            }
        };
    }

    private Certified without(Certified c) throws IOException, InterruptedException {
        WriteSet w = c.writeSet();
        if (w.voidsDefinition() > 0) {
            return isOfThem(definition(w.voidsDefinition())) ? nothing(c) : c;
        }
        if (w.isDefinition()) {
            return isOfThem(w) ? nothing(c) : c;
        }
        Payload left = rows.apply(w.payload());
        if (left.size() == w.payload().size()) {
            return c;
        }
        // What it reached by cascades was copied, too.
        return c.with(
                w.withKeys(reached ? w.keys().without(Keys.CASCADES) : w.keys()).withPayload(left));
    }

    /** The definition at a seqno; null when the record no longer has it. */
    private WriteSet definition(long seqno) throws IOException, InterruptedException {
        if (seqno < log.first()) {
            return null;
        }
        try (Cursor cursor = log.read(seqno)) {
            Certified c = cursor.next(Duration.ZERO);
            return c == null ? null : c.writeSet();
        }
    }

    private boolean isOfThem(WriteSet definition) {
        if (definition == null) {
            return false;
        }
        if (copiedObjects.test(definition)) {
            return true;
        }
        Set<TableName> named = defined.apply(definition);
        return named != null && !Collections.disjoint(named, tables);
    }

    private static Certified nothing(Certified c) {
        WriteSet w = c.writeSet();
        return c.with(new WriteSet(
                w.gtid(),
                w.lastSeen(),
                w.committedMicros(),
                WriteSet.Kind.ROWS,
                Keys.NONE,
                Payload.NONE,
                w.builtOn(),
                w.session()));
    }

    @Override
    public void close() {
        // The node's record belongs to others.
    }
}
