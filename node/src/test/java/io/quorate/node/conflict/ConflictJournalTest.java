// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.conflict;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.Keys;
import io.quorate.core.LogPosition;
import io.quorate.core.OriginPosition;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import io.quorate.core.answer.ConflictsAnswer.Mismatch;
import io.quorate.node.config.NodeProperties;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.util.unit.DataSize;
import tools.jackson.databind.json.JsonMapper;

@Timeout(30)
class ConflictJournalTest {
    private static final UUID ORIGIN = new UUID(0, 1);

    @TempDir
    Path directory;

    private final AtomicLong at = new AtomicLong();

    /**
     * A record with seqnos from 1, every second of which failed. Reading it may be held up, and it may forget its
     * beginning.
     */
    private static class Losers implements WriteSetLog {
        private final long last;
        private final CountDownLatch held;
        private volatile long first = 1;

        Losers(long last, CountDownLatch held) {
            this.last = last;
            this.held = held;
        }

        @Override
        public long first() {
            return first;
        }

        @Override
        public long last() {
            return last;
        }

        @Override
        public void append(List<Certified> batch) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void force() {}

        @Override
        public Cursor read(long seqno) {
            return new Cursor() {
                private long next = seqno;

                @Override
                public Certified next(Duration timeout) throws InterruptedException {
                    held.await();
                    return next > last ? null : record(next++);
                }

                @Override
                public void close() {}
            };
        }

        Certified record(long seqno) {
            return record(seqno, new WriteSet(gtid(seqno), 0, 0, WriteSet.Kind.ROWS, Keys.NONE, new byte[0]));
        }

        static Certified record(long seqno, WriteSet w) {
            return new Certified(
                    seqno, seqno % 2 == 0 ? Verdict.TOO_OLD : Verdict.PASSED, 0, 0, new LogPosition(1, seqno), true, w);
        }

        @Override
        public void close() {}
    }

    private ConflictJournal open() throws Exception {
        return open(null);
    }

    private ConflictJournal open(WriteSetLog cache) throws Exception {
        return open(cache, DataSize.ofMegabytes(64), 0);
    }

    /** @param ordered seqno and, of the only origin, GTID number up to which the order has come */
    private ConflictJournal open(WriteSetLog cache, DataSize bytesMax, long ordered) throws Exception {
        ConflictJournal journal = new ConflictJournal(
                directory,
                new NodeProperties.Conflicts(bytesMax, Duration.ofDays(1), List.of()),
                cache,
                JsonMapper.shared(),
                new SimpleMeterRegistry(),
                (w, hashes) -> Map.of(),
                (thread, cause) -> {});
        at.set(ordered);
        journal.begin(
                () -> new JournalReach.Mark(
                        at.get(), Map.of(ORIGIN, new OriginPosition(at.get(), at.get(), new long[0]))),
                at::get);
        return journal;
    }

    private static Gtid gtid(long number) {
        return new Gtid(ORIGIN, number);
    }

    @Test
    void keepsWhatAnUndoFoundChanged() throws Exception {
        try (ConflictJournal journal = open()) {
            assertThat(journal.mismatches()).isEmpty();
            journal.mismatch("left with {a=1} and holds {a=2}");
        }
        Files.writeString(directory.resolve("mismatches.jsonl"), "{\"at\":\"cut sh", StandardOpenOption.APPEND);
        try (ConflictJournal journal = open()) {
            journal.mismatch("left with {a=3} and holds {a=4}");
            assertThat(journal.mismatches())
                    .extracting(Mismatch::what)
                    .containsExactly("left with {a=1} and holds {a=2}", "left with {a=3} and holds {a=4}");
            assertThat(journal.latest(10)).isEmpty();
        }
    }

    private static List<Long> written(ConflictJournal journal, int count) throws Exception {
        List<Long> seqnos = List.of();
        while (seqnos.size() < count) {
            Thread.sleep(20);
            seqnos = journal.latest(Integer.MAX_VALUE).stream()
                    .map(Conflict::seqno)
                    .sorted()
                    .toList();
        }
        return seqnos;
    }

    private static List<Long> evenUpTo(long last) {
        return LongStream.rangeClosed(1, last / 2).map(i -> 2 * i).boxed().toList();
    }

