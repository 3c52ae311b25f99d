// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

/** What the nodes have found about definitions that some servers refuse. Any thread. */
public interface Verdicts {
    /** Of an applier that has nobody to ask: whatever its server refuses stands. */
    Verdicts NONE = new Verdicts() {
        @Override
        public boolean isVoid(long seqno) {
            return false;
        }

        @Override
        public Verdict onRefused(long seqno) {
            return Verdict.STANDS;
        }
    };

    /** What becomes of a definition. */
    enum Verdict {
        /** The others have still to answer. */
        OPEN,
        /** Others have it: this server holds something else than they do. */
        STANDS,
        /** Nobody is to have it. */
        VOID
    }

    /** From what certification says of a definition. */
    static Verdict of(boolean isVoid, boolean stands) {
        return isVoid ? Verdict.VOID : stands ? Verdict.STANDS : Verdict.OPEN;
    }

    /**
     * Whether the writeset at {@code seqno} is known to be void: as a definition, or because it was built on one. Of
     * what was built on a definition this is known once the definition has been passed over.
     */
    boolean isVoid(long seqno);

    /** What this server says about the definition at {@code seqno}, which it refuses; called before it asks. */
    default void refusal(long seqno, String error) {}

    /**
     * This server refuses the definition at {@code seqno}; asks the others, and waits for their answer for a limited
     * time. Called again while the answer is {@link Verdict#OPEN}.
     */
    Verdict onRefused(long seqno) throws InterruptedException;
}
