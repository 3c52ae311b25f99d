// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The table of a machine's steps: which of them can follow which. A machine that is about to go elsewhere has a defect,
 * and says so instead of going on.
 *
 * @param <S> the steps
 */
public final class Transitions<S extends Enum<S>> {
    private final Map<S, Set<S>> next;

    private Transitions(Map<S, Set<S>> next) {
        this.next = next;
    }

    /** @param next for every step there is, those that can follow it; none for a last one */
    public static <S extends Enum<S>> Transitions<S> of(Map<S, Set<S>> next) {
        Map<S, Set<S>> copy = new EnumMap<>(next);
        Class<S> steps = copy.keySet().iterator().next().getDeclaringClass();
        if (copy.size() < steps.getEnumConstants().length) {
            throw new IllegalArgumentException(
                    "nothing is said about " + EnumSet.complementOf(EnumSet.copyOf(copy.keySet())));
        }
        return new Transitions<>(copy);
    }

    /** Whether a step can follow another. */
    public boolean allows(S from, S to) {
        return next.get(from).contains(to);
    }

    /**
     * A step from one to another.
     *
     * @return the other
     * @throws IllegalStateException when it can't follow
     */
    public S step(S from, S to) {
        if (!allows(from, to)) {
            throw new IllegalStateException("from " + from + " to " + to);
        }
        return to;
    }

    /**
     * A line for each step, those that can follow it after a colon, all of them in the order in which they are
     * declared.
     */
    @Override
    public String toString() {
        return next.entrySet().stream()
                .map(e -> e.getKey()
                        + e.getValue().stream().sorted().map(to -> " " + to).collect(Collectors.joining("", ":", "\n")))
                .collect(Collectors.joining());
    }
}
