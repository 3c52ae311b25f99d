// SPDX-License-Identifier: Apache-2.0

/** The audit, which compares the rows of all nodes, and the repair of rows that differ. */
package io.quorate.node.audit;
