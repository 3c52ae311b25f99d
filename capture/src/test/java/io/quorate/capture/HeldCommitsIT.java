// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.BinlogPosition;
import io.quorate.core.GtidSet;
import io.quorate.core.OwnedGtids;
import io.quorate.sandbox.MySqlServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * In commit mode {@code after-sync} a commit waits, with the locks of its statement, until the capture has handed it
 * over and it is decided. So the capture may wait for no lock. The test is the gate.
 */
@Timeout(300)
class HeldCommitsIT {
    private static final Logger LOG = LoggerFactory.getLogger(HeldCommitsIT.class);
    private static final String SHOWN = "SELECT COUNT(*) FROM performance_schema.processlist WHERE INFO = ";
    private static final String OWNED =
            "SELECT (LENGTH(o) - LENGTH(REPLACE(o, '#', ''))) FROM" + " (SELECT @@GLOBAL.gtid_owned AS o) owned";

    /** One statement for each kind of definition of the server's, by the name that it has there. */
    private static final Map<String, String> HELD = Map.ofEntries(
            Map.entry("create_table", "CREATE TABLE v.made (id INT PRIMARY KEY) AS SELECT 1 AS id"),
            Map.entry("create_index", "CREATE INDEX i ON v.t (a)"),
            Map.entry("alter_table", "ALTER TABLE v.t ADD id INT AUTO_INCREMENT PRIMARY KEY"),
            Map.entry("truncate", "TRUNCATE v.emptied"),
            Map.entry("drop_table", "DROP TABLE v.dropped"),
            Map.entry("drop_index", "DROP INDEX i ON v.indexed"),
            Map.entry("rename_table", "RENAME TABLE v.renamed TO v.afterwards"),
            Map.entry("create_db", "CREATE DATABASE w"),
            Map.entry("alter_db", "ALTER DATABASE x CHARACTER SET latin1"),
            Map.entry("drop_db", "DROP DATABASE y"),
            Map.entry("optimize", "OPTIMIZE TABLE v.kept"),
            Map.entry("repair", "REPAIR TABLE v.kept"),
            Map.entry("analyze", "ANALYZE TABLE v.kept"),
            Map.entry("flush", "FLUSH TABLES v.kept"),
            Map.entry("create_procedure", "CREATE PROCEDURE v.p2() SELECT 1"),
            Map.entry("alter_procedure", "ALTER PROCEDURE v.p COMMENT 'x'"),
            Map.entry("drop_procedure", "DROP PROCEDURE v.p3"),
            Map.entry("create_function", "CREATE FUNCTION v.f2() RETURNS INT DETERMINISTIC RETURN 1"),
            Map.entry("alter_function", "ALTER FUNCTION v.f COMMENT 'x'"),
            Map.entry("drop_function", "DROP FUNCTION v.f3"),
            Map.entry("create_view", "CREATE VIEW v.v2 AS SELECT * FROM v.kept"),
            Map.entry("drop_view", "DROP VIEW v.v1"),
            Map.entry("create_trigger", "CREATE TRIGGER v.g2 BEFORE INSERT ON v.kept FOR EACH ROW SET @x = 1"),
            Map.entry("drop_trigger", "DROP TRIGGER v.g1"),
            Map.entry("create_event", "CREATE EVENT v.e2 ON SCHEDULE EVERY 1 DAY DO SET @x = 1"),
            Map.entry("alter_event", "ALTER EVENT v.e DISABLE"),
            Map.entry("drop_event", "DROP EVENT v.e3"),
            Map.entry("create_spatial_reference_system", """
                    CREATE SPATIAL REFERENCE SYSTEM 990001 NAME 'x' DEFINITION 'GEOGCS["x",DATUM["x",\
                    SPHEROID["x",6378137,298.257]],PRIMEM["Greenwich",0],UNIT["degree",0.017],AXIS["Lat",NORTH],\
                    AXIS["Lon",EAST]]'"""),
            Map.entry("drop_spatial_reference_system", "DROP SPATIAL REFERENCE SYSTEM 4120"),
            Map.entry("create_user", "CREATE USER a2"),
            Map.entry("alter_user", "ALTER USER a IDENTIFIED BY 'x'"),
            Map.entry("drop_user", "DROP USER a3"),
            Map.entry("rename_user", "RENAME USER a4 TO a5"),
            Map.entry("set_password", "SET PASSWORD FOR a = 'y'"),
            Map.entry("grant", "GRANT SELECT ON v.* TO a"),
            Map.entry("revoke", "REVOKE INSERT ON *.* FROM a"),
            Map.entry("revoke_all", "REVOKE ALL, GRANT OPTION FROM a"),
            Map.entry("create_role", "CREATE ROLE r2"),
            Map.entry("drop_role", "DROP ROLE r3"),
            Map.entry("grant_roles", "GRANT r TO a"),
            Map.entry("revoke_roles", "REVOKE r FROM b"),
            Map.entry("alter_user_default_role", "ALTER USER b DEFAULT ROLE r"));

