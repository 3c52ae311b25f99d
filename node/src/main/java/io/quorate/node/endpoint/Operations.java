// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.core.answer.Outcome;
import org.jspecify.annotations.Nullable;

/** How operations look in JMX: they say nothing when they are done, and what is left out of them is an empty text. */
final class Operations {
    private Operations() {}

    /** @throws IllegalStateException with the reason as its message, when it isn't done */
    static void require(Outcome outcome) {
        require(outcome.refusal());
    }

    static void require(@Nullable String refusal) {
        if (refusal != null) {
            // Of a class that every JMX client has.
            throw new IllegalStateException(refusal);
        }
    }

    /** What was given for a parameter that may be left out; null when it was. */
    static @Nullable String given(@Nullable String text) {
        return text == null || text.isBlank() ? null : text;
    }
}
