// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.quorate.core.AppliedDdl;
import io.quorate.core.BinlogEvents;
import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.QuorateException;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import io.quorate.sandbox.MySqlServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The applier against a real server, with the binlog of another one as its source. */
@Timeout(400)
class ApplierIT {
    private static final AtomicInteger SCHEMAS = new AtomicInteger();
    private static MySqlServer origin;
    private static MySqlServer server;
    private static String serverUuid;

    private Replica replica;
    private String schema;

    @BeforeAll
    static void startServers() {
        origin = MySqlServer.builder().relaxed().start();
        server = MySqlServer.builder().serverId(2).relaxed().start();
        serverUuid = server.uuid();
    }

    @AfterAll
    static void stopServers() {
        origin.close();
        server.close();
    }

    /** Both servers start each test with an empty binlog and an empty schema. */
    @BeforeEach
    void begin() {
        schema = "s" + SCHEMAS.incrementAndGet();
        server.execute("SET GLOBAL read_only = 0", "DROP DATABASE IF EXISTS quorate", "RESET MASTER");
        origin.execute("RESET MASTER");
        server.execute("SET SESSION sql_log_bin = 0", "CREATE DATABASE " + schema);
        origin.execute("SET SESSION sql_log_bin = 0", "CREATE DATABASE " + schema);
        replica = new Replica(origin, server);
    }

    @AfterEach
    void end() {
        replica.close();
    }

    @Test
    void ddlRunsInItsOriginsSession() throws Exception {
        replica.start(Replica.SETTINGS);
        origin.execute(
                "USE " + schema,
                "SET SESSION sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES', time_zone = '+07:00', timestamp ="
                        + " 1700000000.25",
                "CREATE TABLE \"quoted\" (a VARCHAR(20) DEFAULT 'x\\', b TIMESTAMP DEFAULT '2024-01-01 00:00:00')",
                "SET SESSION sql_mode = DEFAULT, default_collation_for_utf8mb4 = 'utf8mb4_general_ci'",
                "CREATE TABLE general (a VARCHAR(10)) DEFAULT CHARSET utf8mb4",
                "SET SESSION collation_server = 'latin2_bin'",
                "CREATE DATABASE " + schema + "x",
                "CREATE TABLE " + schema + "x.t (a VARCHAR(10))",
                "CREATE VIEW v AS SELECT a, 'é' AS e FROM general",
                "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 'ü'; END",
                "CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1",
                "CREATE EVENT ev ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 00:00:00' DO SET @x = 1",
                "CREATE USER IF NOT EXISTS someone IDENTIFIED BY 'secret'",
                "GRANT SELECT ON " + schema + ".* TO someone",
                "ALTER TABLE general ADD b INT UNSIGNED DEFAULT 5, ADD KEY (b)",
                "INSERT INTO general VALUES ('é', 1)",
                "CREATE TABLE selected AS SELECT a, b + 1 AS c FROM general",
                "CREATE TABLE likewise LIKE general",
                "RENAME TABLE likewise TO renamed",
                "TRUNCATE TABLE renamed",
                "CREATE TABLE gone (a INT)",
                "DROP TABLE gone");
        try (Connection latin =
                        ApplierDataSource.of(origin.jdbcUrl(), "root", "").getConnection();
                Statement statement = latin.createStatement()) {
            statement.execute("CREATE TABLE " + schema + ".café (é ENUM('ü', 'ß'))");
            statement.execute("INSERT INTO " + schema + ".café VALUES ('ß')");
        }
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        replica.assertSame(schema);
        replica.assertSame(schema + "x");
        for (String show : List.of("VIEW v", "PROCEDURE p", "FUNCTION f", "EVENT ev")) {
            String sql = "SHOW CREATE " + show.replace(" ", " " + schema + ".");
            assertThat(server.query(sql)).isEqualTo(origin.query(sql));
        }
        assertThat(server.query("SHOW GRANTS FOR someone")).isEqualTo(origin.query("SHOW GRANTS FOR someone"));
        UUID ddl = AppliedDdl.source(Replica.INCARNATION);
        assertThat(server.queryOne("SELECT @@GLOBAL.gtid_executed")).contains(ddl.toString());
    }

    /** Literals of such a session are in a character set in which the applier's own statements can't be written. */
    @Test
    void ddlOfASessionWhoseConnectionIsUtf16Runs() throws Exception {
        replica.start(Replica.SETTINGS);
        for (String charset : List.of("utf16", "utf16le", "utf32", "ucs2")) {
            origin.execute(
                    "USE " + schema,
                    "SET SESSION collation_connection = '" + charset + "_bin'",
                    "CREATE TABLE of_" + charset + " (a VARCHAR(10) DEFAULT 'é')",
                    "CREATE TABLE selected_" + charset + " AS SELECT 'x' AS a, 1 AS b",
                    "INSERT INTO of_" + charset + " VALUES ('y')");
        }
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        replica.assertSame(schema);
    }

    @Test
    void partitionValuesAreOfTheirColumnsCharacterSet() throws Exception {
        replica.start(Replica.SETTINGS);
        origin.execute(
                "USE " + schema,
                "SET NAMES utf8mb3",
                "CREATE TABLE a (a VARCHAR(2) CHARACTER SET cp1250) PARTITION BY LIST COLUMNS (a)"
                        + " (PARTITION p0 VALUES IN (0x81))",
                "CREATE TABLE b (a VARCHAR(2) CHARACTER SET cp1250) PARTITION BY LIST COLUMNS (a)"
                        + " (PARTITION p0 VALUES IN (0x80))",
                "CREATE TABLE c (a VARCHAR(2) CHARACTER SET ucs2) PARTITION BY LIST COLUMNS (a)"
                        + " (PARTITION p0 VALUES IN (0x2020), PARTITION p1 VALUES IN (''))",
                "INSERT INTO c VALUES (''), (_ucs2 0x2020)",
                "CREATE TABLE d (a VARCHAR(100) CHARACTER SET utf8mb3 COLLATE utf8mb3_spanish2_ci)"
                        + " PARTITION BY RANGE COLUMNS(a) (PARTITION p0 VALUES LESS THAN ('CZ'),"
                        + " PARTITION p1 VALUES LESS THAN ('CH'))");
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        replica.assertSame(schema);
        for (String table : List.of("a", "b", "c", "d")) {
            String show = "SHOW CREATE TABLE " + schema + "." + table;
            assertThat(server.query(show)).isEqualTo(origin.query(show));
        }
    }

