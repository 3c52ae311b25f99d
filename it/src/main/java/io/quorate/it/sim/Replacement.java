// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.core.QuorateException;
import io.quorate.node.join.JoinMachine.Step;
import java.util.UUID;

/**
 * Another server's data in place of a node's own: whether the node needs them, and how it gets them, as a member that
 * goes on or with a directory of its own.
 */
final class Replacement {
    private final Node node;
    private final World world;
    private int copies;
    /** What its server needs a copy to reach; -1 while it needs none. */
    private long from = -1;
    /** Whether a copy is due to what its server holds, rather than to what it missed. */
    private boolean differs;

    /** Nobody can bring it back: somebody has to copy another server. */
    private boolean needed;

    Replacement(Node node) {
        this.node = node;
        this.world = node.world;
    }

    /** Nobody has what is missing here, or it has a history of its own: somebody will have to copy another server. */
    void need(String why) {
        world.trace(node.name() + " needs a copy: " + why);
        node.crashService();
        if (node.isArbitrator()) {
            // There is nothing to be copied: somebody has to clear its directory.
            node.beginAnew();
            world.after(3000, node::startService);
            return;
        }
        needed = true;
        node.crashDatabase();
        world.copies(node);
    }

    boolean isNeeded() {
        return needed;
    }

    /** Its server needs a copy that reaches {@code seqno}: what comes after it is kept here. */
    void want(long seqno) {
        world.trace(node.name() + " wants a copy from " + seqno + " on");
        from = seqno;
        world.replacesServer(node, node.life());
    }

    boolean isWanted() {
        return from >= 0;
    }

    long from() {
        return from;
    }

    /** It is begun anew with whatever data there are. */
    void cancel() {
        from = -1;
    }

    /** Its server holds something else than the order says. */
    void differs(QuorateException cause) {
        differs = true;
        node.joining().differs(cause);
    }

    /** Whether its server is of no use before it has a copy of another one. */
    boolean isAwaited() {
        return needed || isWanted() || isAwaiting();
    }

    /** Whether only a person can say which of the servers is right. */
    boolean awaitsPerson() {
        return isAwaiting() && node.joining().toString().contains("waiting, because only");
    }

    private boolean isAwaiting() {
        return node.joining() != null && node.joining().at() == Step.AWAITING_COPY;
    }

    /** Its server has all of another one's data in place of its own; it is a member as before. */
    void replace(Node donor) {
        world.statistics.replaced++;
        if (world.dispute == null) {
            node.crashDatabase();
            take(donor);
            node.joining().copying(null);
            return;
        }
        new Voting(node).withdraw();
        if (node.databaseUp && differs) {
            world.dispute.requireHandedOver(node);
        }
        // From now on its own rows are gone.
        node.crashDatabase();
        world.dispute.mayCrashSoon(node);
        long ofLife = node.life();
        world.after(1 + world.dispute.random.nextInt(4000), () -> {
            if (ofLife == node.life()
                    && world.dispute.mayGive(donor)
                    && donor.database().visible() >= from) {
                take(donor);
                world.statistics.healed += differs ? 1 : 0;
                differs = false;
                node.joining().copying(null);
            } else {
                node.databaseUp = true;
                world.replacesServer(node, ofLife);
            }
        });
    }

    /** Begins anew with the rows of another server, as a server of its own. */
    void rebuild(Node donor) {
        world.statistics.copies++;
        needed = false;
        take(donor);
        node.beginAnew();
        node.startService();
    }

    private void take(Node donor) {
        long at = donor.database().visible();
        world.trace(node.name() + " is copied from " + donor.name() + " at " + at);
        Rows ordered = donor.model().ordered();
        Rows rows = donor.model().tampered(ordered.copy());
        rows.indexTags(donor.database().rows().isTagIndexed());
        UUID uuid = new UUID(3, node.number + 16L * ++copies);
        node.replaceServer(
                world.decided.copyOf(uuid, rows, at, donor.database()),
                new Model(node, ordered, at).tamperedLike(donor.model()));
        from = -1;
    }
}
