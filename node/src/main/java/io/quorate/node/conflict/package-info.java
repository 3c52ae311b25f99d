// SPDX-License-Identifier: Apache-2.0

/**
 * The journal of transactions that lost.
 */
package io.quorate.node.conflict;
