// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.core.BinlogEvents;
import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import io.quorate.core.binlog.TableMap;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * What a copy has to know of what is ordered while it is made: which transactions failed, for a server that has not yet undone one of its
 * own shows rows that no node is to have; and which statements were run. Each writeset is read once. Thread-safe.
 */
public final class OrderScan {
    private static final Duration READ_WAIT = Duration.ofSeconds(5);

    private final WriteSetLog log;
    private final Predicate<WriteSet> concernsTables;
    private long scanned;
    private long firstOfTables;
    private final List<Unclear> unclear = new ArrayList<>();
    private final List<Long> others = new ArrayList<>();

    /**
     * One that its origin may show though nobody is to have it; or one that was prepared there, and that nobody knows to be shown already or
     * not before its seqno is applied, which makes no difference where it is overwritten.
     *
     * @param tables null for any
     */
    private record Unclear(long seqno, Gtid gtid, Set<Unit.Name> tables, boolean passed) {}

    /**
     * @param after where it begins
     * @param concernsTables whether a statement may make rows or tables others than they were
     */
    public OrderScan(WriteSetLog log, long after, Predicate<WriteSet> concernsTables) {
        this.log = log;
        this.concernsTables = concernsTables;
        this.scanned = after;
    }

    /** Reads on, up to {@code upTo}, which the log has. */
    public synchronized void advance(long upTo) throws IOException, InterruptedException {
        if (scanned >= upTo) {
            return;
        }
        try (WriteSetLog.Cursor cursor = log.read(scanned + 1)) {
            while (scanned < upTo) {
                Certified c = cursor.next(READ_WAIT);
                if (c == null) {
                    throw new IOException("the record does not go on at seqno " + (scanned + 1));
                }
                take(c);
                scanned = c.seqno();
            }
        }
    }

    private void take(Certified c) {
        WriteSet w = c.writeSet();
        if (!c.passed() || w.isPrepared()) {
            unclear.add(new Unclear(c.seqno(), w.gtid(), w.isBarrier() ? null : tables(w.payload()), c.passed()));
        } else if (w.isBarrier() && !concernsTables.test(w)) {
            others.add(c.seqno());
        } else if (w.isBarrier() && firstOfTables == 0) {
            firstOfTables = c.seqno();
        }
    }

    private static Set<Unit.Name> tables(byte[] payload) {
        Set<Unit.Name> tables = new HashSet<>();
        for (int at = 0; at < payload.length; at += BinlogEvents.length(payload, at)) {
            if (BinlogEvents.type(payload, at) == BinlogEvents.TABLE_MAP) {
                TableMap map = TableMap.read(payload, at, BinlogEvents.length(payload, at));
                tables.add(new Unit.Name(map.schema, map.table));
            }
        }
        return tables;
    }

    /** Whether rows of a unit, read at that moment, may hold what a failed transaction wrote, or what of the order they hold isn't clear. */
    public synchronized boolean isSpoilt(Unit unit, Moment moment) {
        return unclear.stream()
                .anyMatch(f -> f.seqno > moment.applied()
                        && (!f.passed || unit.whole())
                        && f.gtid.source().equals(moment.server())
                        && f.gtid.number() <= moment.own()
                        && !moment.undone().contains(f.gtid.number())
                        && (f.tables == null || unit.tables().stream().anyMatch(f.tables::contains)));
    }

    /** The first statement that changed tables, 0 when there was none. */
    public synchronized long firstOfTables() {
        return firstOfTables;
    }

    /** Whether there was any other statement after a seqno, one on accounts, views or stored programs. */
    public synchronized boolean hasOthersAfter(long seqno) {
        return others.stream().anyMatch(other -> other > seqno);
    }
}
