// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import io.quorate.core.ErrorCode;
import io.quorate.core.FlowReport;
import io.quorate.core.FromOutside;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.core.answer.SameNumbers;
import io.quorate.transport.TransportSettings.Peer;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Holds what another node says of itself and of the members to what a node can say, before anything is made of it.
 * Whatever can't be is refused as a whole; what is only shown to people becomes one line.
 */
final class Plausible {
    /** More than the nine members that a cluster may have, because some come while others are still known. */
    static final int PEERS_MAX = 16;
    /** How often a name may have been given to another node. */
    static final int GENERATION_MAX = 1_000_000;

    /** Seqnos end at 2^48; positions of a log, and rates, don't come near that. */
    private static final long NUMBER_MAX = 1L << 48;

    private static final int LIVES_MAX = 1000;
    private static final int ZONE_CHARACTERS_MAX = 100;
    private static final int IDENTIFIER_CHARACTERS_MAX = 64;
    private static final Pattern STATE = Pattern.compile("[A-Z_]{1,40}");
    private static final Pattern SERVER = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    private static final Pattern VERSION = Pattern.compile("[0-9A-Za-z.+~_-]{1,100}");
    private static final Pattern DIRECTORY = Pattern.compile("[0-9A-Za-z-]{1,64}");

    private Plausible() {}

    /**
     * A node's report about itself.
     *
     * @param node the name of the node that it comes from
     * @throws QuorateException MALFORMED_MESSAGE
     */
    static MemberReport report(String node, MemberReport r) {
        require(r != null && FromOutside.isName(node) && node.equals(r.node()), "a report under another name", node);
        require(r.directory() == null || isDirectory(r.directory()), "a data directory that is none", node);
        require(r.generation() >= 0 && r.generation() <= GENERATION_MAX, "generation " + r.generation(), node);
        require(r.zone() != null && r.zone().length() <= ZONE_CHARACTERS_MAX, "a zone too long", node);
        require(r.mysql() == null || FromOutside.isHostAndPort(r.mysql()), "an address of its server", node);
        require(r.state() != null && STATE.matcher(r.state()).matches(), "a state that is none", node);
        requireNumbers(r, node);
        require(r.flow() == null || isFlow(r.flow()), "numbers of flow control", node);
        require(r.notGiven() == null || r.notGiven().stream().allMatch(Plausible::isTable), "a table's name", node);
        require(r.server() == null || SERVER.matcher(r.server()).matches(), "a server's UUID that is none", node);
        require(
                r.autoIncrement() == null
                        || SameNumbers.FORM.matcher(r.autoIncrement()).matches(),
                "which numbers a server gives out",
                node);
        require(r.version() == null || VERSION.matcher(r.version()).matches(), "a server's version", node);
        require(r.admitted() == null || isAdmitted(r.admitted()), "who is admitted", node);
        return new MemberReport(
                r.node(),
                r.directory(),
                r.generation(),
                FromOutside.oneLine(r.zone()),
                FromOutside.isHostAndPort(r.http()) ? r.http() : null,
                r.mysql(),
                r.state(),
                r.ordered(),
                r.applied(),
                r.orderedPerSecond(),
                r.appliedPerSecond(),
                r.cacheFirst(),
                r.cacheLast(),
                r.checkpoint(),
                r.checkpointIndex(),
                r.logTerm(),
                r.logIndex(),
                r.queue(),
                FromOutside.oneLine(r.cause()),
                r.desynced(),
                r.waitingCommits(),
                r.waitingMillis(),
                r.notGiven() == null ? null : List.copyOf(r.notGiven()),
                r.mayKeep(),
                r.flow(),
                r.runsEvents(),
                r.admitted() == null ? null : Map.copyOf(r.admitted()),
                r.server(),
                r.version(),
                r.drained(),
                r.autoIncrement());
    }

    private static void requireNumbers(MemberReport r, String node) {
        long[] all = {
            r.ordered(),
            r.applied(),
            r.orderedPerSecond(),
            r.appliedPerSecond(),
            r.cacheFirst(),
            r.cacheLast(),
            r.checkpoint(),
            r.checkpointIndex(),
            r.logTerm(),
            r.logIndex(),
            r.queue(),
            r.waitingCommits() == null ? 0 : r.waitingCommits(),
            r.waitingMillis() == null ? 0 : r.waitingMillis()
        };
        for (long number : all) {
            require(isNumber(number), "a number that can't be, " + number, node);
        }
    }

    private static boolean isNumber(long number) {
        return number >= -1 && number <= NUMBER_MAX;
    }

    private static boolean isFlow(FlowReport flow) {
        return isNumber(flow.lagMillis())
                && isNumber(flow.queue())
                && isNumber(flow.appliedPerSecond())
                && isNumber(flow.ownPerSecond())
                && (flow.slowedFor() == null || FromOutside.isName(flow.slowedFor()));
    }

    private static boolean isAdmitted(Map<String, Long> admitted) {
        return admitted.size() <= Admitted.ADMITTED_MAX
                && admitted.entrySet().stream()
                        .allMatch(each -> FromOutside.isName(each.getKey())
                                && each.getValue() != null
                                && isNumber(each.getValue()));
    }

    private static boolean isTable(TableName table) {
        return table != null && isIdentifier(table.schema()) && isIdentifier(table.table());
    }

    /** Its characters may be any; it is only compared with names of tables here. */
    private static boolean isIdentifier(String name) {
        return name != null && name.codePointCount(0, name.length()) <= IDENTIFIER_CHARACTERS_MAX;
    }

    static boolean isDirectory(String id) {
        return DIRECTORY.matcher(id).matches();
    }

    /** What is wrong with a node that is to be a member; null when nothing is. */
    static @Nullable String wrong(@Nullable Peer peer) {
        if (peer == null || !FromOutside.isName(peer.name())) {
            return "a name that is no node's";
        }
        if (!FromOutside.isHost(peer.host())) {
            return peer.name() + " has a host that is neither a name nor an address";
        }
        if (!FromOutside.isPort(peer.raftPort()) || !FromOutside.isPort(peer.channelPort())) {
            return peer.name() + " has a port that is none";
        }
        return peer.generation() >= 1 && peer.generation() <= GENERATION_MAX
                ? null
                : peer.name() + " has a generation that can't be";
    }

    /**
     * What a node knows of the members.
     *
     * @param node the name of the node that was asked
     * @throws QuorateException MALFORMED_MESSAGE
     */
    static Membership membership(String node, Membership m) {
        require(node.equals(m.node()), "an answer under another name", node);
        require(m.leader() == null || FromOutside.isName(m.leader()), "a leader that is no node", node);
        require(m.members() != null && m.members().size() <= PEERS_MAX, "more members than there can be", node);
        for (Peer peer : m.members()) {
            String wrong = wrong(peer);
            require(wrong == null, "a member that can't be: " + wrong, node);
        }
        require(m.lives() != null && m.lives().ids().size() <= LIVES_MAX, "lives that can't be", node);
        require(m.directories() != null && HeardNames.areOnes(m.directories()), "data directories", node);
        return new Membership(
                m.node(),
                m.leader(),
                List.copyOf(m.members()),
                m.lives(),
                Map.copyOf(m.directories()),
                m.holds(),
                report(node, m.report()));
    }

    private static void require(boolean holds, String otherwise, String node) {
        if (!holds) {
            throw new QuorateException(
                    ErrorCode.MALFORMED_MESSAGE, FromOutside.oneLine(node) + " says what can't be: " + otherwise);
        }
    }
}
