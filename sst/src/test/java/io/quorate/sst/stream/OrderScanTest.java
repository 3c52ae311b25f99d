// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.BinlogEvents;
import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.Keys;
import io.quorate.core.LogPosition;
import io.quorate.core.TableName;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSet.Kind;
import io.quorate.core.WriteSetLog;
import io.quorate.core.binlog.Upserts.Rule;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class OrderScanTest {
    private static final UUID DONOR = new UUID(0, 1);
    private static final UUID OTHER = new UUID(0, 2);
    private static final Unit PIECES_OF_A = new Unit(0, List.of(new TableName("s", "a")), false);
    private static final Unit WHOLE_A = new Unit(0, List.of(new TableName("s", "a")), true);
    private static final Unit WHOLE_B = new Unit(1, List.of(new TableName("s", "b")), true);

    private final Log log = new Log();

    /** What was ordered, in memory. */
    private static final class Log implements WriteSetLog {
        private final List<Certified> records = new ArrayList<>();
        private long first = 1;

        private void add(UUID source, long number, Kind kind, boolean passed, String table) {
            add(source, number, kind, passed, table, records.size());
        }

        private void add(UUID source, long number, Kind kind, boolean passed, String table, long lastSeen) {
            long seqno = records.size() + 1L;
            byte[] payload = table == null ? new byte[0] : map(table);
            WriteSet w = new WriteSet(new Gtid(source, number), lastSeen, 0, kind, Keys.NONE, payload);
            records.add(new Certified(
                    seqno, passed ? Verdict.PASSED : Verdict.CONFLICT, 0, 0, new LogPosition(1, seqno), true, w));
        }

        @Override
        public long first() {
            return first;
        }

        @Override
        public long last() {
            return records.size();
        }

        @Override
        public void append(List<Certified> batch) {
            records.addAll(batch);
        }

        @Override
        public void force() {}

        @Override
        public Cursor read(long seqno) throws IOException {
            if (seqno < first) {
                throw new IOException("seqno " + seqno + " is not held");
            }
            return new Cursor() {
                private int next = (int) seqno - 1;

                @Override
                public Certified next(Duration timeout) {
                    return next < records.size() ? records.get(next++) : null;
                }

                @Override
                public void close() {}
            };
        }

        @Override
        public void close() {}
    }

    /** A TABLE_MAP of schema s. */
    private static byte[] map(String table) {
        ByteBuffer body = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
        body.putInt(1).putShort((short) 0).putShort((short) 1);
        body.put((byte) 1).put((byte) 's').put((byte) 0);
        body.put((byte) table.length())
                .put(table.getBytes(StandardCharsets.US_ASCII))
                .put((byte) 0);
        body.put((byte) 1).put((byte) 3).put((byte) 0).put((byte) 0);
        int length = BinlogEvents.HEADER_BYTES + body.position();
        ByteBuffer event = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        event.putInt(0)
                .put((byte) BinlogEvents.TABLE_MAP)
                .putInt(1)
                .putInt(length)
                .putInt(0)
                .putShort((short) 0);
        return event.put(body.flip()).array();
    }

    private OrderScan scanned(int keptMax) throws Exception {
        OrderScan scan = new OrderScan(log, 0, w -> w.gtid().source().equals(OTHER), keptMax);
        scan.advance(log.last());
        return scan;
    }

    private static Moment moment(long applied, long own, Long... undone) {
        return new Moment(DONOR, applied, own, List.of(undone));
    }

    /** A statement has renamed the table before the copy began, and its rows are in the unit of the new name. */
    @Test
    void whatFailedMayNameItsTableAsThatWasCalledBeforeTheCopyBegan() throws Exception {
        log.add(OTHER, 1, Kind.DDL, true, null);
        log.add(DONOR, 7, Kind.ROWS, false, "a", 0);
        log.add(DONOR, 8, Kind.ROWS, false, "a", 1);
        OrderScan scan = new OrderScan(log, 1, w -> true);
        scan.advance(3);
        assertThat(scan.isSpoilt(WHOLE_B, new Moment(DONOR, 1, 7, List.of()))).isTrue();
        assertThat(scan.isSpoilt(WHOLE_B, new Moment(DONOR, 1, 8, List.of(7L)))).isFalse();
        assertThat(scan.isSpoilt(WHOLE_A, new Moment(DONOR, 1, 8, List.of(7L)))).isTrue();
    }

    @Test
    void aPieceIsSpoiltByAFailedTransactionThatItsDonorMayStillShow() throws Exception {
        log.add(DONOR, 1, Kind.ROWS, true, "a");
        log.add(DONOR, 2, Kind.ROWS, false, "a");
        OrderScan scan = scanned(10);
        assertThat(scan.isSpoilt(PIECES_OF_A, moment(1, 2))).isTrue();
        assertThat(scan.isSpoilt(PIECES_OF_A, moment(2, 2)))
                .as("undone when it is applied")
                .isFalse();
        assertThat(scan.isSpoilt(PIECES_OF_A, moment(1, 1)))
                .as("not committed by then")
                .isFalse();
        assertThat(scan.isSpoilt(PIECES_OF_A, moment(1, 2, 2L)))
                .as("undone already")
                .isFalse();
        assertThat(scan.isSpoilt(WHOLE_B, moment(1, 2))).as("of another table").isFalse();
        assertThat(scan.isSpoilt(PIECES_OF_A, new Moment(OTHER, 1, 2, List.of())))
                .as("of another server")
                .isFalse();
    }

    @Test
    void aTransactionThatWasPreparedSpoilsOnlyWhatCannotBeOverwritten() throws Exception {
        log.add(DONOR, 1, Kind.PREPARED, true, "a");
        OrderScan scan = scanned(10);
        assertThat(scan.isSpoilt(WHOLE_A, moment(0, 1))).isTrue();
        assertThat(scan.isSpoilt(PIECES_OF_A, moment(0, 1))).isFalse();
    }

    @Test
    void aFailedStatementSpoilsEverything() throws Exception {
        log.add(DONOR, 1, Kind.DDL, false, null);
        assertThat(scanned(10).isSpoilt(WHOLE_B, moment(0, 1))).isTrue();
    }

    @Test
    void knowsTheFirstStatementOnTablesAndWhetherThereWereOthers() throws Exception {
        log.add(DONOR, 1, Kind.DDL, true, null);
        log.add(OTHER, 1, Kind.DDL, true, null);
        log.add(DONOR, 2, Kind.DDL, true, null);
        log.add(OTHER, 2, Kind.DDL, true, null);
        OrderScan scan = scanned(10);
        assertThat(scan.firstOfTables()).isEqualTo(2);
        assertThat(scan.firstOfOthers()).isEqualTo(1);
        assertThat(scan.hasOthersAfter(2)).isTrue();
        assertThat(scan.hasOthersAfter(3)).isFalse();
    }

    @Test
    void keepsABoundedNumberHoweverManyArePreparedMeanwhile() throws Exception {
        for (int i = 1; i <= 100_000; i++) {
            log.add(DONOR, i, Kind.PREPARED, true, "a");
        }
        OrderScan scan = new OrderScan(log, 0, w -> true);
        scan.advance(log.last());
        assertThat(scan.kept()).isLessThanOrEqualTo(20_000);
        assertThat(scan.isSpoilt(WHOLE_A, moment(99_999, 100_000))).isTrue();
        assertThat(scan.isSpoilt(WHOLE_A, moment(10, 11)))
                .as("let go, and read again")
                .isTrue();
        assertThat(scan.isSpoilt(WHOLE_A, moment(10, 10)))
                .as("nothing of it committed by then")
                .isFalse();
    }

    @Test
    void whatTheLogNoLongerHasIsNotTakenForClear() throws Exception {
        LongStream.rangeClosed(1, 20).forEach(i -> log.add(DONOR, i, Kind.PREPARED, true, "a"));
        OrderScan scan = scanned(5);
        log.first = 12;
        assertThatThrownBy(() -> scan.isSpoilt(WHOLE_A, moment(10, 10))).hasMessageContaining("seqno 11");
    }

    @Test
    void saysTheSameHoweverFewItKeeps() throws Exception {
        for (long seed = 1; seed <= 50; seed++) {
            Random random = new Random(seed);
            log.records.clear();
            long[] numbers = new long[2];
            for (int i = 0; i < 200; i++) {
                int source = random.nextInt(2);
                Kind kind = Kind.values()[random.nextInt(3)];
                String table = kind == Kind.DDL ? null : random.nextBoolean() ? "a" : "b";
                log.add(source == 0 ? DONOR : OTHER, ++numbers[source], kind, random.nextInt(4) > 0, table);
            }
            OrderScan all = scanned(1000);
            OrderScan few = scanned(1 + random.nextInt(20));
            for (int i = 0; i < 200; i++) {
                Moment moment = moment(random.nextInt(200), random.nextInt(110), (long) random.nextInt(110));
                for (Unit unit : List.of(PIECES_OF_A, WHOLE_A, WHOLE_B)) {
                    assertThat(few.isSpoilt(unit, moment))
                            .as("seed %d, %s, %s", seed, unit, moment)
                            .isEqualTo(all.isSpoilt(unit, moment));
                }
            }
        }
    }

    @Test
    void whatWasReadAsAWholeGetsEachWritesetOnce() {
        for (int i = 0; i < 3; i++) {
            log.add(OTHER, i + 1, Kind.ROWS, true, "a");
        }
        log.add(DONOR, 7, Kind.ROWS, true, "a");
        log.add(DONOR, 8, Kind.ROWS, true, "a");
        Moment read = new Moment(DONOR, 2, 7, List.of());
        assertThat(log.records.stream().map(c -> WHOLE_A.rule(c, read)))
                .containsExactly(Rule.SKIP, Rule.SKIP, Rule.AS_IS, Rule.SKIP, Rule.AS_IS);
        assertThat(log.records.stream().map(c -> PIECES_OF_A.rule(c, read))).allMatch(rule -> rule == Rule.OVERWRITE);
    }

    @Test
    void aServerShowsWhatItsOwnClientsHaveDoneInVainUntilItIsUndone() {
        log.add(OTHER, 1, Kind.DDL, false, null);
        log.add(DONOR, 7, Kind.DDL, true, null);
        log.add(DONOR, 8, Kind.DDL, false, null);
        Certified others = log.records.get(0);
        Certified passed = log.records.get(1);
        Certified failed = log.records.get(2);
        Moment moment = new Moment(DONOR, 0, 8, List.of());
        assertThat(moment.mayShow(others)).isFalse();
        assertThat(moment.mayShow(passed)).isFalse();
        assertThat(moment.mayShow(failed)).isTrue();
        assertThat(new Moment(DONOR, 0, 7, List.of()).mayShow(failed))
                .as("before it")
                .isFalse();
        assertThat(new Moment(DONOR, 3, 8, List.of()).mayShow(failed))
                .as("after its place")
                .isFalse();
        assertThat(new Moment(DONOR, 0, 8, List.of(8L)).mayShow(failed))
                .as("undone")
                .isFalse();
    }
}
