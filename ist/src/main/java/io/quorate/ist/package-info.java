// SPDX-License-Identifier: Apache-2.0
/**
 * What a node keeps of the order on its own disk: {@link io.quorate.ist.WriteSetCache}, the certified writesets, and
 * {@link io.quorate.ist.CheckpointStore}, what certification knew at a place in the order.
 */
package io.quorate.ist;
