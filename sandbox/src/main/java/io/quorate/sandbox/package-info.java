// SPDX-License-Identifier: Apache-2.0
/**
 * MySQL servers and local Quorate clusters on loopback: for trying things out, for tests, for the demo.
 *
 * <p>{@link io.quorate.sandbox.MySqlServer} runs one real {@code mysqld}; {@link io.quorate.sandbox.MySqlDistribution}
 * finds or downloads the program.
 */
package io.quorate.sandbox;
