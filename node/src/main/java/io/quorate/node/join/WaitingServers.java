// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.node.member.MemberReport;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The servers of a cluster, where all of them may wait for a copy at one time, each because of a statement of its own
 * clients. Where two of them differ in different tables, one can give the other what that lacks. One begins, the first
 * by name of those that can; when it is SYNCED, the others get theirs from it. Not two at a time: they would wait for
 * one another without the tables that they had. Where they differ in the same tables, one may let its own definitions
 * of these stand, the first by name of those that haven't tried. A server that has lost what it had, for a copy that
 * nobody can give it now, or that wants one of a SYNCED server, has no part in this and is in nobody's way.
 *
 * @param members names of all members
 * @param self this node's report
 * @param present the reports of the others that are present
 */
record WaitingServers(Set<String> members, MemberReport self, List<MemberReport> present) {
    /** Whether all wait, and this node is to begin. */
    boolean begins() {
        List<MemberReport> all = servers();
        return all.stream().noneMatch(each -> each.notGiven() == null && each.mayKeep() == null)
                && isFirst(all.stream().filter(each -> each.notGiven() != null).filter(each -> all.stream()
                        .anyMatch(other -> !other.equals(each) && other.gives(each.notGiven()))));
    }

    /** Whether all wait, nobody can begin with what the others have, and this node's own definitions are to stand. */
    boolean keeps() {
        List<MemberReport> all = servers();
        return all.stream().noneMatch(each -> each.mayKeep() == null)
                && isFirst(all.stream().filter(MemberReport::mayKeep));
    }

    /** The reports of all servers; none while a member is away. */
    private List<MemberReport> servers() {
        List<MemberReport> all = new ArrayList<>();
        for (String member : members) {
            MemberReport report = report(member);
            if (report == null) {
                return List.of();
            }
            if (report.mysql() != null) {
                all.add(report);
            }
        }
        return all;
    }

    private boolean isFirst(Stream<MemberReport> able) {
        return able.min(Comparator.comparing(MemberReport::node))
                .filter(self::equals)
                .isPresent();
    }

    private MemberReport report(String member) {
        return Stream.concat(Stream.of(self), present.stream())
                .filter(report -> report.node().equals(member))
                .findFirst()
                .orElse(null);
    }
}
