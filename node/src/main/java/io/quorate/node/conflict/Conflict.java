// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.conflict;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import io.quorate.core.answer.ConflictAnswer.Met;
import io.quorate.core.answer.ConflictAnswer.Transaction;
import java.util.List;

/**
 * What the journal says of a writeset that failed, or passed and is void.
 *
 * @param seqno its place in the order; of a void definition, the place of that verdict
 * @param verdict why: {@code CONFLICT}, {@code TOO_OLD}, {@code BUILT_ON_FAILED}, {@code NOT_REPEATABLE} or
 *     {@code VOID}
 * @param met what both transactions touched, in clear text; empty when it isn't known
 * @param loser the transaction that failed; it is undone on its own node, and no other node ever sees it
 * @param winner the transaction it lost against, or the failed or void one on which it was built; null when that is no
 *     longer known, or it is a void definition itself
 */
@JsonPropertyOrder({"seqno", "verdict", "met", "loser", "winner"})
public record Conflict(long seqno, String verdict, List<Met> met, Transaction loser, Transaction winner) {
    /** The verdict on what passed and nobody is to have: a void definition, and what was built on it. */
    public static final String VOID = "VOID";
}
