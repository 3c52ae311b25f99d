// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.Certified;
import io.quorate.core.CertifiedXid;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.OwnWrites;
import io.quorate.core.QuorateException;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import io.quorate.sandbox.MySqlServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client of a server prepares, and the order decides. */
@Timeout(400)
class PreparedIT {
    private static final AtomicInteger SCHEMAS = new AtomicInteger();
    private static final long ROW = 77;
    private static final long OTHER_ROW = 78;

    private static MySqlServer origin;
    private static MySqlServer server;

    private Replica replica;
    private String schema;
    private SharedOwnWrites own;

    @BeforeAll
    static void startServers() {
        origin = MySqlServer.builder().start();
        server = MySqlServer.builder().start();
    }

    @AfterAll
    static void stopServers() {
        origin.close();
        server.close();
    }

    @BeforeEach
    void open() throws SQLException {
        schema = "prepared_" + SCHEMAS.incrementAndGet();
        for (MySqlServer each : List.of(origin, server)) {
            each.execute(
                    "CREATE DATABASE " + schema,
                    "CREATE TABLE " + schema + ".t (id INT PRIMARY KEY, v INT)",
                    "INSERT INTO " + schema + ".t VALUES (1, 1), (5, 5), (9, 9)",
                    "DROP DATABASE IF EXISTS quorate");
            try (Connection connection = each.connect()) {
                PositionTable.create(connection);
            }
            each.execute(each.dialect().resetBinlogs());
        }
        replica = new Replica(origin, server);
        own = new SharedOwnWrites(new OwnWrites(0, Map.of(), c -> true));
        own.covered(Long.MAX_VALUE, 0);
        replica.ownWrites((applied, undone, isHere) -> own);
    }

    @AfterEach
    void close() {
        replica.close();
    }

