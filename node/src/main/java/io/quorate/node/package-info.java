// SPDX-License-Identifier: Apache-2.0

/**
 * The service beside one MySQL server. {@link io.quorate.node.Node} puts it together from rooms. Each room may use
 * those before it in this list and never one after it, which a test ensures: {@code thread}, {@code config}, {@code
 * trace}, {@code question}, {@code order}, {@code server}, {@code member}, {@code scheduler}, {@code copy}, {@code
 * join}, {@code audit}, {@code conflict}, {@code definition}, {@code endpoint}, {@code http}.
 */
package io.quorate.node;
