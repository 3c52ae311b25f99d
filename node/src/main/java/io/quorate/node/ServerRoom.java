// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.node.copy.GivenCopies;
import io.quorate.node.copy.ServerCopy;
import io.quorate.node.server.Server;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The server beside the node, if it has one, with the full copies that it gets and gives.
 *
 * @param given how much of its data the node has given to others by method {@code stream}
 * @param runsEvents whether the server's event scheduler is on; null when somebody keeps it off, or there is no server
 */
record ServerRoom(Server server, ServerCopy copy, GivenCopies given, Supplier<@Nullable Boolean> runsEvents) {}
