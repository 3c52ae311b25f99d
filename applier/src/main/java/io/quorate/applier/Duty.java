// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;

/** What this node has to do for a writeset at its place in the order. */
public enum Duty {
    /** Nothing: it is in the database already, or failed somewhere else. */
    NONE,
    /** Apply it; or, if it is an own one that failed, make sure that it is undone. */
    EXECUTE,
    /**
     * It is an own transaction that was prepared, and is now committed or rolled back according to its verdict. Its
     * rows are there and its locks held, unless it had to be rolled back before to let another one pass; in that case
     * it is applied if it passed.
     */
    SETTLE;

    /**
     * @param ours whether it is this server's own
     * @param here whether the database has it
     */
    public static Duty of(Certified writeSet, boolean ours, boolean here) {
        if (ours && writeSet.writeSet().isPrepared()) {
            return SETTLE;
        }
        return writeSet.passed() == (ours && here) ? NONE : EXECUTE;
    }
}
