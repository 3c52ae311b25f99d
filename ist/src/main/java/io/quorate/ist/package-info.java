// SPDX-License-Identifier: Apache-2.0
/**
 * What a node keeps on its own disk of the order: {@link io.quorate.ist.WriteSetCache}, the certified writesets, and
 * {@link io.quorate.ist.CheckpointStore}, what certification knew at a place in the order.
 */
package io.quorate.ist;
