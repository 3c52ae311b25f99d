// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.applier.CopyReplay;
import io.quorate.core.BinlogEvents;
import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import io.quorate.core.binlog.TableMap;
import io.quorate.sst.stream.Moment;
import io.quorate.sst.stream.Unit;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a copy has to know of what is ordered while it is made: which transactions failed, for a server that has not yet undone one of its
 * own shows rows that no node is to have; and which statements were run. Each writeset is read once. Thread-safe.
 */
final class OrderScan {
    private static final Duration READ_WAIT = Duration.ofSeconds(5);

    private final WriteSetLog log;
    private long scanned;
    private long firstOfTables;
    private final List<Failed> failed = new ArrayList<>();
    private final List<Long> others = new ArrayList<>();

    /** @param tables null for any */
    private record Failed(long seqno, Gtid gtid, Set<Unit.Name> tables) {}

    /** @param after where it begins */
    OrderScan(WriteSetLog log, long after) {
        this.log = log;
        this.scanned = after;
    }

    /** Reads on, up to {@code upTo}, which the log has. */
    synchronized void advance(long upTo) throws IOException, InterruptedException {
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
        if (!c.passed()) {
            failed.add(new Failed(c.seqno(), w.gtid(), w.isBarrier() ? null : tables(w.payload())));
        } else if (w.isBarrier() && !CopyReplay.concernsTables(w)) {
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

    /** Whether rows of a unit, read at that moment, may hold what a failed transaction wrote. */
    synchronized boolean isSpoilt(Unit unit, Moment moment) {
        return failed.stream()
                .anyMatch(f -> f.seqno > moment.applied()
                        && f.gtid.source().equals(moment.server())
                        && f.gtid.number() <= moment.own()
                        && !moment.undone().contains(f.gtid.number())
                        && (f.tables == null || unit.tables().stream().anyMatch(f.tables::contains)));
    }

    /** The first statement that changed tables, 0 when there was none. */
    synchronized long firstOfTables() {
        return firstOfTables;
    }

    /** Whether there was any other statement after a seqno, one on accounts, views or stored programs. */
    synchronized boolean hasOthersAfter(long seqno) {
        return others.stream().anyMatch(other -> other > seqno);
    }
}