    /** The event says "no USE needed", which is for mysqlbinlog: a replica always has the default schema. */
    @Test
    void aDatabaseIsAlteredWithoutItsName() throws Exception {
        replica.start(Replica.SETTINGS);
        origin.execute("USE " + schema, "ALTER DATABASE DEFAULT CHARACTER SET latin2", "CREATE TABLE t (a CHAR(5))");
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        replica.assertSame(schema);
        String show = "SHOW CREATE DATABASE " + schema;
        assertThat(server.query(show)).isEqualTo(origin.query(show));
    }

    /** Otherwise the event's body would run as the applier's account, which may do anything. */
    @Test
    void whoAltersAnEventIsItsDefinerEverywhere() throws Exception {
        replica.start(Replica.SETTINGS);
        origin.execute(
                "CREATE USER `ev``il`@localhost, other@localhost, third@localhost",
                "GRANT EVENT ON " + schema + ".* TO `ev``il`@localhost, other@localhost",
                "CREATE DEFINER = other@localhost EVENT " + schema
                        + ".e ON SCHEDULE AT '2040-01-01 00:00:00' DO SET @x = 1",
                "CREATE EVENT " + schema + ".f ON SCHEDULE AT '2040-01-01 00:00:00' DO SET @x = 1");
        try (Client client = new Client(origin, "ev`il");
                Statement statement = client.connection().createStatement()) {
            statement.execute("USE " + schema);
            statement.execute("ALTER /* ! */ EVENT e DO SET PERSIST max_connections = 1");
        }
        origin.execute("ALTER DEFINER = third@localhost EVENT " + schema + ".f COMMENT 'c'");
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        String definers = "SELECT GROUP_CONCAT(definer ORDER BY event_name) FROM information_schema.events"
                + " WHERE event_schema = '" + schema + "'";
        assertThat(origin.queryOne(definers)).isEqualTo("ev`il@localhost,third@localhost");
        assertThat(server.queryOne(definers)).isEqualTo(origin.queryOne(definers));
    }

    /** A server grants it by itself, which the binlog doesn't have. */
    @Test
    void whoCreatesARoutineMayRunItEverywhere() throws Exception {
        creators();
        createRoutines();
        replica.start(Replica.SETTINGS);
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        assertThat(routineRights(origin)).hasSize(5);
        assertThat(routineRights(server)).isEqualTo(routineRights(origin));
    }

    @Test
    void whoCreatesARoutineGetsNoRightToItWhereServersDontGrantIt() throws Exception {
        creators();
        for (MySqlServer s : List.of(origin, server)) {
            s.execute("SET GLOBAL automatic_sp_privileges = OFF");
        }
        try {
            createRoutines();
            replica.start(Replica.SETTINGS);
            replica.take(seqno -> seqno - 1);
            replica.awaitApplied();
        } finally {
            for (MySqlServer s : List.of(origin, server)) {
                s.execute("SET GLOBAL automatic_sp_privileges = ON");
            }
        }
        assertThat(routineRights(origin)).isEmpty();
        assertThat(routineRights(server)).isEmpty();
    }

    @Test
    void whoCreatedARoutineIsGrantedItOnceWhateverCrashes() throws Exception {
        creators();
        String create = "CREATE DEFINER = creator@localhost PROCEDURE " + schema + ".p() SELECT 1";
        String dropped = "CREATE DEFINER = creator@localhost PROCEDURE " + schema + ".dropped() SELECT 1";
        try (Client client = new Client(origin, "creator");
                Statement statement = client.connection().createStatement()) {
            statement.execute(create);
            statement.execute(dropped);
        }
        origin.execute("SET SESSION sql_log_bin = 0", "DROP PROCEDURE " + schema + ".dropped");
        replica.start(Replica.SETTINGS);
        replica.stop();
        // As if the server had gone down right after each definition.
        UUID ddl = AppliedDdl.source(Replica.INCARNATION);
        server.execute(
                "SET SESSION gtid_next = '" + new Gtid(ddl, 1) + "'",
                create,
                "SET SESSION gtid_next = '" + new Gtid(ddl, 2) + "'",
                dropped,
                "SET SESSION gtid_next = 'AUTOMATIC', sql_log_bin = 0",
                "DROP PROCEDURE " + schema + ".dropped");
        assertThat(routineRights(server)).isEmpty();
        replica.start(Replica.SETTINGS);
        replica.take(seqno -> 0);
        replica.awaitApplied();
        replica.stop();
        assertThat(routineRights(server)).isEqualTo(routineRights(origin)).hasSize(1);
        // As if it had gone down before the position, and a client had been there meanwhile.
        server.execute(
                "SET SESSION sql_log_bin = 0",
                "UPDATE quorate.position SET seqno = 0",
                "REVOKE EXECUTE ON PROCEDURE " + schema + ".p FROM creator@localhost");
        String left = routineRights(server).toString();
        replica.start(Replica.SETTINGS);
        origin.execute("CREATE TABLE " + schema + ".t (id INT PRIMARY KEY)");
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        assertThat(routineRights(server).toString()).isEqualTo(left).contains("Alter Routine");
    }