    /** They hold the lock of the accounts' cache, so each costs the time after which a query is given up. */
    private static final Set<String> ACCOUNTS = HELD.keySet().stream()
            .filter(kind -> kind.matches(".*(user|role|grant|revoke|password).*"))
            .collect(Collectors.toSet());

    /** Not in the binlog, or not taken from there. */
    private static final Set<String> NOT_CAPTURED = Set.of(
            "alter_tablespace",
            "alter_instance",
            "create_udf",
            "create_server",
            "alter_server",
            "drop_server",
            "create_resource_group",
            "alter_resource_group",
            "drop_resource_group",
            "create_compression_dictionary",
            "drop_compression_dictionary",
            "create_library",
            "alter_library",
            "drop_library",
            "create_masking_policy",
            "drop_masking_policy");

    private static final ExecutorService CLIENTS = Executors.newCachedThreadPool(task -> {
        Thread client = new Thread(task, "client");
        client.setDaemon(true);
        return client;
    });

    private static MySqlServer server;
    private static CaptureFixture fixture;
    private static final Gate GATE = new Gate();
    private static int fresh;
    private static Connection lasting;

    /** Acknowledges what is read, or doesn't yet. */
    private static final class Gate implements SemiSyncReplica {
        private Acknowledger acknowledger;
        private BinlogPosition read;
        private volatile BinlogPosition acknowledged;
        private boolean held;

        @Override
        public void awaitSettled() {
            // There is only one connection.
        }

        @Override
        public synchronized void connected(Acknowledger next) {
            acknowledger = next;
            notifyAll();
        }

        @Override
        public synchronized void read(BinlogPosition end, boolean endsGroup) {
            read = end;
            acknowledge();
        }

        synchronized void hold(boolean on) {
            held = on;
            acknowledge();
        }

