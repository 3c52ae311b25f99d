// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.applier.ServerLife;
import io.quorate.applier.TailCourse;
import io.quorate.applier.TailPlan;
import io.quorate.applier.TakenBack;
import io.quorate.core.AppliedDdl;
import io.quorate.core.Certified;
import io.quorate.core.GtidSet;
import io.quorate.core.OwnWrites.Doomed;
import io.quorate.core.WriteSet;
import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What a node's server has lost at its end: how that is found out and repaired is decided by the product's {@link
 * TailCourse} and {@link TailPlan}; here are the server, the order and the disk they ask. Between what is noted and
 * what is done, either way round, the session may break off.
 */
final class LostTail {
    private static final String INCARNATION = Storage.INCARNATION.toString();
    /** What the product waits for runs so much faster here, as all does. */
    private static final int CLOCK = 50;

    /** The session with the server is lost. */
    static final class BrokenOff extends SQLException {
        private static final long serialVersionUID = 1;
    }

    private final Node node;
    private final World world;
    private final TailCourse course;
    private final TailCourse.Server server;

    LostTail(Node node) {
        this.node = node;
        this.world = node.world;
        this.server = Spoilt.server(this, world.bugs);
        this.course = new TailCourse(
                node.uuid(),
                0,
                node.serverLife(),
                node.database().started(),
                new OfOrder(),
                this::keep,
                world.random.nextInt(1 << 30));
    }

    boolean isReady() {
        return course.at() == TailCourse.Step.DONE;
    }

    /** Whether this node knows how far the order is with its server. */
    boolean isCurrent() {
        return course.isCurrent(world.millis() * CLOCK);
    }

    /** The last own number that was ordered when it was found out what the database lacks. */
    long orderedThen() throws SQLException {
        return course.orderedThen(server);
    }

    /** Goes on; where it stands then. */
    TailCourse.Step step() throws SQLException, IOException, InterruptedException {
        return course.step(server, world.millis() * CLOCK);
    }

    private void keep(ServerLife life) throws IOException {
        node.keep(life);
    }

    private void mayBreakOff() throws BrokenOff {
        if (world.random.nextInt(12) == 0) {
            world.trace(node.name() + " loses the session that finds out what its server lost");
            throw new BrokenOff();
        }
    }

    private final class OfOrder implements TailCourse.Order {
        @Override
        public boolean hasMajority() {
            return world.order().isPrimary(node);
        }

        @Override
        public void probe(int nonce) {
            world.order().submit(node, node.stream().probe(nonce).toArray(), () -> {});
        }

        @Override
        public boolean isProbed(int nonce) {
            return node.stream().isProbed(nonce);
        }

        @Override
        public boolean isKnown() {
            return node.stream().isKnown();
        }

        @Override
        public long last() {
            return node.stream().own().last();
        }
    }

    /** The server; open for what {@link Bug}s make of it. */
    class OfDatabase implements TailCourse.Server {
        @Override
        public GtidSet executed() {
            return node.database().executed(AppliedDdl.source(INCARNATION));
        }

        @Override
        public GtidSet purged() {
            return node.database().purged();
        }

        @Override
        public boolean forcesBinlog() {
            return !node.database().isRelaxed();
        }

        @Override
        public boolean forcesRedoLog() {
            return !node.database().isRelaxed();
        }

        @Override
        public void reserve(GtidSet gtids) throws SQLException {
            mayBreakOff();
            node.database().reserve(gtids);
            mayBreakOff();
        }

        @Override
        public TakenBack repair(long ordered, GtidSet executed, GtidSet reserved)
                throws SQLException, IOException, InterruptedException {
            Database database = node.database();
            TailPlan plan = new TailPlan(
                    node.uuid(),
                    INCARNATION,
                    executed,
                    reserved,
                    database.undone().keySet(),
                    false);
            plan.make(database.position(), ordered, visitor -> {
                for (long seqno = database.position() + 1; seqno <= node.log().last(); seqno++) {
                    visitor.visit(withoutDefinitions(node.read(seqno)));
                }
            });
            Map<Long, Long> failed = plan.failed().stream().collect(Collectors.toMap(Doomed::number, Doomed::failedAt));
            takeBack(
                    Change.decode(plan.takeBack().deletes().toArray()),
                    Change.decode(plan.takeBack().inserts().toArray()),
                    failed);
            TakenBack takenBack = new TakenBack(plan.after(), executed.last(node.uuid()));
            node.model().undone(failed.keySet(), database.position());
            node.model().takenBack(takenBack);
            world.statistics.tailsRepaired++;
            world.statistics.takenBack += plan.taken().size();
            world.trace(node.name() + " takes back " + plan.taken().size() + " after " + plan.after()
                    + " and applies from " + (database.position() + 1));
            mayBreakOff();
            return takenBack;
        }

        void takeBack(List<Change> deletes, List<Change> inserts, Map<Long, Long> failed) {
            node.database().takeBack(deletes, inserts, failed);
        }
    }

    /** A definition's change is no event here, and a table's name carries the version of its definition. */
    private static Certified withoutDefinitions(Certified c) {
        WriteSet w = c.writeSet();
        byte[] payload = w.isBarrier()
                ? new byte[0]
                : Change.encode(Change.decode(w.payload().toArray()).stream()
                        .map(change -> new Change(change.table(), 0, change.before(), change.after()))
                        .toList());
        return c.with(new WriteSet(w.gtid(), w.lastSeen(), 0, w.kind(), w.keys(), payload));
    }
}