    /** On both servers, without the binlog: accounts that may create routines. Some of them may use any routine. */
    private void creators() {
        for (MySqlServer s : List.of(origin, server)) {
            s.execute(
                    "SET SESSION sql_log_bin = 0",
                    "SET GLOBAL log_bin_trust_function_creators = ON",
                    "DROP USER IF EXISTS creator@localhost, everywhere@localhost, here@localhost, half@localhost,"
                            + " member@localhost, of_member",
                    "CREATE USER creator@localhost, everywhere@localhost, here@localhost, half@localhost",
                    "CREATE ROLE of_member",
                    "CREATE USER member@localhost DEFAULT ROLE of_member",
                    "GRANT CREATE ROUTINE, ALTER ROUTINE, EXECUTE ON *.* TO everywhere@localhost",
                    "GRANT CREATE ROUTINE ON *.* TO creator@localhost, half@localhost, here@localhost,"
                            + " member@localhost",
                    "GRANT SET_USER_ID ON *.* TO everywhere@localhost",
                    "GRANT EXECUTE ON *.* TO half@localhost",
                    "GRANT ALTER ROUTINE, EXECUTE ON `" + schema.charAt(0) + "%`.* TO here@localhost",
                    "GRANT ALTER ROUTINE, EXECUTE ON " + schema + ".* TO of_member");
        }
    }

    private void createRoutines() throws SQLException {
        for (String user : List.of("creator", "everywhere", "here", "half", "member")) {
            try (Client client = new Client(origin, user);
                    Statement statement = client.connection().createStatement()) {
                statement.execute("CREATE PROCEDURE " + schema + ".`of ``" + user + "`() SELECT 1");
            }
        }
        try (Client client = new Client(origin, "creator");
                Statement statement = client.connection().createStatement()) {
            statement.execute("CREATE FUNCTION " + schema + ".f() RETURNS INT DETERMINISTIC RETURN 1");
            statement.execute("CREATE PROCEDURE " + schema + ".gone() SELECT 1");
        }
        origin.execute("DROP PROCEDURE " + schema + ".gone");
        // The default schema, and literals that can't be read as the server's own; its definer gets nothing.
        try (Client client = new Client(origin, "everywhere");
                Statement statement = client.connection().createStatement()) {
            statement.execute("USE " + schema);
            statement.execute("CREATE DEFINER = creator@localhost PROCEDURE defined() SELECT 1");
        }
        try (Client client = new Client(origin, "half");
                Statement statement = client.connection().createStatement()) {
            statement.execute("SET SESSION sql_mode = 'ANSI_QUOTES'");
            statement.execute("SET SESSION collation_connection = 'utf16_bin'");
            statement.execute("CREATE FUNCTION " + schema + ".\"quo\"\"ted\"() RETURNS INT DETERMINISTIC RETURN 1");
            statement.execute("CREATE PROCEDURE IF NOT EXISTS " + schema + ".\"sooner\"() SELECT 1");
        }
    }

    /** Without who granted them, and when. */
    private static List<List<String>> routineRights(MySqlServer s) {
        return s.query("SELECT user, host, routine_type, db, routine_name, proc_priv FROM mysql.procs_priv"
                + " ORDER BY 1, 2, 3, 4, 5");
    }

    /** Otherwise the applier's account would be dropped. */
    @Test
    void theCurrentUserIsWhoRanTheStatement() throws Exception {
        replica.start(Replica.SETTINGS);
        origin.execute(
                "CREATE USER me@localhost, heir@localhost",
                "CREATE ROLE part",
                "GRANT part TO me@localhost",
                "GRANT CREATE USER, SELECT ON *.* TO me@localhost WITH GRANT OPTION",
                "GRANT SELECT ON mysql.* TO me@localhost");
        try (Client client = new Client(origin, "me");
                Statement statement = client.connection().createStatement()) {
            statement.execute("REVOKE SELECT ON mysql.* FROM CURRENT_USER()");
            statement.execute("ALTER USER CURRENT_USER DEFAULT ROLE ALL");
            statement.execute("RENAME USER CURRENT_USER() TO 'mé'@localhost");
        }
        origin.execute("SET NAMES latin1", "GRANT part TO heir@localhost");
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        String accounts = "SELECT GROUP_CONCAT(user ORDER BY user) FROM mysql.user"
                + " WHERE user IN ('me', 'mé', 'heir', 'root')";
        assertThat(server.queryOne(accounts))
                .isEqualTo(origin.queryOne(accounts))
                .isEqualTo("heir,mé,root");
        String roles = "SELECT user, default_role_user FROM mysql.default_roles WHERE user = 'mé'";
        assertThat(server.query(roles)).isEqualTo(origin.query(roles)).isNotEmpty();
        String grants = "SHOW GRANTS FOR 'mé'@localhost";
        assertThat(server.query(grants)).isEqualTo(origin.query(grants));
    }

    /** With partial_revokes the binlog has it as granted AS its grantor, for whom the server would have to be open. */
    @Test
    void aGrantOfAnOrdinaryAccountIsAppliedToAClosedServer() throws Exception {
        replica.start(Replica.SETTINGS);
        origin.execute(
                "CREATE USER granter@localhost, granted@localhost",
                "GRANT PROCESS ON *.* TO granter@localhost WITH GRANT OPTION");
        for (MySqlServer s : List.of(origin, server)) {
            s.execute("SET GLOBAL partial_revokes = ON");
        }
        try {
            try (Client client = new Client(origin, "granter");
                    Statement statement = client.connection().createStatement()) {
                statement.execute("GRANT PROCESS ON *.* TO granted@localhost");
            }
            server.execute("SET GLOBAL read_only = ON");
            replica.take(seqno -> seqno - 1);
            replica.awaitApplied();
        } finally {
            for (MySqlServer s : List.of(origin, server)) {
                s.execute("SET GLOBAL read_only = OFF, partial_revokes = OFF");
            }
        }
        String grants = "SHOW GRANTS FOR granted@localhost";
        assertThat(server.query(grants)).isEqualTo(origin.query(grants));
    }

