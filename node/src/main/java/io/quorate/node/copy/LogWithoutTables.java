// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.core.Certified;
import io.quorate.core.Keys;
import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import io.quorate.core.binlog.TableMap;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The node's record as a server sees it that holds some tables as they are at a later seqno already: up to there,
 * nothing in it concerns these tables. Their rows are cut out of each writeset, and their definitions become writesets
 * of nothing. What applies the order, and what takes own transactions back, then leaves these tables alone without
 * knowing of it.
 */
final class LogWithoutTables implements WriteSetLog {
    private final WriteSetLog log;
    private final Set<TableName> tables;
    private final Function<WriteSet, @Nullable Set<TableName>> defined;
    private final Predicate<WriteSet> copiedObjects;
    private final long upTo;

    /**
     * @param tables closed as {@link DifferingTables} says, so that a definition is of these tables alone or of none
     * @param defined the tables that a definition names, as {@link io.quorate.capture.DefinedTables#of} says
     * @param copiedObjects whether a definition is of accounts, views and the like, and these are copied, too
     * @param upTo the seqno at which the tables are
     */
    LogWithoutTables(
            WriteSetLog log,
            Set<TableName> tables,
            Function<WriteSet, @Nullable Set<TableName>> defined,
            Predicate<WriteSet> copiedObjects,
            long upTo) {
        this.log = log;
        this.tables = tables;
        this.defined = defined;
        this.copiedObjects = copiedObjects;
        this.upTo = upTo;
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
        byte[] left = TableMap.without(w.payload(), tables);
        return left.length == w.payload().length ? c : c.with(w.withPayload(left));
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
                new byte[0],
                w.builtOn(),
                w.session()));
    }

    @Override
    public void close() {
        // The node's record belongs to others.
    }
}
