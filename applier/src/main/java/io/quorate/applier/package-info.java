// SPDX-License-Identifier: Apache-2.0
/**
 * Brings what the order holds into this node's database: {@link io.quorate.applier.Applier} reads certified writesets
 * in order, runs those of other origins in groups on parallel connections as far as their dependencies allow, and
 * commits the groups in order, each with its row of {@link io.quorate.applier.PositionTable} in the same transaction.
 */
package io.quorate.applier;
