// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Decides whether the server that is to be closed to clients is the last one that takes their writes. */
public final class LastServer {
    private LastServer() {}

    /** As below, by what this node and the other members that are present say of themselves. */
    public static @Nullable String refusal(String node, Membership known, Members members) {
        List<MemberReport> reports = new ArrayList<>(members.present());
        reports.removeIf(report -> known.member(report.node()) == null);
        reports.add(known.report());
        return refusal(node, reports);
    }

    /**
     * Why that node's server must stay open; null when another one is, or when it isn't open itself.
     *
     * @param reports of the members that are present
     */
    static @Nullable String refusal(String node, Collection<MemberReport> reports) {
        boolean open = reports.stream().anyMatch(r -> r.node().equals(node) && takesWrites(r));
        boolean other = reports.stream().anyMatch(r -> !r.node().equals(node) && takesWrites(r));
        return open && !other
                ? "without the server of " + node
                        + " NOBODY COULD WRITE: no other one is level with the order and open to clients"
                        + " (--force does it all the same)"
                : null;
    }

    private static boolean takesWrites(MemberReport report) {
        return report.hasSyncedServer() && !Boolean.TRUE.equals(report.drained());
    }
}