    /** What a server is told to be for sessions that don't say otherwise. */
    @Test
    void theServersDefaultsForSessionsDoNotMatter() throws Exception {
        for (MySqlServer s : List.of(origin, server)) {
            s.execute(
                    "SET GLOBAL binlog_row_value_options = 'PARTIAL_JSON', binlog_row_image = 'MINIMAL'",
                    "SET GLOBAL transaction_isolation = 'SERIALIZABLE', sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'",
                    "SET GLOBAL autocommit = 0, foreign_key_checks = 0, character_set_client = 'cp1251'");
        }
        try {
            origin.execute(
                    "CREATE TABLE " + schema + ".t (id INT PRIMARY KEY, j JSON, n INT)",
                    "INSERT INTO " + schema + ".t VALUES (1, '{\"a\": \"one\", \"b\": 2}', 0)",
                    "COMMIT");
            replica.start(Replica.SETTINGS);
            replica.take(seqno -> seqno - 1);
            replica.awaitApplied();
            origin.execute("UPDATE " + schema + ".t SET j = JSON_SET(j, '$.a', 'two'), n = 1 WHERE id = 1", "COMMIT");
            replica.take(seqno -> seqno - 1);
            replica.awaitApplied();
            replica.assertSame(schema);
            replica.stop();
            assertThat(server.queryLong("SELECT MAX(seqno) FROM quorate.position"))
                    .isEqualTo(3);
            server.execute("FLUSH BINARY LOGS");
            assertThat(BinlogReader.events(server.dataDirectory(), BinlogEvents.PARTIAL_UPDATE_ROWS))
                    .as("the capture needs whole images")
                    .isEmpty();
            assertThat(BinlogReader.events(origin.dataDirectory(), BinlogEvents.PARTIAL_UPDATE_ROWS))
                    .isNotEmpty();
        } finally {
            for (MySqlServer s : List.of(origin, server)) {
                s.execute(
                        "SET GLOBAL binlog_row_value_options = '', binlog_row_image = DEFAULT",
                        "SET GLOBAL transaction_isolation = DEFAULT, sql_mode = DEFAULT",
                        "SET GLOBAL autocommit = 1, foreign_key_checks = 1, character_set_client = DEFAULT");
            }
        }
    }

    /** The binlog doesn't have these settings, and an origin's client may have others than this server's default. */
    @Test
    void whatItsOriginTookIsTakenInTheSameWay() throws Exception {
        server.execute("SET GLOBAL innodb_strict_mode = ON, sql_generate_invisible_primary_key = ON");
        try {
            origin.execute(
                    "USE " + schema,
                    "SET SESSION innodb_strict_mode = OFF, sql_generate_invisible_primary_key = OFF",
                    "CREATE TABLE elsewhere (a INT) DATA DIRECTORY = '/nowhere'",
                    "CREATE TABLE odd (a INT) ROW_FORMAT = COMPRESSED KEY_BLOCK_SIZE = 3",
                    "ALTER TABLE odd KEY_BLOCK_SIZE = 5",
                    "CREATE TABLE selected AS SELECT 1 AS a",
                    "INSERT INTO elsewhere VALUES (1)",
                    "INSERT INTO odd VALUES (1)",
                    "SET SESSION sql_generate_invisible_primary_key = ON",
                    "CREATE TABLE keyed (a INT)",
                    "INSERT INTO keyed VALUES (1)");
            replica.start(Replica.SETTINGS);
            replica.take(seqno -> seqno - 1);
            replica.awaitApplied();
        } finally {
            server.execute("SET GLOBAL innodb_strict_mode = DEFAULT, sql_generate_invisible_primary_key = DEFAULT");
        }
        replica.assertSame(schema);
    }

    @Test
    void ddlThatRanBeforeACrashIsNotRunAgain() throws Exception {
        origin.execute("CREATE TABLE " + schema + ".t (a INT PRIMARY KEY)");
        replica.start(Replica.SETTINGS);
        replica.take(seqno -> 0);
        replica.awaitApplied();
        replica.stop();
        // As if the server had gone down between the DDL and its position.
        server.execute("SET SESSION sql_log_bin = 0", "UPDATE quorate.position SET seqno = 0");
        replica.start(Replica.SETTINGS);
        origin.execute("INSERT INTO " + schema + ".t VALUES (1)");
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        replica.assertSame(schema);
    }

    @Test
    void largeRowsAndLargeTransactionsGoInSeveralStatements() throws Exception {
        origin.execute(
                "USE " + schema,
                "CREATE TABLE blobs (id INT PRIMARY KEY, b LONGBLOB)",
                "INSERT INTO blobs VALUES (1, REPEAT('0123456789', 3 << 20))",
                "UPDATE blobs SET b = CONCAT(b, 'x')",
                "CREATE TABLE many (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(100), KEY (a))",
                "INSERT INTO many (a) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
                        + " SELECT UUID() FROM n",
                "BEGIN",
                "INSERT INTO many (a) SELECT x.a FROM many x, many y WHERE y.id <= 40",
                "UPDATE many SET a = CONCAT(a, 'y') WHERE id % 2",
                "DELETE FROM many WHERE id % 3 = 1",
                "COMMIT",
                // Of an engine without transactions nothing but a whole statement can be applied.
                "CREATE TABLE plain (id INT PRIMARY KEY, b LONGBLOB) ENGINE = MyISAM",
                "INSERT INTO plain SELECT id, REPEAT(a, 50000) FROM many ORDER BY id LIMIT 12",
                "UPDATE plain SET b = CONCAT(b, 'x')");
        replica.start(Replica.SETTINGS);
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        replica.assertSame(schema);
        assertThat(replica.stats().statements()).isGreaterThan(10);
    }

    /** Its event is a third larger as a statement, and twice that when the row was updated. */
    @Test
    void aRowAsLargeAsClientsCanWriteIsAppliedWithoutAChangeOfTheServersSettings() throws Exception {
        server.execute("SET GLOBAL max_allowed_packet = 8 << 20");
        replica.start(Replica.SETTINGS);
        origin.execute(
                "USE " + schema,
                "CREATE TABLE blobs (id INT PRIMARY KEY, b LONGBLOB)",
                "INSERT INTO blobs VALUES (1, REPEAT('0123456789', 1 << 20))",
                "UPDATE blobs SET b = CONCAT(b, 'x')",
                "CREATE TABLE selected AS SELECT * FROM blobs");
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        assertThat(server.queryLong("SELECT @@GLOBAL.max_allowed_packet")).isEqualTo(8 << 20);
        server.execute("SET GLOBAL max_allowed_packet = DEFAULT");
        replica.assertSame(schema);
    }

