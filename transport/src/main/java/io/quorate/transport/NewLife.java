// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.core.LogPosition;
import io.quorate.core.TotalOrder;
import java.util.Collection;
import java.util.Comparator;
import java.util.Map;

/**
 * Decides whether a node may go on alone, in a new life of the cluster, when the majority is lost for good; and which
 * life a node that was left behind takes over. It only decides.
 */
public final class NewLife {
    /**
     * Compares the ends of two logs as Raft's votes do (section 5.4.1 of the paper): a leader of an old term may have a
     * long end that no majority ever had.
     */
    private static final Comparator<LogPosition> FURTHER =
            Comparator.comparingLong(LogPosition::term).thenComparingLong(LogPosition::index);

    private NewLife() {}

    /**
     * The node that somebody wants to go on alone.
     *
     * @param end of its log; null when it takes no part in the order
     * @param members how many the cluster has, as far as it knows
     * @param copying whether its server is getting a full copy, and so doesn't hold the data
     */
    public record Survivor(LogPosition end, int members, boolean copying) {}

    /**
     * Why this node must not go on alone; null when it may.
     *
     * @param others the ends of the logs of the nodes that are there, by name
     */
    public static String refusal(TotalOrder.Quorum quorum, Survivor self, Map<String, LogPosition> others) {
        LogPosition end = self.end;
        if (end == null) {
            return "this node takes no part in the order now; see its status";
        }
        if (quorum.primary()) {
            return "there is a majority, led by " + quorum.leader() + "; nothing has to be forced";
        }
        if (quorum.cutOff() != null) {
            return (quorum.leader() == null ? "others are there" : quorum.leader() + " leads and is heard")
                    + "; mend this instead: " + quorum.cutOff();
        }
        if (self.members == 1) {
            return "this node is the whole cluster already, and has a majority in a moment; nothing has to be forced";
        }
        if (self.copying) {
            return "this node's server is getting a full copy and doesn't hold the data; stop this node's service and"
                    + " force another node, which this one joins when it is started again";
        }
        return others.entrySet().stream()
                .filter(other -> FURTHER.compare(other.getValue(), end) > 0)
                .max(Map.Entry.comparingByValue(FURTHER))
                .map(further -> further.getKey() + " is there too and holds more of the order (" + further.getValue()
                        + ", this node " + end + "); force that one, this one joins it by itself")
                .orElse(null);
    }

    /** Of the lives that others are in, the latest that continues ours; null when there is none. */
    public static Lives successor(Lives ours, Collection<Lives> theirs) {
        return theirs.stream()
                .filter(ours::isBefore)
                .max(Comparator.comparingInt(lives -> lives.ids().size()))
                .orElse(null);
    }
}
