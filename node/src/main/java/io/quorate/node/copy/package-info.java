// SPDX-License-Identifier: Apache-2.0

/**
 * Full copies of a server, both ends: {@link io.quorate.node.copy.ServerCopy} for this node's own, the sources for
 * others'.
 */
package io.quorate.node.copy;
