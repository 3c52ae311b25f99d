// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.Certified;
import io.quorate.core.LogPosition;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import io.quorate.core.binlog.Upserts;
import io.quorate.core.binlog.Upserts.Rule;
import io.quorate.sandbox.MySqlServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Rows each of which was read at a moment of its own, and what was ordered meanwhile. */
@Timeout(400)
class CopyReplayIT {
    private static final int TRANSACTIONS = 40;
    private static final int KEYS = 8;
    private static final int TRIALS = 60;

    private static MySqlServer server;
    private static final long SEED = System.nanoTime();
    private static final MemoryLog LOG = new MemoryLog();

    /** Rows change their keys, go and come back, and pass values of a unique key around. */
    @BeforeAll
    static void write() {
        server = MySqlServer.builder().relaxed().start();
        Random random = new Random(SEED);
        unlogged(
                "CREATE DATABASE replay",
                "CREATE TABLE replay.t (id INT PRIMARY KEY, u INT, v VARCHAR(20), UNIQUE KEY (u))",
                "CREATE TABLE replay.left0 AS SELECT * FROM replay.t",
                "CREATE DATABASE quorate",
                "CREATE TABLE quorate.reached (seqno BIGINT)",
                "INSERT INTO quorate.reached VALUES (0)");
        for (int i = 1; i <= TRANSACTIONS; i++) {
            List<String> transaction = new ArrayList<>(List.of("BEGIN"));
            for (int n = 1 + random.nextInt(4); n > 0; n--) {
                transaction.add(statement(random, i));
            }
            transaction.add("INSERT INTO replay.t VALUES (" + (100 + i) + ", NULL, 'always')");
            transaction.add("COMMIT");
            server.execute(transaction.toArray(new String[0]));
            unlogged("CREATE TABLE replay.left" + i + " AS SELECT * FROM replay.t");
        }
        unlogged(
                "CREATE TABLE replay.m (id INT PRIMARY KEY, h DECIMAL(9, 4) AS (1 / id) STORED)",
                "INSERT INTO replay.m (id) VALUES (1)");
        server.execute("UPDATE replay.m SET id = 2", "FLUSH BINARY LOGS");
        List<WriteSet> writeSets = BinlogReader.writeSets(server.dataDirectory());
        assertThat(writeSets).hasSize(TRANSACTIONS + 1);
        for (WriteSet w : writeSets) {
            LOG.append(List.of(new Certified(LOG.last() + 1, Verdict.PASSED, 0, 0, LogPosition.START, true, w)));
        }
        unlogged("ALTER TABLE replay.t DROP INDEX u");
    }

    private static String statement(Random random, int i) {
        int id = 1 + random.nextInt(KEYS);
        int u = 1 + random.nextInt(KEYS);
        return switch (random.nextInt(4)) {
            case 0 -> "INSERT IGNORE INTO replay.t VALUES (" + id + ", " + u + ", 'new" + i + "')";
            case 1 -> "DELETE FROM replay.t WHERE id = " + id;
            case 2 -> "UPDATE IGNORE replay.t SET u = " + u + ", v = 'x" + i + "' WHERE id = " + id;
            default -> "UPDATE IGNORE replay.t SET id = " + (1 + random.nextInt(KEYS)) + " WHERE id = " + id;
        };
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static void unlogged(String... statements) {
        List<String> all = new ArrayList<>(List.of("SET SESSION sql_log_bin = 0"));
        all.addAll(List.of(statements));
        server.execute(all.toArray(new String[0]));
    }

    /** Each row as it was at one of the moments up to {@code last}. */
    private static void read(Random random, int last) {
        List<String> statements = new ArrayList<>(List.of("DELETE FROM replay.t"));
        for (int id = 1; id <= 100 + last; id = id == KEYS ? 101 : id + 1) {
            statements.add(
                    "INSERT INTO replay.t SELECT * FROM replay.left" + random.nextInt(last + 1) + " WHERE id = " + id);
        }
        unlogged(statements.toArray(new String[0]));
    }

    private static List<List<String>> rows(String table) {
        return server.query("SELECT * FROM replay." + table + " ORDER BY id");
    }

    private static void replay(int last, Upserts.Rules rules) throws Exception {
        DataSource workers = ApplierDataSource.of(server.jdbcUrl(), "root", "");
        long[] reached = {0};
        boolean over = new CopyReplay(workers, LOG, c -> rules, seqno -> "UPDATE quorate.reached SET seqno = " + seqno)
                .run(0, last, () -> true, seqno -> reached[0] = seqno);
        assertThat(over).isTrue();
        assertThat(reached[0]).isEqualTo(last);
        assertThat(server.queryLong("SELECT seqno FROM quorate.reached")).isEqualTo(last);
    }

    @Test
    void bringsThemToOneMoment() throws Exception {
        Random random = new Random(SEED);
        for (int trial = 0; trial < TRIALS; trial++) {
            int last = 1 + random.nextInt(TRANSACTIONS);
            read(random, last);
            replay(last, (schema, table) -> Rule.OVERWRITE);
            assertThat(rows("t")).as("trial %d, seed %d", trial, SEED).isEqualTo(rows("left" + last));
        }
    }

    /**
     * Key 2 was read before the row came there, key 1 after it had gone. The server's own forgiveness passes over it.
     */
    @Test
    void aRowThatMovedBetweenTwoReadsIsNotLost() throws Exception {
        unlogged("DELETE FROM replay.m");
        replay(TRANSACTIONS + 1, (schema, table) -> table.equals("m") ? Rule.AS_IS : Rule.SKIP);
        assertThat(rows("m")).isEmpty();
        replay(TRANSACTIONS + 1, (schema, table) -> table.equals("m") ? Rule.OVERWRITE : Rule.SKIP);
        assertThat(rows("m")).hasSize(1);
    }
}
