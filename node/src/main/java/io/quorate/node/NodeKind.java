// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.NodeMachine;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.conflict.Explainer;
import io.quorate.node.definition.Definitions;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.springframework.boot.ssl.SslBundles;

/** Everything in which a node beside a server differs from one without a server, an arbitrator. */
interface NodeKind {
    /**
     * The kind of a node with this configuration. If the node has a server, that is checked.
     *
     * @param bundles certificates and keys for connections
     */
    static NodeKind of(NodeProperties properties, SslBundles bundles, Opened opened) {
        properties.requireServerUnlessArbitrator();
        return properties.arbitrator() ? new ArbitratorKind(properties) : ServerKind.of(properties, bundles, opened);
    }

    /** The machine that decides which state the node is in. */
    NodeMachine machine();

    /**
     * What explains conflicts.
     *
     * @param self the server's UUID; null while that isn't known
     */
    Explainer explainer(Supplier<UUID> self, Opened opened);

    /**
     * Opens the room of the server, and registers what it answers to other nodes.
     *
     * @param synced whether the node's server holds what the order says
     */
    ServerRoom open(Base base, BooleanSupplier synced, Told told, Opened opened);

    /**
     * Opens the room of the definitions that are ordered first, and registers what it answers to other nodes.
     */
    Definitions openDefinitions(
            Base base, ServerRoom beside, MemberRoom members, BooleanSupplier synced, Told told, Opened opened);
}
