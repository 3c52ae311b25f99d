// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

/**
 * Gauges and counters of a {@link Certifier}, as of the last proposal. The counters start at zero with the process;
 * they are no part of the state.
 *
 * @param lastSeqno of the last writeset certified
 * @param cut what the index knew up to here has been dropped
 * @param keys entries in the index
 * @param bytes memory the index takes, entries that are only waiting to be overwritten included
 * @param generations seqno ranges that can be dropped one by one
 * @param passed writesets passed
 * @param conflicts writesets failed by {@link io.quorate.core.Verdict#CONFLICT}
 * @param builtOnFailed writesets failed by {@link io.quorate.core.Verdict#BUILT_ON_FAILED}
 * @param tooOld writesets failed by {@link io.quorate.core.Verdict#TOO_OLD}
 * @param refused proposals that were duplicates, opened a gap or were impossible
 */
public record CertifierStats(
        long lastSeqno,
        long cut,
        long keys,
        long bytes,
        int generations,
        long passed,
        long conflicts,
        long builtOnFailed,
        long tooOld,
        long refused) {}
