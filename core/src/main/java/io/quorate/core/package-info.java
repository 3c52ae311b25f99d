// SPDX-License-Identifier: Apache-2.0
/**
 * What all modules speak of: writesets and their keys, proposals, the ports {@link io.quorate.core.TotalOrder} and
 * {@link io.quorate.core.WriteSetLog}, error codes; and what needs nothing else to decide: the node's state machine, the
 * register of own transactions, how what clients commit is captured and proposed. No thread, clock, network or
 * randomness of its own.
 */
package io.quorate.core;
