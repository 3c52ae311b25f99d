// SPDX-License-Identifier: Apache-2.0

/**
 * The threads of a node and what becomes of it when one ends: {@link io.quorate.node.thread.OwnedThread}, the fault
 * handler, the loop that owns the node's state.
 */
package io.quorate.node.thread;
