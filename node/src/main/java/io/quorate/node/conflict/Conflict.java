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
 * @param met what both touched, in clear; empty when it can't be told from the rows
 * @param loser the transaction that failed; undone on its own node, never seen on another
 * @param winner the one it lost against, or the failed one it was built on; null when that is no longer known
 */
@JsonPropertyOrder({"seqno", "verdict", "met", "loser", "winner"})
public record Conflict(long seqno, String verdict, List<Met> met, Transaction loser, Transaction winner) {}
