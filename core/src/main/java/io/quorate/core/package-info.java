// SPDX-License-Identifier: Apache-2.0
/**
 * What all modules share: writesets and their keys, proposals, the ports {@link io.quorate.core.TotalOrder} and {@link
 * io.quorate.core.WriteSetLog}, error codes; and decisions that need nothing else: the node's state machine, the
 * register of own transactions, how clients' commits are captured and proposed. No thread, clock, network or randomness
 * of its own.
 */
package io.quorate.core;
