// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.applier.DefinitionTurn;
import io.quorate.core.Certified;
import java.sql.SQLException;
import java.util.Set;

/**
 * A server at the place of a definition, which changes one of its tables or the index of tags; open for what {@link
 * Bug}s make of it. Its connection may break at every step.
 */
class DefiningServer implements DefinitionTurn.Server {
    private static final int DUPLICATE_ENTRY = 1062;
    private static final int DUPLICATE_KEY_NAME = 1061;
    private static final int NO_KEY = 1091;

    private final Node node;
    private final World world;
    private final Certified definition;
    private final boolean repeated;

    /** @param repeated whether a client has run the same here */
    DefiningServer(Node node, Certified definition, boolean repeated) {
        this.node = node;
        this.world = node.world;
        this.definition = definition;
        this.repeated = repeated;
    }

    /** The table is in use. */
    static final class InUse extends SQLException {
        private static final long serialVersionUID = 1;
        private final transient Set<Transaction> users;

        private InUse(Set<Transaction> users) {
            this.users = users;
        }

        Set<Transaction> users() {
            return users;
        }
    }

    @Override
    public boolean hasGtid() throws SQLException {
        mayBreak();
        return node.database().hasGtid(definition.seqno());
    }

    @Override
    public void requireWhole() {
        // There are no engines without transactions here.
    }

    @Override
    public void run() throws SQLException {
        if (repeated) {
            useUpGtid(definition.seqno());
            return;
        }
        byte[] statement = definition.writeSet().payload().toArray();
        Table table = Table.ALL[statement[0]];
        Set<Transaction> users = node.database().users(table);
        users.removeIf(Transaction::isLock);
        if (!users.isEmpty()) {
            throw new InUse(users);
        }
        if (table == Table.TAG) {
            indexTags(Dispute.isAdded(statement));
        } else {
            node.database().ddlApplied(table, definition.seqno());
        }
    }

    private void indexTags(boolean adds) throws SQLException {
        Rows rows = node.database().rows();
        if (adds == rows.isTagIndexed()) {
            throw new SQLException(adds ? "is there" : "isn't there", "42000", adds ? DUPLICATE_KEY_NAME : NO_KEY);
        }
        if (adds && rows.hasEqualTags()) {
            throw new SQLException("duplicate entry", "23000", DUPLICATE_ENTRY);
        }
        node.database().indexTagsApplied(adds, definition.seqno());
        mayBreak();
    }

    @Override
    public boolean hasPassedOver(long seqno) throws SQLException {
        return node.database().passedOver().contains(seqno);
    }

    @Override
    public void notePassedOver(long seqno) throws SQLException {
        mayBreak();
        node.database().passedOver().add(seqno);
        world.trace(node.name() + " passes over the definition at seqno " + seqno);
        mayBreak();
    }

    @Override
    public void useUpGtid(long seqno) throws SQLException {
        node.database().useUpGtid(seqno);
        mayBreak();
    }

    private void mayBreak() throws SQLException {
        if (world.dispute != null) {
            world.dispute.mayBreak(node);
        }
    }
}
