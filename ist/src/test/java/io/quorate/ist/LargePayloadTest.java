// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import io.quorate.core.BinlogEvents;
import io.quorate.core.Certified;
import io.quorate.core.Entry;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.Keys;
import io.quorate.core.LogPosition;
import io.quorate.core.Payload;
import io.quorate.core.PayloadBuilder;
import io.quorate.core.Proposal;
import io.quorate.core.ProposalCodec;
import io.quorate.core.QuorateException;
import io.quorate.core.Spool;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Payloads that are files: how they are made, what they are equal to, and their way through the stores. */
@Timeout(60)
class LargePayloadTest {
    private static final UUID LIFE = new UUID(1, 2);
    private static final UUID ORIGIN = new UUID(3, 4);

    @TempDir
    Path directory;

    private final long seed = new Random().nextLong();
    private final Random random = new Random(seed);

    /** Puts everything beyond so many bytes into a file. */
    private record Small(Spool files, int heapBytesMax) implements Spool {
        @Override
        public File open() {
            return files.open();
        }
    }

    private Spool spool(int heapBytesMax) {
        return new Small(new SpoolDirectory(directory.resolve("spool")), heapBytesMax);
    }

    private byte[] event(int bytesMax) {
        byte[] event = new byte[BinlogEvents.HEADER_BYTES + 10 + random.nextInt(bytesMax)];
        random.nextBytes(event);
        event[4] = (byte) (random.nextBoolean() ? BinlogEvents.WRITE_ROWS : BinlogEvents.TABLE_MAP);
        BinlogEvents.length(event, 0, event.length);
        return event;
    }

