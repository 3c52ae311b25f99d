// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.BinlogEvents;
import io.quorate.core.CertifiedXid;
import io.quorate.core.OriginPosition;
import io.quorate.core.WriteSet;
import io.quorate.sandbox.MySqlServer;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(240)
class XaCaptureIT {
    private static MySqlServer server;

    @BeforeAll
    static void start() {
        server = MySqlServer.builder().start();
        createAccounts(server);
    }

    private static void createAccounts(MySqlServer in) {
        in.execute("CREATE DATABASE bank", "CREATE TABLE bank.account (id INT PRIMARY KEY, balance INT)");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static void prepare(String xid, int account) {
        prepare(server, xid, account);
    }

    private static void prepare(MySqlServer in, String xid, int account) {
        in.execute(
                "XA START " + xid,
                "INSERT INTO bank.account VALUES (" + account + ", 100)",
                "UPDATE bank.account SET balance = 90 WHERE id = " + account,
                "XA END " + xid,
                "XA PREPARE " + xid);
    }

    @Test
    void becomesAWriteSetAtCommitUnderItsGtid() throws Exception {
        try (CaptureFixture fixture = new CaptureFixture(server)) {
            assertThat(fixture.capture()).isEmpty();
            prepare("'a','b',7", 1);
            List<Recorder.Entry> prepared = fixture.awaitAll();
            long number = CaptureFixture.present(server).last();
            assertThat(prepared).hasSize(1);
            assertThat(prepared.get(0).undecided()).containsExactly(number);
            assertThat(prepared.get(0).writeSet()).isNull();

            WriteSet w = fixture.captureOne("XA COMMIT 'a','b',7");
            assertThat(w.gtid().number()).isEqualTo(number + 1);
            assertThat(CaptureFixture.types(w))
                    .containsExactly(
                            BinlogEvents.TABLE_MAP, BinlogEvents.WRITE_ROWS,
                            BinlogEvents.TABLE_MAP, BinlogEvents.UPDATE_ROWS);
            assertThat(w.keys().size()).isEqualTo(2);
            assertThat(fixture.recorder.entries().get(0).undecided()).isEmpty();
        }
    }

    @Test
    void whatIsToBeCertifiedFirstIsAWriteSetWhenPrepared() throws Exception {
        CertifiedXid xid = new CertifiedXid(7, 3, "s3cr3t", 41);
        server.execute(
                "SET sql_log_bin = 0",
                "CREATE DATABASE IF NOT EXISTS quorate",
                "CREATE TABLE IF NOT EXISTS quorate.certified (slot BIGINT PRIMARY KEY, count BIGINT NOT NULL)");
        try (CaptureFixture fixture = new CaptureFixture(server)) {
            WriteSet w = fixture.captureOne(
                    "XA START " + xid.sql(),
                    "INSERT INTO bank.account VALUES (40, 100)",
                    xid.mark(),
                    "XA END " + xid.sql(),
                    "XA PREPARE " + xid.sql());
            assertThat(w.kind()).isEqualTo(WriteSet.Kind.PREPARED);
            assertThat(w.lastSeen()).isEqualTo(41);
            assertThat(CertifiedXid.of(w)).isEqualTo(xid);
            assertThat(CaptureFixture.types(w))
                    .containsExactly(BinlogEvents.TABLE_MAP, BinlogEvents.WRITE_ROWS, BinlogEvents.XA_PREPARE);
            assertThat(fixture.recorder.entries().get(0).undecided()).isEmpty();
            assertThat(fixture.capture("XA COMMIT " + xid.sql())).isEmpty();
        }
    }

    @Test
    void withoutItsMarkItIsAnyClientsXa() throws Exception {
        CertifiedXid xid = new CertifiedXid(7, 4, "s3cr3t", 41);
        try (CaptureFixture fixture = new CaptureFixture(server)) {
            prepare(xid.sql(), 41);
            assertThat(fixture.awaitAll().get(0).writeSet()).isNull();
            assertThat(fixture.captureOne("XA COMMIT " + xid.sql()).kind()).isEqualTo(WriteSet.Kind.ROWS);
        }
    }

    @Test
    void leavesNothingAfterRollback() throws Exception {
        try (CaptureFixture fixture = new CaptureFixture(server)) {
            prepare("'rolled back'", 2);
            assertThat(fixture.capture("XA ROLLBACK 'rolled back'")).isEmpty();
            assertThat(fixture.recorder.entries().get(0).undecided()).isEmpty();
        }
    }

    @Test
    void takesOnePhaseCommitsAtOnce() throws Exception {
        try (CaptureFixture fixture = new CaptureFixture(server)) {
            WriteSet w = fixture.captureOne(
                    "XA START 'one'",
                    "INSERT INTO bank.account VALUES (3, 100)",
                    "XA END 'one'",
                    "XA COMMIT 'one' ONE PHASE");
            assertThat(CaptureFixture.types(w)).containsExactly(BinlogEvents.TABLE_MAP, BinlogEvents.WRITE_ROWS);
            assertThat(fixture.recorder.entries().get(0).undecided()).isEmpty();
        }
    }

    @Test
    void readsUndecidedOnesAgainAfterARestart() throws Exception {
        OriginPosition position;
        long first;
        try (CaptureFixture fixture = new CaptureFixture(server)) {
            prepare("'kept',X'78ff27',1", 10);
            first = CaptureFixture.present(server).last();
            prepare("'dropped'", 11);
            server.execute("INSERT INTO bank.account VALUES (12, 1)");
            fixture.awaitAll();
            position = fixture.recorder.position(fixture.start);
        }
        assertThat(position.undecided()).containsExactly(first, first + 1);
        server.execute("INSERT INTO bank.account VALUES (13, 1)");
        try (CaptureFixture fixture = new CaptureFixture(server, position)) {
            fixture.awaitAll();
            assertThat(fixture.recorder.writeSets()).hasSize(1);
            assertThat(fixture.recorder.entries().get(0).undecided()).containsExactly(first, first + 1);
            assertThat(fixture.capture("XA ROLLBACK 'dropped'")).isEmpty();
            WriteSet w = fixture.captureOne("XA COMMIT 'kept',X'78ff27',1");
            assertThat(CaptureFixture.types(w)).hasSize(4);
            assertThat(fixture.recorder.entries().get(0).undecided()).isEmpty();
            position = fixture.recorder.position(position);
        }
        assertThat(position.undecided()).isEmpty();
        // And once more, with everything decided: nothing comes twice.
        try (CaptureFixture fixture = new CaptureFixture(server, position)) {
            server.execute("INSERT INTO bank.account VALUES (14, 1)");
            fixture.awaitAll();
            assertThat(fixture.recorder.entries()).hasSize(1);
        }
    }

    @Test
    void keepsThemThroughACrashOfTheServer() throws Exception {
        // A server of its own: 8.0.33's recovery forgets a prepared transaction when the same binlog file has certain
        // other XA transactions before it, such as one that was committed with another format id.
        try (MySqlServer crashing = MySqlServer.builder().start()) {
            createAccounts(crashing);
            try (CaptureFixture fixture = new CaptureFixture(crashing)) {
                prepare(crashing, "'through the crash'", 20);
                fixture.awaitAll();
                crashing.kill9();
                crashing.start();
                WriteSet w = fixture.captureOne("XA COMMIT 'through the crash'");
                assertThat(CaptureFixture.types(w)).hasSize(4);
                assertThat(fixture.capture.stats().restarts()).isPositive();
            }
        }
    }

    @Test
    void losesNothingWhenTheConnectionEndsWithinALargePrepare() throws Exception {
        try (CaptureFixture fixture = new CaptureFixture(server);
                Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION cte_max_recursion_depth=100000");
            statement.execute("XA START 'large'");
            statement.execute("INSERT INTO bank.account WITH RECURSIVE n(i) AS (SELECT 100000 UNION ALL SELECT i + 1"
                    + " FROM n WHERE i < 199999) SELECT i, i FROM n");
            statement.execute("XA END 'large'");
            fixture.awaitAll();
            statement.execute("XA PREPARE 'large'");
            DumpThreads.kill(server);
            fixture.awaitAll();
            DumpThreads.kill(server);
            statement.execute("XA COMMIT 'large'");
            fixture.awaitAll();
            List<WriteSet> all = fixture.recorder.writeSets();
            assertThat(all).hasSize(1);
            assertThat(all.get(0).keys().size()).isEqualTo(100_001);
        }
    }
}
