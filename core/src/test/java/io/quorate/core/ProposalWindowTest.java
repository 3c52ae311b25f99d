// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ProposalWindowTest {
    private static final UUID ORIGIN = new UUID(1, 2);
    private static final ProposalWindow.Limits SMALL = new ProposalWindow.Limits(200, 2, 1000, 0, 0, 500);
    private static final long[] NOTHING = new long[0];

    private final ProposalWindow window = new ProposalWindow(ORIGIN, OriginPosition.NONE, SMALL);

    @Test
    void proposesWhatWasCapturedAndLinksOneProposalToTheNext() {
        window.captured(writeSet(3, 100), NOTHING, 0);
        window.captured(writeSet(5, 100), NOTHING, 0);
        window.captured(writeSet(6, 100), NOTHING, 0);
        Proposal first = decode(window.poll(0));
        Proposal second = decode(window.poll(0));
        assertThat(first.previous()).isZero();
        assertThat(first.last()).isEqualTo(3);
        assertThat(second.previous()).isEqualTo(3);
        assertThat(second.last()).isEqualTo(5);
        assertThat(window.poll(0)).as("two are under way").isNull();
        window.delivered(3, 0);
        assertThat(decode(window.poll(0)).writeSets()).hasSize(1);
    }

    @Test
    void proposesTheSameAgainAfterARewind() {
        window.captured(writeSet(1, 150), NOTHING, 0);
        window.captured(writeSet(2, 150), NOTHING, 0);
        Entry first = window.poll(0);
        Entry second = window.poll(0);
        window.rewind();
        assertThat(window.poll(0)).isSameAs(first);
        assertThat(window.poll(0)).isSameAs(second);
        window.delivered(2, 0);
        assertThat(window.idle()).isTrue();
        assertThat(window.bytes()).isZero();
    }

    @Test
    void proposesAPositionWithoutWritesetsOnlyAfterAWhile() {
        window.progress(9, 4, NOTHING, 1000);
        assertThat(window.poll(1100)).isNull();
        assertThat(window.waitMillis(1100, 10_000)).isEqualTo(400);
        Proposal empty = decode(window.poll(1500));
        assertThat(empty.writeSets()).isEmpty();
        assertThat(empty.last()).isEqualTo(9);
        assertThat(empty.lastSeen()).isEqualTo(4);
        assertThat(window.poll(9000)).isNull();
    }

    @Test
    void gathersWhatComesWithinAnInterval() {
        ProposalWindow slow =
                new ProposalWindow(ORIGIN, OriginPosition.NONE, new ProposalWindow.Limits(1000, 4, 5000, 10, 10, 500));
        slow.captured(writeSet(1, 50), NOTHING, 100);
        assertThat(decode(slow.poll(100)).writeSets())
                .as("the first goes at once")
                .hasSize(1);
        slow.captured(writeSet(2, 50), NOTHING, 101);
        slow.captured(writeSet(3, 50), NOTHING, 105);
        assertThat(slow.poll(105)).isNull();
        assertThat(slow.waitMillis(105, 1000)).isEqualTo(5);
        assertThat(decode(slow.poll(110)).writeSets()).hasSize(2);
        for (int n = 4; n < 20; n++) {
            slow.captured(writeSet(n, 50), NOTHING, 111);
        }
        assertThat(slow.poll(111)).as("a full one doesn't wait").isNotNull();
    }

    @Test
    void spacesProposalsByFourTimesWhatARoundTakes() {
        ProposalWindow paced =
                new ProposalWindow(ORIGIN, OriginPosition.NONE, new ProposalWindow.Limits(1000, 4, 5000, 10, 100, 500));
        long now = 0;
        for (long round : new long[] {2, 15, 60}) {
            for (int n = 0; n < 60; n++) {
                now = roundOf(paced, now, round);
            }
            roundOf(paced, now, round);
            paced.captured(writeSet(next++, 50), NOTHING, now);
            long expected = Math.min(100, Math.max(10, 4 * round));
            assertThat(paced.waitMillis(now, 1000)).as("rounds of %d ms", round).isBetween(expected - 4, expected);
            now += 100;
            paced.delivered(decode(paced.poll(now)).last(), now + round);
            now += 200;
        }
    }

    @Test
    void aRoundThatWasSentTwiceSaysNothingOfThePace() {
        ProposalWindow paced =
                new ProposalWindow(ORIGIN, OriginPosition.NONE, new ProposalWindow.Limits(1000, 4, 5000, 10, 100, 500));
        paced.captured(writeSet(1, 50), NOTHING, 0);
        assertThat(paced.poll(0)).isNotNull();
        paced.rewind();
        assertThat(paced.poll(5000)).isNotNull();
        paced.delivered(1, 5010);
        paced.captured(writeSet(2, 50), NOTHING, 5010);
        assertThat(paced.poll(5010)).isNotNull();
        paced.captured(writeSet(3, 50), NOTHING, 5010);
        assertThat(paced.waitMillis(5010, 1000)).isEqualTo(10);
    }

    private int next = 1;

    /** One writeset proposed at {@code now} and delivered after that time; returns when the next may go. */
    private long roundOf(ProposalWindow paced, long now, long millis) {
        paced.captured(writeSet(next++, 50), NOTHING, now);
        paced.delivered(decode(paced.poll(now)).last(), now + millis);
        return now + 100;
    }

    @Test
    void announcesAnOriginThatHasNothingToSay() {
        window.announce();
        Proposal announcement = decode(window.poll(0));
        assertThat(announcement.previous()).isZero();
        assertThat(announcement.last()).isZero();
        assertThat(window.poll(0)).isNull();
        window.delivered(0, 0);
        assertThat(window.idle()).isTrue();
    }

    @Test
    void namesWithinABacklogWhatWasUndecidedThere() {
        window.captured(writeSet(2, 150), NOTHING, 0);
        window.progress(3, 0, new long[] {3}, 0);
        window.captured(writeSet(4, 150), new long[] {3}, 0);
        window.captured(writeSet(5, 150), NOTHING, 0);
        assertThat(decode(window.poll(0)).undecided()).isEmpty();
        Proposal second = decode(window.poll(0));
        assertThat(second.last()).isEqualTo(4);
        assertThat(second.undecided()).as("3 is decided at 5 only").containsExactly(3);
        window.delivered(4, 0);
        assertThat(decode(window.poll(0)).undecided()).isEmpty();
    }

    @Test
    void isFullByBytesAndEmptiesAgain() {
        for (int n = 1; !window.full(); n++) {
            window.captured(writeSet(n, 100), NOTHING, 0);
        }
        while (!window.idle()) {
            Entry entry = window.poll(0);
            window.delivered(decode(entry).last(), 0);
        }
        assertThat(window.full()).isFalse();
        assertThat(window.bytes()).isZero();
    }

    /**
     * Whatever is lost, doubled or left out for a gap: the state machine's side ends with everything, once, in order.
     */
    @Test
    void deliversEverythingOnceInOrderThroughALossyOrder() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        ArrayDeque<Entry> network = new ArrayDeque<>();
        List<Long> ordered = new ArrayList<>();
        long at = 0;
        int captured = 0;
        for (int step = 0; step < 200_000 && (captured < 500 || !window.idle()); step++) {
            int dice = random.nextInt(10);
            if (dice < 2 && captured < 500 && !window.full()) {
                window.captured(writeSet(++captured, random.nextInt(200)), NOTHING, 0);
            } else if (dice < 5) {
                Entry entry = window.poll(0);
                if (entry != null && random.nextInt(4) > 0) {
                    network.add(entry);
                }
            } else if (dice == 5) {
                window.rewind();
            } else if (!network.isEmpty()) {
                Entry entry = random.nextBoolean() ? network.pollFirst() : network.pollLast();
                Proposal p = decode(entry);
                if (p.previous() <= at && p.last() > at) {
                    for (WriteSet w : p.writeSets()) {
                        if (w.gtid().number() > at) {
                            ordered.add(w.gtid().number());
                        }
                    }
                    at = p.last();
                    window.delivered(at, 0);
                }
            }
        }
        assertThat(window.idle()).as("seed %d", seed).isTrue();
        assertThat(ordered).as("seed %d", seed).hasSize(500).isSorted().doesNotHaveDuplicates();
    }

    private static Proposal decode(Entry entry) {
        return ProposalCodec.decode(ByteBuffer.wrap(entry.toArray()));
    }

    private static WriteSet writeSet(long number, int bytes) {
        return new WriteSet(new Gtid(ORIGIN, number), 0, 0, WriteSet.Kind.ROWS, Keys.NONE, new byte[bytes]);
    }
}
