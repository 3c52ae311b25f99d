// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import java.util.List;
import java.util.UUID;

/**
 * What a server's rows had when they were read: everything ordered up to a seqno, and of what came after it some of the
 * server's own transactions, which it commits before they are ordered.
 *
 * @param server its UUID
 * @param applied everything up to this seqno is in the rows
 * @param own no own transaction with a higher GTID number is in them
 * @param undone numbers of own transactions that failed and are not in them any more
 */
public record Moment(UUID server, long applied, long own, List<Long> undone) {}
