// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import io.quorate.core.binlog.TableMap;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Set;
import java.util.function.Predicate;

/**
 * What a copy has to know about what is ordered while it is made. It needs the transactions that failed, because a
 * server that has not yet undone one of its own shows rows that no node may have; and the statements that were run.
 * Thread-safe.
 *
 * <p>Each writeset is read once. Of those that may matter again, the latest are kept, which is all that is needed for a
 * piece that was read recently. Where a read takes as long as all that mode {@code certified} orders in an hour,
 * dropped ones are read again from the log, which holds whatever the copy needs.
 */
public final class OrderScan {
    /** Some ten megabytes. By default a SYNCED donor is at most a thousand writesets behind. */
    private static final int KEPT_MAX = 20_000;

    private final WriteSetLog log;
    private final Predicate<WriteSet> concernsTables;
    private final long after;
    private long scanned;
    private long firstOfTables;
    private final int keptMax;
    private final ArrayDeque<Unclear> unclear = new ArrayDeque<>();
    /** Unclear writesets up to this seqno are in the log alone. */
    private long letGo;

    private long firstOfOthers;
    private long lastOfOthers;

    /**
     * A transaction that its origin may show although no node may have it; or one that was prepared there, of which
     * nobody knows whether it is shown before its seqno is applied. The latter makes no difference where rows are
     * overwritten.
     *
     * @param tables null for any
     */
    private record Unclear(long seqno, Gtid gtid, Set<TableName> tables, boolean passed) {
        boolean spoils(Unit unit, Moment moment) {
            return moment.mayShow(seqno, gtid)
                    && (!passed || unit.whole())
                    && (tables == null || unit.tables().stream().anyMatch(tables::contains));
        }
    }

    /**
     * @param after where it begins
     * @param concernsTables whether a statement may change rows or tables
     */
    public OrderScan(WriteSetLog log, long after, Predicate<WriteSet> concernsTables) {
        this(log, after, concernsTables, KEPT_MAX);
    }

    OrderScan(WriteSetLog log, long after, Predicate<WriteSet> concernsTables, int keptMax) {
        this.log = log;
        this.keptMax = keptMax;
        this.concernsTables = concernsTables;
        this.after = after;
        this.scanned = after;
    }

    /** Reads up to {@code upTo}, which the log must have. */
    public synchronized void advance(long upTo) throws IOException, InterruptedException {
        log.each(scanned + 1, upTo, this::take);
    }

    private void take(Certified c) {
        WriteSet w = c.writeSet();
        scanned = c.seqno();
        if (w.voidsDefinition() > 0) {
            // The donor has passed over that definition, or couldn't give what it holds now.
            return;
        }
        Unclear one = unclear(c);
        if (one != null) {
            unclear.addLast(one);
            if (unclear.size() > keptMax) {
                letGo = unclear.removeFirst().seqno;
            }
        } else if (w.isBarrier() && !concernsTables.test(w)) {
            firstOfOthers = firstOfOthers == 0 ? c.seqno() : firstOfOthers;
            lastOfOthers = c.seqno();
        } else if (w.isBarrier() && firstOfTables == 0) {
            firstOfTables = c.seqno();
        }
    }

    /** Null for a transaction that is in the rows once it is applied, and not before it is ordered. */
    private Unclear unclear(Certified c) {
        WriteSet w = c.writeSet();
        if (c.passed() && !w.isPrepared()) {
            return null;
        }
        // What was written before all had been applied with which the copy begins may name tables as they were called
        // then; a statement that renames one later has the copy begin anew.
        boolean mayBeRenamed = w.lastSeen() < after;
        return new Unclear(
                c.seqno(), w.gtid(), w.isBarrier() || mayBeRenamed ? null : TableMap.tables(w.payload()), c.passed());
    }

    /**
     * Whether rows of a unit, read at that moment, may hold what a failed transaction wrote, or it is unclear which
     * part of the order they hold.
     */
    public boolean isSpoilt(Unit unit, Moment moment) throws IOException, InterruptedException {
        long read;
        synchronized (this) {
            if (unclear.stream().anyMatch(one -> one.spoils(unit, moment))) {
                return true;
            }
            read = letGo;
        }
        return moment.applied() < read && isSpoiltInLog(unit, moment, read);
    }

    private boolean isSpoiltInLog(Unit unit, Moment moment, long upTo) throws IOException, InterruptedException {
        return log.find(moment.applied() + 1, upTo, c -> {
                    Unclear one = unclear(c);
                    return one != null && one.spoils(unit, moment);
                })
                != null;
    }

    /** How many writesets it has in memory. */
    synchronized int kept() {
        return unclear.size();
    }

    /** The first statement that changed tables, 0 when there was none. */
    public synchronized long firstOfTables() {
        return firstOfTables;
    }

    /** The first statement that didn't concern tables, 0 when there was none. */
    public synchronized long firstOfOthers() {
        return firstOfOthers;
    }

    /**
     * Whether a statement that doesn't concern tables was run after a seqno: one on accounts, views or stored programs.
     */
    public synchronized boolean hasOthersAfter(long seqno) {
        return lastOfOthers > seqno;
    }
}
