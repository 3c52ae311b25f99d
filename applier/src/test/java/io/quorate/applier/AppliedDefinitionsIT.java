// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.AppliedDdl;
import io.quorate.core.BinlogEvents;
import io.quorate.core.CarriedSetting;
import io.quorate.core.Gtid;
import io.quorate.core.GtidSet;
import io.quorate.core.Keys;
import io.quorate.core.Payload;
import io.quorate.core.WriteSet;
import io.quorate.sandbox.MySqlServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Statements that change definitions and accounts, in the session of whoever ran them. */
@Timeout(400)
class AppliedDefinitionsIT extends OriginAndServer {
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
        try (Connection connection = replica.source().getConnection();
                Statement statement = connection.createStatement()) {
            GtidSet all = GtidSets.givenOut(statement);
            for (UUID source : List.of(ddl, UUID.fromString(server.uuid()), UUID.fromString(origin.uuid()))) {
                assertThat(GtidSets.lastGivenOut(statement, source))
                        .as(source + " in " + all)
                        .isEqualTo(all.last(source));
            }
        }
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
                    "GRANT " + s.dialect().anyDefiner() + " ON *.* TO everywhere@localhost",
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
    void whatAStatementUsesOfItsSessionIsGivenToIt() throws Exception {
        origin.execute(
                "USE " + schema,
                "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a INT)",
                "INSERT INTO t VALUES (41, 1)",
                "INSERT INTO t (a) VALUES (2)",
                "SET @n = 5, @`we``ird é` = 18446744073709551615, @d = 12345678901234567890.12345, @w = 900.0,"
                        + " @r = 0.1e0 + 0.2e0, @none = NULL, @minus = -7,"
                        + " @t = _latin1 x'c9' COLLATE latin1_general_cs",
                "CREATE EVENT n ON SCHEDULE EVERY @n HOUR DO SET @x = 1",
                "CREATE EVENT u ON SCHEDULE EVERY @`we``ird é` % 1000 HOUR DO SET @x = 1",
                "CREATE EVENT d ON SCHEDULE EVERY @d % 1000 + LENGTH(@d) HOUR DO SET @x = 1",
                "CREATE EVENT w ON SCHEDULE EVERY LENGTH(@w) HOUR DO SET @x = 1",
                "CREATE EVENT r ON SCHEDULE EVERY 1 + (@r - 0.3e0) * 1e18 HOUR DO SET @x = 1",
                "CREATE EVENT z ON SCHEDULE EVERY IFNULL(@none, 3) - @minus HOUR DO SET @x = 1",
                "CREATE EVENT c ON SCHEDULE EVERY IF(@t = _latin1 x'e9', 3, 4) + CHAR_LENGTH(@t) HOUR DO SET @x = 1",
                "CREATE EVENT l ON SCHEDULE EVERY LAST_INSERT_ID() HOUR DO SET @x = 1",
                "CREATE EVENT s ON SCHEDULE AT '2040-01-01' + INTERVAL FLOOR(RAND() * 1000000) HOUR DO SET @x = 1",
                "CREATE EVENT k ON SCHEDULE EVERY CONNECTION_ID() HOUR DO SET @x = 1",
                "ALTER TABLE t ADD b INT DEFAULT (CONNECTION_ID())");
        replica.start(Replica.SETTINGS);
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        replica.assertSame(schema);
        String events = "SELECT GROUP_CONCAT(event_name, ' ', IFNULL(interval_value, ''), IFNULL(execute_at, '')"
                + " ORDER BY event_name) FROM information_schema.events WHERE event_schema = '" + schema + "'";
        assertThat(server.queryOne(events))
                .isEqualTo(origin.queryOne(events))
                .contains("n 5", "u 615", "l 42", "z 10", "c 5");
    }

    /** What a server leaves out of its events because it is the default of servers; here it isn't. */
    @Test
    void whatAnEventLeavesOutHasItsDefault() throws Exception {
        server.execute("SET GLOBAL auto_increment_increment = 9, auto_increment_offset = 2, lc_time_names = 'de_DE'");
        try {
            origin.execute(
                    "CREATE TABLE " + schema + ".t (d DATE PRIMARY KEY)",
                    "INSERT INTO " + schema + ".t VALUES ('2026-03-15'), ('2026-05-15')",
                    "ALTER TABLE " + schema + ".t ADD n INT AUTO_INCREMENT UNIQUE,"
                            + " ADD m VARCHAR(20) DEFAULT (MONTHNAME(d))");
            replica.start(Replica.SETTINGS);
            replica.take(seqno -> seqno - 1);
            replica.awaitApplied();
            replica.assertSame(schema);
        } finally {
            server.execute(
                    "SET GLOBAL auto_increment_increment = 1, auto_increment_offset = 1," + " lc_time_names = DEFAULT");
        }
    }

