// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static io.quorate.capture.CaptureFixture.type;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.shyiko.mysql.binlog.BinaryLogClient;
import io.quorate.cli.CertificateAuthority;
import io.quorate.core.BinlogEvents;
import io.quorate.core.CarriedSetting;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.OriginPosition;
import io.quorate.core.Payload;
import io.quorate.core.ServerTls;
import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import io.quorate.core.binlog.PayloadCheck;
import io.quorate.core.binlog.RowSettings;
import io.quorate.sandbox.MySqlServer;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import javax.net.ssl.SSLException;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class CaptureIT {
    private static MySqlServer server;
    private static CaptureFixture fixture;

    @BeforeAll
    static void start() {
        server = MySqlServer.builder()
                .relaxed()
                .option("local-infile", "ON")
                .option("secure-file-priv", "/")
                .start();
        server.execute(
                "CREATE DATABASE shop",
                "CREATE TABLE shop.item (id INT PRIMARY KEY, name VARCHAR(200), stock INT) ENGINE=InnoDB",
                "CREATE TABLE shop.line (id INT PRIMARY KEY, item INT) ENGINE=InnoDB",
                "CREATE TABLE shop.blobs (id INT PRIMARY KEY, b LONGBLOB)",
                "CREATE TABLE shop.log (id INT PRIMARY KEY, what VARCHAR(100)) ENGINE=MyISAM",
                "SET sql_log_bin=0",
                "CREATE DATABASE quorate",
                "CREATE TABLE quorate.position (worker INT UNSIGNED PRIMARY KEY, seqno BIGINT UNSIGNED NOT NULL,"
                        + " log_term BIGINT NOT NULL, log_index BIGINT NOT NULL,"
                        + " incarnation CHAR(36) CHARACTER SET ascii NOT NULL,"
                        + " updated TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6))",
                "CREATE TABLE quorate.journal (id INT PRIMARY KEY, what TEXT)",
                "INSERT INTO quorate.position VALUES (0, 0, 0, 0, 'x', DEFAULT), (1, 0, 0, 0, 'x', DEFAULT)");
        fixture = new CaptureFixture(server);
    }

    @AfterAll
    static void stop() {
        fixture.close();
        server.close();
    }

    @Test
    void makesOneWriteSetOfATransaction() throws Exception {
        WriteSet w = fixture.captureOne(
                "BEGIN",
                "INSERT INTO shop.item VALUES (1, 'bolt', 5), (2, 'nut', 7)",
                "INSERT INTO shop.line VALUES (1, 1)",
                "UPDATE shop.item SET stock = 4 WHERE id = 1",
                "COMMIT");
        assertThat(w.kind()).isEqualTo(WriteSet.Kind.ROWS);
        assertThat(w.gtid().number()).isEqualTo(CaptureFixture.present(server).last());
        assertThat(CaptureFixture.types(w))
                .containsExactly(
                        BinlogEvents.TABLE_MAP, BinlogEvents.WRITE_ROWS,
                        BinlogEvents.TABLE_MAP, BinlogEvents.WRITE_ROWS,
                        BinlogEvents.TABLE_MAP, BinlogEvents.UPDATE_ROWS);
        assertThat(Math.abs(System.currentTimeMillis() * 1000 - w.committedMicros()))
                .isLessThan(60_000_000);
        // Two tables, three rows.
        assertThat(w.keys().size()).isEqualTo(5);
    }

    /** BEGIN says nothing of the time zone where the first rows don't depend on it; then the session is asked. */
    @Test
    void rowsOfTablesThatServersComputeBringTheSettingsOfTheirSession() throws Exception {
        server.execute(
                "CREATE TABLE shop.plain (id INT PRIMARY KEY, ts TIMESTAMP)",
                "CREATE TABLE shop.at (id INT PRIMARY KEY, ts TIMESTAMP, h INT AS (HOUR(ts)) STORED)",
                "CREATE TABLE shop.hour (id INT PRIMARY KEY, ts TIMESTAMP, KEY ((HOUR(ts))))",
                "CREATE TABLE shop.part (id INT PRIMARY KEY, n INT, CHECK (1 / n < 2 AND AES_ENCRYPT(n, 'k') <> ''))");
        assertThat(fixture.captureOne("SET time_zone = '+05:00'", "INSERT INTO shop.plain VALUES (1, NOW())"))
                .extracting(CaptureIT::settings)
                .asInstanceOf(InstanceOfAssertFactories.LIST)
                .isEmpty();
        try (Connection client = server.connect();
                Statement statement = client.createStatement()) {
            statement.execute("SET time_zone = '-03:30', lc_time_names = 'de_DE', div_precision_increment = 7,"
                    + " sql_mode = 'NO_ZERO_DATE', block_encryption_mode = 'aes-256-ecb'");
            for (String insert : List.of("shop.at (id, ts) VALUES (1, NOW())", "shop.hour VALUES (1, NOW())")) {
                RowSettings first = onlySettings(statement, insert);
                assertThat(first.timeZone()).isEqualTo("-03:30");
                assertThat(first.locale()).isEqualTo(4);
                assertThat(first.sqlMode()).isEqualTo(1 << 24);
                assertThat(first.divPrecision()).isEqualTo(-1);
            }
            RowSettings later = onlySettings(
                    statement,
                    "shop.plain VALUES (2, NULL)",
                    "shop.at (id, ts) SELECT 2, ts FROM shop.plain WHERE id = 2");
            assertThat(later.timeZone()).isEqualTo("-03:30");
            RowSettings divided = onlySettings(statement, "shop.part VALUES (1, 3)");
            assertThat(divided.divPrecision()).isEqualTo(7);
            assertThat(divided.blockEncryption()).isEqualTo("aes-256-ecb");
        }
    }

    private static RowSettings onlySettings(Statement statement, String... inserts) throws Exception {
        fixture.awaitAll();
        fixture.recorder.clear();
        statement.execute("BEGIN");
        for (String each : inserts) {
            statement.execute("INSERT INTO " + each);
        }
        statement.execute("COMMIT");
        fixture.awaitAll();
        List<RowSettings> settings = settings(fixture.recorder.writeSets().get(0));
        assertThat(settings).hasSize(1);
        return settings.get(0);
    }

    private static List<RowSettings> settings(WriteSet w) {
        List<RowSettings> settings = new ArrayList<>();
        for (Payload.Events event = w.payload().events(); event.next(); ) {
            if (event.type() == BinlogEvents.QUERY) {
                settings.add(RowSettings.read(event));
            }
        }
        return settings;
    }

    /** The connection beside the binlog's would find it first; so the binlog's is made alone here. */
    @Test
    void theBinlogComesFromAServerThatHasProvedWhoItIs(@TempDir Path directory) throws Exception {
        Path ours = CertificateAuthority.create(directory.resolve("ours"), "ours", InstantSource.system())
                .issue("localhost", Duration.ofDays(1));
        Path other = directory.resolve("other");
        CertificateAuthority.create(other, "other", InstantSource.system());
        server.useCertificate(ours);
        connect("localhost", ServerTls.Mode.VERIFY_IDENTITY, ours);
        connect("127.0.0.1", ServerTls.Mode.VERIFY_CA, ours);
        assertThatThrownBy(() -> connect("127.0.0.1", ServerTls.Mode.VERIFY_IDENTITY, ours))
                .isInstanceOf(SSLException.class);
        assertThatThrownBy(() -> connect("localhost", ServerTls.Mode.VERIFY_CA, other))
                .isInstanceOf(SSLException.class);
    }

    private static void connect(String host, ServerTls.Mode mode, Path trusted) throws Exception {
        Path file = trusted.resolve("trust.p12");
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setCertificateEntry("ca", CertificateAuthority.read(trusted.resolve(CertificateAuthority.AUTHORITY)));
        try (OutputStream out = Files.newOutputStream(file)) {
            store.store(out, "trust".toCharArray());
        }
        ServerTls tls = new ServerTls(mode, true, new ServerTls.Store(file.toString(), "trust"), null);
        BinaryLogClient client = new BinaryLogClient(host, server.port(), "root", "");
        client.setServerId(77);
        CaptureSettings settings = CaptureSettings.of(
                        host, server.port(), "root", "", UUID.fromString(server.uuid()), 77)
                .with(tls, Set.of());
        BinlogTls.apply(settings, client);
        client.connect(CaptureFixture.LIMIT.toMillis());
        client.disconnect();
    }

    @Test
    void dropsTheTextsOfStatements() throws Exception {
        WriteSet w =
                fixture.captureOne("SET binlog_rows_query_log_events=ON", "INSERT INTO shop.item VALUES (10, 'x', 1)");
        assertThat(CaptureFixture.types(w)).containsExactly(BinlogEvents.TABLE_MAP, BinlogEvents.WRITE_ROWS);
    }

    @Test
    void keepsLargeTransactionsWhole() throws Exception {
        WriteSet w = fixture.captureOne(
                "SET SESSION cte_max_recursion_depth=100000",
                "INSERT INTO shop.item WITH RECURSIVE n(i) AS (SELECT 100000 UNION ALL SELECT i + 1 FROM n"
                        + " WHERE i < 119999) SELECT i, REPEAT('y', 100), i FROM n");
        assertThat(w.payload().size()).isGreaterThan(1 << 20);
        assertThat(CaptureFixture.types(w)).hasSizeGreaterThan(100);
        assertThat(w.keys().size()).isEqualTo(20_001);
        assertThat(endsStatement(w)).isTrue();
    }

    @Test
    void readsRowsLargerThanAPacket() throws Exception {
        WriteSet w = fixture.captureOne("INSERT INTO shop.blobs VALUES (1, REPEAT('z', 30000000))");
        assertThat(w.payload().size()).isGreaterThan(30_000_000);
    }

    /** Deprecated, and gone from 8.4 on. */
    @Test
    void readsRowsInTheFormOfMySql51() throws Exception {
        boolean known =
                !server.query("SHOW VARIABLES LIKE 'log_bin_use_v1_row_events'").isEmpty();
        if (known) {
            server.execute("SET GLOBAL log_bin_use_v1_row_events = ON");
        }
        try {
            for (String change : List.of(
                    "INSERT INTO shop.item VALUES (70, 'former', 5)",
                    "UPDATE shop.item SET name = 'later' WHERE id = 70",
                    "DELETE FROM shop.item WHERE id = 70")) {
                WriteSet w = fixture.captureOne(change);
                assertThat(CaptureFixture.types(w)).hasSize(2).contains(BinlogEvents.TABLE_MAP);
                PayloadCheck.require(w);
                assertThat(w.keys().size()).isPositive();
            }
        } finally {
            if (known) {
                server.execute("SET GLOBAL log_bin_use_v1_row_events = OFF");
            }
        }
    }

    @Test
    void readsCompressedTransactions() throws Exception {
        WriteSet w = fixture.captureOne(
                "SET binlog_transaction_compression=ON",
                "BEGIN",
                "INSERT INTO shop.item VALUES (20, REPEAT('a', 200), 5)",
                "INSERT INTO shop.line VALUES (20, 1)",
                "COMMIT");
        assertThat(CaptureFixture.types(w))
                .containsExactly(
                        BinlogEvents.TABLE_MAP, BinlogEvents.WRITE_ROWS,
                        BinlogEvents.TABLE_MAP, BinlogEvents.WRITE_ROWS);
        assertThat(w.keys().size()).isEqualTo(4);
    }

    @Test
    void takesChangesOfOtherEnginesWhichEndWithCommit() throws Exception {
        WriteSet w = fixture.captureOne("INSERT INTO shop.log VALUES (1, 'opened')");
        assertThat(CaptureFixture.types(w)).containsExactly(BinlogEvents.TABLE_MAP, BinlogEvents.WRITE_ROWS);
    }

    @Test
    void undoesWhatWasRolledBackToASavepoint() throws Exception {
        WriteSet w = fixture.captureOne(
                "BEGIN",
                "INSERT INTO shop.item VALUES (30, 'kept', 1)",
                "SAVEPOINT a",
                "INSERT INTO shop.item VALUES (31, 'undone', 1)",
                "ROLLBACK TO a",
                "SAVEPOINT `b b`",
                "INSERT INTO shop.line VALUES (30, 30)",
                "RELEASE SAVEPOINT `b b`",
                "COMMIT");
        assertThat(CaptureFixture.types(w))
                .containsExactly(
                        BinlogEvents.TABLE_MAP, BinlogEvents.WRITE_ROWS,
                        BinlogEvents.TABLE_MAP, BinlogEvents.WRITE_ROWS);
        assertThat(w.keys().size()).isEqualTo(4);
    }

    @Test
    void coversTransactionsWithoutChanges() throws Exception {
        String uuid = server.uuid();
        long next = CaptureFixture.present(server).last() + 1;
        assertThat(fixture.capture(
                        "SET gtid_next='" + uuid + ":" + next + "'", "BEGIN", "COMMIT", "SET gtid_next=AUTOMATIC"))
                .isEmpty();
        assertThat(fixture.recorder.entries()).hasSize(1);
    }

    @Test
    void takesDefinitionsAsText() throws Exception {
        WriteSet create =
                fixture.captureOne("SET sql_mode='ANSI_QUOTES'", "CREATE TABLE shop.\"made\" (id INT PRIMARY KEY)");
        assertThat(create.kind()).isEqualTo(WriteSet.Kind.DDL);
        assertThat(CaptureFixture.types(create)).containsExactly(BinlogEvents.QUERY);
        assertThat(create.keys()).isEqualTo(created(KeyNames.table("shop", "made")));

        WriteSet alter = fixture.captureOne("USE shop", "ALTER TABLE made ADD n INT, RENAME TO `made 2`");
        assertThat(alter.keys())
                .isEqualTo(exclusiveWithRows(KeyNames.table("shop", "made"), KeyNames.table("shop", "made 2")));

        WriteSet drop = fixture.captureOne("DROP TABLE IF EXISTS shop.`made 2`, shop.never");
        assertThat(drop.keys())
                .isEqualTo(exclusiveWithRows(KeyNames.table("shop", "made 2"), KeyNames.table("shop", "never")));

        WriteSet user = fixture.captureOne("CREATE USER someone");
        assertThat(user.kind()).isEqualTo(WriteSet.Kind.DDL);
        long accounts = KeyNames.object("ACCOUNTS", "", "");
        assertThat(user.keys()).isEqualTo(new Keys(new long[] {Keys.KEEPS_COLUMNS, Keys.OBJECTS, accounts}, new byte[] {
            (byte) KeyType.SHARED.ordinal(), (byte) KeyType.REFERENCE.ordinal(), (byte) KeyType.EXCLUSIVE.ordinal()
        }));
    }

    /** What every application does that boots. */
    @Test
    void passesOverDefinitionsThatChangedNothing() throws Exception {
        String trigger = "TRIGGER IF NOT EXISTS shop.once BEFORE INSERT ON shop.item FOR EACH ROW SET @a = 1";
        List<String> making = List.of(
                "CREATE DATABASE IF NOT EXISTS boots",
                "CREATE TABLE IF NOT EXISTS boots.t (id INT PRIMARY KEY)",
                "CREATE TABLE IF NOT EXISTS boots.l LIKE boots.t",
                "CREATE PROCEDURE IF NOT EXISTS boots.p() SELECT 1",
                "CREATE " + trigger,
                "CREATE EVENT IF NOT EXISTS boots.e ON SCHEDULE EVERY 1 DAY DO SET @a = 1",
                "DROP VIEW IF EXISTS boots.v");
        List<String> all = new ArrayList<>(List.of("CREATE DATABASE boots", "CREATE VIEW boots.v AS SELECT 1"));
        all.addAll(making);
        // All but the first of these, since that database was there.
        assertThat(fixture.capture(all.toArray(String[]::new))).hasSize(all.size() - 1);
        assertThat(fixture.capture(making.toArray(String[]::new))).isEmpty();
        fixture.capture("DROP TRIGGER shop.once", "DROP DATABASE boots");
    }

    /** Of these the binlog doesn't say whether they changed anything. */
    @Test
    void takesDefinitionsThatMayHaveChangedSomething() throws Exception {
        List<String> statements = List.of(
                "CREATE TABLE IF NOT EXISTS shop.isam (id INT) ENGINE = MyISAM",
                "CREATE TABLE IF NOT EXISTS shop.isam (id INT) ENGINE = MyISAM",
                "DROP TABLE IF EXISTS shop.isam",
                "DROP TABLE IF EXISTS shop.isam",
                "CREATE USER IF NOT EXISTS boots",
                "CREATE USER IF NOT EXISTS boots",
                "DROP USER boots",
                "FLUSH PRIVILEGES",
                "DROP DATABASE IF EXISTS never");
        assertThat(fixture.capture(statements.toArray(String[]::new))).hasSize(statements.size());
        assertThat(fixture.captureOne("FLUSH PRIVILEGES").keys()).isEqualTo(Keys.NONE);
        assertThat(fixture.captureOne("CREATE TABLE shop.selected AS SELECT 1 AS a")
                        .kind())
                .isEqualTo(WriteSet.Kind.DDL);
    }

    @Test
    void takesCreateSelectWithItsRows() throws Exception {
        server.execute("INSERT INTO shop.item VALUES (50, 'a', 1), (51, 'b', 2)");
        WriteSet w = fixture.captureOne("CREATE TABLE shop.copy (PRIMARY KEY (id)) AS SELECT * FROM shop.item");
        assertThat(w.kind()).isEqualTo(WriteSet.Kind.DDL);
        assertThat(CaptureFixture.types(w).subList(0, 3))
                .containsExactly(BinlogEvents.QUERY, BinlogEvents.TABLE_MAP, BinlogEvents.WRITE_ROWS);
        assertThat(w.keys()).isEqualTo(created(KeyNames.table("shop", "copy")));
        assertThat(endsStatement(w)).isTrue();
    }

    @Test
    void passesOverWhatAServerHasOpenOrHasCounted() throws Exception {
        assertThat(fixture.capture("FLUSH TABLES", "FLUSH TABLES shop.item", "FLUSH STATUS", "FLUSH USER_RESOURCES"))
                .isEmpty();
    }

    @Test
    void passesOverTemporaryTables() throws Exception {
        assertThat(fixture.capture(
                        "SET SESSION binlog_format=ROW",
                        "CREATE TEMPORARY TABLE shop.t (id INT)",
                        "INSERT INTO shop.t VALUES (1)",
                        "DROP TEMPORARY TABLE shop.t",
                        "SET SESSION binlog_format=STATEMENT",
                        "CREATE TEMPORARY TABLE shop.t (id INT)",
                        "DROP TEMPORARY TABLE shop.t"))
                .isEmpty();
    }

    @Test
    void recognisesTheAppliersTransactions() throws Exception {
        List<WriteSet> all = fixture.capture(
                "BEGIN",
                "UPDATE quorate.position SET seqno = 70, log_term = 1, log_index = 9, incarnation = UUID()"
                        + " WHERE worker = 1",
                "INSERT INTO shop.item VALUES (60, 'from elsewhere', 1)",
                "COMMIT",
                "INSERT INTO shop.item VALUES (61, 'ours', 1)",
                "BEGIN",
                "UPDATE quorate.position SET seqno = 60, log_term = 1, log_index = 9, incarnation = UUID()"
                        + " WHERE worker = 0",
                "COMMIT",
                "BEGIN",
                "INSERT INTO shop.item VALUES (62, 'ours', 1)",
                "INSERT INTO quorate.journal VALUES (1, 'ours alone')",
                "UPDATE quorate.position SET seqno = 999 WHERE worker = 0",
                "COMMIT",
                "REPLACE INTO quorate.position VALUES (7, 18446744073709551615 >> 2, 0, 0, 'x', DEFAULT)");
        assertThat(all).hasSize(2);
        assertThat(all.get(0).lastSeen()).isEqualTo(70);
        assertThat(all.get(1).lastSeen()).isEqualTo(70);
        assertThat(CaptureFixture.types(all.get(1))).containsExactly(BinlogEvents.TABLE_MAP, BinlogEvents.WRITE_ROWS);
        List<Recorder.Entry> entries = fixture.recorder.entries();
        assertThat(entries).hasSize(5);
        assertThat(entries.get(0).lastSeen()).isEqualTo(70);
        assertThat(entries.get(4).lastSeen()).isEqualTo((1L << 62) - 1);
    }

    @Test
    void statementsThatChangeRowsAreOrderedOnlyToFail() throws Exception {
        Path file = Files.writeString(server.dataDirectory().resolve("items.txt"), "71\ttext\t1\n");
        Map<String, Set<TableName>> statements = new LinkedHashMap<>();
        Set<TableName> item = Set.of(new TableName("shop", "item"));
        statements.put("INSERT INTO shop.item VALUES (70, 'text', 1)", item);
        statements.put("UPDATE shop.item SET stock = RAND() WHERE id = 70", item);
        statements.put("LOAD DATA INFILE '" + file + "' INTO TABLE shop.item", null);
        statements.put("DELETE FROM shop.item WHERE id IN (70, 71)", item);
        try (Connection connection = server.connect()) {
            DefinedTables defined = DefinedTables.at(connection);
            for (Map.Entry<String, Set<TableName>> each : statements.entrySet()) {
                WriteSet w = fixture.captureOne("SET SESSION binlog_format=STATEMENT", each.getKey());
                assertThat(w.keys().contains(Keys.NOT_REPEATABLE))
                        .as(each.getKey())
                        .isTrue();
                PayloadCheck.require(w);
                assertThat(defined.of(w)).as(each.getKey()).isEqualTo(each.getValue());
            }
        }
    }

    @Test
    void aTransactionBeyondTheLimitIsOrderedOnlyToFail() throws Exception {
        CaptureSettings small =
                CaptureFixture.settings(server).withLimits(new CaptureSettings.Limits(1000, 1000, 1000, 1000));
        try (CaptureFixture own = new CaptureFixture(server, CaptureFixture.present(server), small)) {
            server.execute("INSERT INTO shop.item VALUES (80, 'fits', 1)");
            own.awaitAll();
            server.execute("INSERT INTO shop.blobs VALUES (80, REPEAT('z', 1000))");
            own.awaitAll();
            WriteSet w = own.recorder.entries().get(1).writeSet();
            assertThat(w.keys().contains(Keys.NOT_REPEATABLE)).isTrue();
            try (Connection connection = server.connect()) {
                assertThat(DefinedTables.at(connection).of(w)).containsExactly(new TableName("shop", "blobs"));
            }
        }
    }

    /** In InnoDB the rows of a table without keys are in the order in which this server got them. */
    @Test
    void rowsAreOnlyNumberedWhereAllServersNumberThemAlike() throws Exception {
        String add = " ADD number INT AUTO_INCREMENT";
        List<List<String>> alike = List.of(
                List.of("(a INT)", add + " PRIMARY KEY"),
                List.of("(a INT PRIMARY KEY)", " DROP PRIMARY KEY", add + " PRIMARY KEY"),
                List.of("(a INT PRIMARY KEY)", "INSERT", add + " UNIQUE"),
                List.of("(a INT PRIMARY KEY)", "INSERT", " DROP PRIMARY KEY," + add + " PRIMARY KEY"),
                List.of("(a INT NOT NULL UNIQUE)", "INSERT", add + " PRIMARY KEY"));
        int tables = 0;
        for (List<String> one : alike) {
            String table = "shop.alike" + ++tables;
            List<String> statements = new ArrayList<>(List.of("CREATE TABLE " + table + one.get(0)));
            if (one.get(1).startsWith(" ")) {
                one.subList(1, one.size() - 1).forEach(each -> statements.add("ALTER TABLE " + table + each));
            } else {
                statements.add("INSERT INTO " + table + " VALUES (1), (2)");
            }
            statements.add("ALTER TABLE " + table + one.get(one.size() - 1));
            statements.add("INSERT INTO " + table + " (a) VALUES (7)");
            assertThat(fixture.capture(statements.toArray(String[]::new)))
                    .as(table)
                    .noneMatch(w -> w.keys().contains(Keys.NOT_REPEATABLE));
        }
        List<List<String>> otherwise = List.of(
                List.of("(a INT)", add + " PRIMARY KEY"),
                List.of("(a INT UNIQUE)", add + " PRIMARY KEY"),
                List.of("(a INT PRIMARY KEY) ENGINE=MyISAM", add + " UNIQUE"));
        for (List<String> one : otherwise) {
            String table = "shop.other" + ++tables;
            server.execute("CREATE TABLE " + table + one.get(0), "INSERT INTO " + table + " VALUES (2), (1)");
            WriteSet numbered = fixture.captureOne("ALTER TABLE " + table + one.get(1));
            assertThat(numbered.keys().contains(Keys.NOT_REPEATABLE)).as(table).isTrue();
        }
    }

    /** They are not built on the later definition, whatever becomes of it. */
    @Test
    void tellsRowsThatFitTheFormerDefinition() throws Exception {
        String insert = "INSERT INTO shop.former (id, a) VALUES ";
        long fits = Keys.fitsFormer(KeyNames.table("shop", "former"));
        fixture.capture("CREATE TABLE shop.former (id INT PRIMARY KEY, a VARCHAR(9))", insert + "(1, 'a')");
        assertThat(fixture.captureOne(insert + "(2, 'a')").keys().contains(fits))
                .as("a table that was made")
                .isFalse();
        try (CaptureFixture own = new CaptureFixture(server)) {
            own.capture(insert + "(3, 'a')", "ALTER TABLE shop.former MODIFY a VARCHAR(9) NOT NULL");
            assertThat(own.captureOne(insert + "(4, 'a')").keys().contains(fits))
                    .isTrue();
            own.capture("ALTER TABLE shop.former MODIFY a VARCHAR(10) NOT NULL");
            assertThat(own.captureOne(insert + "(5, 'a')").keys().contains(fits))
                    .isFalse();
            own.capture("ALTER TABLE shop.former MODIFY a VARCHAR(9)");
            assertThat(own.captureOne(insert + "(6, 'a')").keys().contains(fits))
                    .as("as before the first of them")
                    .isTrue();
            own.capture("TRUNCATE shop.former");
            assertThat(own.captureOne(insert + "(7, 'a')").keys().contains(fits))
                    .isFalse();
        }
    }

    /**
     * A definition that is run while rows are written, for longer than the reader is behind: CREATE_TIME is when it
     * began, so these rows look as if they came after it. Both are run in that way here. Rows that were committed in a
     * second before CREATE_TIME would be exclusive with any definition, since one may have been left out of the binlog.
     */
    @Test
    void rowsBeforeADefinitionDontHaveTheKeysThatItMakes() throws Exception {
        long table = KeyNames.table("shop", "moved");
        fixture.capture(
                "CREATE TABLE shop.moved (id INT PRIMARY KEY, a INT)", "INSERT INTO shop.moved VALUES (1, 1), (2, 2)");
        OriginPosition start = CaptureFixture.present(server);
        server.execute(
                "UPDATE shop.moved SET a = 3 WHERE id = 1",
                "FLUSH BINARY LOGS",
                "SET SESSION timestamp = UNIX_TIMESTAMP() - 100",
                "ALTER TABLE shop.moved DROP PRIMARY KEY, ADD PRIMARY KEY (id, a)",
                "UPDATE shop.moved SET a = 4 WHERE id = 1",
                "DO SLEEP(1)",
                "ALTER TABLE shop.moved ADD COLUMN b INT");
        try (CaptureFixture behind = new CaptureFixture(server, start)) {
            behind.awaitAll();
            List<WriteSet> captured = behind.recorder.writeSets();
            assertThat(captured).hasSize(4);
            assertThat(type(captured.get(0).keys(), table)).isEqualTo(KeyType.EXCLUSIVE);
            assertThat(captured.get(0).keys().contains(Keys.NO_ROWS_BEFORE))
                    .as("rows of others that have their own keys, and were there before")
                    .isTrue();
            assertThat(type(captured.get(2).keys(), table)).isEqualTo(KeyType.SHARED);
            assertThat(behind.captureOne("UPDATE shop.moved SET a = 5 WHERE id = 1")
                            .keys())
                    .as("the keys of the rows before and after it")
                    .extracting(Keys::size)
                    .isEqualTo(3);
        }
    }

    /** SHOW BINLOG EVENTS fails there; rows of an UPDATE are in its event twice. */
    @Test
    void whatTheServerDoesNotShowOfItsBinlogMayBeAnyDefinition() throws Exception {
        long table = KeyNames.table("shop", "hidden");
        fixture.capture(
                "CREATE TABLE shop.large (id INT PRIMARY KEY, a LONGBLOB)",
                "INSERT INTO shop.large VALUES (1, REPEAT('x', 700000))",
                "CREATE TABLE shop.hidden (id INT PRIMARY KEY, a INT)",
                "INSERT INTO shop.hidden VALUES (1, 1)");
        OriginPosition start = CaptureFixture.present(server);
        String packet = server.queryOne("SELECT @@GLOBAL.max_allowed_packet");
        server.execute(
                "UPDATE shop.hidden SET a = 2 WHERE id = 1",
                "UPDATE shop.large SET a = REPEAT('y', 700000)",
                "ALTER TABLE shop.hidden DROP PRIMARY KEY, ADD PRIMARY KEY (id, a)",
                "UPDATE shop.hidden SET a = 3 WHERE id = 1",
                "SET GLOBAL max_allowed_packet = 1048576");
        String file = server.query(server.dialect().binlogStatus()).get(0).get(0);
        assertThatThrownBy(() -> server.query("SHOW BINLOG EVENTS IN '" + file + "'"))
                .hasMessageContaining("Event too big");
        try (CaptureFixture behind = new CaptureFixture(server, start)) {
            behind.awaitAll();
            List<WriteSet> captured = behind.recorder.writeSets();
            assertThat(captured).hasSize(4);
            assertThat(type(captured.get(0).keys(), table)).isEqualTo(KeyType.EXCLUSIVE);
            assertThat(type(captured.get(3).keys(), table)).isEqualTo(KeyType.SHARED);
        } finally {
            server.execute("SET GLOBAL max_allowed_packet = " + packet);
        }
    }

    private static boolean endsStatement(WriteSet w) {
        byte[] p = w.payload().toArray();
        boolean ends = false;
        for (int at = 0; at < p.length; at += BinlogEvents.length(p, at)) {
            ends = BinlogEvents.isRows(BinlogEvents.type(p, at)) && BinlogEvents.endsStatement(p, at);
        }
        return ends;
    }

    private static Keys exclusiveWithRows(long a, long b) {
        long schema = KeyNames.schema("shop");
        return new Keys(new long[] {schema, Keys.DEFINED_TABLES, Keys.NO_ROWS_BEFORE, a, b}, new byte[] {
            (byte) KeyType.REFERENCE.ordinal(),
            (byte) KeyType.REFERENCE.ordinal(),
            (byte) KeyType.SHARED.ordinal(),
            (byte) KeyType.EXCLUSIVE.ordinal(),
            (byte) KeyType.EXCLUSIVE.ordinal()
        });
    }

    private static Keys created(long table) {
        return new Keys(
                new long[] {KeyNames.schema("shop"), table},
                new byte[] {(byte) KeyType.REFERENCE.ordinal(), (byte) KeyType.EXCLUSIVE.ordinal()});
    }

    /** What MySQL writes to no event; the session is still there when it is asked, as in mode after-sync. */
    @Test
    void whatNoEventHasIsAskedOfTheSession() throws Exception {
        fixture.awaitAll();
        fixture.recorder.clear();
        try (Connection client = server.connect();
                java.sql.Statement statement = client.createStatement()) {
            statement.execute("SET SESSION default_week_format = 6, default_storage_engine = 'MyISAM'");
            statement.execute("CREATE VIEW shop.week AS SELECT WEEK('2026-01-01')");
            statement.execute("CREATE TABLE shop.engine (a INT)");
            fixture.awaitAll();
        }
        List<WriteSet> definitions = fixture.recorder.writeSets();
        assertThat(definitions).hasSize(2);
        assertThat(new String(definitions.get(0).payload().toArray(), StandardCharsets.ISO_8859_1))
                .contains("default_week_format\0006\0");
        assertThat(new String(definitions.get(1).payload().toArray(), StandardCharsets.ISO_8859_1))
                .contains("default_storage_engine\0MyISAM\0");
        try (Connection reader = server.connect()) {
            Set<CarriedSetting> asked = Set.of(CarriedSetting.DIV_PRECISION_INCREMENT);
            long now = System.currentTimeMillis() / 1000;
            long own;
            try (ResultSet row = reader.createStatement().executeQuery("SELECT CONNECTION_ID()")) {
                row.next();
                own = row.getLong(1);
            }
            assertThat(OriginSession.of(reader, own, now + 60, asked).isAssumed())
                    .isFalse();
            // It isn't there; somebody else has its number.
            for (OriginSession gone : List.of(
                    OriginSession.of(reader, Integer.MAX_VALUE, now + 60, asked),
                    OriginSession.of(reader, own, now - 100_000, asked))) {
                assertThat(gone.isAssumed()).isTrue();
                assertThat(gone.values()).isEqualTo(Map.of(CarriedSetting.DIV_PRECISION_INCREMENT, "4"));
            }
        }
    }

    /** As long as the server has not forgotten the session. What it then says is refused by every other server. */
    @Test
    void aSessionThatIsEndingHasNoEngine() throws Exception {
        try (Connection reader = server.connect()) {
            assertThat(OriginSession.read(
                            reader,
                            "SELECT 'default_storage_engine', NULL UNION SELECT 'innodb_ft_user_stopword_table', NULL"))
                    .isEqualTo(Map.of(CarriedSetting.INNODB_FT_USER_STOPWORD_TABLE, ""));
        }
    }

    /** In mode async a session may be gone before the service comes to what it did. */
    @Test
    void theEngineOfANewTableIsAskedOfTheTableWhereTheSessionIsGone() throws Exception {
        fixture.awaitAll();
        fixture.recorder.clear();
        fixture.recorder.block(true);
        server.execute("CREATE TABLE shop.first (a INT) ENGINE = InnoDB");
        fixture.recorder.awaitBlocked();
        server.execute("SET default_storage_engine = 'MyISAM'", "CREATE TABLE shop.of_its_session (a INT)");
        fixture.recorder.block(false);
        fixture.awaitAll();
        assertThat(new String(fixture.recorder.writeSets().get(1).payload().toArray(), StandardCharsets.ISO_8859_1))
                .contains("default_storage_engine\0MyISAM\0");
    }

    /** A newer server may have tables of its own that are accounts'; somebody has to look. */
    @Test
    void whateverIsInTheServersOwnSchemasIsAccountsOrItsOwn() {
        Set<String> own = Set.of(
                "column_stats",
                "component",
                "engine_cost",
                "firewall_group_allowlist",
                "firewall_groups",
                "firewall_membership",
                "firewall_users",
                "firewall_whitelist",
                "func",
                "general_log",
                "gtid_executed",
                "help_category",
                "help_keyword",
                "help_relation",
                "help_topic",
                "innodb_index_stats",
                "innodb_table_stats",
                "ndb_binlog_index",
                "plugin",
                "replication_asynchronous_connection_failover",
                "replication_asynchronous_connection_failover_managed",
                "replication_group_configuration_version",
                "replication_group_member_actions",
                "server_cost",
                "slave_master_info",
                "slave_relay_log_info",
                "slave_worker_info",
                "slow_log",
                "time_zone",
                "time_zone_leap_second",
                "time_zone_name",
                "time_zone_transition",
                "time_zone_transition_type");
        Set<String> accounts = Set.of(
                "columns_priv",
                "db",
                "default_roles",
                "global_grants",
                "password_history",
                "procs_priv",
                "proxies_priv",
                "role_edges",
                "servers",
                "tables_priv",
                "user");
        for (List<String> row : server.query("SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES"
                + " WHERE TABLE_SCHEMA IN ('mysql', 'sys', 'performance_schema', 'information_schema')")) {
            TableName table = new TableName(row.get(0), row.get(1));
            boolean isAccounts = row.get(0).equals("mysql") && accounts.contains(row.get(1));
            assertThat(isAccounts || !row.get(0).equals("mysql") || own.contains(row.get(1)))
                    .as("%s is new", table)
                    .isTrue();
            assertThat(table.isServersOwn()).as(table.toString()).isEqualTo(!isAccounts);
        }
    }

    @Test
    void whatIsEachServersOwnIsNotReplicated() throws Exception {
        assertThat(fixture.capture(
                        "ALTER TABLE mysql.slow_log ENGINE = MyISAM",
                        "ALTER TABLE mysql.slow_log ENGINE = CSV",
                        "TRUNCATE mysql.time_zone_leap_second",
                        "INSERT INTO mysql.time_zone_leap_second VALUES (1, 1)",
                        "UPDATE sys.sys_config SET value = value + 1 WHERE variable = 'statement_truncate_len'",
                        "USE sys",
                        "ALTER TABLE sys_config COMMENT = 'x'"))
                .isEmpty();
    }
}
