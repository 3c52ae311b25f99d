// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.node.server.ClosingCourse;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/**
 * Opens a node's server for clients and closes it, in mode after-sync. Commits wait as long as there is a capture. What
 * becomes of those who wait when it is closed is decided by the product's {@link ClosingCourse}.
 */
final class Opening implements ClosingCourse.Server {
    private static final long GRACE_MILLIS = 3000 / Acknowledging.CLOCK;

    private final Node node;
    private final World world;
    private boolean open;
    private ClosingCourse closing;

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
            beginToClose(false);
            goOn();
        }
    }

    /** From now on commits wait. */
    void hold() {
        commits().enable();
    }

    void open() {
        hold();
        open = true;
        world.trace(node.name() + " is open for clients");
    }

    /** From now on no client begins to commit. */
    void beginToClose(boolean captured) {
        open = false;
        if (commits().isEnabled()) {
            closing = new ClosingCourse(
                    captured, Duration.ofMillis(world.commitTimeoutMillis + GRACE_MILLIS), world.millis());
        }
    }

    /** Goes on with closing; whether nothing is left to be done of that. */
    boolean goOn() {
        try {
            closing = closing == null || closing.step(this, world.millis()) ? null : closing;
            return closing == null;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public boolean closeWithin(Duration limit) {
        if (!isAnyCommitting()) {
            close();
        }
        return !isAnyCommitting();
    }

    @Override
    public void close() {
        world.trace(node.name() + " is closed for clients");
    }

    @Override
    public boolean hasReplica() {
        return commits().hasReplica();
    }

    @Override
    public boolean isAnyCommitting() {
        return node.database().clients().stream().anyMatch(Transaction::isInCommit);
    }

    @Override
    public boolean commitsEndWithin(Duration limit) {
        return !isAnyCommitting();
    }

    @Override
    public void endCommitting() {
        List<Transaction> waiting = clients(true);
        world.statistics.putOut += waiting.size();
        boolean forgets = world.bugs.contains(Bug.PUT_OUT_FORGETS_ONE);
        waiting.stream().skip(forgets ? 1 : 0).forEach(node.database()::kill);
    }

    @Override
    public void waitNoMore() {
        commits().disable();
    }

    @Override
    public boolean isOffline() {
        return false;
    }

    @Override
    public void offline(boolean on) {
        if (on) {
            world.trace(node.name() + " puts its clients out");
            clients(false).forEach(node.database()::kill);
        }
    }

    private List<Transaction> clients(boolean inCommit) {
        return node.database().clients().stream()
                .filter(client -> client.isInCommit() == inCommit)
                .toList();
    }

    private CommitQueue commits() {
        return node.database().commits();
    }
}