    @Test
    void writesWhatFailsInOrder() throws Exception {
        try (ConflictJournal journal = open(new Losers(20, new CountDownLatch(0)))) {
            journal.failed(2);
            journal.failed(4);
            journal.lookBack(20);
            assertThat(written(journal, 10)).isEqualTo(evenUpTo(20));
            journal.failed(20);
            journal.lookBack(20);
        }
        try (ConflictJournal journal = open(new Losers(22, new CountDownLatch(0)))) {
            journal.failed(20);
            journal.failed(22);
            assertThat(written(journal, 11)).as("none twice").isEqualTo(evenUpTo(22));
        }
    }

    @Test
    void theLatestAreThoseOfTheFilesAlsoWhereTheyAreRemembered() throws Exception {
        int many = 2 * ConflictJournal.RECENT_MAX;
        try (ConflictJournal journal = open(new Losers(2L * many, new CountDownLatch(0)))) {
            assertThat(journal.latest(3)).isEmpty();
            journal.lookBack(2L * many);
            written(journal, many);
            List<Conflict> all = journal.latest(Integer.MAX_VALUE);
            assertThat(journal.latest(3)).isEqualTo(all.subList(0, 3));
            assertThat(journal.latest(ConflictJournal.RECENT_MAX))
                    .isEqualTo(all.subList(0, ConflictJournal.RECENT_MAX));
        }
        try (ConflictJournal journal = open(new Losers(2L * many, new CountDownLatch(0)))) {
            assertThat(journal.latest(3))
                    .isEqualTo(journal.latest(Integer.MAX_VALUE).subList(0, 3));
        }
    }

    @Test
    void writesAnewWhatACrashCutShort() throws Exception {
        Losers losers = new Losers(6, new CountDownLatch(0));
        try (ConflictJournal journal = open(losers)) {
            journal.lookBack(4);
            assertThat(written(journal, 2)).isEqualTo(evenUpTo(4));
        }
        Path file;
        try (Stream<Path> files = Files.list(directory)) {
            file = files.filter(each -> each.toString().endsWith(".jsonl"))
                    .findFirst()
                    .orElseThrow();
        }
        String whole = Files.readString(file);
        Files.writeString(file, whole.substring(0, whole.length() - 20));
        try (ConflictJournal journal = open(losers)) {
            journal.lookBack(6);
            assertThat(written(journal, 3)).isEqualTo(evenUpTo(6));
        }
    }

    /** It was written again behind it, under the same seqno. */
    @Test
    void findsWhatIsBehindALineThatACrashCutShort() throws Exception {
        Losers losers = new Losers(4, new CountDownLatch(0));
        try (ConflictJournal journal = open(losers)) {
            journal.lookBack(4);
            written(journal, 2);
        }
        Path file = directory.resolve("conflicts-%020d.jsonl".formatted(2));
        String whole = Files.readString(file);
        Files.writeString(file, "{\"seqno\":4,\"loser\":{\"gtid\":\"" + gtid(4) + "\",\"ver\n" + whole);
        try (ConflictJournal journal = open(losers)) {
            assertThat(journal.find(4).seqno()).isEqualTo(4);
            assertThat(journal.find(gtid(4)).seqno()).isEqualTo(4);
            assertThat(journal.find(6)).isNull();
        }
    }

