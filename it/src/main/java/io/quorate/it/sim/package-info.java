// SPDX-License-Identifier: Apache-2.0
/**
 * A cluster in one thread: the real certification, writeset cache, scheduler, register of own writes, undo and state machine on
 * a clock, an order, and databases that are simulated. {@link io.quorate.it.sim.Simulation} runs seeds.
 */
package io.quorate.it.sim;
