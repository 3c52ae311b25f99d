// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

/**
 * What became of a client's transaction, for whoever lost the connection before the answer.
 *
 * @param gtid the transaction
 * @param outcome what is known of it here
 * @param seqno its place in the order if it was undone, 0 when it isn't known
 * @param says the same for people
 */
public record OutcomeAnswer(String gtid, Kind outcome, long seqno, String says) {
    public enum Kind {
        /** The order has it, and it won: it is on every node, and stays. */
        ORDERED,
        /** It lost: it is, or will be, on no node. */
        UNDONE,
        /** The order, as far as this node knows it, has said nothing of it yet. */
        UNKNOWN
    }
}
