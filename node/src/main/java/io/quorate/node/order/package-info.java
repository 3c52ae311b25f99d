// SPDX-License-Identifier: Apache-2.0

/** This node's part in the order: taking part in it and leaving it, and what is kept of it on disk. */
package io.quorate.node.order;
