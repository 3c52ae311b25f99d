// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.definition;

import io.quorate.core.FromOutside;
import io.quorate.node.question.Question;
import org.jspecify.annotations.Nullable;

/** What nodes ask of one another about definitions that are ordered first. */
sealed interface DefinitionQuestion<A> extends Question<A> {
    /**
     * Keep clients from writing until what is ordered next is applied, and answer when the order has everything that
     * they have committed. {@link Fences} answers.
     *
     * @param after the last number of {@link io.quorate.core.OrderedFirst}
     */
    @Question.Name("definition.fence")
    record Fence(long after) implements DefinitionQuestion<Fenced> {}

    /**
     * The result.
     *
     * @param refusal why clients may still write; null when they don't
     */
    record Fenced(@Nullable String refusal) {
        public Fenced {
            refusal = FromOutside.oneLine(refusal);
        }
    }

    /** What does your server say about the definition at this seqno? */
    @Question.Name("definition.said")
    record Said(long seqno) implements DefinitionQuestion<Refusal> {}

    /** @param error null when it doesn't refuse it */
    record Refusal(@Nullable String error) {
        public Refusal {
            error = FromOutside.oneLine(error);
        }
    }
}
