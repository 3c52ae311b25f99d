// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.transport.TransportSettings.Peer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A leader that is heard over Raft's port, and whose other port, where entries come in, is closed. */
@Timeout(600)
class UnreachableLeaderTest {
    @TempDir
    Path directory;

    @Test
    void whoCantHandItsEntriesToTheLeaderIsNotPrimaryAndSaysWhy() {
        try (Nodes nodes = Nodes.of(directory, 3).start()) {
            String leader = nodes.awaitLeader();
            String follower = nodes.awaitFollower();
            nodes.node(leader).channels().close();

            Nodes.await("not primary", () -> !nodes.node(follower).quorum().primary());
            Nodes.await("says why", () -> nodes.node(follower).quorum().cutOff() != null);
            Peer at = nodes.settings(leader).selfPeer();
            assertThat(nodes.node(follower).quorum().cutOff())
                    .contains(leader + ", which leads, at " + at.host() + ":" + at.channelPort());
            assertThat(nodes.node(follower).quorum().leader()).isEqualTo(leader);
            assertThat(nodes.node(leader).quorum().primary()).isTrue();

            PeerChannels again = PeerChannels.forOrderAlone(nodes.settings(leader));
            try (again) {
                Nodes.await("primary again", () -> nodes.node(follower).quorum().primary());
                assertThat(nodes.node(follower).quorum().cutOff()).isNull();
            }
        }
    }

    /** It would say that it is SYNCED, and its clients would get OK, until the first look. */
    @Test
    void whoIsStartedThenIsNeverPrimary() {
        try (Nodes nodes = Nodes.of(directory, 3).start()) {
            String leader = nodes.awaitLeader();
            String follower = nodes.awaitFollower();
            nodes.stop(follower);
            nodes.node(leader).channels().close();

            nodes.start(follower);
            Nodes.await("knows why it isn't primary", () -> {
                assertThat(nodes.node(follower).quorum().primary()).isFalse();
                return nodes.node(follower).quorum().cutOff() != null;
            });
        }
    }
}
