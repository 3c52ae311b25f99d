// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import java.util.Map;

/**
 * Counters since the start, and current gauges.
 *
 * @param submittedEntries own entries taken by submit
 * @param submittedBytes their bytes
 * @param failedEntries own entries refused, or answered by a failure
 * @param inFlightBytes own bytes submitted and not yet answered
 * @param forwardedEntries frames peers have handed to this node as their leader
 * @param deliveredEntries entries given to the listener
 * @param deliveredBytes their bytes
 * @param abandonedEntries large entries whose remaining fragments never came
 * @param appliedIndex log index applied last
 * @param committedIndex log index known to be on a majority
 * @param logStart first log index still held
 * @param logEnd last log index held
 * @param followers for the leader, the log index each follower is known to hold; else empty
 * @param connects connections this node has opened to its peers
 * @param refusedConnections peers refused for their cluster or protocol version
 * @param malformedMessages connections closed because of what they sent
 */
public record TransportStats(
        long submittedEntries,
        long submittedBytes,
        long failedEntries,
        long inFlightBytes,
        long forwardedEntries,
        long deliveredEntries,
        long deliveredBytes,
        long abandonedEntries,
        long appliedIndex,
        long committedIndex,
        long logStart,
        long logEnd,
        Map<String, Long> followers,
        long connects,
        long refusedConnections,
        long malformedMessages) {}
