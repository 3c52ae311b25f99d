// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import io.quorate.ist.HistoryCheck;
import io.quorate.ist.IncrementalTransfer.Offer;
import io.quorate.transport.Lives;
import io.quorate.transport.NewLife;
import java.io.IOException;
import java.util.List;

/**
 * A node of a former life of the cluster comes back. Whether it is let in, with its server and its cache, the product's
 * {@link HistoryCheck} says; otherwise its server has to be copied anew. So it has where nobody can tell for long.
 */
final class Comeback {
    private static final int CLOCK = 50;
    private static final int IN_VAIN_MAX = 30;

    private final Node node;
    private final World world;
    private final Server server;
    private final HistoryCheck history;
    private final long life;
    private int inVain;

    /** What its server says of itself; open for what {@link Bug}s make of it. */
    static class Server {
        private final Node node;

        Server(Node node) {
            this.node = node;
        }

        long position() {
            return node.database().position();
        }

        LogPosition at() {
            return node.database().positionLog();
        }

        /**
         * The furthest that its clients' prepared transactions show it to have been: what they had seen, and what was
         * committed of them. The product can't tell; it stops at a transaction that is committed here and failed.
         */
        long shown() {
            return Math.max(node.database().visible(), node.database().snapshotMax());
        }
    }

    Comeback(Node node) {
        this.node = node;
        this.world = node.world;
        this.life = node.life();
        this.server = Spoilt.server(node, world.bugs);
        PeerStreams peers = Spoilt.peers(node, world.peersOf(node, true), world.bugs);
        this.history = new HistoryCheck(node.storage().cache(), peers, Storage.INCARNATION);
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
        List<Node> others = world.nodes().stream()
                .filter(n ->
                        n != node && world.isReachable(n, node) && world.order().isPrimary(n))
                .toList();
        Lives theirs = NewLife.successor(
                Admission.lives(node.era()),
                others.stream().map(n -> Admission.lives(n.era())).toList());
        List<Offer> offers = others.stream()
                .filter(n -> Admission.lives(n.era()).equals(theirs))
                .map(Node::offer)
                .toList();
        if (offers.isEmpty() || !(node.databaseUp || node.isArbitrator())) {
            again();
            return;
        }
        try {
            long known = Math.max(server.position(), node.storage().cache().last());
            if (server.shown() > known) {
                throw new QuorateException(
                        ErrorCode.COPY_NEEDED, "its clients have seen more of the former life than it can show");
            }
            history.require(offers, server.position(), server.at(), world.millis() * CLOCK);
        } catch (QuorateException e) {
            if (e.code() == ErrorCode.COPY_NEEDED || ++inVain > IN_VAIN_MAX) {
                world.statistics.refused++;
                node.needsCopy(e.detail());
            } else {
                again();
            }
            return;
        } catch (IOException e) {
            again();
            return;
        }
        world.statistics.cameBack++;
        world.trace(node.name() + " is let in with what it has up to " + server.position() + " and "
                + node.storage().cache().last());
        node.comeIn();
    }
}