    /** Who isn't in the journal has won only if it was decided while the journal was complete. */
    @Test
    void knowsFromWhereOnItIsComplete() throws Exception {
        Losers losers = new Losers(300, new CountDownLatch(0));
        try (ConflictJournal journal = open(losers, DataSize.ofMegabytes(64), 0)) {
            at.set(20);
            journal.lookBack(20);
            assertThat(journal.awaitWritten(20, Duration.ofSeconds(20))).isTrue();
            assertThat(journal.isBefore(gtid(1))).isFalse();
        }
        // It goes on where it was, also where the cache has lost since what was looked at.
        losers.first = 15;
        try (ConflictJournal journal = open(losers, DataSize.ofMegabytes(64), 30)) {
            journal.lookBack(30);
            assertThat(journal.awaitWritten(30, Duration.ofSeconds(20))).isTrue();
            assertThat(journal.isBefore(gtid(1))).isFalse();
            assertThat(written(journal, 15)).isEqualTo(evenUpTo(30));
            // What came by a copy isn't in the cache.
            losers.first = 101;
            at.set(200);
            journal.lookBack(200);
            assertThat(journal.awaitWritten(200, Duration.ofSeconds(20))).isTrue();
            assertThat(journal.isBefore(gtid(200))).isTrue();
            assertThat(journal.isBefore(gtid(201))).isFalse();
        }
        try (ConflictJournal journal = open(losers, DataSize.ofMegabytes(64), 200)) {
            assertThat(journal.isBefore(gtid(200))).as("remembered").isTrue();
            assertThat(journal.isBefore(gtid(201))).isFalse();
        }
    }

    @Test
    void isCompleteNoMoreWhereItHasForgottenItsOldest() throws Exception {
        try (ConflictJournal journal = open(new Losers(400, new CountDownLatch(0)), DataSize.ofBytes(8), 0)) {
            // A file for each.
            for (long seqno = 2; seqno <= 40; seqno += 2) {
                at.set(seqno);
                journal.failed(seqno);
                assertThat(journal.awaitWritten(seqno, Duration.ofSeconds(20))).isTrue();
            }
            assertThat(journal.find(2)).isNull();
            assertThat(journal.isBefore(gtid(2))).isTrue();
            assertThat(journal.find(38)).isNotNull();
            assertThat(journal.isBefore(gtid(39))).isFalse();
            List<Conflict> left = journal.latest(Integer.MAX_VALUE);
            long oldest = left.get(left.size() - 1).seqno();
            assertThat(journal.isBefore(gtid(oldest + 1))).isFalse();
        }
    }

    @Test
    void holdsABoundedNumberWhileItCannotWriteAndLosesNone() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        long last = 2L * (ConflictJournal.WAITING_MAX + 500);
        try (ConflictJournal journal = open(new Losers(last, held))) {
            for (long seqno = 2; seqno < last; seqno += 2) {
                journal.failed(seqno);
            }
            assertThat(journal.waiting()).isLessThanOrEqualTo(ConflictJournal.WAITING_MAX);
            held.countDown();
            // The queue has room again. The seqnos that found it full are written before this one.
            while (journal.waiting() == ConflictJournal.WAITING_MAX) {
                Thread.onSpinWait();
            }
            journal.failed(last);
            assertThat(written(journal, (int) last / 2)).isEqualTo(evenUpTo(last));
        }
    }

    @Test
    void aLookBackThatFindsNoRoomIsNotLostEither() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        long last = 6000;
        try (ConflictJournal journal = open(new Losers(last, held))) {
            for (int i = 0; i < ConflictJournal.WAITING_MAX + 10; i++) {
                journal.failed(2);
            }
            journal.lookBack(last);
            held.countDown();
            assertThat(written(journal, (int) last / 2)).isEqualTo(evenUpTo(last));
        }
    }

    /** Under the places that they had, and the definition under that of the verdict. */
    @Test
    void writesWhatIsVoidByAVerdict() throws Exception {
        Losers losers = new Losers(9, new CountDownLatch(0)) {
            @Override
            Certified record(long seqno) {
                return seqno == 9 ? record(9, WriteSet.voids(3, new long[] {5, 7}, 0)) : super.record(seqno);
            }
        };
        try (ConflictJournal journal = open(losers)) {
            journal.lookBack(8);
            journal.failed(9);
            assertThat(written(journal, 7)).containsExactly(2L, 4L, 5L, 6L, 7L, 8L, 9L);
            assertThat(journal.find(5).verdict()).isEqualTo(Conflict.VOID);
            assertThat(journal.find(5).winner().seqno()).isEqualTo(3);
            assertThat(journal.find(9).loser().seqno()).isEqualTo(3);
            assertThat(journal.find(9).winner()).isNull();
        }
        try (ConflictJournal journal = open(losers)) {
            journal.lookBack(9);
            journal.failed(9);
            assertThat(written(journal, 7)).as("none twice").hasSize(7);
        }
    }
}
