// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.quorate.core.FlowReport;
import io.quorate.core.FromOutside;
import io.quorate.core.LogPosition;
import io.quorate.core.TableName;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a node reports about itself to the others, several times a second. Fields of a newer version that a node doesn't
 * know are ignored.
 *
 * @param node its name
 * @param directory id of its data directory
 * @param generation the generation of its name in which it takes part, or asks to; 0 while it doesn't know
 * @param zone the zone that it is configured to be in
 * @param http host and port of its Actuator; null when it has none that others may ask
 * @param mysql host and port of its server; null for an arbitrator
 * @param state a {@link io.quorate.core.NodeState}
 * @param ordered last seqno that the order has handed to it
 * @param applied its server holds everything up to this seqno
 * @param orderedPerSecond writesets ordered per second, lately
 * @param appliedPerSecond writesets applied per second, lately
 * @param cacheFirst first seqno in its writeset cache
 * @param cacheLast last seqno in its writeset cache
 * @param checkpoint seqno of its newest checkpoint; 0 without one
 * @param checkpointIndex index of that checkpoint in the order's log; -1 without one
 * @param logTerm term of the last entry of its log, whether a majority has confirmed that or not
 * @param logIndex index of that entry
 * @param queue how many writesets are ordered and not applied yet
 * @param cause why there are so many of them; null when they are few
 * @param desynced whether the others are not to wait for it, however far behind it is
 * @param waitingCommits how many commits of its clients wait for their verdict; null when an older version doesn't say
 * @param waitingMillis how long the first of them has waited; likewise
 * @param notGiven while its server waits for a copy of some tables: the tables of which it can't give a copy to others
 *     that wait, these and what hangs together with them; otherwise null
 * @param mayKeep while its server waits for a copy that nobody gives: whether its own definitions of these tables may
 *     stand, so that it needs none, never if they are gone; otherwise null, also where it must be found out first who
 *     is wrong
 * @param flow what flow control needs to know of it; null when an older version doesn't say
 * @param runsEvents whether its server's event scheduler is on; null when somebody keeps it off there, and when an
 *     older version doesn't say
 * @param admitted nodes that it was told to admit, and until when, in seconds since the epoch; null when an older
 *     version doesn't say
 * @param server the UUID of its server, by which the order knows what that has committed; null before that is known,
 *     for an arbitrator, and when an older version doesn't say
 * @param version of its server, as that says it; null before that is known, for an arbitrator, and when an older
 *     version of this doesn't say
 * @param drained whether its server is closed to clients by {@code quorate drain}; null for an arbitrator, and when an
 *     older version doesn't say
 * @param autoIncrement which numbers its server gives out for AUTO_INCREMENT, as {@link
 *     io.quorate.core.answer.SameNumbers} has it; null before that is known, for an arbitrator, and when an older
 *     version doesn't say
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
        boolean desynced,
        Long waitingCommits,
        Long waitingMillis,
        List<TableName> notGiven,
        Boolean mayKeep,
        FlowReport flow,
        Boolean runsEvents,
        Map<String, Long> admitted,
        String server,
        String version,
        Boolean drained,
        String autoIncrement) {
    /** Whether the node has a server that holds what the order says. */
    public boolean hasSyncedServer() {
        return mysql != null && (state.equals("SYNCED") || state.equals("DONOR"));
    }

    /**
     * Whether its server can give a copy of tables: it holds what the order says, or it waits for a copy of others.
     *
     * @param tables null for everything
     */
    public boolean gives(@Nullable Collection<TableName> tables) {
        return hasSyncedServer() || (notGiven != null && tables != null && Collections.disjoint(notGiven, tables));
    }

    /**
     * The same in so few words that the others take it ({@link Members#REPORT_BYTES_MAX}): a server that waits for a
     * copy of very many tables gives none to others, rather than tell which it can't give.
     */
    MemberReport withoutTables() {
        return new MemberReport(
                node,
                directory,
                generation,
                zone,
                http,
                mysql,
                state,
                ordered,
                applied,
                orderedPerSecond,
                appliedPerSecond,
                cacheFirst,
                cacheLast,
                checkpoint,
                checkpointIndex,
                logTerm,
                logIndex,
                queue,
                FromOutside.oneLine(cause),
                desynced,
                waitingCommits,
                waitingMillis,
                null,
                null,
                flow,
                runsEvents,
                admitted,
                server,
                version,
                drained,
                autoIncrement);
    }

    /** Puts nodes of this zone first. */
    public static Comparator<MemberReport> nearest(String zone) {
        return Comparator.comparing(m -> m.zone.equals(zone) ? 0 : 1);
    }

    /** The position of the last entry of its log. */
    public LogPosition logEnd() {
        return new LogPosition(logTerm, logIndex);
    }
}
