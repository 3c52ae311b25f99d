// SPDX-License-Identifier: Apache-2.0

/**
 * How a node comes to take part, comes back, and goes on when the majority is lost for good.
 */
package io.quorate.node.join;
