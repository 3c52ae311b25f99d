// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.transport.TransportSettings.Peer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(600)
class ForcedLifeTest {
    @TempDir
    Path directory;

    private static TransportSettings known(Nodes nodes, String name) {
        TransportSettings settings = nodes.settings(name);
        return settings.withPeers(settings.knownMembers(), false);
    }

    @Test
    void oneGoesOnAloneAndTheFormerMajorityNeverReachesIt() throws Exception {
        try (Nodes nodes = Nodes.of(directory, 3)) {
            String survivor = nodes.start().awaitLeader();
            nodes.submitSurely(survivor, "one");
            nodes.awaitEverywhere("one");
            List<String> lost =
                    nodes.names().stream().filter(n -> !n.equals(survivor)).toList();
            // Taken into its log by the leader while it loses its majority: nobody can tell any more whether that was
            // ordered.
            AtomicBoolean down = new AtomicBoolean();
            Thread writer = new Thread(() -> {
                for (int n = 0; !down.get(); n++) {
                    var unused = nodes.node(survivor).submit(("late " + n).getBytes(StandardCharsets.UTF_8));
                    Nodes.pause(5);
                }
            });
            writer.start();
            lost.forEach(nodes::stop);
            down.set(true);
            writer.join();
            assertThat(nodes.node(survivor).logEnd().index())
                    .isGreaterThan(nodes.node(survivor).stats().committedIndex());
            nodes.stop(survivor);
            List<String> confirmed = nodes.recorder(survivor).entries();
            RatisTotalOrder.beginNewLife(known(nodes, survivor));

            nodes.start(survivor);
            nodes.submitSurely(survivor, "two");
            List<String> kept = nodes.recorder(survivor).entries();
            assertThat(kept).startsWith(confirmed.toArray(String[]::new)).endsWith("two");
            assertThat(kept).hasSizeGreaterThan(confirmed.size() + 1);
            assertThat(nodes.node(survivor).members()).extracting(Peer::name).containsExactly(survivor);

            // The former majority comes back: it is a cluster of its own, and the new life doesn't hear of it.
            String other = lost.get(0);
            nodes.start(other);
            Nodes.await("refused", () -> nodes.node(survivor).stats().refusedConnections() > 0);
            nodes.start(lost.get(1));
            nodes.submitSurely(other, "of the former life");
            nodes.submitSurely(survivor, "three");
            assertThat(nodes.recorder(survivor).entries())
                    .startsWith(kept.toArray(String[]::new))
                    .hasSize(kept.size() + 1)
                    .endsWith("three");
            assertThat(nodes.recorder(other).entries()).endsWith("of the former life");

            // What is decided once stays so.
            nodes.stop(survivor);
            nodes.start(survivor);
            nodes.submitSurely(survivor, "four");
            assertThat(nodes.node(survivor).members()).extracting(Peer::name).containsExactly(survivor);
        }
    }

    @Test
    void aNodeOfTheFormerLifeIsAMemberAgainOnceItHasTakenOverTheNewOne() throws Exception {
        try (Nodes nodes = Nodes.of(directory, 3)) {
            nodes.start().awaitLeader();
            nodes.submitSurely("n1", "one");
            nodes.awaitEverywhere("one");
            nodes.names().forEach(nodes::stop);
            RatisTotalOrder.beginNewLife(known(nodes, "n1"));
            nodes.start("n1");
            nodes.submitSurely("n1", "two");

            TransportSettings former = nodes.settings("n2");
            former.takeOver(known(nodes, "n1").lives());
            assertThat(former.wasMember()).isFalse();
            assertThat(former.freeGeneration(1)).isEqualTo(2);
            Peer again = former.selfPeer().withGeneration(2);
            nodes.startJoining(again);
            nodes.addSurely("n1", again);
            nodes.submitSurely("n2", "three");
            nodes.awaitEverywhere("three");
            assertThat(nodes.recorder("n2").entries())
                    .isEqualTo(nodes.recorder("n1").entries());
            // A majority of two is both.
            nodes.stop("n1");
            Nodes.await("n2 alone is none", () -> !nodes.node("n2").quorum().primary());
        }
    }

    @Test
    void livesThatFollowOneAnotherAreToldFromThoseThatDont() {
        Lives second = Lives.FIRST.next(new UUID(1, 1));
        Lives third = second.next(new UUID(2L << 32, 1));
        Lives otherThird = second.next(new UUID(3L << 32, 1));
        assertThat(Lives.FIRST.isBefore(third)).isTrue();
        assertThat(second.isBefore(third)).isTrue();
        assertThat(third.isBefore(third)).isFalse();
        assertThat(third.isBefore(otherThird)).isFalse();
        assertThat(third.isBefore(otherThird.next(new UUID(4, 1)))).isFalse();
        assertThat(Lives.of(third.toString())).isEqualTo(third);
        assertThat(Lives.of("")).isEqualTo(Lives.FIRST);
        assertThat(third.name()).startsWith("3-");
        assertThatThrownBy(() -> Lives.of("2-ab,*")).isInstanceOf(IllegalArgumentException.class);
    }
}
