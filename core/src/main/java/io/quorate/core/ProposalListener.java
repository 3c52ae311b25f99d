// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/** Is told what becomes of an origin's proposals. Called on the thread that hands out the order: returns at once. */
public interface ProposalListener {
    /** The order has taken this origin that far. */
    void delivered(OriginPosition position);

    /** A proposal was left out because an earlier one is missing. */
    void gap();
}
