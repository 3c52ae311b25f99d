// SPDX-License-Identifier: Apache-2.0
/**
 * A cluster in one thread: the real certification, stream, stores, joining, capture protocol, proposals, scheduler,
 * register of own writes, undo and state machine on a clock, an order, and databases that are simulated. Bugs are
 * planted in what these are given, or in what they let be overridden, never in them. {@link
 * io.quorate.it.sim.Simulation} runs seeds.
 */
package io.quorate.it.sim;
