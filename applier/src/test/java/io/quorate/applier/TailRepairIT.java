// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.Certified;
import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.GtidSet;
import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import io.quorate.sandbox.MySqlServer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A server that has, of its own transactions after its position, any first part: what a crash without forced logs
 * leaves.
 */
@Timeout(400)
class TailRepairIT {
    private static final String INCARNATION = "11111111-2222-3333-4444-555555555555";
    private static final int TRANSACTIONS = 24;
    private static final int LOSERS = 4;

    private static MySqlServer server;
    private final MemoryLog log = new MemoryLog();

    @BeforeAll
    static void startServer() {
        server = MySqlServer.builder().relaxed().start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void empty() {
        server.execute(
                "SET sql_log_bin = 0",
                "DROP DATABASE IF EXISTS quorate",
                "DROP DATABASE IF EXISTS tail",
                "CREATE DATABASE tail",
                server.dialect().resetBinlogs());
    }

    /** Values of the unique key pass from row to row, so that what is repeated would meet what came later. */
    @Test
    void goesBackToThePositionFromWhateverIsLeftAndAppliesAnew() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        unlogged(
                "CREATE TABLE tail.t (id INT PRIMARY KEY, u INT, v VARCHAR(20), UNIQUE KEY (u))",
                "INSERT INTO tail.t VALUES (1, 1, 'one'), (2, 2, 'two'), (3, 3, 'three')",
                "CREATE TABLE tail.left0 AS SELECT * FROM tail.t");
        for (int i = 1; i <= TRANSACTIONS; i++) {
            List<String> transaction = new ArrayList<>(List.of("BEGIN"));
            for (int n = 1 + random.nextInt(3); n > 0; n--) {
                transaction.add(statement(random));
            }
            // Changes something in any case.
            transaction.add("INSERT INTO tail.t VALUES (" + (100 + i) + ", NULL, 'always')");
            transaction.add("COMMIT");
            server.execute(transaction.toArray(new String[0]));
            unlogged("CREATE TABLE tail.left" + i + " AS SELECT * FROM tail.t");
        }
        record(TRANSACTIONS - LOSERS);
        for (int left = 0; left <= TRANSACTIONS; left++) {
            unlogged(
                    "DROP DATABASE IF EXISTS quorate",
                    "DELETE FROM tail.t",
                    "INSERT INTO tail.t SELECT * FROM tail.left" + left);
            TakenBack takenBack = repair();
            assertThat(rows("t")).as("left %d, seed %d", left, seed).isEqualTo(rows("left0"));
            apply(takenBack);
            assertThat(rows("t"))
                    .as("left %d, applied anew, seed %d", left, seed)
                    .isEqualTo(rows("left" + (TRANSACTIONS - LOSERS)));
        }
    }

    private static String statement(Random random) {
        int id = 1 + random.nextInt(5);
        int u = 1 + random.nextInt(6);
        return switch (random.nextInt(4)) {
            case 0 -> "INSERT IGNORE INTO tail.t VALUES (" + id + ", " + u + ", 'new')";
            case 1 -> "DELETE FROM tail.t WHERE id = " + id;
            case 2 -> "UPDATE IGNORE tail.t SET u = " + u + ", v = 'x" + random.nextInt(100) + "' WHERE id = " + id;
            default -> "UPDATE IGNORE tail.t SET id = " + (1 + random.nextInt(5)) + " WHERE id = " + id;
        };
    }

    @Test
    void refusesBeforeAnythingIsTouchedWhatItCantTakeBack() throws Exception {
        unlogged("CREATE TABLE tail.keyless (a INT)");
        server.execute("INSERT INTO tail.keyless VALUES (1)");
        record(1);
        assertThatThrownBy(this::repair)
                .hasMessageContaining("QRT-2009")
                .hasMessageContaining("table tail.keyless has no primary key")
                .isInstanceOfSatisfying(QuorateException.class, e -> {
                    assertThat(e.code()).isEqualTo(ErrorCode.TAIL_UNCLEAR);
                    assertThat(e.difference()).isEqualTo(Difference.in(new TableName("tail", "keyless")));
                });
        assertThat(rows("keyless")).hasSize(1);
    }

    /** As after a definition of the server's own that lost. */
    @Test
    void refusesWhatATableCanNotHoldAnyMoreAndChangesNothing() throws Exception {
        unlogged(
                "CREATE TABLE tail.t (id INT PRIMARY KEY, v VARCHAR(20))",
                "INSERT INTO tail.t VALUES (1, 'one'), (2, 'one'), (3, 'one')");
        server.execute("UPDATE tail.t SET v = 'two' WHERE id = 2", "DELETE FROM tail.t WHERE id = 3");
        record(2);
        unlogged("ALTER TABLE tail.t ADD UNIQUE (v)");
        assertThatThrownBy(this::repair)
                .isInstanceOfSatisfying(QuorateException.class, e -> {
                    assertThat(e.code()).isEqualTo(ErrorCode.TAIL_UNCLEAR);
                    assertThat(e.difference()).isEqualTo(Difference.in(new TableName("tail", "t")));
                })
                .hasMessageContaining("Duplicate entry 'one'");
        assertThat(rows("t")).isEqualTo(List.of(List.of("1", "one"), List.of("2", "two")));
    }

    @Test
    void leavesWhatWasCommittedBeforeDdlForThatForcesTheLog() throws Exception {
        unlogged("CREATE TABLE tail.keyless (a INT)");
        server.execute(
                "INSERT INTO tail.keyless VALUES (1)",
                "ALTER TABLE tail.keyless ADD COLUMN id INT PRIMARY KEY AUTO_INCREMENT",
                "INSERT INTO tail.keyless VALUES (2, NULL)");
        record(3);
        TakenBack takenBack = repair();
        assertThat(rows("keyless")).hasSize(1);
        apply(takenBack);
        assertThat(rows("keyless")).hasSize(2);
    }

