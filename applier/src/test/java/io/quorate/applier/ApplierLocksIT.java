// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.ErrorCode;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sessions of the server that are in the way of what is applied. */
@Timeout(400)
class ApplierLocksIT extends OriginAndServer {
    @Test
    void aClientsTransactionInTheWayIsEnded() throws Exception {
        origin.execute(
                "CREATE TABLE " + schema + ".t (id INT PRIMARY KEY, n INT)",
                "INSERT INTO " + schema + ".t VALUES (1, 1)");
        replica.start(Replica.SETTINGS.withLocks(Duration.ofSeconds(2), Duration.ofMillis(300), 100));
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        try (Client client = new Client(server);
                Statement statement = client.connection().createStatement()) {
            statement.execute("UPDATE " + schema + ".t SET n = 7 WHERE id = 1");
            origin.execute(
                    "UPDATE " + schema + ".t SET n = 2",
                    "ALTER TABLE " + schema + ".t ADD x INT",
                    "UPDATE " + schema + ".t SET n = 3");
            replica.take(seqno -> seqno - 1);
            replica.awaitApplied();
        }
        replica.assertSame(schema);
        assertThat(replica.stats().blockersKilled()).isGreaterThanOrEqualTo(1);
    }

    @Test
    void ddlGetsPastAClientThatUsesTheTable() throws Exception {
        origin.execute("CREATE TABLE " + schema + ".t (id INT PRIMARY KEY, n INT)");
        replica.start(Replica.SETTINGS.withLocks(Duration.ofSeconds(5), Duration.ofMillis(300), 100));
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        try (Client client = new Client(server);
                Statement statement = client.connection().createStatement()) {
            statement.execute("SELECT * FROM " + schema + ".t");
            origin.execute("ALTER TABLE " + schema + ".t ADD x INT");
            replica.take(seqno -> seqno - 1);
            replica.awaitApplied();
        }
        replica.assertSame(schema);
    }

    @Test
    void aBackupOfAnotherTableIsNoReasonToWaitForAClientForEver() throws Exception {
        origin.execute(
                "CREATE TABLE " + schema + ".t (id INT PRIMARY KEY, n INT)",
                "CREATE TABLE " + schema + ".other (id INT PRIMARY KEY)",
                "INSERT INTO " + schema + ".t VALUES (1, 1)");
        replica.start(Replica.SETTINGS.withLocks(Duration.ofSeconds(1), Duration.ZERO, 6));
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        try (Connection backup = server.connect();
                Statement lock = backup.createStatement();
                Connection client = server.connect();
                Statement statement = client.createStatement()) {
            lock.execute("LOCK TABLES " + schema + ".other READ");
            client.setAutoCommit(false);
            statement.execute("SELECT * FROM " + schema + ".t FOR UPDATE");
            origin.execute("UPDATE " + schema + ".t SET n = 2");
            replica.take(seqno -> seqno - 1);
            assertThat(replica.awaitFailure().code()).isEqualTo(ErrorCode.APPLY_FAILED);
        }
    }

    /** As in mode after-sync while the capture stands still. */
    @Test
    void aCommitThatWaitsForItsVerdictIsWaitedFor() throws Exception {
        String plugin = "rpl_semi_sync_source";
        origin.execute(
                "CREATE TABLE " + schema + ".t (id INT PRIMARY KEY, n INT)",
                "CREATE TABLE " + schema + ".other (id INT PRIMARY KEY)",
                "INSERT INTO " + schema + ".t VALUES (1, 1)");
        replica.start(Replica.SETTINGS.withLocks(Duration.ofSeconds(1), Duration.ofMillis(300), 2));
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        server.execute("INSTALL PLUGIN " + plugin + " SONAME 'semisync_source.so'");
        try (Connection client = server.connect();
                Statement statement = client.createStatement()) {
            server.execute("SET GLOBAL " + plugin + "_timeout = 600000", "SET GLOBAL " + plugin + "_enabled = ON");
            client.setAutoCommit(false);
            statement.execute("SELECT * FROM " + schema + ".t FOR UPDATE");
            statement.execute("INSERT INTO " + schema + ".other VALUES (1)");
            CompletableFuture<Void> commit = CompletableFuture.runAsync(() -> {
                try {
                    client.commit();
                } catch (SQLException e) {
                    throw new CompletionException(e);
                }
            });
            origin.execute("UPDATE " + schema + ".t SET n = 2");
            replica.take(seqno -> seqno - 1);
            long met = replica.stats().lockWaits();
            await(() -> replica.stats().lockWaits() > met + 4);
            assertThat(commit).isNotDone();
            server.execute("SET GLOBAL " + plugin + "_enabled = OFF");
            commit.get(10, TimeUnit.SECONDS);
            replica.awaitApplied();
        } finally {
            server.execute("UNINSTALL PLUGIN " + plugin);
        }
        assertThat(server.queryOne("SELECT n FROM " + schema + ".t")).isEqualTo("2");
        assertThat(replica.stats().blockersKilled()).isZero();
    }

    /** For longer than a group is tried again. */
    @Test
    @Tag("long")
    void backupsThatLockTheServerAreWaitedForAndNamed() throws Exception {
        origin.execute("CREATE TABLE " + schema + ".t (id INT PRIMARY KEY, n INT)");
        Applier applier = replica.start(Replica.SETTINGS.withLocks(Duration.ofSeconds(1), Duration.ofMillis(300), 2));
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        int rows = 0;
        for (String lock : List.of("FLUSH TABLES WITH READ LOCK", "LOCK TABLES " + schema + ".t READ")) {
            try (Connection backup = server.connect();
                    Statement statement = backup.createStatement()) {
                statement.execute(lock);
                origin.execute("INSERT INTO " + schema + ".t (id) VALUES (" + ++rows + ")");
                waitsFor(applier, lock);
            }
            replica.awaitApplied();
        }
        for (String lock : List.of("FLUSH TABLES WITH READ LOCK", "LOCK INSTANCE FOR BACKUP")) {
            try (Connection backup = server.connect();
                    Statement statement = backup.createStatement()) {
                statement.execute(lock);
                origin.execute("ALTER TABLE " + schema + ".t ADD c" + ++rows + " INT");
                waitsFor(applier, lock);
            }
            replica.awaitApplied();
        }
        replica.assertSame(schema);
        assertThat(replica.stats().blockersKilled()).isZero();
    }

    private void waitsFor(Applier applier, String lock) throws InterruptedException {
        long met = replica.stats().lockWaits();
        replica.take(seqno -> seqno - 1);
        await(() -> String.valueOf(applier.blockedBy()).contains(lock));
        await(() -> replica.stats().lockWaits() > met + 3);
    }
}
