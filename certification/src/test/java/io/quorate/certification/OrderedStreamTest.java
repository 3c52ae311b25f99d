// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.Ballot;
import io.quorate.core.BallotCodec;
import io.quorate.core.BinlogEvents;
import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.LogPosition;
import io.quorate.core.OrderedFirst;
import io.quorate.core.OriginPosition;
import io.quorate.core.OwnRegister;
import io.quorate.core.Proposal;
import io.quorate.core.ProposalCodec;
import io.quorate.core.ProposalListener;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class OrderedStreamTest {
    private static final UUID ORIGIN = new UUID(1, 2);

    /** A disk that takes its time. */
    private static final class SlowLog implements WriteSetLog {
        final CountDownLatch appending = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        private volatile long last;

        @Override
        public long first() {
            return 1;
        }

        @Override
        public long last() {
            return last;
        }

        @Override
        public void append(List<Certified> batch) {
            appending.countDown();
            try {
                assertThat(goOn.await(20, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            last = batch.get(batch.size() - 1).seqno();
        }

        @Override
        public void force() {}

        @Override
        public Cursor read(long seqno) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {}
    }

    /**
     * Who hears that the order has a transaction looks for it in the cache: what a copy or a crash left is undone by
     * that.
     */
    @Test
    void nobodyHearsOfATransactionBeforeTheCacheHasIt() throws Exception {
        SlowLog log = new SlowLog();
        OrderedStream stream = new OrderedStream(
                new Certifier(1000),
                LogPosition.START,
                log,
                (position, certifier) -> position,
                event -> {},
                quorum -> {},
                OrderedStream.Failures.NOBODY);
        stream.self(ORIGIN);
        WriteSet w = new WriteSet(new Gtid(ORIGIN, 1), 0, 0, WriteSet.Kind.ROWS, Keys.NONE, new byte[0]);
        Proposal proposal = new Proposal(ORIGIN, 0, 1, 0, new long[0], List.of(w));
        CompletableFuture<Void> delivery = CompletableFuture.runAsync(() -> stream.deliver(
                new LogPosition(1, 1),
                ByteBuffer.wrap(ProposalCodec.encode(proposal).toArray())));
        assertThat(log.appending.await(10, TimeUnit.SECONDS)).isTrue();
        CompletableFuture<long[]> heard = CompletableFuture.supplyAsync(() ->
                new long[] {stream.positionOf(ORIGIN).last(), stream.own().last(), stream.lastOrdered(), log.last()});
        // Time to answer, if it doesn't wait.
        Thread.sleep(200);
        log.goOn.countDown();
        delivery.get(10, TimeUnit.SECONDS);
        assertThat(heard.get(10, TimeUnit.SECONDS)).containsExactly(1, 1, 1, 1);
    }

    /** A checkpoint may have many megabytes, and the disk may be slow. */
    @Test
    void nobodyWhoAsksWaitsForACheckpointToBeWritten() throws Exception {
        CountDownLatch writing = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        OrderedStream stream = new OrderedStream(
                new Certifier(1000),
                LogPosition.START,
                new MemoryLog(),
                (position, certifier) -> {
                    writing.countDown();
                    awaitUninterrupted(goOn);
                    return position;
                },
                event -> {},
                quorum -> {},
                OrderedStream.Failures.NOBODY);
        stream.self(ORIGIN);
        CompletableFuture<LogPosition> checkpoint = CompletableFuture.supplyAsync(stream::checkpoint);
        assertThat(writing.await(20, TimeUnit.SECONDS)).isTrue();
        CompletableFuture<Long> answers = CompletableFuture.supplyAsync(() -> {
            stream.attach((ProposalListener) null);
            return stream.own().last() + stream.ask(Certifier::lastSeqno) + stream.oldestOwnTold();
        });
        assertThat(answers.get(20, TimeUnit.SECONDS)).isEqualTo(1);
        goOn.countDown();
        assertThat(checkpoint.get(20, TimeUnit.SECONDS)).isEqualTo(LogPosition.START);
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A record in memory. */
    private static final class MemoryLog implements WriteSetLog {
        private final List<Certified> all = new ArrayList<>();
        private long first = 1;
        private boolean forced;

        @Override
        public long first() {
            return first;
        }

        @Override
        public long last() {
            return all.size();
        }

        @Override
        public void append(List<Certified> batch) {
            batch.stream().filter(c -> c.seqno() > all.size()).forEach(all::add);
        }

        @Override
        public void force() {
            forced = true;
        }

        @Override
        public Cursor read(long seqno) {
            return new Cursor() {
                @Override
                public Certified next(Duration timeout) {
                    return all.get((int) seqno - 1);
                }

                @Override
                public void close() {}
            };
        }

        @Override
        public void close() {}
    }

    /** Notes what it is told. */
    private static final class Register implements OwnRegister {
        private final List<Long> failed = new ArrayList<>();
        private final List<Long> failedUnknown = new ArrayList<>();
        private final List<Long> definitions = new ArrayList<>();
        private long last;

        @Override
        public WriteSet captured(WriteSet w) {
            return w;
        }

        @Override
        public void covered(long number, long lastSeen) {}

        @Override
        public void ordered(Collection<Certified> certified, long last, long lastSeen) {
            certified.stream().filter(c -> !c.passed()).forEach(c -> failed.add(c.seqno()));
            certified.stream()
                    .filter(c -> c.passed() && c.writeSet().isDefinition())
                    .forEach(c -> definitions.add(c.seqno()));
            this.last = last;
        }

        @Override
        public void failedUnknown(long seqno) {
            failedUnknown.add(seqno);
        }
    }

    private static final UUID OTHER = new UUID(3, 4);
    private final MemoryLog cache = new MemoryLog();
    private final OrderedStream stream = stream(cache);
    private int index;

    private static OrderedStream stream(MemoryLog cache) {
        OrderedStream stream = new OrderedStream(
                new Certifier(1000),
                LogPosition.START,
                cache,
                (position, certifier) -> {
                    assertThat(cache.forced).as("the cache is forced first").isTrue();
                    return position;
                },
                event -> {},
                quorum -> {},
                OrderedStream.Failures.NOBODY);
        stream.self(ORIGIN);
        return stream;
    }

    /** One writeset, which writes a row that all of these write. */
    private byte[] proposal(UUID origin, long number) {
        return proposal(origin, number, 0, WriteSet.Kind.ROWS);
    }

    private byte[] proposal(UUID origin, long number, long lastSeen, WriteSet.Kind kind) {
        Keys keys = new Keys(new long[] {7}, new byte[] {(byte) KeyType.EXCLUSIVE.ordinal()});
        WriteSet w = new WriteSet(new Gtid(origin, number), lastSeen, 0, kind, keys, new byte[0]);
        return ProposalCodec.encode(new Proposal(origin, number - 1, number, lastSeen, new long[0], List.of(w)))
                .toArray();
    }

    private void deliver(byte[] entry) {
        stream.deliver(new LogPosition(1, ++index), ByteBuffer.wrap(entry));
    }

    @Test
    void whatIsNoEntryIsLeftOutByAllAlike() {
        byte[] good = proposal(ORIGIN, 1);
        int cuts = 0;
        for (int length = 0; length < good.length; length += 7, cuts++) {
            byte[] cut = Arrays.copyOf(good, length);
            assertThatThrownBy(() -> stream.check("n2", ByteBuffer.wrap(cut))).hasMessageContaining("QRT-3004");
            deliver(cut);
        }
        byte[] garbage = new byte[200];
        deliver(garbage);
        byte[] ballot = BallotCodec.encode(new Ballot(Ballot.Kind.REFUSED, "n1", OTHER, 1, 0));
        deliver(Arrays.copyOf(ballot, ballot.length - 1));
        assertThat(stream.malformed()).isEqualTo(cuts + 2);
        assertThat(stream.resumeAfter()).isEqualTo(new LogPosition(1, index));
        assertThat(stream.lastOrdered()).isZero();
        stream.check("n2", ByteBuffer.wrap(proposal(OTHER, 1)));
        deliver(good);
        assertThat(stream.lastOrdered()).isEqualTo(1);
    }

    /** Only of one server it is known where it is. */
    private static OrderedStream.Servers besideN3(UUID server) {
        return new OrderedStream.Servers() {
            @Override
            public String otherOf(UUID asked, String node) {
                return asked.equals(server) && !node.equals("n3") ? "n3" : null;
            }

            @Override
            public UUID of(String node) {
                return node.equals("n3") ? server : null;
            }
        };
    }

    /** Otherwise all others would get copies of what a server holds that doesn't exist. */
    @Test
    void nobodySaysThatAnotherServersTablesAreRight() {
        UUID others = new UUID(3, 3);
        stream.servers(besideN3(others));
        ByteBuffer its = trust(others);
        stream.check("n3", its.duplicate());
        assertThatThrownBy(() -> stream.check("n2", its.duplicate())).hasMessageContaining("isn't beside it");
        assertThatThrownBy(() -> stream.check("n3", trust(new UUID(9, 9)))).hasMessageContaining("isn't beside it");
    }

    private static ByteBuffer trust(UUID server) {
        Keys keys =
                OrderedFirst.trust(new Keys(new long[] {7}, new byte[] {(byte) KeyType.EXCLUSIVE.ordinal()}), server);
        byte[] query = new byte[BinlogEvents.HEADER_BYTES + 14];
        query[4] = BinlogEvents.QUERY;
        BinlogEvents.length(query, 0, query.length);
        return ByteBuffer.wrap(
                ProposalCodec.encode(OrderedFirst.proposal(OrderedFirst.definition(0, 1, 0, 0, keys, query)))
                        .toArray());
    }

    /** All nodes would keep them in memory, again after each restart. */
    @Test
    void transactionsThatCannotBePreparedAreRefused() {
        for (long[] undecided : new long[][] {{1, 1}, {2}, {0}, {-5}}) {
            ByteBuffer entry = ByteBuffer.wrap(ProposalCodec.encode(new Proposal(OTHER, 0, 1, 0, undecided, List.of()))
                    .toArray());
            assertThatThrownBy(() -> stream.check("n2", entry)).hasMessageContaining("which can't be");
        }
        long[] many = java.util.stream.LongStream.rangeClosed(1, 200_000).toArray();
        ByteBuffer entry = ByteBuffer.wrap(ProposalCodec.encode(new Proposal(OTHER, 0, 300_000, 0, many, List.of()))
                .toArray());
        assertThatThrownBy(() -> stream.check("n2", entry)).hasMessageContaining("200000 transactions are prepared");
    }

    /** Otherwise a member could have the order take another server's next transactions for known. */
    @Test
    void nobodySendsWhatAnotherNodesServerHasCommitted() {
        UUID others = new UUID(3, 3);
        UUID ours = new UUID(4, 4);
        stream.self(ours);
        stream.servers(besideN3(others));
        byte[] own = proposal(new UUID(2, 2), 1);
        stream.check("n2", ByteBuffer.wrap(own));
        stream.checkBeginning("n2", ByteBuffer.wrap(own));
        stream.check("n3", ByteBuffer.wrap(proposal(others, 1)));
        for (UUID foreign : List.of(others, ours)) {
            byte[] entry = proposal(foreign, 1);
            assertThatThrownBy(() -> stream.check("n2", ByteBuffer.wrap(entry))).hasMessageContaining("QRT-3004");
            assertThatThrownBy(() -> stream.checkBeginning("n2", ByteBuffer.wrap(entry)))
                    .hasMessageContaining(foreign.equals(ours) ? "beside the leader" : "beside n3");
        }
    }

    /** What the order has can't be taken out of it: every node would stop there. */
    @Test
    void eventsThatAreNoneAreRefused() {
        WriteSet none = new WriteSet(new Gtid(OTHER, 1), 0, 0, WriteSet.Kind.ROWS, Keys.NONE, new byte[] {-1});
        ByteBuffer entry =
                ByteBuffer.wrap(ProposalCodec.encode(new Proposal(OTHER, 0, 1, 0, new long[0], List.of(none)))
                        .toArray());
        assertThatThrownBy(() -> stream.check("n2", entry)).hasMessageContaining("events that are none");
    }

    @Test
    void nobodyVotesForAnother() {
        UUID others = new UUID(3, 3);
        UUID its = new UUID(2, 2);
        stream.servers(besideN3(others));
        stream.check("n2", ballot(Ballot.Kind.REFUSED, "n2", its));
        stream.check("n2", ballot(Ballot.Kind.NO_VOTER, "n3", others));
        assertThatThrownBy(() -> stream.check("n2", ballot(Ballot.Kind.REFUSED, "n3", others)))
                .hasMessageContaining("the ballot of n3");
        assertThatThrownBy(() -> stream.check("n2", ballot(Ballot.Kind.VOTER, "n2", others)))
                .hasMessageContaining("beside n3");
    }

    private static ByteBuffer ballot(Ballot.Kind kind, String node, UUID server) {
        return ByteBuffer.wrap(BallotCodec.encode(new Ballot(kind, node, server, 1, 0)));
    }

    /** To leave it out would be to decide otherwise than the newer ones do. */
    @Test
    void anEntryOfANewerVersionIsNotLeftOut() {
        byte[] newer = proposal(ORIGIN, 1);
        newer[3] = '2';
        assertThatThrownBy(() -> stream.check("n2", ByteBuffer.wrap(newer))).hasMessageContaining("QRT-3002");
        assertThatThrownBy(() -> stream.checkBeginning("n2", ByteBuffer.wrap(newer)))
                .hasMessageContaining("QRT-3002");
        assertThatThrownBy(() -> deliver(newer)).hasMessageContaining("QRT-3002");
        assertThat(stream.malformed()).isZero();
    }

    @Test
    void aRegisterIsToldAtOnceWhatHasFailedAndThenWhatFails() throws Exception {
        deliver(proposal(OTHER, 1));
        deliver(proposal(ORIGIN, 1));
        Register register = new Register();
        stream.attach(register);
        assertThat(register.failed).containsExactly(2L);
        assertThat(register.last).isEqualTo(1);
        deliver(proposal(ORIGIN, 2));
        assertThat(register.failed).containsExactly(2L, 3L);
        assertThat(register.last).isEqualTo(2);
        assertThat(stream.oldestOwnTold()).isEqualTo(2);
    }

    /** What clients wrote under it, and is captured anew, is guarded as it was before. */
    @Test
    void aRegisterIsToldOfDefinitionsToWhosePlacesItsServerHasNotCome() throws Exception {
        deliver(proposal(ORIGIN, 1, 0, WriteSet.Kind.DDL));
        deliver(proposal(ORIGIN, 2));
        Register register = new Register();
        stream.attach(register);
        assertThat(register.definitions).containsExactly(1L);
        assertThat(stream.oldestOwnTold()).isEqualTo(1);
        deliver(proposal(ORIGIN, 3, 1, WriteSet.Kind.ROWS));
        Register later = new Register();
        stream.attach(later);
        assertThat(later.definitions).isEmpty();
        assertThat(stream.oldestOwnTold()).isEqualTo(4);
    }

    @Test
    void whatTheCacheHasLetGoIsOnlyKnownToHaveFailed() throws Exception {
        deliver(proposal(OTHER, 1));
        deliver(proposal(ORIGIN, 1));
        cache.first = 3;
        Register register = new Register();
        stream.attach(register);
        assertThat(register.failed).isEmpty();
        assertThat(register.failedUnknown).containsExactly(2L);
    }

    @Test
    void isCurrentWhenAllThatTheCacheHeldAndAllThatIsAppliedWasHandedOutAgain() {
        deliver(proposal(OTHER, 1));
        deliver(proposal(OTHER, 2));
        OrderedStream again = stream(cache);
        assertThat(again.isCurrent(0)).isFalse();
        again.deliver(new LogPosition(1, 1), ByteBuffer.wrap(proposal(OTHER, 1)));
        again.deliver(new LogPosition(1, 2), ByteBuffer.wrap(proposal(OTHER, 2)));
        assertThat(again.isCurrent(2)).isTrue();
        assertThat(again.isCurrent(3))
                .as("a database that is ahead of the cache")
                .isFalse();
    }

    @Test
    void aProbeShowsThatItWasHandedOutAndChangesNothing() {
        byte[] probe = stream.probe(5).toArray();
        assertThat(stream.isProbed(5)).isFalse();
        deliver(probe);
        assertThat(stream.isProbed(5)).isTrue();
        assertThat(stream.isProbed(6)).isFalse();
        assertThat(stream.isKnown()).isFalse();
        assertThat(stream.lastOrdered()).isZero();
    }

    @Test
    void theProposerHearsOfDeliveriesAndOfGaps() {
        List<String> heard = new ArrayList<>();
        OriginPosition before = stream.attach(new ProposalListener() {
            @Override
            public void delivered(OriginPosition position) {
                heard.add("delivered " + position.last());
            }

            @Override
            public void gap() {
                heard.add("gap");
            }
        });
        assertThat(before).isEqualTo(OriginPosition.NONE);
        deliver(proposal(ORIGIN, 1));
        deliver(proposal(ORIGIN, 3));
        deliver(proposal(ORIGIN, 1));
        deliver(proposal(OTHER, 1));
        assertThat(heard).containsExactly("delivered 1", "gap", "delivered 1");
    }

    @Test
    void aCheckpointIsOfWhatIsForced() {
        deliver(proposal(OTHER, 1));
        assertThat(stream.checkpoint()).isEqualTo(new LogPosition(1, 1));
    }
}