        private void acknowledge() {
            try {
                if (!held && read != null) {
                    acknowledger.acknowledge(read);
                    acknowledged = read;
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        synchronized BinlogPosition lastRead() {
            return read;
        }

        synchronized void awaitConnected() throws InterruptedException {
            while (acknowledger == null) {
                wait();
            }
        }
    }

    /** Before connections are closed, which wait for their statements. */
    private static final class Held implements AutoCloseable {
        Held() {
            GATE.hold(true);
            fixture.recorder.block(true);
        }

        void release() {
            close();
        }

        @Override
        public void close() {
            fixture.recorder.block(false);
            GATE.hold(false);
        }
    }

    @BeforeAll
    static void start() throws Exception {
        server = MySqlServer.builder().relaxed().start();
        List<String> made = new ArrayList<>(
                List.of("CREATE DATABASE v", "CREATE DATABASE x", "CREATE DATABASE fresh", "CREATE DATABASE y"));
        for (String table : List.of("emptied", "dropped", "indexed", "renamed", "kept", "known")) {
            made.add("CREATE TABLE v." + table + " (id INT AUTO_INCREMENT PRIMARY KEY, n INT, KEY i (n))");
        }
        made.addAll(List.of(
                "CREATE TABLE v.t (a INT)",
                "INSERT INTO v.t VALUES (1), (2)",
                "CREATE VIEW v.v1 AS SELECT 1",
                "CREATE TRIGGER v.g1 BEFORE INSERT ON v.kept FOR EACH ROW SET @x = 1"));
        for (String n : List.of("", "3")) {
            made.add("CREATE PROCEDURE v.p" + n + "() SELECT 1");
            made.add("CREATE FUNCTION v.f" + n + "() RETURNS INT DETERMINISTIC RETURN 1");
            made.add("CREATE EVENT v.e" + n + " ON SCHEDULE EVERY 1 DAY DO SET @x = 1");
            made.add("CREATE ROLE r" + n);
        }
        made.addAll(List.of("CREATE USER a", "CREATE USER a3", "CREATE USER a4", "CREATE USER b"));
        made.addAll(List.of("GRANT INSERT ON *.* TO a", "GRANT r TO b"));
        server.execute(made.toArray(String[]::new));
        server.execute(
                "INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'",
                "SET GLOBAL rpl_semi_sync_source_timeout = 4294967295",
                "SET GLOBAL rpl_semi_sync_source_wait_for_replica_count = 2");
        fixture = new CaptureFixture(server, GATE);
        GATE.awaitConnected();
        lasting = server.connect();
        server.execute("SET GLOBAL rpl_semi_sync_source_enabled = ON");
    }

    @AfterAll
    static void stop() throws SQLException {
        lasting.close();
        fixture.close();
        server.close();
        CLIENTS.shutdownNow();
    }

    @Test
    void eachKindOfDefinitionIsHeld() {
        Set<String> kinds = new HashSet<>();
        server.query("SELECT SUBSTRING(NAME, 15) FROM performance_schema.setup_instruments WHERE NAME RLIKE"
                        + " '^statement/sql/(create|alter|drop|rename|grant|revoke|truncate|analyze|optimize|repair"
                        + "|flush|set_password)'")
                .forEach(row -> kinds.add(row.get(0)));
        kinds.removeAll(NOT_CAPTURED);
        assertThat(HELD.keySet()).containsExactlyInAnyOrderElementsOf(kinds);
    }

    @Test
    void noDefinitionKeepsTheCaptureFromWhatIsWrittenBehindIt() throws Exception {
        for (Map.Entry<String, String> each : new TreeMap<>(HELD).entrySet()) {
            if (!ACCOUNTS.contains(each.getKey()) || each.getKey().equals("grant")) {
                holds(each.getKey(), each.getValue());
            }
        }
    }

    @Test
    @Tag("long")
    void noStatementOfAccountsKeepsTheCaptureFromWhatIsWrittenBehindIt() throws Exception {
        Map<String, String> others = new TreeMap<>(HELD);
        others.keySet().retainAll(ACCOUNTS);
        others.remove("grant");
        for (Map.Entry<String, String> each : others.entrySet()) {
            holds(each.getKey(), each.getValue());
        }
    }

    /** They wait for a commit, and others for them. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "FLUSH BINARY LOGS",
                "FLUSH TABLES",
                "FLUSH TABLES WITH READ LOCK",
                "SET GLOBAL read_only = ON",
                "LOCK INSTANCE FOR BACKUP"
            })
    void whoWaitsForACommitDoesNotKeepTheCaptureFromIt(String waiting) throws Exception {
        try {
            capturesBeside(waiting, 2, client -> client.isDone() || looks(SHOWN + "'" + waiting + "'") == 1);
        } finally {
            server.execute("SET GLOBAL read_only = OFF");
        }
    }

    /** A node whose service stood still for a moment would otherwise have to be rebuilt. */
    @Test
    void aCommitThatWaitsWhileTheConnectionIsMadeAnewIsNotTakenForLost() throws Exception {
        fixture.awaitAll();
        try (Connection first = server.connect();
                Connection checks = server.connect();
                Held held = new Held()) {
            CompletableFuture<Void> client = run(first, "INSERT INTO v.known VALUES ()");
            await(() -> looks(OWNED) == 1);
            GtidSet captured = CaptureFixture.executed(server)
                    .addAll(OwnedGtids.parse(server.queryOne("SELECT @@GLOBAL.gtid_owned"))
                            .gtids());
            UUID uuid = UUID.fromString(server.uuid());
            assertThat(ServerConnection.check(checks, uuid, captured).isEmpty()).isTrue();
            GtidSet more = captured.add(uuid, 1_000_000, 1_000_000);
            assertThatThrownBy(() -> ServerConnection.check(checks, uuid, more)).hasMessageContaining(":1000000");
            held.release();
            client.get(CaptureFixture.LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
    }

    private static void holds(String kind, String definition) throws Exception {
        LOG.info("{}", kind);
        capturesBeside(definition, 3, client -> looks(OWNED) == 3);
    }

    /**
     * What was written to a table that the capture doesn't know is in the binlog, and not read, when the statement
     * begins to wait.
     *
     * @param captured how many transactions are in the binlog then
     */
    private static void capturesBeside(String statement, int captured, Predicate<CompletableFuture<Void>> waits)
            throws Exception {
        String table = "fresh.t" + ++fresh;
        server.execute("CREATE TABLE " + table + " (id INT PRIMARY KEY)");
        fixture.awaitAll();
        fixture.recorder.clear();
        try (Connection first = server.connect();
                Connection second = server.connect();
                Connection third = server.connect();
                Held held = new Held()) {
            List<CompletableFuture<Void>> clients = new ArrayList<>();
            clients.add(run(first, "INSERT INTO v.known VALUES ()"));
            fixture.recorder.awaitBlocked();
            clients.add(run(second, "INSERT INTO " + table + " VALUES (1)"));
            await(() -> looks(OWNED) == 2);
            CompletableFuture<Void> last = run(third, statement);
            clients.add(last);
            await(() -> waits.test(last));
            fixture.recorder.block(false);
            try {
                fixture.recorder.awaitEntries(captured, CaptureFixture.LIMIT);
            } catch (AssertionError e) {
                throw new AssertionError(statement + ": " + e.getMessage(), e);
            }
            assertThat(clients.get(0)).isNotDone();
            held.release();
            for (CompletableFuture<Void> each : clients) {
                each.get(CaptureFixture.LIMIT.toSeconds(), TimeUnit.SECONDS);
            }
        }
    }

    /** From the moment on at which it connects. */
    @Test
    void nobodyElseCanAcknowledgeAlone() throws Exception {
        fixture.awaitAll();
        fixture.recorder.clear();
        String all = CaptureFixture.executed(server).toString();
        try (Connection client = server.connect();
                Witness stranger = Witness.connect(CaptureFixture.settings(server), all, lost -> {});
                Held held = new Held()) {
            fixture.recorder.block(false);
            CompletableFuture<Void> written = run(client, "INSERT INTO v.known VALUES ()");
            fixture.recorder.awaitEntries(1, CaptureFixture.LIMIT);
            await(() -> GATE.lastRead() != null && !GATE.lastRead().equals(GATE.acknowledged));
            stranger.acknowledge(GATE.lastRead());
            Thread.sleep(500); // It would hear OK in a millisecond.
            assertThat(written).isNotDone();
            held.release();
            written.get(CaptureFixture.LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /** Nobody can connect while a statement of accounts waits. */
    private static long looks(String query) {
        try (Statement statement = lasting.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + CaptureFixture.LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(end);
            Thread.sleep(20);
        }
    }

    private static CompletableFuture<Void> run(Connection connection, String sql) {
        return CompletableFuture.runAsync(
                () -> {
                    try (Statement statement = connection.createStatement()) {
                        statement.execute(sql);
                    } catch (SQLException e) {
                        throw new IllegalStateException(sql, e);
                    }
                },
                CLIENTS);
    }
}
