// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

/**
 * A peer that this node has no connection to for its entries.
 *
 * @param millis for how long
 * @param why in words for people
 */
record Unreachable(long millis, String why) {}
