// SPDX-License-Identifier: Apache-2.0
/**
 * The total order: Apache Ratis behind {@link io.quorate.core.TotalOrder}, and the Netty channels by which followers
 * hand their entries to the leader. The door is {@link io.quorate.transport.RatisTotalOrder#start}.
 */
package io.quorate.transport;
