// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/** What certification decides about a writeset; the same on every node. */
public enum Verdict {
    /** To be applied everywhere. */
    PASSED,
    /** Another origin's writeset that this one had not seen wrote one of its keys first. */
    CONFLICT,
    /** Its lastSeen is older than what the certification index still knows, so a conflict can't be ruled out. */
    TOO_OLD,
    /** It was built on a writeset of its own origin that failed. */
    BUILT_ON_FAILED,
    /** A definition that would make something else of every server: none but its origin may ever have it. */
    NOT_REPEATABLE;

    private static final Verdict[] BY_ORDINAL = values();

    public static Verdict of(int ordinal) {
        return BY_ORDINAL[ordinal];
    }
}
