// SPDX-License-Identifier: Apache-2.0

/**
 * The threads of a node and what becomes of the node when one of them ends: {@link io.quorate.node.thread.OwnedThread},
 * the fault handlers, the loop that owns the node's state, and the clock that all of them go by.
 */
package io.quorate.node.thread;
