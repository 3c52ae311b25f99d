// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.Entry;
import io.quorate.core.LogPosition;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class ReassemblyTest {
    /** Each makes, maps and deletes hundreds of files, which disks under load take their time for. */
    private static final int REPLAYS = 50;

    @TempDir
    Path directory;

    private record Delivered(long resumeAfter, String entry) {}

    private final List<Delivered> delivered = new ArrayList<>();

    @Test
    void putsPiecesTogetherThoughOthersComeBetween() throws IOException {
        Reassembly reassembly = reassembly();
        take(reassembly, 5, "a", 1, 0, 2, "a-first ");
        take(reassembly, 6, "b", 1, 0, 1, "b");
        take(reassembly, 7, "c", 1, 0, 2, "c-first ");
        take(reassembly, 8, "a", 1, 1, 2, "a-last");
        take(reassembly, 9, "c", 1, 1, 2, "c-last");
        assertThat(delivered)
                .containsExactly(
                        new Delivered(4, "b"), new Delivered(6, "a-first a-last"), new Delivered(9, "c-first c-last"));
    }

    @Test
    void abandonsAnEntryWhoseSubmitterBeginsAnother() throws IOException {
        Reassembly reassembly = reassembly();
        take(reassembly, 5, "a", 1, 0, 3, "never");
        take(reassembly, 6, "a", 2, 0, 1, "whole");
        take(reassembly, 7, "a", 1, 1, 3, "late");
        take(reassembly, 8, "a", 3, 0, 2, "x");
        take(reassembly, 9, "a", 3, 0, 2, "again ");
        take(reassembly, 10, "a", 3, 1, 2, "y");
        assertThat(delivered).containsExactly(new Delivered(6, "whole"), new Delivered(10, "again y"));
        assertThat(reassembly.abandonedEntries()).isEqualTo(2);
        assertThat(reassembly.unfinished()).isEmpty();
        try (Stream<Path> left = Files.list(directory)) {
            assertThat(left).isEmpty();
        }
    }

    @Test
    void abandonsWhatIsGivenUpForASubmitterThatIsLost() throws IOException {
        Reassembly reassembly = reassembly();
        take(reassembly, 5, "a", 1, 0, 3, "lost ");
        take(reassembly, 6, "b", 1, 0, 2, "b-first ");
        take(reassembly, 7, "a", 1, 1, 3, "in the midst");
        UnfinishedEntries.Unfinished lost = reassembly.unfinished().stream()
                .filter(entry -> entry.submitter().equals("a"))
                .findFirst()
                .orElseThrow();
        assertThat(lost.next()).isEqualTo(2);
        for (long index : new long[] {8, 9}) {
            reassembly.take(
                    new LogPosition(1, index - 1), new LogPosition(1, index), ByteBuffer.wrap(lost.abandonment()));
        }
        assertThat(reassembly.unfinished())
                .extracting(UnfinishedEntries.Unfinished::submitter)
                .containsExactly("b");
        take(reassembly, 10, "a", 1, 2, 3, "late");
        take(reassembly, 11, "b", 1, 1, 2, "b-last");
        take(reassembly, 12, "a", 2, 0, 1, "anew");
        assertThat(delivered).containsExactly(new Delivered(11, "b-first b-last"), new Delivered(12, "anew"));
        assertThat(reassembly.abandonedEntries()).isEqualTo(1);
    }

    @Test
    void leavesOutWhatIsNoFrameAndStopsAtOneOfANewerVersion() throws IOException {
        Reassembly reassembly = reassembly();
        LogPosition here = new LogPosition(1, 1);
        byte[] good = EntryFrame.encode(new byte[] {'a'}, 1, 1, 0, 1, Entry.of(new byte[] {1, 2, 3}), 0, 3);
        int cuts = good.length - 3;
        for (int length = 0; length < cuts; length++) {
            reassembly.take(LogPosition.START, here, ByteBuffer.wrap(good, 0, length));
        }
        byte[] outside =
                EntryFrame.encode("../x".getBytes(StandardCharsets.UTF_8), 1, 1, 0, 2, Entry.of(new byte[1]), 0, 1);
        reassembly.take(LogPosition.START, here, ByteBuffer.wrap(outside));
        assertThat(delivered).isEmpty();
        assertThat(reassembly.malformedEntries()).isEqualTo(cuts + 1);
        good[0] = 9;
        assertThatThrownBy(() -> reassembly.take(LogPosition.START, here, ByteBuffer.wrap(good)))
                .hasMessageContaining("QRT-3002");
    }

    /** It couldn't be mapped, and the node would stop; and every node after it. */
    @Test
    void leavesOutWhatIsTogetherLongerThanAnEntry() throws IOException {
        Reassembly reassembly = new Reassembly(
                directory,
                (resumeAfter, entry) -> delivered.add(new Delivered(
                        resumeAfter.index(),
                        StandardCharsets.UTF_8.decode(entry).toString())),
                20);
        take(reassembly, 5, "a", 1, 0, 3, "0123456789");
        take(reassembly, 6, "a", 1, 1, 3, "0123456789");
        take(reassembly, 7, "a", 1, 2, 3, "!");
        take(reassembly, 8, "a", 1, 2, 3, "!");
        take(reassembly, 9, "a", 2, 0, 2, "0123456789");
        take(reassembly, 10, "a", 2, 1, 2, "0123456789");
        assertThat(delivered).containsExactly(new Delivered(10, "01234567890123456789"));
        assertThat(reassembly.malformedEntries()).isEqualTo(1);
        assertThat(reassembly.unfinished()).isEmpty();
    }

    /** A node that starts again after any position it was told decides as if it had never stopped. */
    @Test
    void decidesAlikeFromWhereverItMayResume() throws IOException {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        List<byte[]> log = new ArrayList<>();
        Map<String, Long> firstPiece = new HashMap<>();
        randomLog(random, log, firstPiece);
        replay(log, 0);
        List<Delivered> all = List.copyOf(delivered);
        assertThat(all).as("seed %d", seed).hasSizeGreaterThan(REPLAYS);
        List<Integer> places =
                new ArrayList<>(IntStream.range(0, all.size()).boxed().toList());
        Collections.shuffle(places, random);
        for (int i : places.subList(0, REPLAYS)) {
            long resumeAfter = all.get(i).resumeAfter;
            delivered.clear();
            replay(log, (int) resumeAfter + 1);
            List<String> expected = all.stream()
                    .map(Delivered::entry)
                    .filter(e -> firstPiece.get(e) > resumeAfter)
                    .toList();
            assertThat(delivered.stream().map(Delivered::entry))
                    .as("seed %d, after %d", seed, resumeAfter)
                    .isEqualTo(expected);
            assertThat(expected)
                    .as("seed %d, after %d: nothing later is left out", seed, resumeAfter)
                    .containsAll(all.subList(i + 1, all.size()).stream()
                            .map(Delivered::entry)
                            .toList());
        }
    }

    private static void randomLog(Random random, List<byte[]> log, Map<String, Long> firstPiece) {
        String[] names = {"a", "b", "c"};
        int[] sequences = new int[3];
        int[] next = new int[3];
        int[] counts = new int[3];
        for (int i = 0; i < 600; i++) {
            int who = random.nextInt(3);
            if (next[who] >= counts[who] || random.nextInt(12) == 0) {
                sequences[who]++;
                next[who] = random.nextInt(40) == 0 ? 1 : 0; // now and then one whose beginning is missing
                counts[who] = random.nextBoolean() ? 1 : 2 + random.nextInt(4);
                next[who] = Math.min(next[who], counts[who] - 1);
                firstPiece.put(text(names[who], sequences[who], counts[who]), (long) log.size());
            }
            String piece = names[who] + sequences[who] + "." + next[who] + ";";
            byte[] bytes = piece.getBytes(StandardCharsets.UTF_8);
            log.add(EntryFrame.encode(
                    names[who].getBytes(StandardCharsets.UTF_8),
                    7,
                    sequences[who],
                    next[who]++,
                    counts[who],
                    Entry.of(bytes),
                    0,
                    bytes.length));
        }
    }

    private static String text(String name, int sequence, int count) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append(name).append(sequence).append('.').append(i).append(';');
        }
        return text.toString();
    }

    private void replay(List<byte[]> log, int from) throws IOException {
        Reassembly reassembly = reassembly();
        for (int i = from; i < log.size(); i++) {
            reassembly.take(new LogPosition(1, i - 1), new LogPosition(1, i), ByteBuffer.wrap(log.get(i)));
        }
        reassembly.close();
    }

    private Reassembly reassembly() {
        return new Reassembly(
                directory,
                (after, entry) -> delivered.add(new Delivered(
                        after.index(), StandardCharsets.UTF_8.decode(entry).toString())));
    }

    private static void take(Reassembly into, long at, String name, long sequence, int index, int count, String body)
            throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        byte[] frame = EntryFrame.encode(
                name.getBytes(StandardCharsets.UTF_8), 7, sequence, index, count, Entry.of(bytes), 0, bytes.length);
        into.take(new LogPosition(1, at - 1), new LogPosition(1, at), ByteBuffer.wrap(frame));
    }
}
