// SPDX-License-Identifier: Apache-2.0

/** Definitions that are ordered before any server runs them, and what keeps clients from writing meanwhile. */
package io.quorate.node.definition;