    @Test
    void nothingIsLostOrTwiceAfterKill9InMidApply() throws Exception {
        origin.execute(
                "CREATE TABLE " + schema + ".t (id INT AUTO_INCREMENT PRIMARY KEY, n INT)",
                "CREATE TABLE " + schema + ".log (what INT, at INT)");
        List<String> statements = new ArrayList<>(List.of("USE " + schema));
        for (int i = 0; i < 4000; i++) {
            statements.add(
                    i % 2 == 0 ? "INSERT INTO t (n) VALUES (" + i + ")" : "INSERT INTO log VALUES (" + i + ", 1)");
        }
        origin.execute(statements.toArray(String[]::new));
        replica.take(seqno -> seqno <= 3 ? seqno - 1 : 2);
        ApplierSettings settings = Replica.SETTINGS.withWorkers(4).withGroups(8, 1 << 20, Duration.ZERO);
        for (int kill = 1; kill <= 4; kill++) {
            replica.start(settings);
            replica.awaitApplied(kill * 700L);
            server.kill9();
            replica.awaitLoss();
            replica.stop();
            server.start();
        }
        replica.start(settings);
        replica.awaitApplied();
        replica.assertSame(schema);
    }

    /**
     * A trigger of the child changes the parent, and the cascade has changed the child's row before the row's own event
     * comes: first the parent is in the binlog, then the child as it was before both.
     */
    @Test
    void aRowThatACascadeOfItsOwnStatementChangesIsFound() throws Exception {
        replica.start(Replica.SETTINGS);
        for (String key : List.of("", " PRIMARY KEY")) {
            String n = key.isEmpty() ? "0" : "1";
            String child = "child" + n;
            String parent = "parent" + n;
            origin.execute(
                    "USE " + schema,
                    "CREATE TABLE " + parent + " (id INT PRIMARY KEY)",
                    "CREATE TABLE " + child + " (id INT" + key + ", parent INT, n INT DEFAULT 0, FOREIGN KEY (parent)"
                            + " REFERENCES " + parent + " (id) ON DELETE CASCADE ON UPDATE CASCADE)",
                    "INSERT INTO " + parent + " VALUES (1), (2), (3), (4), (5)",
                    "INSERT INTO " + child + " (id, parent) VALUES (1, 1), (2, 2), (3, 3), (4, 3), (5, 4)",
                    "CREATE TRIGGER d" + n + " BEFORE DELETE ON " + child + " FOR EACH ROW DELETE FROM " + parent
                            + " WHERE id = OLD.parent",
                    "CREATE TRIGGER u" + n + " BEFORE UPDATE ON " + child + " FOR EACH ROW UPDATE " + parent
                            + " SET id = id + 100 WHERE id = OLD.parent",
                    "DELETE FROM " + child + " WHERE id = 1",
                    "UPDATE " + child + " SET parent = 5 WHERE id = 2",
                    "DELETE FROM " + child + " WHERE parent = 3");
        }
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        replica.assertSame(schema);
        assertThat(server.queryLong("SELECT COUNT(*) FROM " + schema + ".child0"))
                .isEqualTo(2);
    }

    @Test
    void rowsOfMergeTablesAreAppliedOnceEach() throws Exception {
        replica.start(Replica.SETTINGS);
        origin.execute(
                "USE " + schema,
                "CREATE TABLE a (id INT PRIMARY KEY, n INT) ENGINE = MyISAM",
                "CREATE TABLE b LIKE a",
                "CREATE TABLE both_of_them (id INT PRIMARY KEY, n INT) ENGINE = MERGE UNION = (a, b)"
                        + " INSERT_METHOD = FIRST",
                "INSERT INTO both_of_them VALUES (1, 1), (2, 2)",
                "INSERT INTO b VALUES (3, 3), (4, 4)",
                "UPDATE both_of_them SET n = n + 10",
                "DELETE FROM both_of_them WHERE id IN (2, 3)",
                "INSERT INTO both_of_them VALUES (2, 2)",
                "CREATE TABLE plain (id INT PRIMARY KEY, n INT) ENGINE = MyISAM",
                "CREATE TABLE c LIKE a",
                "CREATE TABLE other (id INT PRIMARY KEY, n INT) ENGINE = MERGE UNION = (c) INSERT_METHOD = FIRST",
                "INSERT INTO plain VALUES (1, 1), (2, 2), (4, 4)",
                "INSERT INTO other VALUES (1, 1), (2, 2), (4, 4)",
                // Several tables in one statement.
                "UPDATE both_of_them m, other o, plain p SET m.n = 5, o.n = 6, p.n = 7"
                        + " WHERE m.id = o.id AND o.id = p.id",
                "DELETE m, o FROM both_of_them m, other o WHERE m.id = o.id AND m.id < 3",
                "DELETE p, o FROM plain p, other o WHERE p.id = o.id");
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        replica.assertSame(schema);
    }

    /** What was written before the failure stays, and the server counts the transaction as executed. */
    @Test
    void aPartOfAStatementWithoutTransactionsIsNeverTakenForAllOfIt() throws Exception {
        origin.execute("USE " + schema, "CREATE TABLE plain (id INT PRIMARY KEY) ENGINE = MyISAM");
        replica.start(Replica.SETTINGS);
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        server.execute("SET SESSION sql_log_bin = 0", "INSERT INTO " + schema + ".plain VALUES (3)");
        origin.execute("USE " + schema, "INSERT INTO plain VALUES (1), (2), (3), (4)");
        replica.take(seqno -> seqno - 1);
        for (int i = 0; i < 3; i++) {
            assertThat(catchThrowable(replica::awaitApplied)).hasMessageContaining("QRT-5001");
            replica.stop();
            replica.start(Replica.SETTINGS);
        }
    }

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

    /** For longer than a group is tried again. */
    @Test
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

    /** A session in a transaction that may be killed. */
    private record Client(Connection connection) implements AutoCloseable {
        Client(MySqlServer server) throws SQLException {
            this(server, "root");
        }

        Client(MySqlServer server, String user) throws SQLException {
            this(server.connect(user, "", ""));
            connection.setAutoCommit(false);
        }

