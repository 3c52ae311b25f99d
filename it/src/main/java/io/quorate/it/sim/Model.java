// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.applier.TakenBack;
import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What a node's database must hold, from the order and from what its own clients did. */
final class Model {
    private final World world;
    private final Node node;
    private final Rows base;
    private final long baseSeqno;
    private Rows rows;
    private final List<TakenBack> takenBack = new ArrayList<>();
    /** Every GTID number whose undo was ever committed here, and the position with it. */
    private final Map<Long, Long> undoneEver = new HashMap<>();
    /** What somebody has made of rows here without the binlog, by table and id. */
    private final Map<Table, Map<Long, Row>> tampered = new EnumMap<>(Table.class);

    private long seqno;
    /** From here on in the journal, transactions may still be open. */
    private int openFrom;

    /** @param rows as they are at {@code seqno} */
    Model(Node node, Rows rows, long seqno) {
        this.world = node.world;
        this.node = node;
        this.base = rows;
        this.baseSeqno = seqno;
        this.rows = rows.copy();
        this.seqno = seqno;
    }

    /** What the order says up to the position. */
    Rows ordered() {
        check();
        return rows.copy();
    }

    /** A crash took these, or a repair did. */
    void takenBack(TakenBack range) {
        takenBack.add(range);
    }

    /** Somebody has changed a row without the binlog; null for none. */
    void tampered(Table table, long id, Row row) {
        tampered.computeIfAbsent(table, t -> new HashMap<>()).put(id, row);
    }

    void mended(Table table, long id) {
        if (isTampered(table, id)) {
            tampered.get(table).remove(id);
        }
    }

    boolean isTampered(Table table, long id) {
        return tampered.getOrDefault(table, Map.of()).containsKey(id);
    }

    boolean isUntampered() {
        return tampered.values().stream().allMatch(Map::isEmpty);
    }

    /** With what was changed without the binlog at another server, of which this one's is a copy. */
    Model tamperedLike(Model that) {
        that.tampered.forEach((table, rows) -> tampered.put(table, new HashMap<>(rows)));
        return this;
    }

    /** These rows, as they are here with what was changed without the binlog. */
    Rows tampered(Rows of) {
        tampered.forEach((table, all) -> all.forEach((id, row) -> of.tamper(table, id, row)));
        return of;
    }

    private boolean isTakenBack(long number) {
        return takenBack.stream().anyMatch(range -> range.contains(number));
    }

    void undone(Collection<Long> numbers, long position) {
        numbers.forEach(number -> undoneEver.put(number, position));
        numbers.forEach(number -> world.decided.requireUnheard(new Gtid(node.uuid(), number)));
        if (world.dispute != null) {
            numbers.forEach(number -> world.dispute.undone(node, number));
        }
    }

    boolean hasUndone(long number) {
        return undoneEver.containsKey(number);
    }

    /**
     * What is committed here is what the order says up to the position, and on top of it what clients of mode async
     * committed since and nobody undid. Nothing else, ever. So where all clients are certified, whatever anybody reads
     * on any node is a state of one order: no long fork, no aborted read.
     */
    void check() {
        Database database = node.database();
        long position = database.visible();
        if (position < seqno) {
            rows = base.copy();
            seqno = baseSeqno;
            openFrom = 0;
            undoneEver.values().removeIf(at -> at > position);
        }
        while (seqno < position) {
            Certified c = world.decided.certified(++seqno);
            if (c.passed()) {
                world.decided.replay(rows, c, false);
            }
            if (world.dispute != null) {
                world.dispute.applied(node, c);
            }
        }
        Rows expected = rows.copy();
        List<Database.Logged> journal = database.journal();
        boolean settled = true;
        openFrom = Math.min(openFrom, journal.size());
        for (int i = openFrom; i < journal.size(); i++) {
            Database.Logged entry = journal.get(i);
            if (!entry.isOpenRows() || isTakenBack(entry.number())) {
                openFrom = settled ? i + 1 : openFrom;
                continue;
            }
            if (entry.number() > database.lastNumber()) {
                // It waits in its commit, as all that come after it.
                break;
            }
            Certified fate = world.decided.fate(node.uuid(), entry.number());
            boolean done = fate != null && fate.seqno() <= position;
            settled &= done;
            openFrom = settled ? i + 1 : openFrom;
            if (undoneEver.containsKey(entry.number())) {
                World.require(
                        fate == null || !fate.passed(),
                        () -> node.name() + ":" + entry.number() + " passed, and was undone");
                continue;
            }
            if (done) {
                World.require(
                        fate.passed(),
                        () -> node.name() + ":" + entry.number() + " failed as seqno " + fate.seqno()
                                + ", and still stands at position " + position);
                continue;
            }
            boolean again = world.decided.isReinserted(new Gtid(node.uuid(), entry.number()));
            for (Change change : entry.changes()) {
                try {
                    expected.apply(again ? expected.overwriting(change) : change);
                } catch (Rows.Misfit e) {
                    throw new Violation(node.name() + " at " + position + ": " + entry.number()
                            + " doesn't fit on top of the order: " + e.getMessage());
                }
            }
        }
        tampered(expected);
        String difference = database.committed().difference(expected);
        World.require(difference == null, () -> node.name() + " at position " + position + " has " + difference);
        if (world.dispute != null) {
            world.dispute.check(node);
        }
    }
}
