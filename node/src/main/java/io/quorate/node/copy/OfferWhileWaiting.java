// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.core.TableName;
import java.util.List;

/**
 * What a server can give to others though it waits for a copy itself.
 *
 * @param notGiven the tables that it can't: those in which it differs, those of its own transactions that failed and
 *     may not be undone, those that are defined anew after its position, and those that hang together with them
 * @param failed the GTID numbers of these transactions: what it gives holds nothing of them
 */
record OfferWhileWaiting(List<TableName> notGiven, List<Long> failed) {}