        @Override
        public void close() throws SQLException {
            connection.abort(Runnable::run);
        }
    }

    /** Without dependencies the groups collide; order, yielding and retries must still make it come out right. */
    @Test
    void collidingGroupsStillEndAsTheOriginDid() throws Exception {
        long seed = System.nanoTime();
        churn(seed, 600);
        replica.start(Replica.SETTINGS.withWorkers(4).withGroups(5, 1 << 20, Duration.ZERO));
        replica.take(seqno -> seqno <= 21 ? seqno - 1 : 21);
        replica.awaitApplied();
        replica.assertSame(schema);
    }

    @Test
    void uniqueKeyChurnWithKeyDependenciesAndFourWorkers() throws Exception {
        churn(System.nanoTime(), 2000);
        replica.start(Replica.SETTINGS.withWorkers(4));
        replica.take(seqno -> seqno <= 21 ? seqno - 1 : Math.max(21, seqno - 7));
        replica.awaitApplied();
        replica.assertSame(schema);
    }

    /** 20 rows whose unique values wander about, in single-row transactions. */
    private void churn(long seed, int transactions) {
        Random random = new Random(seed);
        List<String> statements = new ArrayList<>(List.of(
                "USE " + schema,
                "CREATE TABLE t (id INT PRIMARY KEY, u INT UNIQUE, v INT, KEY (v)) COMMENT 'seed " + seed + "'"));
        for (int i = 0; i < 20; i++) {
            statements.add("INSERT INTO t VALUES (" + i + ", " + i + ", 0)");
        }
        for (int i = 0; i < transactions; i++) {
            int a = random.nextInt(20);
            int u = random.nextInt(40);
            statements.add("UPDATE IGNORE t SET u = " + u + ", v = v + 1 WHERE id = " + a);
            statements.add("DELETE FROM t WHERE id = " + random.nextInt(20));
            statements.add("INSERT IGNORE INTO t VALUES (" + random.nextInt(20) + ", " + random.nextInt(40) + ", 1)");
        }
        origin.execute(statements.toArray(String[]::new));
    }

    @Test
    void aDifferentDefinitionIsRefusedBeforeARowIsWritten() throws Exception {
        origin.execute(
                "CREATE TABLE " + schema + ".t (id INT PRIMARY KEY, a INT, b INT, e ENUM('x','y'), c VARCHAR(5))");
        replica.start(Replica.SETTINGS);
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        replica.stop();
        origin.execute("INSERT INTO " + schema + ".t VALUES (1, 2, 3, 'x', 'c')");
        replica.take(seqno -> seqno - 1);
        refused("MODIFY a INT UNSIGNED", "MODIFY a INT", "a is signed at the origin, int unsigned here");
        refused(
                "RENAME COLUMN a TO b, RENAME COLUMN b TO a",
                "RENAME COLUMN a TO b, RENAME COLUMN b TO a",
                "named a at");
        refused("MODIFY e ENUM('y','x')", "MODIFY e ENUM('x','y')", "labels [x, y] at the origin");
        refused(
                "ADD d TIMESTAMP(6) DEFAULT CURRENT_TIMESTAMP(6)",
                "DROP d",
                "5 columns at the origin, 6 here, of which d has no constant default");
        refused("ADD d INT AUTO_INCREMENT UNIQUE", "DROP d", "of which d has no constant default");
        refused("ADD d INT FIRST", "DROP d", "named id at the origin, d here");
        refused("DROP COLUMN c", "ADD c VARCHAR(5)", "5 columns at the origin, 4 here");
        refused("MODIFY c VARCHAR(5) COLLATE utf8mb4_bin", "MODIFY c VARCHAR(5)", "utf8mb4_bin here");
        refused("RENAME TO " + schema + ".other", null, "does not exist here");
        server.execute("SET SESSION sql_log_bin = 0", "RENAME TABLE " + schema + ".other TO " + schema + ".t");
        replica.start(Replica.SETTINGS);
        replica.awaitApplied();
        replica.assertSame(schema);
    }

    /** As where an ALTER TABLE ran before rows came that others wrote without its columns. */
    @Test
    void columnsAddedHereGetTheirDefaults() throws Exception {
        origin.execute(
                "USE " + schema,
                "CREATE TABLE t (id INT PRIMARY KEY, a INT)",
                "CREATE TABLE keyless (a INT, b VARCHAR(9))",
                "INSERT INTO t VALUES (1, 1), (2, 2)",
                "INSERT INTO keyless VALUES (1, 'one'), (1, 'one'), (2, NULL), (3, NULL), (4, 'four')");
        replica.start(Replica.SETTINGS);
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        String columns = " ADD x INT, ADD y VARCHAR(3) NOT NULL DEFAULT 'y', ADD j JSON, ADD b1 BLOB,"
                + " ADD b2 BIT(11) NOT NULL DEFAULT b'10000000001', ADD e ENUM('a','b','c') DEFAULT 'b',"
                + " ADD d1 DECIMAL(20, 5) DEFAULT -1.5, ADD d2 DATE DEFAULT '2001-02-03', ADD f FLOAT DEFAULT 0.1,"
                + " ADD t1 TIMESTAMP(3) NULL DEFAULT '2001-02-03 04:05:06.789', ADD b3 BINARY(4) DEFAULT x'4100',"
                + " ADD c1 CHAR(9) CHARACTER SET latin1 NOT NULL DEFAULT '\u00e9',"
                + " ADD t2 TIME(2) DEFAULT '-01:02:03.45'";
        String[] alter = {
            "SET SESSION sql_log_bin = 0, time_zone = '+05:00'",
            "USE " + schema,
            "ALTER TABLE t" + columns,
            "ALTER TABLE keyless" + columns
        };
        server.execute(alter);
        origin.execute(
                "USE " + schema,
                "INSERT INTO t VALUES (3, 3)",
                "UPDATE t SET a = 11 WHERE id = 1",
                "DELETE FROM t WHERE id = 2",
                "INSERT INTO keyless VALUES (5, 'five'), (5, 'five'), (NULL, NULL)",
                "UPDATE keyless SET b = 'uno' WHERE a = 1 LIMIT 1",
                "UPDATE keyless SET a = 20 WHERE a = 2",
                "DELETE FROM keyless WHERE a IN (3, 4)");
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        origin.execute(alter);
        replica.assertSame(schema);
    }

