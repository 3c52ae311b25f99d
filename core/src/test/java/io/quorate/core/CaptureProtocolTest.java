// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class CaptureProtocolTest {
    private static final UUID SERVER = new UUID(1, 2);
    private static final long[] NOTHING = new long[0];

    /** What happened, in order. */
    private final List<String> happened = new ArrayList<>();

    private final Order order = new Order();
    private ProposalWindow window;

    /** An order that may deliver something just before somebody is attached. */
    private final class Order implements OwnOrder {
        private boolean known = true;
        private boolean current = true;
        private OriginPosition at = new OriginPosition(7, 3, new long[] {5});
        private OriginPosition atAttach = at;

        @Override
        public boolean isCurrent(long applied) {
            return current;
        }

        @Override
        public boolean isKnown() {
            return known;
        }

        @Override
        public OriginPosition own() {
            return at;
        }

        @Override
        public OriginPosition attach(ProposalListener next) {
            happened.add("proposer attached");
            return atAttach;
        }

        @Override
        public void attach(OwnRegister register) {
            happened.add("register attached");
        }
    }

    private final class Register implements OwnRegister {
        @Override
        public WriteSet captured(WriteSet w) {
            happened.add("captured " + w.gtid().number() + " seen " + w.lastSeen());
            return w.withBuiltOn(new long[] {6});
        }

        @Override
        public void covered(long number, long lastSeen) {
            happened.add("covered " + number);
        }

        @Override
        public void ordered(Collection<Certified> certified, long last, long lastSeen) {}

        @Override
        public void failedUnknown(long seqno) {}
    }

    private final class Owner implements CaptureProtocol.Proposing {
        @Override
        public void captured(WriteSet writeSet, long[] undecided) {
            happened.add("proposes " + writeSet.gtid().number() + " built on " + writeSet.builtOn()[0]);
        }

        @Override
        public void progress(long last, long lastSeen, long[] undecided) {
            happened.add("is at " + last);
        }

        @Override
        public void delivered(OriginPosition position) {
            happened.add("delivered " + position.last());
        }

        @Override
        public void gap() {}
    }

    private CaptureProtocol protocol(long baseline) {
        return new CaptureProtocol(SERVER, baseline, order, new Register(), () -> 40);
    }

    private OriginPosition begin(CaptureProtocol protocol) {
        return protocol.begin(ProposalWindow.Limits.DEFAULT, w -> {
            window = w;
            return new Owner();
        });
    }

    private static WriteSet writeSet(long number, long lastSeen, WriteSet.Kind kind) {
        return new WriteSet(new Gtid(SERVER, number), lastSeen, 0, kind, Keys.NONE, new byte[0]);
    }

    @Test
    void theRegisterHearsOfTheOrderBeforeAnythingIsCaptured() throws Exception {
        protocol(4).attach();
        assertThat(happened).containsExactly("register attached", "covered 4");
    }

    @Test
    void beginsOnlyWhereItsPlaceInTheOrderIsKnown() {
        CaptureProtocol protocol = protocol(0);
        assertThat(protocol.mayBegin(true, 40, 7)).isTrue();
        assertThat(protocol.mayBegin(false, 40, 7)).as("without a majority").isFalse();
        assertThat(protocol.mayBegin(true, 40, 8))
                .as("before the order has told what it had")
                .isFalse();
        order.current = false;
        assertThat(protocol.mayBegin(true, 40, 7))
                .as("before all that is applied was handed out again")
                .isFalse();
    }

    @Test
    void tellsTheProposerWhatWasDeliveredSinceTheWindowWasOpened() {
        order.atAttach = new OriginPosition(9, 3, NOTHING);
        OriginPosition from = begin(protocol(0));
        assertThat(happened).containsExactly("proposer attached", "delivered 9");
        assertThat(from).isEqualTo(order.at);
    }

    @Test
    void readsNothingThatTheServerHeldBeforeItWasThisNodes() {
        assertThat(begin(protocol(20)).last()).isEqualTo(20);
    }

    @Test
    void announcesAServerThatTheOrderHasNotHeardOf() {
        begin(protocol(0));
        assertThat(window.poll(0)).isNull();
        order.known = false;
        begin(protocol(0));
        Proposal announcement =
                ProposalCodec.decode(ByteBuffer.wrap(window.poll(0).toArray()));
        assertThat(announcement.writeSets()).isEmpty();
        assertThat(announcement.last()).isEqualTo(7);
    }

    @Test
    void aTransactionIsInTheRegisterBeforeItIsCoveredAndCoveredBeforeItWaitsForRoom() throws Exception {
        CaptureProtocol protocol = protocol(0);
        begin(protocol);
        happened.clear();
        protocol.read(8, 3, NOTHING, writeSet(8, 3, WriteSet.Kind.ROWS));
        protocol.read(9, 4, NOTHING, null);
        assertThat(happened)
                .containsExactly("captured 8 seen 3", "covered 8", "proposes 8 built on 6", "covered 9", "is at 9");
    }

    @Test
    void aClientCanNotHaveSeenMoreThanIsApplied() throws Exception {
        CaptureProtocol protocol = protocol(0);
        begin(protocol);
        happened.clear();
        protocol.read(8, 3, NOTHING, writeSet(8, 41, WriteSet.Kind.PREPARED));
        protocol.read(9, 3, NOTHING, writeSet(9, 39, WriteSet.Kind.PREPARED));
        assertThat(happened).contains("captured 8 seen 40", "captured 9 seen 39");
    }

    @Test
    void servesOneCaptureOnly() {
        CaptureProtocol protocol = protocol(0);
        begin(protocol);
        assertThatThrownBy(() -> begin(protocol)).isInstanceOf(IllegalStateException.class);
    }
}
