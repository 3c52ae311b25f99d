// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** {@link WriteSetCodec} and {@link ProposalCodec}. */
class CodecTest {
    private static final EnumSet<ErrorCode> REFUSALS =
            EnumSet.of(ErrorCode.MALFORMED_MESSAGE, ErrorCode.INCOMPATIBLE_PEER);

    private final long seed = new Random().nextLong();
    private final Random random = new Random(seed);
    private final RandomValues values = new RandomValues(random);

    @RepeatedTest(50)
    void readsBackWhatItWrote() {
        Proposal p = values.proposal();
        Proposal read =
                ProposalCodec.decode(ByteBuffer.wrap(ProposalCodec.encode(p).toArray()));
        assertThat(read.origin()).as("seed %d", seed).isEqualTo(p.origin());
        assertThat(read.previous()).isEqualTo(p.previous());
        assertThat(read.last()).isEqualTo(p.last());
        assertThat(read.lastSeen()).isEqualTo(p.lastSeen());
        assertThat(read.undecided()).isEqualTo(p.undecided());
        assertThat(read.writeSets()).isEqualTo(p.writeSets());
    }

    @Test
    void readsBackABallotAndTellsItFromAProposal() {
        for (Ballot.Kind kind : Ballot.Kind.values()) {
            Ballot ballot = new Ballot(kind, "knoten-ü", new UUID(random.nextLong(), 7), 9, random.nextLong());
            ByteBuffer entry = ByteBuffer.wrap(BallotCodec.encode(ballot));
            assertThat(BallotCodec.isBallot(entry)).isTrue();
            assertThat(BallotCodec.decode(entry)).as("seed %d", seed).isEqualTo(ballot);
        }
        assertThat(BallotCodec.isBallot(
                        ByteBuffer.wrap(ProposalCodec.encode(values.proposal()).toArray())))
                .isFalse();
        assertThat(BallotCodec.isBallot(ByteBuffer.allocate(3))).isFalse();
    }

    @Test
    void refusesADamagedBallotWithACode() {
        byte[] good = BallotCodec.encode(new Ballot(Ballot.Kind.REFUSED, "n1", new UUID(1, 2), 3, 4));
        for (int length = 4; length < good.length; length++) {
            ByteBuffer cut = ByteBuffer.wrap(Arrays.copyOf(good, length));
            assertThatThrownBy(() -> BallotCodec.decode(cut)).isInstanceOf(QuorateException.class);
        }
        good[4] = 99;
        assertThatThrownBy(() -> BallotCodec.decode(ByteBuffer.wrap(good))).isInstanceOf(QuorateException.class);
    }

    @Test
    void leavesTheBuffersOrderAloneAndStopsAtItsEnd() {
        WriteSet w = values.writeSet(new UUID(1, 2), 3);
        int bytes = WriteSetCodec.encodedBytes(w);
        ByteBuffer buffer = ByteBuffer.allocate(bytes + 7).position(3);
        WriteSetCodec.encode(w, buffer);
        assertThat(buffer.position()).isEqualTo(3 + bytes);
        assertThat(buffer.order()).isEqualTo(ByteOrder.BIG_ENDIAN);
        buffer.position(3);
        assertThat(WriteSetCodec.decode(buffer)).as("seed %d", seed).isEqualTo(w);
        assertThat(buffer.position()).isEqualTo(3 + bytes);
        assertThat(buffer.order()).isEqualTo(ByteOrder.BIG_ENDIAN);
    }

    @Test
    void refusesWhateverIsDamagedWithACode() {
        for (int i = 0; i < 20_000; i++) {
            byte[] bad = values.damaged(ProposalCodec.encode(values.proposal()).toArray());
            try {
                Proposal read = ProposalCodec.decode(ByteBuffer.wrap(bad));
                assertThat(ProposalCodec.encode(read).size())
                        .as("seed %d, round %d", seed, i)
                        .isEqualTo(bad.length);
            } catch (QuorateException e) {
                assertThat(REFUSALS).as("seed %d, round %d", seed, i).contains(e.code());
            }
        }
    }