    @RepeatedTest(30)
    void aFileHasWhatAnArrayWouldHave() throws Exception {
        PayloadBuilder heap = new PayloadBuilder(Spool.HEAP);
        PayloadBuilder file = new PayloadBuilder(spool(5_000));
        for (int round = 0; round < 3; round++) {
            List<PayloadBuilder.Mark> marks = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                byte[] event = event(random.nextInt(20) == 0 ? 600_000 : 2_000);
                heap.append(event);
                file.append(event);
                int what = random.nextInt(20);
                if (what == 0) {
                    marks.add(heap.mark());
                    assertThat(file.mark()).as("seed %d", seed).isEqualTo(heap.mark());
                } else if (what == 1 && !marks.isEmpty()) {
                    int to = random.nextInt(marks.size());
                    heap.truncate(marks.get(to));
                    file.truncate(marks.get(to));
                    marks.subList(to + 1, marks.size()).clear();
                } else if (what < 5) {
                    boolean ends = random.nextBoolean();
                    heap.endsStatement(ends);
                    file.endsStatement(ends);
                }
            }
            Payload expected = heap.take();
            Payload made = file.take();
            assertThat(made.heapBytes()).as("seed %d", seed).isZero();
            assertThat(made).as("seed %d", seed).isEqualTo(expected);
            assertThat(made.toArray()).isEqualTo(expected.toArray());
            assertSameEvents(made.events(), expected.events());
            assertThat(file.isEmpty()).isTrue();
        }
        try (Stream<Path> left = Files.list(directory.resolve("spool"))) {
            assertThat(left).as("files that have kept their names").isEmpty();
        }
    }

    private void assertSameEvents(Payload.Events made, Payload.Events expected) {
        while (expected.next()) {
            assertThat(made.next()).isTrue();
            assertThat(made.position()).isEqualTo(expected.position());
            assertThat(made.type()).isEqualTo(expected.type());
            assertThat(made.copy())
                    .as("seed %d, byte %d", seed, made.position())
                    .isEqualTo(expected.copy());
        }
        assertThat(made.next()).isFalse();
    }

    @Test
    void anEventCutShortIsNoEvent() {
        byte[] event = event(100);
        byte[] cut = Arrays.copyOf(event, event.length - 1);
        Payload.Events tooShort = Payload.of(cut).events();
        assertThatThrownBy(tooShort::next).isInstanceOf(IndexOutOfBoundsException.class);
        Payload.Events headless = Payload.of(Arrays.copyOf(event, 18)).events();
        assertThatThrownBy(headless::next).isInstanceOf(IndexOutOfBoundsException.class);
    }

    private Certified large(long seqno, int bytes) {
        PayloadBuilder builder = new PayloadBuilder(spool(Payload.HEAP_BYTES_MAX));
        while (builder.size() < bytes) {
            builder.append(event(100_000));
        }
        return certified(seqno, builder.take());
    }

    private static Certified certified(long seqno, Payload payload) {
        WriteSet w = new WriteSet(
                new Gtid(ORIGIN, seqno),
                0,
                seqno,
                WriteSet.Kind.ROWS,
                new Keys(new long[] {9, seqno}, new byte[2]),
                payload);
        return new Certified(seqno, Verdict.PASSED, 0, 0, new LogPosition(1, seqno), true, w);
    }

    private Certified small(long seqno) {
        return certified(seqno, Payload.of(event(200)));
    }

    private WriteSetCache open(String name, long durable) {
        return WriteSetCache.open(new CacheSettings(directory.resolve(name), LIFE, 4 << 20, 1 << 30), durable);
    }

    private List<Certified> mixed() {
        List<Certified> all = new ArrayList<>();
        for (long seqno = 1; seqno <= 12; seqno++) {
            all.add(seqno % 4 == 0 ? large(seqno, (int) seqno << 19) : small(seqno));
        }
        return all;
    }

    private static void assertHolds(WriteSetCache cache, List<Certified> all) throws Exception {
        for (int from = 1; from <= all.size(); from += 3) {
            try (CacheCursor cursor = cache.read(from)) {
                for (Certified each : all.subList(from - 1, all.size())) {
                    Certified read = cursor.next(Duration.ZERO);
                    assertThat(read).isEqualTo(each);
                    assertThat(read.writeSet().payload().heapBytes())
                            .isEqualTo(each.writeSet().payload().heapBytes());
                }
                assertThat(cursor.next(Duration.ZERO)).isNull();
            }
        }
    }

    @Test
    void theCacheKeepsThemAmongSmallOnesAlsoOverARestart() throws Exception {
        List<Certified> all = mixed();
        try (WriteSetCache cache = open("cache", 0)) {
            cache.append(all.subList(0, 7));
            cache.append(all.subList(7, all.size()));
            assertHolds(cache, all);
            Certified kept;
            try (CacheCursor cursor = cache.read(8)) {
                kept = cursor.next(Duration.ZERO);
            }
            cache.reset(100);
            assertThat(kept).as("read before its file was deleted").isEqualTo(all.get(7));
        }
        try (WriteSetCache cache = open("other", 0)) {
            cache.append(all);
        }
        try (WriteSetCache cache = open("other", 0)) {
            assertHolds(cache, all);
            cache.append(all);
            assertThat(cache.stats().redelivered()).isEqualTo(12);
        }
    }

    @Test
    void aDamagedOneIsFoundAndATornOneCutOff() throws Exception {
        List<Certified> all = List.of(small(1), large(2, 3 << 20));
        try (WriteSetCache cache = open("cache", 0)) {
            cache.append(all);
        }
        Path segment = SegmentFiles.list(directory.resolve("cache")).get(1L);
        long size = Files.size(segment);
        try (FileChannel channel = FileChannel.open(segment, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(new byte[] {1, 2, 3, 4, 5, 6, 7, 8}), size / 2);
        }
        assertThatThrownBy(() -> open("cache", 2))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CACHE_CORRUPT));
        try (WriteSetCache cache = open("cache", 1)) {
            assertThat(cache.last()).isEqualTo(1);
            cache.append(all.subList(1, 2));
        }
        try (FileChannel channel = FileChannel.open(segment, StandardOpenOption.WRITE)) {
            channel.truncate(size - 1);
        }
        try (WriteSetCache cache = open("cache", 1)) {
            assertThat(cache.last()).isEqualTo(1);
        }
    }

    @Test
    void aTransferHandsThemOnAsFiles() throws Exception {
        List<Certified> all = mixed();
        try (WriteSetCache cache = open("donor", 0)) {
            cache.append(all);
            ByteArrayOutputStream sent = new ByteArrayOutputStream();
            Donor donor = new Donor(cache, CheckpointStore.open(directory.resolve("checkpoints")), LIFE);
            donor.serve("n2", new TransferRequest(TransferRequest.Kind.RECORDS, LIFE, 1, 12).encode(), sent);
            List<Certified> received = new ArrayList<>();
            try (InputStream in = new ZstdInputStreamNoFinalizer(new ByteArrayInputStream(sent.toByteArray()))) {
                new RecordReader(1, 12, spool(Payload.HEAP_BYTES_MAX), received::addAll).read(in);
            }
            assertThat(received).isEqualTo(all);
            assertThat(received.get(7).writeSet().payload().heapBytes()).isZero();
        }
    }

    @RepeatedTest(10)
    void anEntryIsTheSameInParts() throws IOException {
        List<WriteSet> writeSets = new ArrayList<>();
        for (long number = 1; number <= 1 + random.nextInt(4); number++) {
            writeSets.add((random.nextBoolean() ? large(number, 2 << 20) : small(number)).writeSet());
        }
        Proposal proposal = new Proposal(ORIGIN, 0, 9, 5, new long[] {2}, writeSets);
        Entry entry = ProposalCodec.encode(proposal);
        ByteBuffer pieces = ByteBuffer.allocate(entry.size());
        for (int at = 0; at < entry.size(); ) {
            int now = Math.min(1 + random.nextInt(1 << 20), entry.size() - at);
            entry.copy(at, now, pieces);
            at += now;
        }
        assertThat(pieces.array()).as("seed %d", seed).isEqualTo(entry.toArray());
        assertThat(ProposalCodec.decode(pieces.flip()).writeSets()).isEqualTo(writeSets);
        Path file = directory.resolve("entry");
        Files.write(file, entry.toArray());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, entry.size());
            List<WriteSet> read = ProposalCodec.decode(mapped).writeSets();
            assertThat(read).isEqualTo(writeSets);
            assertThat(read).allMatch(w -> w.payload().heapBytes() <= Payload.HEAP_BYTES_MAX);
        }
    }
}
