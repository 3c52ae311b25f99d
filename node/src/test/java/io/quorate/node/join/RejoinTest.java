// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.quorate.applier.PositionTable.Position;
import io.quorate.certification.OrderedStream;
import io.quorate.core.ErrorCode;
import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import io.quorate.core.TotalOrder;
import io.quorate.ist.IncrementalTransfer.Offer;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.copy.Copying;
import io.quorate.node.order.PausableOrder;
import io.quorate.node.order.Stores;
import io.quorate.node.server.JoinCounts;
import io.quorate.node.server.Server;
import io.quorate.node.server.ServerSession;
import io.quorate.node.trace.Traces;
import io.quorate.transport.AdmissionPlan.Holds;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import tools.jackson.databind.json.JsonMapper;

/** A node that receives what it missed, from others that come and go. */
@Timeout(60)
class RejoinTest {
    private static final String INCARNATION = "00000000-0000-0000-0000-000000000001";

    @TempDir
    private Path directory;

    /** A server that holds nothing, and may get a full copy. */
    private record Empty() implements Server {
        @Override
        public boolean exists() {
            return true;
        }

        @Override
        public String address() {
            return "127.0.0.1:3306";
        }

        @Override
        public void start() {}

        @Override
        public void writable(boolean value) {}

        @Override
        public void fence(boolean value) {}

        @Override
        public void stopWorking() {}

        @Override
        public void suspend() {}

        @Override
        public void resume() {}

        @Override
        public void handOver() {}

        @Override
        public boolean hasHandedOver() {
            return true;
        }

        @Override
        public String drain(Duration limit) {
            return null;
        }

        @Override
        public boolean isDraining() {
            return false;
        }

        @Override
        public String drainNoMore() {
            return null;
        }

        @Override
        public void quorumChanged(TotalOrder.Quorum quorum) {}

        @Override
        public ServerSession session() {
            return null;
        }

        @Override
        public Contents contents() {
            return new Contents(Position.NONE, Holds.NOTHING);
        }

        @Override
        public Holds holds() {
            return Holds.NOTHING;
        }

        @Override
        public boolean hasSameTables() {
            return false;
        }

        @Override
        public void beginWithNothing() {}

        @Override
        public void close() {}
    }

    private NodeProperties properties() {
        return new Binder(new MapConfigurationPropertySource(
                        Map.of("quorate.cluster", "c", "quorate.node", "n1", "quorate.data-dir", directory.toString())))
                .bind("quorate", NodeProperties.class)
                .get();
    }

    /** A node whose stores hold nothing. */
    private final class Trial implements AutoCloseable {
        final Stores stores;
        final PausableOrder order = new PausableOrder(() -> null, quorum -> {}, cause -> {});
        final Copying copy;
        final Rejoin rejoin;

        Trial(Supplier<List<Offer>> offers, PeerStreams peers) throws IOException {
            NodeProperties properties = properties();
            stores = Stores.open(directory, INCARNATION, properties);
            SimpleMeterRegistry meters = new SimpleMeterRegistry();
            OrderedStream stream =
                    stores.stream(event -> {}, quorum -> {}, OrderedStream.Failures.NOBODY, Traces.OFF, meters);
            JoinCounts joins = new JoinCounts(meters);
            copy = new Copying(
                    new Copying.Ports(properties, INCARNATION, stores.cache(), stream, null, joins),
                    null,
                    null,
                    null,
                    new Copying.Donors(List::of, null, JsonMapper.shared()),
                    text -> {});
            rejoin = new Rejoin(
                    stores,
                    stream,
                    new Empty(),
                    copy,
                    peers,
                    UUID.fromString(INCARNATION),
                    offers,
                    () -> order.holds(PausableOrder.Hold.DISK),
                    joins);
        }

        @Override
        public void close() throws IOException {
            stores.close();
        }
    }

    /** On a machine that stands still for a moment nobody is heard of: that passes. */
    @Test
    void waitsForTheOthersWhenTheyGoRightBeforeTheFullCopyThatItNeeds() throws Exception {
        AtomicBoolean gone = new AtomicBoolean();
        CountDownLatch askedWhileGone = new CountDownLatch(3);
        Supplier<List<Offer>> offers = () -> {
            if (gone.get()) {
                askedWhileGone.countDown();
                return List.of();
            }
            // Too little for a node that has nothing.
            return List.of(new Offer("n2", 0, 73, 9510, 9000, 5000));
        };
        PeerStreams peers = (peer, request) -> {
            gone.set(true);
            throw new IOException(peer + " doesn't answer");
        };
        try (Trial trial = new Trial(offers, peers)) {
            trial.rejoin.begin(
                    new QuorateException(ErrorCode.ORDER_TOO_FAR_BEHIND, "the log doesn't reach back so far"));
            while (askedWhileGone.getCount() > 0) {
                assertThat(trial.rejoin.turn()).as("nobody has given anything").isNotNegative();
            }
            assertThat(trial.rejoin.obstacle()).contains("no other node");
            assertThat(trial.rejoin.told()).contains("no other node");
            do {
                gone.set(false);
            } while (trial.rejoin.turn() != 0);
            assertThat(trial.rejoin.obstacle()).as("it goes on").isNull();
        }
    }

    /** Otherwise what comes would fill the disk to the last byte. */
    @Test
    void takesNothingWhileTheDiskIsNearlyFull() throws Exception {
        List<Offer> offers = List.of(new Offer("n2", 0, 1, 9510, 9000, 5000));
        PeerStreams peers = (peer, request) -> {
            throw new IOException(peer + " doesn't answer");
        };
        try (Trial trial = new Trial(() -> offers, peers)) {
            trial.rejoin.begin(new QuorateException(ErrorCode.ORDER_TOO_FAR_BEHIND, "the log doesn't reach back"));
            trial.order.pause(PausableOrder.Hold.DISK);
            for (int i = 0; i < 5; i++) {
                assertThat(trial.rejoin.turn()).isNotNegative();
            }
            assertThat(trial.rejoin.told()).contains("nearly full");
        }
    }
}
