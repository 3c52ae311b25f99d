// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.applier.TailPlan;
import io.quorate.applier.TakenBack;
import io.quorate.core.AppliedDdl;
import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.GtidSet;
import io.quorate.core.OwnWrites.Doomed;
import io.quorate.core.Proposal;
import io.quorate.core.ProposalCodec;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSet;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Finds out what a server that doesn't force its logs has lost, and has it repaired, as {@code LostTail} and {@code
 * TailRepair} go about it: what is taken back is decided by the product's {@link TailPlan}.
 */
final class LostEnd {
    private static final String INCARNATION = Storage.INCARNATION.toString();
    private static final UUID DDL_SOURCE = AppliedDdl.source(INCARNATION);
    private static final long PROBES_FROM = 1L << 62;
    /** More own transactions than can be on their way to the order. */
    private static final int MARGIN = 100;

    private final Node node;
    private final World world;
    private final long probe;
    private GtidSet reserved;
    private long awaited = -1;

    LostEnd(Node node) {
        this.node = node;
        this.world = node.world;
        this.probe = PROBES_FROM + world.random.nextInt(1 << 30);
    }

    /** One look; true when it is known what was lost, and the rows are what the order says at the position. */
    boolean step() {
        if (!world.order().isPrimary(node)) {
            return false;
        }
        if (awaited < 0) {
            if (node.probed() != probe) {
                world.order()
                        .submit(
                                node,
                                ProposalCodec.encode(
                                        new Proposal(node.uuid(), probe, probe, 0, new long[0], List.of())));
                return false;
            }
            if (look()) {
                return true;
            }
        }
        if (node.isCopyNeeded() || node.ownPosition().last() < awaited) {
            return false;
        }
        try {
            return repair();
        } catch (QuorateException e) {
            refuse(e.getMessage());
            return false;
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Whether what the binlog has and the order hasn't is to be captured. */
    boolean mayCapture() {
        return awaited >= 0;
    }

    private void refuse(String why) {
        world.statistics.tailsRefused++;
        node.needsCopy(why);
    }

    private boolean look() {
        UUID server = node.uuid();
        Database database = node.database();
        long ordered = node.ownPosition().last();
        GtidSet executed = database.executed(server, DDL_SOURCE);
        if (!node.isKnown() && !node.remembersServer()) {
            return true;
        }
        reserved = database.reserved(server);
        GtidSet unlogged = database.purged(server).above(server, ordered).minus(reserved);
        if (!unlogged.isEmpty()) {
            refuse("the binlog lost " + unlogged + ", which were never ordered, and the tables did not");
            return false;
        }
        awaited = executed.minus(reserved).last(server);
        if (!world.bugs.contains(Bug.NUMBERS_GIVEN_AGAIN)) {
            for (long n = 1; n <= ordered; n++) {
                if (!executed.contains(new Gtid(server, n))) {
                    database.reserve(n, n);
                }
            }
            long from = Math.max(ordered, executed.last(server)) + 1;
            database.reserve(from, from + MARGIN - 1);
        }
        return false;
    }

    /** A definition's change is no event here, and a table's name carries the version of its definition. */
    private static Certified withoutDefinitions(Certified c) {
        WriteSet w = c.writeSet();
        byte[] payload = w.isBarrier()
                ? new byte[0]
                : Change.encode(Change.decode(w.payload()).stream()
                        .map(change -> new Change(change.table(), 0, change.before(), change.after()))
                        .toList());
        return new Certified(
                c.seqno(),
                c.verdict(),
                c.conflictsWith(),
                c.dependsOn(),
                c.position(),
                c.lastOfEntry(),
                new WriteSet(w.gtid(), w.lastSeen(), 0, w.kind(), w.keys(), payload));
    }

    private boolean repair() throws IOException, InterruptedException {
        UUID server = node.uuid();
        Database database = node.database();
        GtidSet executed = database.executed(server, DDL_SOURCE);
        reserved = database.reserved(server);
        long last = executed.minus(reserved).last(server);
        if (last > awaited) {
            awaited = last;
            return false;
        }
        TailPlan plan = new TailPlan(
                server, INCARNATION, executed, reserved, database.undone().keySet(), false);
        plan.make(database.position(), node.ownPosition().last(), visitor -> {
            for (long seqno = database.position() + 1; seqno <= node.log().last(); seqno++) {
                visitor.visit(withoutDefinitions(node.read(seqno)));
            }
        });
        boolean skipped = world.bugs.contains(Bug.TAIL_LEFT);
        Map<Long, Long> failed = plan.failed().stream().collect(Collectors.toMap(Doomed::number, Doomed::failedAt));
        database.takeBack(
                skipped ? List.of() : Change.decode(plan.takeBack().deletes()),
                skipped ? List.of() : Change.decode(plan.takeBack().inserts()),
                failed);
        node.model().undone(failed.keySet(), database.position());
        node.takenBack(new TakenBack(plan.after(), executed.last(server)), awaited);
        world.statistics.tailsRepaired++;
        world.statistics.takenBack += plan.taken().size();
        world.trace(node.name() + " takes back " + plan.taken().size() + " after " + plan.after() + " and applies from "
                + (database.position() + 1));
        return true;
    }
}
