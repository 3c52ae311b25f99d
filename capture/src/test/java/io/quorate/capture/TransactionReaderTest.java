// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.AppliedDdl;
import io.quorate.core.BinlogEvents;
import io.quorate.core.BinlogPosition;
import io.quorate.core.CarriedSetting;
import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.GtidSet;
import io.quorate.core.Keys;
import io.quorate.core.OriginPosition;
import io.quorate.core.Payload;
import io.quorate.core.QuorateException;
import io.quorate.core.ServerTls;
import io.quorate.core.Spool;
import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import io.quorate.core.binlog.PayloadCheck;
import io.quorate.core.binlog.RowSettings;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class TransactionReaderTest {
    private static final UUID SERVER = UUID.fromString("11111111-2222-3333-4444-555555555555");
    private static final UUID OTHER = UUID.fromString("99999999-2222-3333-4444-555555555555");
    private static final byte[] BEGIN = Events.query("BEGIN");
    private static final byte[] TABLE = Events.tableMap(7, "db", "t");

    private final Recorder recorder = new Recorder(10);
    private static final Set<UUID> APPLIED = Set.of(AppliedDdl.source("i"), AppliedDdl.wholeSource("i"));
    private List<String> expressions = List.of();
    private Progress progress =
            new Progress(SERVER, CapturePosition.after(SERVER, new OriginPosition(10, 5, new long[0]), new GtidSet()));
    private TransactionReader reader = reader();

    private static CaptureSettings settings() {
        return CaptureSettings.of("localhost", 3306, "root", "", SERVER, 2).with(ServerTls.LOOPBACK, APPLIED);
    }

    private TransactionReader reader() {
        return reader(settings(), List.of());
    }

    private TransactionReader reader(CaptureSettings settings, List<List<String>> referenced) {
        Definitions oneColumn = new Definitions() {
            @Override
            public TableDefinition definition(TableName name, BinlogPosition at) {
                TableDefinition.Part id = new TableDefinition.Part("id", 0);
                List<TableDefinition.Index> primary = List.of(new TableDefinition.Index("PRIMARY", List.of(id)));
                return new TableDefinition(
                        0, 0, primary, false, List.of(), referenced, List.of(), List.of(), expressions, false);
            }

            @Override
            public List<String> expressions(TableName name) {
                return List.of();
            }

            @Override
            public String engine(TableName name) {
                return "InnoDB";
            }

            @Override
            public boolean areNumberedAlike(TableName name, Statement.Numbering numbering) {
                return false;
            }

            @Override
            public OriginSession session(long id, long second, Set<CarriedSetting> asked) {
                return new OriginSession(Map.of(), true);
            }

            @Override
            public void forget() {
                // Knows nothing else.
            }

            @Override
            public void reread(Collection<TableName> named, Redefined redefined) {
                // Knows nothing else.
            }
        };
        TablePlans plans = new TablePlans(oneColumn, new ComparisonForms(Map.of(), new ServerWeights(), null), true);
        return new TransactionReader(settings, progress, plans, Map.of(), false, Spool.HEAP, recorder, new Counters());
    }

    private List<WriteSet> written() {
        return recorder.entries().stream()
                .map(Recorder.Entry::writeSet)
                .filter(Objects::nonNull)
                .toList();
    }

    private void read(byte[]... events) throws InterruptedException {
        for (byte[] event : events) {
            reader.event(event, 0, event.length);
        }
    }

    private static byte[] gtid(long number) {
        return Events.gtid(SERVER, number);
    }

    private List<Integer> types() {
        assertThat(written()).hasSize(1);
        return CaptureFixture.types(written().get(0));
    }

    @Test
    void putsATransactionTogether() throws Exception {
        read(gtid(11), BEGIN, TABLE, Events.insert(7, false, 1, 2), Events.insert(7, true, 3), Events.xid());
        WriteSet w = written().get(0);
        assertThat(types()).containsExactly(19, 30, 30);
        assertThat(w.keys().size()).isEqualTo(4);
        assertThat(w.lastSeen()).isEqualTo(5);
        assertThat(w.committedMicros()).isEqualTo(1_000_000);
    }

    /** What follows may be left out, such as rows of ours. */
    @Test
    void theLastRowsEndTheirStatementWhateverFollowed() throws Exception {
        read(gtid(11), BEGIN, TABLE, Events.insert(7, false, 1), Events.xid());
        byte[] p = written().get(0).payload().toArray();
        assertThat(BinlogEvents.endsStatement(p, BinlogEvents.length(p, 0))).isTrue();
    }

    /** Nobody can be asked here, as when a client has gone right after its commit. */
    @Test
    void aSessionThatIsGoneIsTakenToHaveKeptItsTimeZone() throws Exception {
        expressions = List.of("from_unixtime(`id`)");
        reader = reader();
        byte[] zoned = new RowSettings(0, -1, "+05:00", 0, -1, -1, null).event();
        read(gtid(11), zoned, TABLE, Events.insert(7, true, 1), Events.xid());
        read(gtid(12), BEGIN, TABLE, Events.insert(7, true, 2), Events.xid());
        for (WriteSet w : recorder.writeSets()) {
            Payload.Events event = w.payload().events();
            event.next();
            assertThat(RowSettings.read(event).timeZone()).isEqualTo("+05:00");
        }
    }

    /** What a savepoint cuts off may be the settings. */
    @Test
    void rowsThatAreComputedComeAfterTheirSettings() throws Exception {
        expressions = List.of("hour(`ts`)");
        reader = reader();
        read(gtid(11), BEGIN, TABLE, Events.insert(7, true, 1), TABLE, Events.insert(7, true, 2), Events.xid());
        assertThat(types()).containsExactly(2, 19, 30, 19, 30);
        recorder.clear();
        read(gtid(12), BEGIN, Events.query("SAVEPOINT `a`"), TABLE, Events.insert(7, true, 1));
        read(Events.query("ROLLBACK TO `a`"), TABLE, Events.insert(7, true, 2), Events.xid());
        assertThat(types()).containsExactly(2, 19, 30);
    }

    @Test
    void cutsBackToASavepointThatTheServerLogged() throws Exception {
        read(gtid(11), BEGIN, TABLE, Events.insert(7, true, 1));
        read(Events.query("SAVEPOINT `a`"), TABLE, Events.insert(7, true, 2));
        read(Events.query("SAVEPOINT `b`"), TABLE, Events.insert(7, true, 3));
        read(Events.query("ROLLBACK TO `a`"), TABLE, Events.insert(7, true, 4), Events.xid());
        assertThat(types()).containsExactly(19, 30, 19, 30);
    }

    @Test
    void leavesNothingOfATransactionThatEndsWithRollback() throws Exception {
        read(gtid(11), BEGIN, TABLE, Events.insert(7, true, 1), Events.query("ROLLBACK"));
        assertThat(recorder.entries()).hasSize(1);
        assertThat(written()).isEmpty();
    }

    @Test
    void endsTheStatementWhereItsLastRowsWereOurs() throws Exception {
        byte[] ours = Events.tableMap(8, "quorate", "journal");
        read(gtid(11), BEGIN, TABLE, ours, Events.insert(7, false, 1), Events.insert(8, true, 1));
        read(TABLE, Events.insert(7, true, 2), Events.xid());
        assertThat(types()).containsExactly(19, 30, 19, 30);
        byte[] p = written().get(0).payload().toArray();
        assertThat(BinlogEvents.endsStatement(p, BinlogEvents.length(p, 0))).isTrue();
    }

    /** The others can't apply it but as one statement. */
    @Test
    void muchAtOnceForAnEngineWithoutTransactionsIsOrderedOnlyToFail() throws Exception {
        int event = Events.insert(7, false, 1).length;
        reader = reader(settings().withLimits(new CaptureSettings.Limits(1 << 20, 2 * event, 100, 0)), List.of());
        read(gtid(11), BEGIN, TABLE, Events.insert(7, false, 1), Events.insert(7, true, 2), Events.xid());
        assertThat(written()).hasSize(1);
        read(gtid(12), BEGIN, TABLE, Events.insert(7, false, 1), Events.insert(7, true, 2), Events.query("COMMIT"));
        assertOnlyTheTableCounts(written().get(1));
    }

    private static void assertOnlyTheTableCounts(WriteSet w) {
        assertThat(w.isDefinition()).isTrue();
        assertThat(w.keys().contains(Keys.NOT_REPEATABLE)).isTrue();
        assertThat(w.keys().toString()).contains("EXCLUSIVE:" + Long.toHexString(KeyNames.table("db", "t")));
        PayloadCheck.require(w);
        assertThat(new DefinedTables(Map.of(), false, Set.of(), Set.of(), Map.of()).of(w))
                .as("its character set")
                .isNull();
        Map<Integer, Collation> utf8 = Map.of(45, new Collation("utf8mb4_general_ci", "utf8mb4", false));
        assertThat(new DefinedTables(utf8, false, Set.of(), Set.of(), Map.of()).of(w))
                .containsExactly(new TableName("db", "t"));
    }

    @Test
    void whatIsTooLargeIsOrderedOnlyToFail() throws Exception {
        byte[] large = Events.insert(7, true, IntStream.range(0, 50).toArray());
        reader =
                reader(settings().withLimits(new CaptureSettings.Limits(1 << 20, large.length - 1, 100, 0)), List.of());
        read(gtid(11), BEGIN, TABLE, Events.insert(7, false, 1), large, Events.insert(7, true, 2), Events.xid());
        assertOnlyTheTableCounts(written().get(0));
        read(gtid(12), BEGIN, TABLE, Events.insert(7, true, 1), Events.xid());
        assertThat(written().get(1).isDefinition()).as("the next one").isFalse();
        reader = reader(settings().withLimits(new CaptureSettings.Limits(200, 1 << 20, 100, 0)), List.of());
        read(gtid(13), BEGIN, TABLE, large, Events.insert(7, true, 2), Events.xid());
        assertOnlyTheTableCounts(written().get(2));
        // Of what was rolled back nothing is left.
        read(gtid(14), BEGIN, TABLE, large, Events.query("ROLLBACK"));
        assertThat(written()).hasSize(3);
    }

    @Test
    void whatIsTooLargeToBeKeptUndecidedIsOrderedOnlyToFail() throws Exception {
        reader = reader(settings().withLimits(new CaptureSettings.Limits(1 << 20, 1 << 20, 100, 50)), List.of());
        byte[] start = Events.query("XA START X'61',X'',1");
        read(gtid(11), start, TABLE, Events.insert(7, true, 1, 2, 3, 4, 5, 6, 7, 8), Events.xaPrepare("a", false));
        read(gtid(12), Events.query("XA COMMIT X'61',X'',1"));
        assertOnlyTheTableCounts(written().get(0));
    }

    /** The order has no number for it; and what comes after it may be built on it. */
    @Test
    void whoHandsOverPassesOverChangesOfOthers() throws Exception {
        reader = reader(settings().handingOver(true), List.of());
        read(gtid(11), BEGIN, TABLE, Events.insert(7, true, 1), Events.xid());
        read(Events.gtid(OTHER, 4), BEGIN, TABLE, Events.insert(7, true, 1), Events.xid());
        read(Events.gtid(OTHER, 5), BEGIN, Events.query("COMMIT"));
        read(gtid(12), BEGIN, TABLE, Events.insert(7, true, 1), Events.xid());
        assertThat(written()).hasSize(2);
        assertThat(written().get(0).keys().contains(Keys.NOT_REPEATABLE)).isFalse();
        assertThat(written().get(1).keys().contains(Keys.NOT_REPEATABLE)).isTrue();
        assertThat(written().get(1).isDefinition()).as("can be taken back").isFalse();
        assertThat(progress.passedOver())
                .isEqualTo(new PassedOver(new GtidSet().add(OTHER, 4, 5), Difference.in(new TableName("db", "t"))));
        read(Events.gtid(OTHER, 6), Events.query("CREATE TABLE db.u (id INT)"));
        assertThat(progress.passedOver().where()).isEqualTo(Difference.ANYWHERE);
    }

    @Test
    void aTransactionWithWhatCantBeReadIsOrderedOnlyToFail() throws Exception {
        byte[] cutShort = Events.event(BinlogEvents.TABLE_MAP, 0, new byte[4]);
        byte[] ofNoTable = Events.insert(9, true, 1);
        byte[] unknown = Events.event(99, 0, new byte[3]);
        long number = 11;
        for (byte[] odd : List.of(cutShort, ofNoTable, unknown)) {
            read(gtid(number++), BEGIN, TABLE, Events.insert(7, true, 1), odd, Events.insert(7, true, 2), Events.xid());
        }
        read(gtid(number), BEGIN, TABLE, Events.insert(7, true, 1), Events.xid());
        assertThat(written()).hasSize(4);
        assertThat(written().subList(0, 3)).allSatisfy(w -> {
            assertThat(w.keys().contains(Keys.NOT_REPEATABLE)).isTrue();
            assertThat(w.keys().touchEverything()).isTrue();
            PayloadCheck.require(w);
            assertThat(new DefinedTables(Map.of(), false, Set.of(), Set.of(), Map.of()).of(w))
                    .isNull();
        });
        assertThat(written().get(3).keys().contains(Keys.NOT_REPEATABLE)).isFalse();
        // Whoever has lost the frame knows nothing any more.
        read(gtid(15), BEGIN);
        assertThatThrownBy(() -> read(gtid(16)))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED_EVENT));
    }

    @Test
    void aStatementThatNobodyKnowsIsOrderedOnlyToFail() throws Exception {
        read(gtid(11), Events.query("FROBNICATE TABLE db.t"));
        read(gtid(12), Events.query("XA COMMIT X'61',X'',1"));
        assertThat(written()).hasSize(2).allSatisfy(w -> {
            assertThat(w.keys().contains(Keys.NOT_REPEATABLE)).isTrue();
            assertThat(w.keys().contains(Keys.EVERYTHING)).isTrue();
            PayloadCheck.require(w);
            assertThat(new DefinedTables(Map.of(), false, Set.of(), Set.of(), Map.of()).of(w))
                    .isNull();
        });
    }

    @Test
    void beyondSoManyKeysRowsStandForTheirTable() throws Exception {
        long table = KeyNames.table("db", "t");
        reader = reader(settings().withLimits(new CaptureSettings.Limits(1 << 20, 1 << 20, 3, 0)), List.of());
        read(gtid(11), BEGIN, TABLE, Events.insert(7, false, 1, 2), Events.insert(7, false, 3, 4));
        read(Events.insert(7, true, 5), Events.xid());
        Keys keys = written().get(0).keys();
        assertThat(keys.size())
                .as("two rows, the table, and that earlier rows matter")
                .isEqualTo(4);
        assertThat(keys.toString()).contains("EXCLUSIVE:" + Long.toHexString(table));
        assertThat(keys.contains(Keys.NO_ROWS_BEFORE)).isTrue();
        assertThat(keys.touchEverything()).isFalse();

        reader = reader(
                settings().withLimits(new CaptureSettings.Limits(1 << 20, 1 << 20, 3, 0)), List.of(List.of("id")));
        read(gtid(12), BEGIN, TABLE, Events.insert(7, false, 1, 2), Events.insert(7, true, 3, 4), Events.xid());
        assertThat(written().get(1).keys().touchEverything())
                .as("rows of other tables may refer to these")
                .isTrue();
    }

    @Test
    void refusesANumberThatIsNotTheNext() throws Exception {
        read(gtid(11), BEGIN, TABLE, Events.insert(7, true, 1), Events.xid());
        for (long number : new long[] {11, 10, 1, 13, 100_000}) {
            reader = reader();
            assertThatThrownBy(() -> read(gtid(number)))
                    .isInstanceOfSatisfying(
                            QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.GTID_OUT_OF_ORDER))
                    .hasMessageContaining(SERVER + ":" + number + " comes after " + SERVER + ":11");
        }
        assertThat(recorder.entries()).hasSize(1);
    }

    @Test
    void passesOverReservedNumbers() throws Exception {
        GtidSet resume = new GtidSet().add(SERVER, 1, 10).add(SERVER, 12, 20);
        progress = new Progress(SERVER, new CapturePosition(resume, new OriginPosition(10, 5, new long[0])));
        reader = reader();
        read(gtid(11), BEGIN, TABLE, Events.insert(7, true, 1), Events.xid());
        read(gtid(21), BEGIN, TABLE, Events.insert(7, true, 1), Events.xid());
        assertThat(recorder.entries()).hasSize(2);
    }

    @Test
    void passesOverEmptyTransactionsOfOthersAndRefusesChanges() throws Exception {
        read(Events.gtid(OTHER, 3), BEGIN, Events.query("COMMIT"));
        assertThat(progress.resume().toString()).contains(OTHER + ":3");
        assertThatThrownBy(() -> read(Events.gtid(OTHER, 4), BEGIN, TABLE, Events.insert(7, true, 1), Events.xid()))
                .isInstanceOfSatisfying(QuorateException.class, e -> {
                    assertThat(e.code()).isEqualTo(ErrorCode.FOREIGN_TRANSACTION);
                    assertThat(e.difference()).isEqualTo(Difference.in(new TableName("db", "t")));
                });
    }

    /** A definition, and what follows it under another GTID: rights that a server would grant by itself. */
    @Test
    void passesOverWhatTheApplierRan() throws Exception {
        for (UUID source : APPLIED) {
            read(Events.gtid(source, 3), Events.query("GRANT EXECUTE ON PROCEDURE d.p TO a"));
            assertThat(progress.resume().toString()).contains(source + ":3");
        }
        assertThat(recorder.entries()).isEmpty();
    }

    @Test
    void keepsAPreparedTransactionThatComesAgain() throws Exception {
        progress = new Progress(
                SERVER, CapturePosition.after(SERVER, new OriginPosition(10, 5, new long[] {4}), new GtidSet()));
        reader = reader();
        assertThat(progress.resume().toString()).isEqualTo(SERVER + ":1-3:5-10");
        byte[] start = Events.query("XA START X'61',X'',1");
        read(gtid(4), start, TABLE, Events.insert(7, true, 1), Events.xaPrepare("a", false));
        assertThat(recorder.entries()).isEmpty();
        assertThat(progress.resume().toString()).isEqualTo(SERVER + ":1-10");
        read(gtid(11), Events.query("XA COMMIT X'61',X'',1"));
        assertThat(types()).containsExactly(19, 30);
        assertThat(recorder.entries().get(0).undecided()).isEmpty();
    }

    @Test
    void missesAPreparedTransactionThatDoesNotComeAgain() {
        progress = new Progress(
                SERVER, CapturePosition.after(SERVER, new OriginPosition(10, 5, new long[] {4}), new GtidSet()));
        reader = reader();
        assertThatThrownBy(() -> read(gtid(11)))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BINLOG_PURGED));
    }

    @Test
    void refusesWhatItDoesNotKnow() {
        for (byte[] event : List.of(
                Events.event(EventType.INCIDENT, 0, new byte[4]),
                Events.event(EventType.GTID_TAGGED, 0, new byte[30]),
                Events.event(34, 0, new byte[30]),
                Events.event(36, 0, new byte[30]),
                Events.event(99, 0))) {
            reader = reader();
            assertThatThrownBy(() -> read(event))
                    .isInstanceOfSatisfying(
                            QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED_EVENT));
        }
        for (int type :
                new int[] {BinlogEvents.INTVAR, BinlogEvents.RAND, BinlogEvents.USER_VAR, EventType.BEGIN_LOAD_QUERY}) {
            assertThatThrownBy(() -> read(Events.event(type, 0, new byte[30])))
                    .isInstanceOfSatisfying(
                            QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED_EVENT));
        }
    }

    @Test
    void aStatementThatChangesRowsIsOrderedOnlyToFail() throws Exception {
        byte[] id = Events.event(BinlogEvents.INTVAR, 0, new byte[] {1, 42, 0, 0, 0, 0, 0, 0, 0});
        read(gtid(11), Events.query("BEGIN"), id, Events.query("REPLACE INTO db.t SELECT 1"), Events.query("COMMIT"));
        read(
                gtid(12),
                Events.query("BEGIN"),
                Events.query("SAVEPOINT `x`"),
                Events.query("DELETE FROM db.t"),
                Events.query("ROLLBACK TO `x`"),
                Events.query("UPDATE db.u SET a = 1"),
                Events.query("COMMIT"));
        List<WriteSet> written = written();
        assertThat(written).hasSize(2).allSatisfy(w -> {
            assertThat(w.isDefinition()).isTrue();
            assertThat(w.keys().contains(Keys.NOT_REPEATABLE)).isTrue();
            assertThat(w.keys().contains(Keys.EVERYTHING)).isTrue();
            PayloadCheck.require(w);
        });
        DefinedTables defined = new DefinedTables(Map.of(), false, Set.of(), Set.of(), Map.of());
        assertThat(defined.of(written.get(0))).containsExactly(new TableName("db", "t"));
        assertThat(defined.of(written.get(1))).as("several statements").isNull();
    }

    @Test
    void soIsOneOfXa() throws Exception {
        read(gtid(11), Events.query("XA START X'61',X'',1"), Events.query("DELETE FROM db.t"));
        read(Events.query("XA END X'61',X'',1"), Events.xaPrepare("a", false));
        read(gtid(12), Events.query("XA COMMIT X'61',X'',1"));
        assertThat(written()).singleElement().satisfies(w -> {
            assertThat(w.isDefinition()).isTrue();
            assertThat(w.keys().contains(Keys.NOT_REPEATABLE)).isTrue();
            PayloadCheck.require(w);
            assertThat(new DefinedTables(Map.of(), false, Set.of(), Set.of(), Map.of()).of(w))
                    .containsExactly(new TableName("db", "t"));
        });
    }

    @Test
    void aDefinitionComesWithWhatItUsesOfItsSession() throws Exception {
        byte[] id = Events.event(BinlogEvents.INTVAR, 0, new byte[] {1, 42, 0, 0, 0, 0, 0, 0, 0});
        byte[] event = Events.query("CREATE EVENT e ON SCHEDULE EVERY LAST_INSERT_ID() HOUR DO SET @x = 1");
        read(gtid(11), id, event);
        assertThat(written()).singleElement().satisfies(w -> {
            assertThat(w.isDefinition()).isTrue();
            assertThat(w.payload().size()).isEqualTo(id.length + event.length);
            assertThat(w.payload().statement().position()).isEqualTo(id.length);
            PayloadCheck.require(w);
        });
        // Of one that isn't replicated, nothing is left for the next.
        read(gtid(12), id, Events.query("DROP TEMPORARY TABLE t"));
        read(gtid(13), BEGIN, TABLE, Events.insert(7, true, 1), Events.xid());
        assertThat(written()).hasSize(2);
        assertThat(written().get(1).payload().size()).isEqualTo(TABLE.length + Events.insert(7, true, 1).length);
    }

    @Test
    void aDefinitionUnderUnknownSettingsIsNotRepeatable() throws Exception {
        byte[] text = "db\0CREATE VIEW v AS SELECT 1".getBytes(StandardCharsets.UTF_8);
        read(gtid(11), Events.event(2, 0, new byte[8], new byte[] {2, 0, 0, 2, 0, 99, 1}, text));
        assertThat(written()).singleElement().satisfies(w -> assertThat(w.keys().contains(Keys.NOT_REPEATABLE))
                .isTrue());
    }

    @Test
    void whatEachServerHasForItselfStaysThere() throws Exception {
        read(gtid(11), Events.query("ALTER TABLE mysql.slow_log ENGINE = MyISAM"));
        read(gtid(12), Events.query("TRUNCATE mysql.time_zone_name"));
        byte[] zones = Events.tableMap(7, "mysql", "time_zone");
        read(gtid(13), BEGIN, zones, Events.insert(7, true, 1), Events.xid());
        assertThat(written()).isEmpty();
        read(gtid(14), BEGIN, Events.tableMap(8, "mysql", "user"), Events.insert(8, true, 1), Events.xid());
        assertThat(written()).hasSize(1);
    }

    @Test
    void passesOverUnknownEventsThatSayTheyMayBe() throws Exception {
        read(Events.event(99, EventType.IGNORABLE_FLAG, new byte[3]));
        assertThat(recorder.entries()).isEmpty();
    }

    @Test
    @Timeout(120)
    void failsOnDamagedEventsInAKnownWay() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<byte[]> whole = List.of(
                gtid(11), BEGIN, TABLE, Events.insert(7, true, 1, 2), Events.query("SAVEPOINT `a`"), Events.xid());
        List<byte[]> marker = List.of(
                gtid(11), BEGIN, Events.tableMap(8, "quorate", "position"), Events.insert(8, true, 1), Events.xid());
        for (int i = 0; i < 5000; i++) {
            reader = reader();
            for (byte[] event : i % 4 == 0 ? marker : whole) {
                byte[] damaged = event.clone();
                if (random.nextInt(3) == 0) {
                    damaged[19 + random.nextInt(damaged.length - 19)] = (byte) random.nextInt();
                }
                if (random.nextInt(9) == 0) {
                    damaged = Arrays.copyOf(damaged, 19 + random.nextInt(damaged.length - 18));
                }
                try {
                    read(damaged);
                } catch (QuorateException | IndexOutOfBoundsException | UnsupportedOperationException expected) {
                    break;
                } catch (IllegalStateException fromRecorder) {
                    break;
                } catch (RuntimeException | InterruptedException e) {
                    throw new AssertionError("seed " + seed + ", round " + i, e);
                }
            }
        }
    }
}
