// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.NodeMachine;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.conflict.Explainer;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** All that makes a difference between a node beside a server and one without, an arbitrator. */
interface NodeKind {
    /** Of a node with such a configuration; if there is to be a server, it is looked at. */
    static NodeKind of(NodeProperties properties, Opened opened) {
        properties.requireServerUnlessArbitrator();
        return properties.arbitrator() ? new ArbitratorKind(properties) : ServerKind.of(properties, opened);
    }

    /** What decides in which state the node is. */
    NodeMachine machine(long electionGraceMillis);

    /**
     * What explains conflicts.
     *
     * @param self the server's UUID, null while that isn't known
     */
    Explainer explainer(Supplier<UUID> self, Opened opened);

    /**
     * The room of the server, with what it answers other nodes.
     *
     * @param synced whether the node's server holds what the order says
     */
    ServerRoom open(Base base, BooleanSupplier synced, Told told, Opened opened);
}