    /** Prepares on a connection of its own, as a session that goes away would leave it. */
    private WriteSet prepare(long count, long key, String... statements) throws SQLException {
        CertifiedXid xid = new CertifiedXid(3, count, "s3cr3t", 0);
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("XA START " + xid.sql());
            statement.execute(xid.mark());
            for (String sql : statements) {
                statement.execute(sql.replace("t ", schema + ".t "));
            }
            statement.execute("XA END " + xid.sql());
            statement.execute("XA PREPARE " + xid.sql());
        }
        server.execute("FLUSH BINARY LOGS");
        List<WriteSet> all = BinlogReader.writeSets(server.dataDirectory());
        WriteSet w = all.get(all.size() - 1);
        assertThat(w.isPrepared()).isTrue();
        assertThat(CertifiedXid.of(w)).isEqualTo(xid);
        return withKey(w, UUID.fromString(server.uuid()), w.gtid().number(), key);
    }

    private static WriteSet withKey(WriteSet w, UUID source, long number, long key) {
        Keys keys = new Keys(new long[] {key}, new byte[] {(byte) KeyType.EXCLUSIVE.ordinal()});
        return new WriteSet(new Gtid(source, number), 0, w.committedMicros(), w.kind(), keys, w.payload());
    }

    private Certified there(long seqno, long key, String sql) {
        origin.execute(sql.replace("t ", schema + ".t "));
        origin.execute("FLUSH BINARY LOGS");
        List<WriteSet> all = BinlogReader.writeSets(origin.dataDirectory());
        WriteSet w = all.get(all.size() - 1);
        return Records.certified(
                seqno, 0, withKey(w, w.gtid().source(), w.gtid().number(), key));
    }

    private static Certified failed(long seqno, WriteSet w) {
        return new Certified(
                seqno, Verdict.CONFLICT, 1, 1, Records.rows(seqno, 0, 1).position(), true, w);
    }

    private long value(int id) {
        return server.queryLong("SELECT v FROM " + schema + ".t WHERE id = " + id);
    }

    private static void assertNothingPrepared() throws SQLException {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            assertThat(statement.executeQuery("XA RECOVER").next()).isFalse();
        }
    }

    @Test
    void whatPassesCommitsAtItsPlace() throws Exception {
        WriteSet w = prepare(1, ROW, "UPDATE t SET v = 10 WHERE id = 1");
        assertThat(value(1)).isEqualTo(1);
        Certified before = there(1, OTHER_ROW, "UPDATE t SET v = 90 WHERE id = 9");
        replica.append(List.of(before, Records.certified(2, 0, w)));
        replica.start(Replica.SETTINGS);
        replica.awaitApplied();
        assertThat(value(1)).isEqualTo(10);
        assertThat(value(9)).isEqualTo(90);
        assertThat(replica.stats().settled()).isEqualTo(1);
        assertNothingPrepared();
    }

    @Test
    void whatFailsIsRolledBack() throws Exception {
        WriteSet w = prepare(1, ROW, "UPDATE t SET v = 10 WHERE id = 1");
        replica.append(List.of(failed(1, w)));
        replica.start(Replica.SETTINGS);
        replica.awaitApplied();
        assertThat(value(1)).isEqualTo(1);
        assertThat(replica.stats().settled()).isZero();
        assertNothingPrepared();
    }

    /** The verdict can be there before the server knows the xid as prepared: nobody else would ever roll it back. */
    @Test
    void whatIsPreparedOnlyAfterItFailedIsRolledBackToo() throws Exception {
        WriteSet w = prepare(1, ROW, "UPDATE t SET v = 10 WHERE id = 1");
        server.execute("XA ROLLBACK " + CertifiedXid.of(w).sql());
        replica.append(List.of(failed(1, w)));
        replica.start(Replica.SETTINGS);
        replica.awaitApplied();
        prepare(1, ROW, "UPDATE t SET v = 10 WHERE id = 1");
        long end = System.nanoTime() + 60_000_000_000L;
        while (server.query("XA RECOVER").size() > 0 && System.nanoTime() < end) {
            Thread.sleep(20);
        }
        assertNothingPrepared();
        assertThat(value(1)).isEqualTo(1);
    }

    @Test
    void whatIsKnownToFailIsOutOfTheWayBeforeItsVerdict() throws Exception {
        WriteSet w = prepare(1, ROW, "UPDATE t SET v = 10 WHERE id = 1");
        own.captured(w);
        replica.append(List.of(there(1, ROW, "UPDATE t SET v = 20 WHERE id = 1")));
        replica.start(Replica.SETTINGS);
        replica.awaitApplied();
        assertThat(value(1)).isEqualTo(20);
        assertThat(replica.stats().preparedRolledBack()).isEqualTo(1);
        assertThat(replica.stats().lockWaits()).isZero();
        replica.append(List.of(failed(2, w)));
        replica.awaitApplied();
        assertThat(value(1)).isEqualTo(20);
    }

    /** Its lock goes a moment before it is counted. */
    private void awaitRolledBack(long count) throws InterruptedException {
        long end = System.nanoTime() + 60_000_000_000L;
        while (replica.stats().preparedRolledBack() < count && System.nanoTime() < end) {
            Thread.sleep(5);
        }
        assertThat(replica.stats().preparedRolledBack()).isEqualTo(count);
    }

    /** Its lock on a gap keeps an earlier writeset out, though they have no key in common. */
    @Test
    void whatIsInTheWayByALockAloneIsRolledBackAndAppliedAtItsPlace() throws Exception {
        WriteSet w = prepare(1, ROW, "UPDATE t SET v = v + 1 WHERE id BETWEEN 2 AND 8");
        own.captured(w);
        replica.append(List.of(there(1, OTHER_ROW, "INSERT INTO t VALUES (6, 60)")));
        replica.start(Replica.SETTINGS);
        replica.awaitApplied();
        assertThat(value(6)).isEqualTo(60);
        awaitRolledBack(1);
        replica.append(List.of(Records.certified(2, 0, w)));
        replica.awaitApplied();
        assertThat(value(5)).isEqualTo(6);
        assertThat(replica.stats().settled()).isZero();
        assertThat(replica.stats().savedSeqno()).isEqualTo(2);
        assertNothingPrepared();
    }

    /** The position is behind what was committed: the mark says that it was. */
    @Test
    void nothingIsDoneTwiceAfterARestart() throws Exception {
        WriteSet first = prepare(1, ROW, "INSERT INTO t VALUES (2, 2)");
        List<Certified> records = new ArrayList<>(List.of(Records.certified(1, 0, first)));
        replica.append(records);
        replica.start(Replica.SETTINGS);
        replica.awaitApplied();
        replica.stop();
        server.execute("UPDATE quorate.position SET seqno = 0");
        replica.start(Replica.SETTINGS);
        replica.awaitApplied(1);
        assertThat(value(2)).isEqualTo(2);
        assertThat(server.queryLong("SELECT count FROM quorate.certified WHERE slot = 3"))
                .isEqualTo(1);
    }

    /** As after a former life of the cluster in which it passed, when the record of that is lost. */
    @Test
    void whatIsCommittedHereAndFailsInTheOrderStopsTheNode() throws Exception {
        WriteSet w = prepare(1, ROW, "UPDATE t SET v = 10 WHERE id = 1");
        server.execute("XA COMMIT " + CertifiedXid.of(w).sql());
        replica.append(List.of(failed(1, w)));
        replica.start(Replica.SETTINGS);
        QuorateException failure = replica.awaitFailure();
        assertThat(failure.code()).isEqualTo(ErrorCode.UNDO_IMPOSSIBLE);
        assertThat(failure).hasMessageContaining("is committed here and failed as seqno 1");
    }

    /** MySQL may lose what is prepared in a crash; the order has it. */
    @Test
    void whatTheServerLostIsApplied() throws Exception {
        WriteSet w = prepare(1, ROW, "INSERT INTO t VALUES (3, 3)");
        server.execute("XA ROLLBACK " + CertifiedXid.of(w).sql());
        replica.append(List.of(Records.certified(1, 0, w)));
        replica.start(Replica.SETTINGS);
        replica.awaitApplied();
        assertThat(value(3)).isEqualTo(3);
    }

    @Test
    void ddlDoesNotWaitForWhatIsPrepared() throws Exception {
        WriteSet w = prepare(1, ROW, "UPDATE t SET v = 10 WHERE id = 1");
        own.captured(w);
        replica.append(List.of(there(1, ROW, "ALTER TABLE t ADD COLUMN w INT")));
        replica.start(Replica.SETTINGS);
        replica.awaitApplied();
        assertThat(server.queryLong("SELECT COUNT(w) FROM " + schema + ".t")).isZero();
        assertThat(replica.stats().preparedRolledBack()).isEqualTo(1);
    }

    /**
     * The capture says so only after the statement was about to run, and the server doesn't say who keeps the table.
     */
    @Test
    void ddlDoesNotWaitForWhatIsPreparedAndWasCapturedLate() throws Exception {
        own = new SharedOwnWrites(new OwnWrites(0, Map.of(), c -> true));
        WriteSet w = prepare(1, ROW, "UPDATE t SET v = 10 WHERE id = 1");
        replica.append(List.of(there(1, ROW, "ALTER TABLE t ADD COLUMN w INT")));
        replica.start(Replica.SETTINGS.withLocks(Duration.ofSeconds(1), Duration.ofSeconds(1), 5));
        Thread.sleep(500);
        own.captured(w);
        own.covered(Long.MAX_VALUE, 0);
        replica.awaitApplied();
        assertThat(server.queryLong("SELECT COUNT(w) FROM " + schema + ".t")).isZero();
        assertThat(replica.stats().preparedRolledBack()).isEqualTo(1);
    }

    @Test
    void aWriteSetThatDoesNotSayAsWhatItWasPreparedIsRefused() {
        WriteSet w = new WriteSet(
                new Gtid(UUID.fromString(server.uuid()), 9), 0, 0, WriteSet.Kind.PREPARED, Keys.NONE, new byte[0]);
        assertThatThrownBy(() -> CertifiedXid.of(w)).hasMessageContaining("has no XA_PREPARE event");
    }
}
