// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What {@link WriteSetCache#open} makes of what a crash or a bad disk leaves. */
@Timeout(120)
class RecoveryTest {
    private static final UUID INCARNATION = new UUID(1, 2);

    @TempDir
    Path directory;

    private final Records records = new Records(5, 40);

    private WriteSetCache open(long segmentBytes, long durable) {
        return WriteSetCache.open(new CacheSettings(directory, INCARNATION, segmentBytes, 1 << 30), durable);
    }

    private NavigableMap<String, byte[]> contents() throws IOException {
        NavigableMap<String, byte[]> contents = new TreeMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                contents.put(file.getFileName().toString(), Files.readAllBytes(file));
            }
        }
        return contents;
    }

    private void restore(NavigableMap<String, byte[]> contents) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                Files.delete(file);
            }
        }
        for (String name : contents.keySet()) {
            Files.write(directory.resolve(name), contents.get(name));
        }
    }

    /** What is there must be right and end with an entry, and the rest can be appended. */
    private long assertGoesOn(WriteSetCache cache, long last) throws Exception {
        long found = cache.last();
        assertThat(found).isLessThanOrEqualTo(last).isEqualTo(records.entryEndAtOrBefore(found));
        cache.append(records.range(Math.max(1, found - 2), last));
        try (CacheCursor cursor = cache.read(cache.first())) {
            for (long seqno = cache.first(); seqno <= last; seqno++) {
                assertThat(cursor.next(Duration.ZERO)).isEqualTo(records.at(seqno));
            }
        }
        return found;
    }

    @Test
    void cutsATornTailAtEveryByte() throws Exception {
        long last;
        List<Long> ends = new ArrayList<>();
        try (WriteSetCache cache = open(1 << 20, 0)) {
            cache.append(records.entries(1, 20));
            last = cache.last();
        }
        NavigableMap<String, byte[]> whole = contents();
        byte[] segment = whole.lastEntry().getValue();
        long at = SegmentHeader.BYTES;
        for (long seqno = 1; seqno <= last; seqno++) {
            at += RecordCodec.bytes(records.at(seqno));
            ends.add(at);
        }
        assertThat(at).isEqualTo(segment.length);
        long tail = ends.get(ends.size() - 6);
        Random random = new Random(2);
        for (int length = random.nextInt(9); length < segment.length; length += length < tail ? 9 : 1) {
            NavigableMap<String, byte[]> torn = new TreeMap<>(whole);
            torn.put(whole.lastKey(), Arrays.copyOf(segment, length));
            restore(torn);
            long complete = 0;
            while (ends.get((int) complete) <= length) {
                complete++;
            }
            try (WriteSetCache cache = open(1 << 20, 0)) {
                assertThat(cache.last()).as("length %d", length).isEqualTo(records.entryEndAtOrBefore(complete));
                if (length % 16 == 0) {
                    assertGoesOn(cache, last);
                }
            }
            if (complete < last && complete > 0) {
                restore(torn);
                assertDamaged(() -> open(1 << 20, last));
            }
        }
    }

    /** Found by the simulation: the system may have written later files' names and not the first one's. */
    @Test
    void beginsAnewWhenTheFirstFileIsLost() throws Exception {
        long last;
        try (WriteSetCache cache = open(1000, 0)) {
            for (int i = 0; i < 20; i++) {
                cache.append(records.entries(cache.last() + 1, 3));
            }
            last = cache.last();
        }
        NavigableMap<String, byte[]> files = contents();
        files.remove("lock");
        assertThat(files).hasSizeGreaterThan(2);
        files.remove(files.firstKey());
        restore(files);
        try (WriteSetCache cache = open(1000, 0)) {
            assertThat(cache.last()).as("of " + last).isZero();
            assertThat(cache.first()).isEqualTo(1);
            assertGoesOn(cache, 0);
        }
    }

    @Test
    void cutsAfterZeroesOrGarbage() throws Exception {
        long last;
        try (WriteSetCache cache = open(1 << 20, 0)) {
            cache.append(records.entries(1, 20));
            last = cache.last();
        }
        NavigableMap<String, byte[]> whole = contents();
        byte[] segment = whole.lastEntry().getValue();
        Random random = new Random(3);
        for (int i = 0; i < 50; i++) {
            byte[] longer = Arrays.copyOf(segment, segment.length + 1 + random.nextInt(5000));
            if (i % 2 == 0) {
                byte[] garbage = new byte[longer.length - segment.length];
                random.nextBytes(garbage);
                System.arraycopy(garbage, 0, longer, segment.length, garbage.length);
            }
            NavigableMap<String, byte[]> torn = new TreeMap<>(whole);
            torn.put(whole.lastKey(), longer);
            restore(torn);
            try (WriteSetCache cache = open(1 << 20, last)) {
                assertThat(cache.last()).isEqualTo(last);
                assertGoesOn(cache, last);
            }
        }
    }

    /**
     * Each bit: refused, or found when read, when it was durable; cut off or refused when it wasn't. Never passed on.
     */
    @Test
    void noFlippedBitGoesUnnoticed() throws Exception {
        long last;
        try (WriteSetCache cache = open(1000, 0)) {
            for (long at = 1; at <= 25; at = cache.last() + 1) {
                cache.append(records.entries(at, 1));
            }
            last = cache.last();
        }
        NavigableMap<String, byte[]> whole = contents();
        Random random = new Random(4);
        for (String name : whole.keySet()) {
            byte[] bytes = whole.get(name);
            for (int bit = random.nextInt(37); bit < bytes.length * 8; bit += 37) {
                byte[] bad = bytes.clone();
                bad[bit / 8] ^= (byte) (1 << bit % 8);
                NavigableMap<String, byte[]> damaged = new TreeMap<>(whole);
                damaged.put(name, bad);
                restore(damaged);
                boolean inHeader = bit / 8 < SegmentHeader.BYTES;
                assertDamaged(() -> readAll(last, last));
                restore(damaged);
                try (WriteSetCache cache = open(1000, 0)) {
                    assertThat(cache.last()).as("%s bit %d", name, bit).isLessThan(last + 1);
                    assertThat(inHeader || cache.last() < last || bit / 8 >= bytes.length - RecordCodec.TRAILER_BYTES)
                            .as("%s bit %d", name, bit)
                            .isTrue();
                    assertGoesOn(cache, last);
                } catch (QuorateException e) {
                    assertThat(e.code()).as("%s bit %d", name, bit).isEqualTo(ErrorCode.CACHE_CORRUPT);
                }
            }
        }
    }

    private void readAll(long durable, long last) throws Exception {
        try (WriteSetCache cache = open(1000, durable);
                CacheCursor cursor = cache.read(1)) {
            for (long seqno = 1; seqno <= last; seqno++) {
                assertThat(cursor.next(Duration.ZERO)).isEqualTo(records.at(seqno));
            }
        }
    }

    private static void assertDamaged(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(QuorateException.class, e -> assertThat(e.code())
                .isEqualTo(ErrorCode.CACHE_CORRUPT));
    }

    static List<Long> seeds() {
        List<Long> seeds = new ArrayList<>();
        Random random = new Random();
        for (long i = 0; i < 20; i++) {
            seeds.add(i < 10 ? i : random.nextLong());
        }
        return seeds;
    }

    /**
     * Any life with crashes in it: after the last force any page of any file may or may not have reached the disk, and
     * so may the names of files.
     */
    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void losesNothingDurableInACrash(long seed) throws Exception {
        Random random = new Random(seed);
        int segmentBytes = 500 + random.nextInt(8000);
        long last = 0;
        long durable = 0;
        NavigableMap<String, byte[]> forced = new TreeMap<>();
        for (int life = 0; life < 12; life++) {
            try (WriteSetCache cache = open(segmentBytes, durable)) {
                assertThat(cache.last()).as("seed %d, life %d", seed, life).isGreaterThanOrEqualTo(durable);
                assertGoesOn(cache, Math.max(last, cache.last()));
                cache.force();
                durable = cache.last();
                forced = contents();
                for (int step = random.nextInt(40); step > 0; step--) {
                    cache.append(records.entries(cache.last() + 1, 1 + random.nextInt(4)));
                    if (random.nextInt(10) == 0) {
                        cache.force();
                        durable = cache.last();
                        forced = contents();
                    }
                }
                last = cache.last();
            }
            restore(afterPowerLoss(random, forced, contents()));
        }
    }

    private static NavigableMap<String, byte[]> afterPowerLoss(
            Random random, NavigableMap<String, byte[]> forced, NavigableMap<String, byte[]> written) {
        int page = 512;
        NavigableMap<String, byte[]> left = new TreeMap<>();
        for (String name : written.keySet()) {
            byte[] now = written.get(name);
            byte[] before = forced.get(name);
            if (before == null && random.nextInt(4) == 0) {
                continue;
            }
            int safe = before == null ? 0 : before.length;
            byte[] after = Arrays.copyOf(now, safe + random.nextInt(now.length - safe + 1));
            for (int at = safe; at < after.length; at += page) {
                if (random.nextInt(6) == 0) {
                    Arrays.fill(after, at, Math.min(after.length, at + page), (byte) 0);
                }
            }
            left.put(name, after);
        }
        return left;
    }
}
