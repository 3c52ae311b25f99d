// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

/**
 * What became of something that a node was told to do.
 *
 * @param done whether it was done
 * @param refusal why not, for people; null when it was
 */
public record Outcome(boolean done, String refusal) {
    /** @param refusal null when it was done */
    public static Outcome of(String refusal) {
        return new Outcome(refusal == null, refusal);
    }
}
