// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

/**
 * The answer to a POST to {@code /actuator/definition}: an {@link Outcome}, and the number by which a {@link
 * DefinitionAnswer} is known.
 *
 * @param number of the request; 0 when it is refused
 * @param done whether it has begun
 * @param refusal why not, for people; null when it has
 */
public record DefinitionOutcome(long number, boolean done, String refusal) {
    public static DefinitionOutcome begun(long number) {
        return new DefinitionOutcome(number, true, null);
    }

    public static DefinitionOutcome refused(String why) {
        return new DefinitionOutcome(0, false, why);
    }
}
