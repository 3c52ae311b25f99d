// SPDX-License-Identifier: Apache-2.0
/**
 * Finds out whether the rows of servers are the same, by checksums of stretches of tables and by single rows, and
 * repairs rows.
 */
package io.quorate.sst.audit;