    @Test
    void refusesAnythingCutShort() {
        byte[] good = ProposalCodec.encode(values.proposal()).toArray();
        for (int length = 0; length < good.length; length++) {
            ByteBuffer cut = ByteBuffer.wrap(Arrays.copyOf(good, length));
            assertThatThrownBy(() -> ProposalCodec.decode(cut))
                    .as("seed %d", seed)
                    .isInstanceOfSatisfying(
                            QuorateException.class, e -> assertThat(REFUSALS).contains(e.code()));
        }
    }

    @Test
    void refusesAnotherVersion() {
        byte[] entry = ProposalCodec.encode(values.proposal()).toArray();
        entry[3] = '2';
        assertThatThrownBy(() -> ProposalCodec.decode(ByteBuffer.wrap(entry)))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INCOMPATIBLE_PEER));
    }

    /** Otherwise a piece of an entry that nobody reads before it is ordered could end the order everywhere. */
    @Test
    void aWriteSetOfAnotherVersionThanItsProposalSaysIsMalformed() {
        Proposal proposal = new Proposal(
                new UUID(1, 1),
                0,
                5,
                0,
                new long[0],
                List.of(new WriteSet(new Gtid(new UUID(1, 1), 5), 0, 0, WriteSet.Kind.ROWS, Keys.NONE, new byte[3])));
        byte[] entry = ProposalCodec.encode(proposal).toArray();
        int version = 4 + 16 + 3 * 8 + 2 * 4;
        assertThat(entry[version]).isEqualTo((byte) WriteSetCodec.VERSION);
        entry[version]++;
        assertThatThrownBy(() -> ProposalCodec.decode(ByteBuffer.wrap(entry)))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.MALFORMED_MESSAGE));
    }

    @Test
    void theBeginningOfAProposalTellsItsVersion() {
        byte[] entry = ProposalCodec.encode(values.proposal()).toArray();
        ProposalCodec.checkBeginning(ByteBuffer.wrap(entry, 0, 4 + 16 + 3 * 8 + 2 * 4));
        assertThatThrownBy(() -> ProposalCodec.checkBeginning(ByteBuffer.wrap(entry, 0, 20)))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.MALFORMED_MESSAGE));
        entry[3] = '2';
        assertThatThrownBy(() -> ProposalCodec.checkBeginning(ByteBuffer.wrap(entry)))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INCOMPATIBLE_PEER));
    }

    /** Nodes would write down what they can't read again, or run out of memory each time they start. */
    @Test
    void aProposalOfMoreUndecidedTransactionsThanThereCanBeIsMalformed() {
        Proposal proposal = new Proposal(new UUID(1, 1), 0, 5, 0, new long[ProposalCodec.UNDECIDED_MAX + 1], List.of());
        ByteBuffer entry = ByteBuffer.wrap(ProposalCodec.encode(proposal).toArray());
        assertThatThrownBy(() -> ProposalCodec.decode(entry))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.MALFORMED_MESSAGE))
                .hasMessageContaining("1048577 undecided");
    }

    /** It would void definitions that all servers have run. */
    @Test
    void nobodyProposesAVerdictOnDefinitions() {
        WriteSet verdict =
                new WriteSet(new Gtid(new UUID(1, 1), 5), 0, 0, WriteSet.Kind.VOID, Keys.NONE, new byte[Long.BYTES]);
        Proposal proposal = new Proposal(new UUID(1, 1), 0, 5, 0, new long[0], List.of(verdict));
        ByteBuffer entry = ByteBuffer.wrap(ProposalCodec.encode(proposal).toArray());
        assertThatThrownBy(() -> ProposalCodec.decode(entry))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.MALFORMED_MESSAGE))
                .hasMessageContaining("verdict");
    }

    @Test
    void doesNotTrustACountForItsMemory() {
        ByteBuffer entry = ByteBuffer.allocate(10_000).order(ByteOrder.LITTLE_ENDIAN);
        entry.put("QRP1".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        entry.position(4 + 16 + 24).putInt(0).putInt(9_000).clear();
        assertThatThrownBy(() -> ProposalCodec.decode(entry))
                .isInstanceOf(QuorateException.class)
                .hasMessageContaining("9000 writesets");
    }
}
