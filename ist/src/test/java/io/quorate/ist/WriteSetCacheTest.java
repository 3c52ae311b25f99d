// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSetLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class WriteSetCacheTest {
    private static final UUID INCARNATION = new UUID(1, 2);
    private static final Duration LONG = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    private final Records records = new Records(1, 300);

    private WriteSetCache open(long segmentBytes, long bytesMax, long durable) {
        return WriteSetCache.open(new CacheSettings(directory, INCARNATION, segmentBytes, bytesMax), durable);
    }

    private WriteSetCache open(long durable) {
        return open(4096, 1 << 30, durable);
    }

    private void fill(long to) throws IOException {
        try (WriteSetCache cache = open(0)) {
            for (long at = 1; at <= to; at = cache.last() + 1) {
                cache.append(records.entries(at, 1));
            }
        }
    }

    private List<Path> segments() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(f -> f.toString().endsWith(".seg")).sorted().toList();
        }
    }

    private static void assertCode(ErrorCode code, org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(QuorateException.class, e -> assertThat(e.code())
                .isEqualTo(code));
    }

    private void assertHolds(WriteSetCache cache, long from, long to) throws Exception {
        try (CacheCursor cursor = cache.read(from)) {
            for (long seqno = from; seqno <= to; seqno++) {
                assertThat(cursor.next(Duration.ZERO)).isEqualTo(records.at(seqno));
            }
            assertThat(cursor.next(Duration.ZERO)).isNull();
        }
    }

    @Test
    void startsEmpty() throws Exception {
        try (WriteSetCache cache = open(0)) {
            assertThat(cache.first()).isEqualTo(1);
            assertThat(cache.last()).isZero();
            assertHolds(cache, 1, 0);
            assertCode(ErrorCode.CACHE_PASSED, () -> cache.read(2));
            assertCode(ErrorCode.CACHE_PASSED, () -> cache.read(0));
        }
        try (WriteSetCache cache = open(0)) {
            assertThat(cache.first()).isEqualTo(1);
            assertThat(cache.last()).isZero();
        }
    }

    @Test
    void holdsWhatWasAppendedAlsoWhenOpenedAgain() throws Exception {
        fill(500);
        assertThat(segments()).hasSizeGreaterThan(10);
        try (WriteSetCache cache = open(500)) {
            for (long from = 1; from <= cache.last() + 1; from += 7) {
                assertHolds(cache, from, cache.last());
            }
            cache.append(records.entries(cache.last() + 1, 10));
            assertHolds(cache, 1, cache.last());
        }
    }

    @Test
    void takesRecordsLargerThanItsBuffersAndSegments() throws Exception {
        Records large = new Records(3, 8 << 20);
        try (WriteSetCache cache = open(0)) {
            cache.append(large.range(1, 6));
            try (CacheCursor cursor = cache.read(1)) {
                for (long seqno = 1; seqno <= 6; seqno++) {
                    assertThat(cursor.next(Duration.ZERO)).isEqualTo(large.at(seqno));
                }
            }
        }
    }

    @Test
    void comparesWhatIsDeliveredAgain() throws Exception {
        try (WriteSetCache cache = open(0)) {
            cache.append(records.entries(1, 100));
            long last = cache.last();
            cache.append(records.range(40, 60));
            cache.append(records.range(61, 70));
            cache.append(records.entries(71, 100));
            assertThat(cache.last()).isGreaterThan(last);
            assertThat(cache.stats().redelivered()).isEqualTo(last - 39);
            assertHolds(cache, 1, cache.last());
            Certified c = records.at(50);
            Certified other = new Certified(
                    50,
                    c.passed() ? Verdict.CONFLICT : Verdict.PASSED,
                    c.conflictsWith(),
                    c.dependsOn(),
                    c.position(),
                    c.lastOfEntry(),
                    c.writeSet());
            assertCode(ErrorCode.STATE_DIVERGED, () -> cache.append(List.of(other)));
        }
    }

    @Test
    void refusesASeqnoOutOfOrder() throws Exception {
        try (WriteSetCache cache = open(0)) {
            cache.append(records.range(1, 3));
            assertThatThrownBy(() -> cache.append(records.range(5, 6))).isInstanceOf(IllegalArgumentException.class);
            assertHolds(cache, 1, 3);
        }
    }

    @Test
    void deletesTheOldestSegmentsThatNobodyNeeds() throws Exception {
        try (WriteSetCache cache = open(4096, 16384, 0)) {
            for (int i = 0; i < 100; i++) {
                cache.append(records.entries(cache.last() + 1, 5));
            }
            assertThat(cache.first()).as("nobody said what he needs").isEqualTo(1);
            cache.retain(200);
            assertThat(cache.first()).isBetween(150L, 200L);
            cache.retain(cache.last());
            assertThat(cache.stats().bytes()).isLessThanOrEqualTo(16384);
            assertHolds(cache, cache.first(), cache.last());
            assertCode(ErrorCode.CACHE_PASSED, () -> cache.read(cache.first() - 1));
            cache.force();
        }
        try (WriteSetCache cache = open(4096, 16384, 500)) {
            assertThat(cache.first()).isGreaterThan(1);
            assertHolds(cache, cache.first(), cache.last());
            long gone = cache.first() - 1;
            assertThatThrownBy(() -> cache.read(gone))
                    .as("also after a restart")
                    .hasMessageContaining(
                            "and held it until " + LocalDate.now(ZoneOffset.UTC).getYear());
        }
    }

    @Test
    void aCursorThatFallsBehindReadsToItsSegmentsEndAndFails() throws Exception {
        try (WriteSetCache cache = open(4096, 16384, 0)) {
            cache.append(records.entries(1, 5));
            CacheCursor cursor = cache.read(1);
            assertThat(cursor.next(Duration.ZERO)).isEqualTo(records.at(1));
            while (cache.first() < 100) {
                cache.append(records.entries(cache.last() + 1, 5));
                cache.retain(cache.last());
            }
            assertCode(ErrorCode.CACHE_PASSED, () -> {
                while (true) {
                    assertThat(cursor.next(Duration.ZERO)).isNotNull();
                }
            });
            cursor.close();
            assertThat(cache.stats().cursors()).isZero();
        }
    }

    @Test
    void goesOnElsewhereAfterAReset() throws Exception {
        try (WriteSetCache cache = open(0)) {
            cache.append(records.entries(1, 100));
            CacheCursor cursor = cache.read(50);
            cache.reset(1001);
            assertThatThrownBy(() -> cursor.next(Duration.ZERO)).isInstanceOf(IOException.class);
            cursor.close();
            assertThat(cache.first()).isEqualTo(1001);
            assertThat(cache.last()).isEqualTo(1000);
            cache.append(records.entries(1001, 50));
            assertHolds(cache, 1001, cache.last());
        }
        try (WriteSetCache cache = open(1050)) {
            assertThat(cache.first()).isEqualTo(1001);
            assertHolds(cache, 1001, cache.last());
        }
    }

    @Test
    void manyCursorsFollowTheEnd() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(6);
        try (WriteSetCache cache = open(0)) {
            List<Future<Long>> readers = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                readers.add(threads.submit(() -> {
                    try (CacheCursor cursor = cache.read(1)) {
                        for (long seqno = 1; seqno <= 5000; seqno++) {
                            Certified c = cursor.next(LONG);
                            if (!records.at(seqno).equals(c)) {
                                throw new AssertionError("seqno " + seqno + ": " + c);
                            }
                        }
                        return cursor.nextSeqno();
                    }
                }));
            }
            while (cache.last() < 5000) {
                cache.append(records.entries(cache.last() + 1, 1 + (int) (cache.last() % 7)));
                if (cache.last() % 100 == 0) {
                    cache.force();
                }
            }
            for (Future<Long> reader : readers) {
                assertThat(reader.get()).isEqualTo(5001);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void anInterruptOfAReaderHarmsNobodyElse() throws Exception {
        try (WriteSetCache cache = open(0)) {
            cache.append(records.entries(1, 10));
            CacheCursor cursor = cache.read(1);
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> cursor.next(LONG)).isInstanceOf(InterruptedException.class);
            cursor.close();
            Thread.currentThread().interrupt();
            cache.append(records.entries(cache.last() + 1, 10));
            assertThat(Thread.interrupted()).isTrue();
            Thread.currentThread().interrupt();
            cache.force();
            assertThat(Thread.interrupted()).isTrue();
            assertHolds(cache, 1, cache.last());
        }
    }

    @Test
    void aWaitingCursorFailsWhenTheCacheIsClosed() throws Exception {
        WriteSetCache cache = open(0);
        CacheCursor cursor = cache.read(1);
        CompletableFuture<Certified> waiting = new CompletableFuture<>();
        Thread reader = new Thread(() -> {
            try {
                waiting.complete(cursor.next(LONG));
            } catch (IOException | InterruptedException | RuntimeException e) {
                waiting.completeExceptionally(e);
            }
        });
        reader.start();
        cache.close();
        assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(IOException.class);
        reader.join();
        cursor.close();
    }

    @Test
    void isOpenInOnePlaceOnly() throws Exception {
        try (WriteSetCache cache = open(0)) {
            assertThat(cache.last()).isZero();
            assertCode(ErrorCode.CONFIGURATION, () -> open(0));
        }
        open(0).close();
    }

    @Test
    void refusesSegmentsOfAnotherIncarnation() throws Exception {
        fill(10);
        CacheSettings other = CacheSettings.of(directory, new UUID(9, 9));
        assertCode(ErrorCode.CACHE_CORRUPT, () -> WriteSetCache.open(other, 0));
    }

    @Test
    void goesOnBehindASegmentThatWasMovedAway() throws Exception {
        fill(300);
        List<Path> files = segments();
        Files.delete(files.get(3));
        try (WriteSetCache cache = open(300)) {
            assertThat(cache.first()).isGreaterThan(4);
            assertHolds(cache, cache.first(), cache.last());
        }
        assertThat(segments()).hasSize(files.size() - 4);
        assertThat(files.get(0).resolveSibling(files.get(0).getFileName() + ".unlinked"))
                .exists();
    }

    @Test
    void cutsAtAHoleThatNothingDurableLiesBehind() throws Exception {
        fill(300);
        List<Path> files = segments();
        Files.delete(files.get(3));
        try (WriteSetCache cache = open(1)) {
            assertThat(cache.first()).isEqualTo(1);
            long last = cache.last();
            assertThat(last).isBetween(3L, 100L);
            cache.append(records.entries(last + 1, 200));
            assertHolds(cache, 1, cache.last());
        }
    }

    @Test
    void refusesToBeShorterThanItWasDurable() throws Exception {
        fill(300);
        List<Path> files = segments();
        Files.delete(files.get(files.size() - 1));
        assertCode(ErrorCode.CACHE_CORRUPT, () -> open(300));
        assertCode(ErrorCode.CACHE_CORRUPT, () -> open(300));
    }

    @Test
    void isAWriteSetLog() throws Exception {
        try (WriteSetLog cache = open(0)) {
            cache.append(records.entries(1, 1));
            cache.force();
            try (WriteSetLog.Cursor cursor = cache.read(1)) {
                assertThat(cursor.next(Duration.ZERO)).isEqualTo(records.at(1));
            }
        }
    }

    @Test
    void forgetsWhatIsTooOldAndTellsWhatComesAfterASeqno() throws Exception {
        Records some = new Records(5, 2000);
        CacheSettings settings =
                new CacheSettings(directory.resolve("aged"), new UUID(1, 1), 64 << 10, 1 << 30, Duration.ofHours(1));
        try (WriteSetCache cache = WriteSetCache.open(settings, 0)) {
            for (long at = 1; at <= 1000; at += 10) {
                cache.append(some.range(at, at + 9));
            }
            long all = cache.stats().bytes();
            assertThat(cache.bytesAfter(0)).isEqualTo(all);
            assertThat(cache.bytesAfter(500)).isBetween(all / 3, all * 2 / 3);
            assertThat(cache.bytesAfter(1000)).isLessThan(all / 5);
            cache.retain(900);
            assertThat(cache.first()).as("nothing is old").isEqualTo(1);
            try (var files = Files.list(settings.directory())) {
                for (Path file :
                        files.filter(f -> !f.endsWith("lock")).sorted().limit(5).toList()) {
                    Files.setLastModifiedTime(file, FileTime.fromMillis(System.currentTimeMillis() - 3_700_000));
                }
            }
            cache.retain(900);
            assertThat(cache.first()).isBetween(50L, 900L);
        }
    }
}
