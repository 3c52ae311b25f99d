// SPDX-License-Identifier: Apache-2.0

/**
 * Comparing the rows of all nodes, and putting right what differs.
 */
package io.quorate.node.audit;
