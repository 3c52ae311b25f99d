// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.AppliedDdl;
import io.quorate.core.Certified;
import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.GtidSet;
import io.quorate.core.OwnWrites.Doomed;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import io.quorate.core.binlog.TableMap;
import io.quorate.core.binlog.TakeBack;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Decides which of a server's own transactions have to be taken back after a crash that may have cost it its end, from
 * the record and from what the server says about itself. It only decides; {@link TailRepair} says why, and carries it
 * out.
 */
public final class TailPlan {
    /** Of rows to be taken back, which are on the heap; a server with more of them gets its tables copied. */
    private static final long BYTES_MAX =
            Math.min(256 << 20, Runtime.getRuntime().maxMemory() / 4);

    /** The records after the position, in order; read twice. */
    @FunctionalInterface
    public interface Records {
        void forEach(Visitor visitor) throws IOException, InterruptedException;
    }

    /** Takes one record. */
    @FunctionalInterface
    public interface Visitor {
        void visit(Certified c);
    }

    private final UUID server;
    private final UUID ddlSource;
    private final GtidSet executed;
    private final GtidSet reserved;
    private final Set<Long> undone;
    private final boolean certain;
    private final TakeBack takeBack = new TakeBack(BYTES_MAX);
    private final List<Doomed> failed = new ArrayList<>();
    private final List<WriteSet> taken = new ArrayList<>();
    /** Tables of transactions that can't be taken back. */
    private final Set<TableName> unclear = new HashSet<>();

    private long after;

    /**
     * @param executed GTIDs in the server's executed set
     * @param reserved those of them that no transaction ever had here
     * @param undone GTID numbers of own transactions that are undone
     * @param certain whether everything that was executed is there, as in a copy, which lost nothing. Then {@link
     *     #taken} is exact
     */
    public TailPlan(
            UUID server, String incarnation, GtidSet executed, GtidSet reserved, Set<Long> undone, boolean certain) {
        this.server = server;
        this.ddlSource = AppliedDdl.source(incarnation);
        this.executed = executed;
        this.reserved = reserved;
        this.undone = undone;
        this.certain = certain;
    }

    /**
     * Finds out first from where on own transactions are uncertain, and how far foreign changes matter; then the rows.
     *
     * @param position up to which seqno everything is in the database
     * @param ordered how far the order has taken this server's GTIDs
     * @throws QuorateException {@link ErrorCode#TAIL_UNCLEAR}, with what is in the way
     */
    public void make(long position, long ordered, Records records) throws IOException, InterruptedException {
        after = ordered;
        long[] kept = {position};
        long[] seenMax = {0};
        boolean[] first = {true};
        records.forEach(c -> {
            if (isOwn(c)) {
                seenMax[0] = Math.max(seenMax[0], c.writeSet().lastSeen());
                after = first[0] ? c.writeSet().gtid().number() - 1 : after;
                first[0] = false;
            }
            if (ranHere(c)) {
                if (!c.passed()) {
                    throw unclear(c.writeSet().gtid() + " changed a definition, and failed", Difference.at(c.seqno()));
                }
                kept[0] = c.seqno();
            }
        });
        long[] lostFrom = {Long.MAX_VALUE};
        boolean[] lost = {false};
        String[] why = {null};
        records.forEach(c -> {
            try {
                if (c.seqno() <= kept[0] && isOwn(c)) {
                    if (!c.passed() && !c.writeSet().isDefinition()) {
                        // It is here, but its undo may have come after the DDL and be lost; nothing else remembers it.
                        own(c);
                    }
                    after = c.writeSet().gtid().number();
                } else if (c.writeSet().isUpkeep()) {
                    // There is nothing to take back, and nothing that others are built on.
                    return;
                } else if (c.seqno() > kept[0] && c.writeSet().isDefinition()) {
                    lost[0] |= isOwn(c);
                    lostFrom[0] = c.passed() ? Math.min(lostFrom[0], c.seqno()) : lostFrom[0];
                } else if (!isOwn(c) || isLost(c)) {
                    if (!certain && c.passed() && c.seqno() <= seenMax[0]) {
                        takeBack.other(c.writeSet().payload(), c.seqno());
                    }
                } else if (!lost[0] && c.writeSet().lastSeen() < lostFrom[0]) {
                    own(c);
                }
            } catch (TakeBack.Impossible e) {
                if (!isOwn(c)) {
                    throw unclear(e.getMessage(), Difference.ANYWHERE);
                }
                why[0] = e.getMessage();
                unclear.addAll(TableMap.tables(c.writeSet().payload()));
            }
        });
        if (why[0] != null) {
            throw unclear(why[0], Difference.in(unclear));
        }
    }

    /** Whether it is DDL that this server has executed, which forced everything before it. FLUSH PRIVILEGES doesn't. */
    private boolean ranHere(Certified c) {
        if (!c.writeSet().isDefinition() || c.writeSet().isUpkeep()) {
            return false;
        }
        Gtid ran = isOwn(c) ? c.writeSet().gtid() : new Gtid(ddlSource, c.seqno());
        return executed.contains(ran) && !reserved.contains(ran);
    }

    /**
     * Whether it is an own transaction that an earlier crash took, so that the database got it from the order, like a
     * foreign one: later own transactions may have been built on it there.
     */
    private boolean isLost(Certified own) {
        WriteSet w = own.writeSet();
        return !w.isPrepared() && !mayBeHere(w);
    }

    private boolean mayBeHere(WriteSet w) {
        return executed.contains(w.gtid()) && !reserved.contains(w.gtid());
    }

    private void own(Certified c) throws TakeBack.Impossible {
        WriteSet w = c.writeSet();
        if (w.isPrepared()) {
            if (!certain && c.passed()) {
                takeBack.prepared(w.payload());
            }
            return;
        }
        if (!mayBeHere(w) || undone.contains(w.gtid().number())) {
            return;
        }
        taken.add(w);
        if (!certain) {
            takeBack.own(w.payload(), w.lastSeen());
        }
        if (!c.passed()) {
            failed.add(new Doomed(w.gtid().number(), c.seqno(), null));
        }
    }

    private boolean isOwn(Certified c) {
        return c.writeSet().gtid().source().equals(server);
    }

    /** @param difference which of them are in the way */
    QuorateException unclear(String why, Difference difference) {
        return new QuorateException(
                ErrorCode.TAIL_UNCLEAR,
                "this server may or may not have any of its own transactions after number " + after
                        + ", and they can't be taken back to be applied anew: " + why,
                null,
                difference);
    }

    /** The number after which own transactions are not in the database once everything is taken back. */
    public long after() {
        return after;
    }

    /** The transactions that may be there, and are taken back. */
    public List<WriteSet> taken() {
        return taken;
    }

    /** What they wrote to. */
    Set<TableName> tables() {
        return taken.stream()
                .flatMap(w -> TableMap.tables(w.payload()).stream())
                .collect(Collectors.toSet());
    }

    /** Those of them that failed: nothing is applied in their place. */
    public List<Doomed> failed() {
        return failed;
    }

    public TakeBack takeBack() {
        return takeBack;
    }
}
