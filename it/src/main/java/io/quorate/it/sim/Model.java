// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.core.Certified;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What a node's database must hold, from the order and from what its own clients did. */
final class Model {
    private final World world;
    private final Node node;
    private final Rows rows;
    /** Every GTID number whose undo was ever committed here. */
    private final Set<Long> undoneEver = new HashSet<>();

    private long seqno;
    /** From here on in the binlog, transactions may still be open. */
    private int openFrom;

    /** @param rows as they are at {@code seqno} */
    Model(Node node, Rows rows, long seqno) {
        this.world = node.world;
        this.node = node;
        this.rows = rows;
        this.seqno = seqno;
    }

    /** What the order says up to the position. */
    Rows ordered() {
        check();
        return rows.copy();
    }

    void undone(List<Long> numbers) {
        undoneEver.addAll(numbers);
    }

    /**
     * What is committed here is what the order says up to the position, and on top of it what clients of mode async
     * committed since and nobody undid. Nothing else, ever. So where all clients are certified, whatever anybody reads on
     * any node is a state of one order: no long fork, no aborted read.
     */
    void check() {
        Database database = node.database();
        long position = database.visible();
        while (seqno < position) {
            Certified c = world.certified(++seqno);
            if (c.passed()) {
                world.replay(rows, c, false);
            }
        }
        Rows expected = rows.copy();
        List<Database.Logged> binlog = database.binlog();
        boolean settled = true;
        for (int i = openFrom; i < binlog.size(); i++) {
            Database.Logged entry = binlog.get(i);
            if (!entry.isOpenRows()) {
                openFrom = settled ? i + 1 : openFrom;
                continue;
            }
            Certified fate = world.fate(node.uuid(), entry.number());
            boolean done = fate != null && fate.seqno() <= position;
            settled &= done;
            openFrom = settled ? i + 1 : openFrom;
            if (undoneEver.contains(entry.number())) {
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
            for (Change change : entry.changes()) {
                try {
                    expected.apply(change);
                } catch (Rows.Misfit e) {
                    throw new Violation(node.name() + " at " + position + ": " + entry.number()
                            + " doesn't fit on top of the order: " + e.getMessage());
                }
            }
        }
        String difference = database.committed().difference(expected);
        World.require(difference == null, () -> node.name() + " at position " + position + " has " + difference);
    }
}
