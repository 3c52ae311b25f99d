// SPDX-License-Identifier: Apache-2.0

/**
 * The service beside one MySQL server. {@link io.quorate.node.Node} puts it together from rooms, of which each may use
 * those before it and never one after it; a test holds that: {@code thread}, {@code config}, {@code question}, {@code
 * order}, {@code server}, {@code member}, {@code copy}, {@code join}, {@code audit}, {@code conflict}, {@code
 * endpoint}.
 */
package io.quorate.node;
