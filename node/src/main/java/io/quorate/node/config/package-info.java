// SPDX-License-Identifier: Apache-2.0

/**
 * The node's configuration, {@code quorate.*}.
 */
package io.quorate.node.config;
