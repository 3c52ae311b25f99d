// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import io.quorate.transport.Lives;
import io.quorate.transport.TransportSettings.Peer;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Who is a member, as one node knows it.
 *
 * @param node whose knowledge it is
 * @param leader whom it takes for the leader, null when it knows none
 * @param lives of the cluster, as it knows them
 * @param directories by which data directory, and up to which generation, it knows each node it has heard of
 * @param foundedEmpty whether its server began with no tables; null when it can't tell
 * @param report what it says of itself
 */
public record Membership(
        String node,
        @Nullable String leader,
        List<Peer> members,
        Lives lives,
        Map<String, String> directories,
        @Nullable Boolean foundedEmpty,
        MemberReport report) {
    /** Null when no member has that name. */
    public Peer member(String name) {
        return members.stream().filter(m -> m.name().equals(name)).findFirst().orElse(null);
    }
}
