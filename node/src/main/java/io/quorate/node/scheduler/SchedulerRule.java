// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.scheduler;

import io.quorate.node.member.MemberReport;
import java.util.Collection;

/**
 * On which server the event scheduler is to be on. It stays where it is as long as that node is SYNCED; then the first
 * by name takes over, once no other one says that it is still on there. If it is on at two nodes, the first by name
 * keeps it.
 */
final class SchedulerRule {
    private final String node;
    private final Collection<MemberReport> others;

    /** @param others the reports of the other nodes that are present */
    SchedulerRule(String node, Collection<MemberReport> others) {
        this.node = node;
        this.others = others;
    }

    /**
     * Whether it is to be on at this node's server.
     *
     * @param synced whether the server holds what the order says
     * @param on whether it is on there now
     */
    boolean isHere(boolean synced, boolean on) {
        return synced
                && (on
                        ? others.stream().noneMatch(this::keeps)
                        : others.stream().noneMatch(this::precedes));
    }

    private boolean keeps(MemberReport other) {
        return Boolean.TRUE.equals(other.runsEvents()) && other.hasSyncedServer() && isBefore(other);
    }

    private boolean precedes(MemberReport other) {
        boolean couldRun = other.runsEvents() != null && other.hasSyncedServer();
        return Boolean.TRUE.equals(other.runsEvents()) || (couldRun && isBefore(other));
    }

    private boolean isBefore(MemberReport other) {
        return other.node().compareTo(node) < 0;
    }
}
