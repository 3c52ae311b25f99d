// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.core.Certified;
import io.quorate.ist.WriteSetCache;
import java.util.List;

/**
 * A node of a former life of the cluster comes back. It is let in if its history is a part of what the cluster goes on with: its
 * last record, and what its database's position names, stand there too, at the same place of the log. Raft's terms go on
 * from life to life, so a place in the log is one entry only. Otherwise its server has to be copied anew.
 */
final class Comeback {
    private final Node node;
    private final World world;
    private final long life;

    Comeback(Node node) {
        this.node = node;
        this.world = node.world;
        this.life = node.life();
        again();
    }

    private void again() {
        world.after(world.delay(), () -> {
            if (life == node.life()) {
                ask();
            }
        });
    }

    private void ask() {
        List<Node> members = world.nodes().stream()
                .filter(n ->
                        n != node && world.isReachable(n, node) && world.order().isPrimary(n))
                .toList();
        if (members.isEmpty() || !(node.databaseUp || node.isArbitrator())) {
            again();
            return;
        }
        Node member = members.get(world.random.nextInt(members.size()));
        if (member.lastOrdered() < last()) {
            // It may not have been handed out all that it has; whether there is more, its order tells.
            boolean all = member.nextIndex() >= member.replica().committed();
            if (!all) {
                again();
                return;
            }
        }
        String otherwise = difference(member.storage().cache());
        if (otherwise == null) {
            world.statistics.cameBack++;
            world.trace(node.name() + " is let in with what it has up to " + last());
            node.comeIn();
        } else {
            world.statistics.refused++;
            node.needsCopy(otherwise);
        }
    }

    private long last() {
        return Math.max(node.storage().cache().last(), node.database().visible());
    }

    /** What tells this node's history from the cluster's; null when nothing does. */
    private String difference(WriteSetCache there) {
        WriteSetCache here = node.storage().cache();
        if (world.bugs.contains(Bug.FORMER_LIFE_BY_SEQNO)) {
            return last() <= there.last() ? null : "its history is longer";
        }
        if (here.last() >= here.first()) {
            if (here.last() < there.first() || here.last() > there.last()) {
                return "its last record " + here.last() + " is not there to be compared";
            }
            Certified mine = node.read(here.last());
            Certified theirs = Node.read(there, here.last());
            if (!mine.writeSet().equals(theirs.writeSet()) || !mine.position().equals(theirs.position())) {
                return "seqno " + here.last() + " is " + mine + " here and " + theirs + " there";
            }
        }
        return world.bugs.contains(Bug.FORMER_LIFE_BY_RECORD) ? null : differenceOfDatabase(there);
    }

    /** A crash may have taken the end of the cache: then the database knows more of the former life. */
    private String differenceOfDatabase(WriteSetCache there) {
        long position = node.database().position();
        if (node.database().visible()
                > Math.max(position, node.storage().cache().last())) {
            // Its mark tells that it was committed; what the order said of it is gone.
            return "its database committed what was prepared, and no record says at which place";
        }
        long known = Math.max(position, node.storage().cache().last());
        if (node.database().snapshotMax() > known) {
            return "what it had prepared has seen more of the former life than it can show";
        }
        if (position == 0) {
            return null;
        }
        if (position < there.first() || position > there.last()) {
            return "its database's position " + position + " is not there to be compared";
        }
        Certified theirs = Node.read(there, position);
        return node.database().positionLog().equals(theirs.position())
                ? null
                : "its database's position " + position + " is of "
                        + node.database().positionLog() + ", not of " + theirs.position();
    }
}
