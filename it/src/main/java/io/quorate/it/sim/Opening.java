// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import java.util.List;

/**
 * Opens a node's server for clients and closes it, in mode after-sync. Commits wait exactly as long as it is open.
 * Before it is closed, those who wait are decided or ended; where nobody decides, all clients are put out.
 */
final class Opening {
    private static final long GRACE_MILLIS = 3000 / Acknowledging.CLOCK;

    private final Node node;
    private final World world;
    private boolean open;
    private long closingSince = -1;

    Opening(Node node) {
        this.node = node;
        this.world = node.world;
    }

    boolean isOpen() {
        return open;
    }

    /** A session with the server begins: nobody is there any more who could decide about those who wait. */
    void found() {
        open = false;
        if (commits().isEnabled()) {
            close(true);
        }
    }

    /** Now and then, while there is a session. */
    void look(boolean writable, Acknowledging acknowledging) {
        if (open && !writable) {
            open = false;
            closingSince = world.millis();
        }
        if (closingSince >= 0) {
            boolean late = world.millis() > closingSince + world.commitTimeoutMillis + GRACE_MILLIS;
            close(late || !commits().hasReplica());
        } else if (writable && !open) {
            acknowledging.opening();
            commits().enable();
            open = true;
            world.trace(node.name() + " is open for clients");
        }
    }

    private void close(boolean now) {
        boolean waited = node.database().clients().stream().anyMatch(Database.Transaction::isInCommit);
        if (waited && !now) {
            return;
        }
        if (waited) {
            putOut();
        }
        commits().disable();
        closingSince = -1;
        world.trace(node.name() + " is closed for clients");
    }

    private void putOut() {
        world.trace(node.name() + " puts its clients out");
        List<Database.Transaction> clients = node.database().clients();
        boolean forgets = world.bugs.contains(Bug.PUT_OUT_FORGETS_ONE);
        for (Database.Transaction client : forgets ? clients.subList(1, clients.size()) : clients) {
            world.statistics.putOut += client.isInCommit() ? 1 : 0;
            node.database().kill(client);
        }
    }

    private CommitQueue commits() {
        return node.database().commits();
    }
}
