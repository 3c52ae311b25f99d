// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/**
 * A writeset with its place in the order and the verdict on it. Failed writesets take a seqno too.
 *
 * @param seqno from 1, without gaps, the same on every node
 * @param verdict whether it is to be applied
 * @param conflictsWith the seqno of the writeset it lost against, or of the failed one it was built on; 0 when it
 *     passed
 * @param dependsOn the highest earlier seqno that must be committed before this may start; below {@code seqno}
 * @param position the position after which the log may be resumed once this, and everything else in its log entry, is
 *     durable
 * @param lastOfEntry whether it is the last writeset of its log entry
 * @param writeSet what was certified
 */
public record Certified(
        long seqno,
        Verdict verdict,
        long conflictsWith,
        long dependsOn,
        LogPosition position,
        boolean lastOfEntry,
        WriteSet writeSet) {
    /** The same place and verdict, of another writeset. */
    public Certified with(WriteSet other) {
        return new Certified(seqno, verdict, conflictsWith, dependsOn, position, lastOfEntry, other);
    }

    /** The same place and keys, with nothing to apply. */
    public Certified withoutRows() {
        return with(writeSet.withPayload(Payload.NONE));
    }

    public boolean passed() {
        return verdict == Verdict.PASSED;
    }
}
