// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.core.answer.Outcome;

/** What JMX says of an operation: nothing when it is done, else why not. */
final class Done {
    private Done() {}

    /** @throws IllegalStateException with the reason as its message, when it isn't done */
    static void require(Outcome outcome) {
        require(outcome.refusal());
    }

    static void require(String refusal) {
        if (refusal != null) {
            // Of a class that every JMX client has.
            throw new IllegalStateException(refusal);
        }
    }
}