    /** No event has these; the capture adds them. */
    @Test
    void whatIsAddedToADefinitionIsSetForIt() throws Exception {
        origin.execute(
                "USE " + schema,
                "CREATE TABLE words (value VARCHAR(20)) ENGINE = InnoDB",
                "INSERT INTO words VALUES ('quorate')",
                "CREATE TABLE t (id INT PRIMARY KEY, d DATE, s VARCHAR(99)) ENGINE = InnoDB",
                "INSERT INTO t VALUES (1, '2026-01-01', 'the quorate servers')");
        Map<CarriedSetting, String> settings = new EnumMap<>(Map.of(
                CarriedSetting.DEFAULT_WEEK_FORMAT, "6",
                CarriedSetting.DIV_PRECISION_INCREMENT, "11",
                CarriedSetting.BLOCK_ENCRYPTION_MODE, "aes-256-ecb",
                CarriedSetting.DEFAULT_STORAGE_ENGINE, "MyISAM",
                CarriedSetting.OLD_ALTER_TABLE, "ON",
                CarriedSetting.SQL_QUOTE_SHOW_CREATE, "OFF",
                CarriedSetting.INNODB_FT_ENABLE_STOPWORD, "ON",
                CarriedSetting.INNODB_FT_USER_STOPWORD_TABLE, schema + "/words"));
        assertThat(settings).hasSize(CarriedSetting.values().length);
        origin.execute(
                "USE " + schema,
                settings.entrySet().stream()
                        .map(each -> each.getKey().variable() + " = "
                                + (each.getValue().matches("[0-9]+") ? each.getValue() : "'" + each.getValue() + "'"))
                        .collect(Collectors.joining(", ", "SET SESSION ", "")),
                "ALTER TABLE t ADD w INT AS (WEEK(d)) STORED, ADD e INT AS (EXTRACT(WEEK FROM d)) STORED,"
                        + " ADD q DECIMAL(30, 20) AS (id / 7) STORED,"
                        + " ADD a VARBINARY(100) AS (AES_ENCRYPT(s, 'key')) STORED, ADD FULLTEXT (s)",
                "CREATE VIEW v AS SELECT WEEK(d) FROM t",
                "CREATE TABLE engine (id INT PRIMARY KEY, CHECK (id > 0))",
                "CREATE EVENT e ON SCHEDULE EVERY 1 + (1 / 7) * 1e9 HOUR DO SET @x = 1");
        replica.start(Replica.SETTINGS);
        List<WriteSet> all = BinlogReader.writeSets(origin.dataDirectory());
        replica.append(
                Records.certified(all.stream().map(w -> adding(w, settings)).toList(), 1, seqno -> seqno - 1));
        replica.awaitApplied();
        replica.assertSame(schema);
        for (String show : List.of("TABLE t", "VIEW v", "TABLE engine")) {
            String sql = "SHOW CREATE " + show.replace(" ", " " + schema + ".");
            assertThat(server.query(sql)).isEqualTo(origin.query(sql));
        }
        assertThat(server.queryOne("SELECT w FROM " + schema + ".t")).isEqualTo("53");
        for (String word : List.of("the", "quorate", "servers")) {
            String query = "SELECT COUNT(*) FROM " + schema + ".t WHERE MATCH (s) AGAINST ('" + word + "')";
            assertThat(server.queryOne(query)).as(word).isEqualTo(origin.queryOne(query));
        }
        String interval = "SELECT interval_value FROM information_schema.events WHERE event_schema = '" + schema + "'";
        assertThat(server.queryOne(interval)).isEqualTo(origin.queryOne(interval));
    }

    /** As the capture does, after the words have been filled in. */
    private static WriteSet adding(WriteSet w, Map<CarriedSetting, String> settings) {
        Payload.Events statement = w.payload().statement();
        return statement == null || w.gtid().number() <= 4
                ? w
                : new WriteSet(
                        w.gtid(),
                        0,
                        w.committedMicros(),
                        w.kind(),
                        Keys.NONE,
                        io.quorate.core.binlog.QueryEvent.carrying(
                                statement.bytes(), statement.offset(), statement.length(), settings));
    }

    /** A server has its own number of changes that InnoDB made without touching rows, and 64 at most. */
    @Test
    void aTableIsAlteredInAnotherMannerWhereTheOriginsIsImpossible() throws Exception {
        both("CREATE TABLE " + schema + ".t (id INT PRIMARY KEY)", "INSERT INTO " + schema + ".t VALUES (1)");
        List<String> changes = new ArrayList<>(List.of("SET SESSION sql_log_bin = 0"));
        for (int i = 0; i < 32; i++) {
            changes.add("ALTER TABLE " + schema + ".t ADD more INT, ALGORITHM = INSTANT");
            changes.add("ALTER TABLE " + schema + ".t DROP more, ALGORITHM = INSTANT");
        }
        server.execute(changes.toArray(String[]::new));
        origin.execute("ALTER TABLE " + schema + ".t ADD late INT DEFAULT 3, algorithm=instant");
        replica.start(Replica.SETTINGS);
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        replica.assertSame(schema);
    }
}
