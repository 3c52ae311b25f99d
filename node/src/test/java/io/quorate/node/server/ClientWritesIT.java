// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.MySqlServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a service in mode {@code async} does with what one in mode {@code after-sync} has set. */
@Timeout(180)
class ClientWritesIT {
    private static final String SETTINGS =
            "SELECT VARIABLE_NAME FROM performance_schema.persisted_variables WHERE VARIABLE_NAME LIKE 'rpl_semi%'";
    private static final String PLUGIN = "rpl_semi_sync_source";
    private static final String INSTALL = "INSTALL PLUGIN " + PLUGIN + " SONAME 'semisync_source.so'";

    private final ClientWrites async = new ClientWrites(null, Duration.ofSeconds(5));
    private MySqlServer mysql;

    @BeforeEach
    void startServer() {
        mysql = MySqlServer.builder().relaxed().start();
    }

    @AfterEach
    void stopServer() {
        mysql.close();
    }

    private void haveCommitsWait() throws Exception {
        SemiSyncSource semiSync = new SemiSyncSource(true);
        try (Connection connection = mysql.connect()) {
            semiSync.install(connection);
            new ClientWrites(semiSync, Duration.ofSeconds(5)).open(connection);
        }
        assertThat(mysql.query(SETTINGS)).hasSize(5);
    }

    private void settle() throws Exception {
        try (Connection connection = mysql.connect()) {
            async.settle(connection);
        }
    }

    @Test
    void commitsThatWaitedForAServiceDontWaitInModeAsync() throws Exception {
        haveCommitsWait();
        settle();
        assertThat(mysql.query(SETTINGS)).isEmpty();
        mysql.execute("CREATE DATABASE a");
    }

    /** Otherwise commits would wait for nobody as soon as the plugin is installed again. */
    @Test
    void whatWasPersistedForAPluginThatIsGoneIsTakenBack() throws Exception {
        haveCommitsWait();
        mysql.execute("SET GLOBAL " + PLUGIN + "_enabled = OFF", "UNINSTALL PLUGIN " + PLUGIN);
        settle();
        assertThat(mysql.query(SETTINGS)).isEmpty();
        mysql.execute(INSTALL);
        assertThat(mysql.queryLong("SELECT @@GLOBAL." + PLUGIN + "_enabled")).isZero();
    }

    /** Somebody who replicates with semi-sync himself has had other values. */
    @Test
    void whatSomebodyElsePersistedForAPluginThatIsGoneStays() throws Exception {
        mysql.execute(
                INSTALL,
                "SET PERSIST " + PLUGIN + "_timeout = 10000",
                "SET PERSIST " + PLUGIN + "_enabled = ON",
                "SET GLOBAL " + PLUGIN + "_enabled = OFF",
                "UNINSTALL PLUGIN " + PLUGIN);
        settle();
        assertThat(mysql.query(SETTINGS)).hasSize(2);
    }

    @Test
    void whoIsEndedInItsCommitIsNotEndedAgain() throws Exception {
        mysql.execute("CREATE USER app", "GRANT ALL ON *.* TO app");
        haveCommitsWait();
        try (Connection service = mysql.connect();
                Connection client = mysql.connect("app", "", "mysql")) {
            CompletableFuture<Void> waits = execute(client, "CREATE DATABASE waits");
            while (Committing.owned(service).isEmpty()) {
                Thread.sleep(20);
            }
            long session = Committing.owned(service).values().iterator().next();
            assertThat(Committing.endOverdue(service, session)).isTrue();
            assertThat(waits).failsWithin(Duration.ofSeconds(20));
            assertThat(Committing.endOverdue(service, session)).isFalse();
        }
        mysql.execute("SET GLOBAL " + PLUGIN + "_enabled = OFF");
    }

    private static CompletableFuture<Void> execute(Connection client, String sql) {
        return CompletableFuture.runAsync(() -> {
            try (Statement statement = client.createStatement()) {
                statement.execute(sql);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /** It keeps everybody from connecting meanwhile, and whoever asks for a privilege waits for it. */
    @Test
    void aStatementOfAccountsThatNobodyAcknowledgesIsEnded() throws Exception {
        mysql.execute("CREATE USER app", "GRANT ALL ON *.* TO app");
        haveCommitsWait();
        ClientWrites writes = new ClientWrites(new SemiSyncSource(true), Duration.ofSeconds(1));
        try (Connection service = mysql.connect();
                Connection client = mysql.connect("app", "", "mysql");
                Connection idle = mysql.connect("app", "", "mysql")) {
            service.setNetworkTimeout(Runnable::run, 60_000);
            CompletableFuture<Void> waits = execute(client, "CREATE USER other");
            while (!Committing.isAnyOfAccounts(service)) {
                Thread.sleep(20);
            }
            writes.close(service, false);
            assertThat(waits).failsWithin(Duration.ofSeconds(60));
            assertThat(idle.isValid(60)).isFalse();
            assertThat(ServerAccess.isReadOnly(service)).isTrue();
        }
        assertThat(mysql.queryLong("SELECT COUNT(*) FROM mysql.user WHERE user = 'other'"))
                .isEqualTo(1);
    }
}
