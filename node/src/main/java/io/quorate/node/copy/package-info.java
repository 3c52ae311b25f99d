// SPDX-License-Identifier: Apache-2.0

/**
 * Full copies of a server, at both ends: {@link io.quorate.node.copy.ServerCopy} receives one for this node's own
 * server, the sources give them to other nodes.
 */
package io.quorate.node.copy;