    @Test
    void doesNothingWhenSomethingWasCommittedMeanwhile() throws Exception {
        unlogged("CREATE TABLE tail.t (id INT PRIMARY KEY)");
        server.execute("INSERT INTO tail.t VALUES (1)");
        record(1);
        GtidSet executed = executed();
        server.execute("INSERT INTO tail.t VALUES (2)");
        assertThat(tailRepair().run(1, executed, new GtidSet())).isNull();
        assertThat(rows("t")).hasSize(2);
    }

    /** The binlog names it, the rows have neither it nor what it had seen of another node. */
    @Test
    void leavesRowsAloneThatAnOwnTransactionWroteOnTopOfALostOne() throws Exception {
        unlogged("CREATE TABLE tail.t (id INT PRIMARY KEY, v INT)");
        server.execute("INSERT INTO tail.t VALUES (50, 1)", "UPDATE tail.t SET v = 2");
        server.execute("FLUSH BINARY LOGS");
        List<WriteSet> all = BinlogReader.writeSets(server.dataDirectory());
        WriteSet insert = all.get(0);
        WriteSet others =
                new WriteSet(new Gtid(Records.ORIGIN, 1), 0, 0, insert.kind(), insert.keys(), insert.payload());
        log.append(List.of(Records.certified(1, 0, others), Records.certified(2, 1, seen(1, all.get(1)))));
        unlogged("DELETE FROM tail.t");
        TakenBack takenBack = repair();
        assertThat(rows("t")).isEmpty();
        apply(takenBack);
        assertThat(rows("t")).containsExactly(List.of("50", "2"));
    }

    /** As above, but it was an own one that an earlier crash took, and that came back by the order. */
    @Test
    void leavesRowsAloneThatAnOwnTransactionWroteOnTopOfAnOwnOneLostTwice() throws Exception {
        unlogged("CREATE TABLE tail.t (id INT PRIMARY KEY, v INT)");
        server.execute("INSERT INTO tail.t VALUES (50, 1)", "UPDATE tail.t SET v = 2");
        server.execute("FLUSH BINARY LOGS");
        List<WriteSet> all = BinlogReader.writeSets(server.dataDirectory());
        log.append(List.of(Records.certified(1, 0, all.get(0)), Records.certified(2, 1, seen(1, all.get(1)))));
        unlogged("DELETE FROM tail.t");
        GtidSet executed = executed();
        TakenBack takenBack = tailRepair().run(executed.last(uuid()), executed, new GtidSet().add(uuid(), 1, 1));
        assertThat(rows("t")).isEmpty();
        apply(takenBack);
        assertThat(rows("t")).containsExactly(List.of("50", "2"));
    }

    private static WriteSet seen(long seqno, WriteSet w) {
        return new WriteSet(w.gtid(), seqno, 0, w.kind(), w.keys(), w.payload());
    }

    /** The binlog's transactions, as the order has them: the first {@code passed} of them passed. */
    private void record(int passed) {
        server.execute("FLUSH BINARY LOGS");
        List<Certified> all = new ArrayList<>();
        for (WriteSet w : BinlogReader.writeSets(server.dataDirectory())) {
            long seqno = all.size() + 1L;
            Verdict verdict = seqno <= passed ? Verdict.PASSED : Verdict.TOO_OLD;
            all.add(new Certified(seqno, verdict, 0, seqno - 1, new LogPosition(1, seqno), true, w));
        }
        log.append(all);
    }

    private TakenBack repair() throws Exception {
        GtidSet executed = executed();
        return tailRepair().run(executed.last(uuid()), executed, new GtidSet());
    }

    private TailRepair tailRepair() {
        return new TailRepair(new TailRepair.Access(source(), Duration.ofSeconds(3)), log, uuid(), INCARNATION);
    }

    private void apply(TakenBack takenBack) throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        List<Exception> failures = new ArrayList<>();
        ApplierListener listener = new ApplierListener() {
            @Override
            public void applied(long seqno, int transactions, long originCommittedMicros) {
                if (seqno == log.last()) {
                    done.countDown();
                }
            }

            @Override
            public void failed(QuorateException cause) {
                failures.add(cause);
                done.countDown();
            }

            @Override
            public void databaseLost(SQLException cause) {
                failures.add(cause);
                done.countDown();
            }
        };
        try (Applier applier = new Applier(
                Replica.SETTINGS,
                source(),
                log,
                uuid(),
                INCARNATION,
                (applied, undone, isHere) -> SharedOwnWrites.none(),
                Verdicts.NONE,
                DefinitionTexts.UNREAD,
                listener)) {
            applier.start(takenBack);
            assertThat(done.await(2, TimeUnit.MINUTES)).isTrue();
        }
        assertThat(failures).isEmpty();
    }

    private static DataSource source() {
        return ApplierDataSource.of(server.jdbcUrl(), "root", "");
    }

    private static UUID uuid() {
        return UUID.fromString(server.uuid());
    }

    private static GtidSet executed() {
        return GtidSet.parse(server.queryOne("SELECT @@GLOBAL.gtid_executed"));
    }

    private static List<List<String>> rows(String table) {
        return server.query("SELECT * FROM tail." + table + " ORDER BY 1");
    }

    private static void unlogged(String... statements) {
        List<String> all = new ArrayList<>(List.of("SET sql_log_bin = 0"));
        all.addAll(List.of(statements));
        server.execute(all.toArray(new String[0]));
    }
}