    private void refused(String alteration, String back, String message) throws Exception {
        server.execute("SET SESSION sql_log_bin = 0", "ALTER TABLE " + schema + ".t " + alteration);
        replica.start(Replica.SETTINGS);
        QuorateException failure = replica.awaitFailure();
        replica.stop();
        assertThat(failure.code()).isEqualTo(back == null ? ErrorCode.TABLE_MISSING : ErrorCode.SCHEMA_MISMATCH);
        assertThat(failure).hasMessageContaining(message);
        if (back != null) {
            server.execute("SET SESSION sql_log_bin = 0", "ALTER TABLE " + schema + ".t " + back);
        }
    }

    @Test
    void differingRowsAreFoundOutAndNamed() throws Exception {
        origin.execute(
                "CREATE TABLE " + schema + ".t (id INT PRIMARY KEY, n INT)",
                "INSERT INTO " + schema + ".t VALUES (1, 1)");
        replica.start(Replica.SETTINGS);
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        server.execute("INSERT INTO " + schema + ".t VALUES (3, 3)");
        origin.execute(
                "INSERT INTO " + schema + ".t VALUES (2, 2)",
                "INSERT INTO " + schema + ".t VALUES (3, 3)",
                "INSERT INTO " + schema + ".t VALUES (4, 4)");
        replica.take(seqno -> seqno - 1);
        QuorateException failure = replica.awaitFailure();
        assertThat(failure.code()).isEqualTo(ErrorCode.APPLY_MISMATCH);
        assertThat(failure).hasMessageContaining("writeset 4 (" + origin.uuid() + ":4, tables " + schema + ".t)");
        assertThat(failure).hasMessageContaining("1062");
        assertThat(server.queryOne("SELECT GROUP_CONCAT(id ORDER BY id) FROM " + schema + ".t"))
                .isEqualTo("1,2,3");
        assertThat(server.queryLong("SELECT MAX(seqno) FROM quorate.position")).isEqualTo(3);
    }

    /** The grants of docs/accounts.md. */
    @Test
    void theDocumentedGrantsAreEnough() throws Exception {
        server.execute(
                "CREATE USER IF NOT EXISTS least@localhost, app@localhost",
                "GRANT SELECT, UPDATE, CREATE ON *.* TO app@localhost",
                "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES, REPLICATION SLAVE,"
                        + " PROCESS, REPLICATION CLIENT, REPLICATION_APPLIER, SESSION_VARIABLES_ADMIN,"
                        + " SYSTEM_VARIABLES_ADMIN,"
                        + " CONNECTION_ADMIN ON *.* TO least@localhost",
                "SET GLOBAL read_only = 1");
        replica.start(
                Replica.SETTINGS.withLocks(Duration.ofSeconds(2), Duration.ofMillis(300), 100),
                ApplierDataSource.of(server.jdbcUrl(), "least", ""));
        origin.execute(
                "CREATE TABLE " + schema + ".t (id INT PRIMARY KEY, n INT)",
                "INSERT INTO " + schema + ".t VALUES (1, 1)",
                "CREATE TABLE " + schema + ".u AS SELECT * FROM " + schema + ".t",
                "ALTER TABLE " + schema + ".t ADD x INT",
                "CREATE DATABASE " + schema + "y",
                "DROP TABLE " + schema + ".u");
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        replica.assertSame(schema);
        server.execute("SET GLOBAL read_only = 0");
        try (Client client = new Client(server, "app");
                Statement statement = client.connection().createStatement()) {
            statement.execute("SELECT * FROM " + schema + ".t WHERE id = 1 FOR UPDATE");
            origin.execute("UPDATE " + schema + ".t SET n = 2");
            replica.take(seqno -> seqno - 1);
            replica.awaitApplied();
        }
        replica.assertSame(schema);
    }

    @Test
    void ourFormatDescriptionSaysWhatTheServersDoes() {
        byte[] ours = FormatDescription.event();
        byte[] servers = BinlogReader.formatDescription(server.dataDirectory());
        assertThat(ours).hasSameSizeAs(servers);
        int fixed = 19 + 2 + 50 + 4;
        byte[] lengths = Arrays.copyOfRange(ours, fixed, ours.length - 5);
        assertThat(lengths).isEqualTo(Arrays.copyOfRange(servers, fixed, servers.length - 5));
        assertThat(ours[ours.length - 5]).isZero();
    }

    @Test
    void waitsForAServerThatTakesNoWrites() throws Exception {
        origin.execute("CREATE TABLE " + schema + ".t (id INT PRIMARY KEY)");
        server.execute(
                "CREATE USER IF NOT EXISTS applier@localhost",
                "GRANT ALL ON *.* TO applier@localhost",
                "REVOKE SUPER, CONNECTION_ADMIN ON *.* FROM applier@localhost");
        replica.start(Replica.SETTINGS, ApplierDataSource.of(server.jdbcUrl(), "applier", ""));
        server.execute("SET GLOBAL read_only = 1");
        replica.take(seqno -> seqno - 1);
        await(() -> replica.stats().readOnlyWaits() > 0);
        server.execute("SET GLOBAL read_only = 0");
        replica.awaitApplied();
        replica.assertSame(schema);
    }

    @Test
    void ownWriteSetsOnlyMoveThePositionAndRarely() throws Exception {
        List<Certified> own = new ArrayList<>();
        for (long seqno = 1; seqno <= 3000; seqno++) {
            own.add(own(seqno, seqno, Verdict.PASSED));
        }
        replica.append(own);
        replica.start(Replica.SETTINGS);
        replica.awaitApplied();
        await(() -> replica.stats().savedSeqno() == 3000);
        assertThat(server.queryLong("SELECT MAX(seqno) FROM quorate.position")).isEqualTo(3000);
        assertThat(replica.stats().skipped()).isEqualTo(3000);
        assertThat(replica.stats().groups()).isLessThanOrEqualTo(5);
    }

