// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import java.time.Duration;
import java.util.Map;

/** Asks a node to empty its server of clients, before mysqld is stopped. */
public final class Draining {
    static final String PATH = "/actuator/drain";
    /** What the node may take besides waiting. */
    private static final Duration MORE = Duration.ofSeconds(5);

    private Draining() {}

    /**
     * Disconnects the clients of a node's server, and waits for what the order says of their commits.
     *
     * @param node whose server it is
     * @param limit how long it waits for that
     * @param force also where no other server is open to clients
     * @throws CommandException with the node's own words when not everything is decided by then
     * @throws java.io.UncheckedIOException when no node answers there
     */
    public static void drain(AskedNode node, Duration limit, boolean force) {
        node.post(
                PATH,
                Map.of("seconds", Long.toString(limit.toSeconds()), "force", Boolean.toString(force)),
                limit.plus(MORE));
    }

    /** As above, with the node's own limit. */
    static void drain(AskedNode node, boolean force) {
        node.post(PATH, Map.of("force", Boolean.toString(force)));
    }

    /** Lets clients connect again. */
    static void end(AskedNode node) {
        node.delete(PATH);
    }
}
