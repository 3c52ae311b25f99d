// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.node.copy.GivenCopies;
import io.quorate.node.copy.ServerCopy;
import io.quorate.node.server.Server;

/**
 * The server beside the node, if it has one, with the full copies that it gets and gives.
 *
 * @param given how much of its data the node has given to others by method {@code stream}
 */
record ServerRoom(Server server, ServerCopy copy, GivenCopies given) {}