    @Test
    void whatFailedOfOthersIsPassedOver() throws Exception {
        Certified passed = own(1, 7, Verdict.PASSED);
        WriteSet failed = Records.rows(2, 0, 10).writeSet();
        replica.start(Replica.SETTINGS);
        replica.append(List.of(passed, new Certified(2, Verdict.CONFLICT, 1, 1, passed.position(), true, failed)));
        replica.awaitApplied();
        assertThat(replica.stats().skipped()).isEqualTo(2);
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        while (!condition.getAsBoolean()) {
            Thread.sleep(10);
        }
    }

    private static Certified own(long seqno, long number, Verdict verdict) {
        WriteSet template = Records.rows(seqno, 0, 10).writeSet();
        WriteSet writeSet = new WriteSet(
                new Gtid(UUID.fromString(serverUuid), number),
                0,
                0,
                template.kind(),
                template.keys(),
                template.payload());
        Certified c = Records.certified(seqno, 0, writeSet);
        return new Certified(seqno, verdict, verdict == Verdict.PASSED ? 0 : 2, 0, c.position(), true, writeSet);
    }

    @Test
    void anOwnWriteSetThatTheServerLostIsAppliedLikeARemoteOne() throws Exception {
        origin.execute("CREATE TABLE " + schema + ".t (id INT PRIMARY KEY)");
        server.execute("SET SESSION sql_log_bin = 0", "CREATE TABLE " + schema + ".t (id INT PRIMARY KEY)");
        origin.execute("INSERT INTO " + schema + ".t VALUES (1)", "INSERT INTO " + schema + ".t VALUES (2)");
        server.execute("INSERT INTO " + schema + ".t VALUES (1)");
        origin.execute("FLUSH BINARY LOGS");
        List<WriteSet> all = BinlogReader.writeSets(origin.dataDirectory());
        List<Certified> own = new ArrayList<>();
        for (int i = 1; i <= 2; i++) {
            WriteSet w = all.get(i);
            Gtid gtid = new Gtid(UUID.fromString(serverUuid), i);
            own.add(Records.certified(i, 0, new WriteSet(gtid, 0, 0, w.kind(), w.keys(), w.payload())));
        }
        replica.append(own);
        replica.start(Replica.SETTINGS, replica.source(), new TakenBack(1, 2));
        replica.awaitApplied();
        replica.assertSame(schema);
        assertThat(replica.stats().transactions()).isEqualTo(1);
    }

    /** A power failure may take the end of the record from under a database that has kept its commits. */
    @Test
    void waitsForARecordThatEndsBeforeThePosition() throws Exception {
        try (Connection connection = server.connect()) {
            PositionTable.create(connection);
            PositionTable.reset(
                    connection,
                    new PositionTable.Position(2, Records.rows(2, 0, 1).position(), Replica.INCARNATION));
        }
        both("CREATE TABLE " + schema + ".t (id INT PRIMARY KEY)");
        origin.execute("RESET MASTER");
        server.execute("SET SESSION sql_log_bin = 0", "INSERT INTO " + schema + ".t VALUES (1), (2)");
        for (int i = 1; i <= 3; i++) {
            origin.execute("INSERT INTO " + schema + ".t VALUES (" + i + ")");
        }
        replica.start(Replica.SETTINGS);
        Thread.sleep(200);
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        replica.assertSame(schema);
    }

    private static void both(String statement) {
        origin.execute("SET SESSION sql_log_bin = 0", statement);
        server.execute("SET SESSION sql_log_bin = 0", statement);
    }

    /**
     * Its client is gone, and the server doesn't know: what it has sent off commits after the next applier has begun.
     */
    @Test
    void whatAnApplierBeforeThisOneStillCommitsIsNotAppliedTwice() throws Exception {
        both("CREATE TABLE " + schema + ".keyless (a INT)");
        origin.execute("RESET MASTER");
        // A COMMIT takes a second.
        server.execute("SET GLOBAL binlog_group_commit_sync_delay = 1000000");
        try (Replica before = new Replica(origin, server, replica.log)) {
            before.start(Replica.SETTINGS);
            origin.execute("INSERT INTO " + schema + ".keyless VALUES (1)");
            replica.take(seqno -> seqno - 1);
            awaitInCommit();
            replica.start(Replica.SETTINGS);
            origin.execute("INSERT INTO " + schema + ".keyless VALUES (2)");
            replica.take(seqno -> seqno - 1);
            replica.awaitApplied();
        } finally {
            server.execute("SET GLOBAL binlog_group_commit_sync_delay = 0");
        }
        replica.assertSame(schema);
    }

    private static void awaitInCommit() throws InterruptedException {
        String committing = "SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_INFO = 'COMMIT'";
        await(() -> server.queryLong(committing) > 0);
    }

    /** As the network leaves it that was cut: idle in a transaction, in the server's eyes. */
    @Test
    void theLocksOfAnApplierBeforeThisOneAreReleased() throws Exception {
        both("CREATE TABLE " + schema + ".t (id INT PRIMARY KEY)");
        origin.execute("RESET MASTER");
        replica.start(Replica.SETTINGS);
        replica.stop();
        try (Connection left = replica.source().getConnection();
                Statement statement = left.createStatement()) {
            statement.execute("BEGIN");
            statement.execute("INSERT INTO " + schema + ".t VALUES (1)");
            statement.execute("UPDATE quorate.position SET incarnation = 'mine'");
            origin.execute("INSERT INTO " + schema + ".t VALUES (1)");
            replica.start(Replica.SETTINGS);
            replica.take(seqno -> seqno - 1);
            replica.awaitApplied();
            replica.assertSame(schema);
        }
    }

    @Test
    void refusesAServerOfAnotherIncarnation() throws Exception {
        try (Connection connection = server.connect()) {
            PositionTable.create(connection);
            PositionTable.reset(
                    connection,
                    new PositionTable.Position(5, Records.rows(5, 0, 1).position(), "another-incarnation"));
        }
        assertThat(catchThrowable(() -> replica.start(Replica.SETTINGS)))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.WRONG_SERVER));
    }
}
