// SPDX-License-Identifier: Apache-2.0

/**
 * The MySQL server beside the node: the link to the server, the sessions with it, what is checked and remembered about
 * it, and how what its clients commit is captured and proposed. The rest of the node sees it as {@link
 * io.quorate.node.server.Server}.
 */
package io.quorate.node.server;
