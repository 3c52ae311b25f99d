// SPDX-License-Identifier: Apache-2.0

/**
 * The MySQL server beside the node: the link to it, its sessions, what is checked and remembered of it. Its door is
 * {@link io.quorate.node.server.Server}.
 */
package io.quorate.node.server;
