// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import io.quorate.transport.AdmissionPlan.Holds;
import io.quorate.transport.Lives;
import io.quorate.transport.TransportSettings.Peer;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Who is a member, as far as one node knows.
 *
 * @param node name of the node that says so
 * @param leader name of the node that it takes for the leader; null when it knows none
 * @param lives the lives of the cluster, as far as it knows
 * @param directories the data directories and the latest generation of each node that it has heard of
 * @param holds what its server held when the node was created; null when it can't tell
 * @param report what it reports about itself
 */
public record Membership(
        String node,
        @Nullable String leader,
        List<Peer> members,
        Lives lives,
        Map<String, String> directories,
        @Nullable Holds holds,
        MemberReport report) {
    /** The member of that name; null when there is none. */
    public Peer member(String name) {
        return members.stream().filter(m -> m.name().equals(name)).findFirst().orElse(null);
    }
}
