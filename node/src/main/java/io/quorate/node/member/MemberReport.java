// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.quorate.core.LogPosition;
import java.util.Comparator;

/**
 * What a node says of itself to the others, four times a second. Fields that one doesn't know, of a newer version, it
 * ignores.
 *
 * @param node its name
 * @param directory names its data directory
 * @param generation what it takes part as, or asks to; 0 while it doesn't know
 * @param zone where it is
 * @param http host and port of its Actuator, null when it has none that others may ask
 * @param mysql host and port of its server, null with an arbitrator
 * @param state a {@link io.quorate.core.NodeState}
 * @param ordered last seqno the order handed to it
 * @param applied its server holds everything up to it
 * @param orderedPerSecond writesets a second, lately
 * @param appliedPerSecond likewise
 * @param cacheFirst first seqno in its writeset cache
 * @param cacheLast last seqno there
 * @param checkpoint seqno of its newest checkpoint, 0 without one
 * @param checkpointIndex where in the order's log that is, -1 without one
 * @param logTerm term of the last entry of its log, confirmed by a majority or not
 * @param logIndex its index
 * @param queue writesets ordered and not applied
 * @param cause why that is so many, null when they are few
 * @param desynced whether the others are not to wait for it, however far behind it is
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record MemberReport(
        String node,
        String directory,
        int generation,
        String zone,
        String http,
        String mysql,
        String state,
        long ordered,
        long applied,
        long orderedPerSecond,
        long appliedPerSecond,
        long cacheFirst,
        long cacheLast,
        long checkpoint,
        long checkpointIndex,
        long logTerm,
        long logIndex,
        long queue,
        String cause,
        boolean desynced) {
    /** Whether it has a server, which holds what the order says. */
    public boolean hasSyncedServer() {
        return mysql != null && (state.equals("SYNCED") || state.equals("DONOR"));
    }

    /** Who is in a zone comes first. */
    public static Comparator<MemberReport> nearest(String zone) {
        return Comparator.comparing(m -> m.zone.equals(zone) ? 0 : 1);
    }

    /** How far its log goes. */
    public LogPosition logEnd() {
        return new LogPosition(logTerm, logIndex);
    }
}
