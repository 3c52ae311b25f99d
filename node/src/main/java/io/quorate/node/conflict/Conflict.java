// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.conflict;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import io.quorate.core.answer.ConflictAnswer.Met;
import io.quorate.core.answer.ConflictAnswer.Transaction;
import java.util.List;

/**
 * What the journal says of a writeset that failed.
 *
 * @param seqno its place in the order
 * @param verdict why: {@code CONFLICT}, {@code TOO_OLD} or {@code BUILT_ON_FAILED}
 * @param met what both transactions touched, in clear text; empty when it isn't known
 * @param loser the transaction that failed; it is undone on its own node, and no other node ever sees it
 * @param winner the transaction it lost against, or the failed one on which it was built; null when that is no longer
 *     known
 */
@JsonPropertyOrder({"seqno", "verdict", "met", "loser", "winner"})
public record Conflict(long seqno, String verdict, List<Met> met, Transaction loser, Transaction winner) {}
