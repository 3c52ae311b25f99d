// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.QuorateException;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is applied, and what becomes of it when either end fails. */
@Timeout(400)
class ApplierIT extends OriginAndServer {
    @Test
    @Tag("long")
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

    /**
     * A server computes generated columns, indexes over expressions and CHECKs of each row that it applies, by the
     * settings of the session. Sessions of several settings are in one group here.
     */
    @Test
    void rowsAreComputedUnderTheSettingsOfTheSessionsThatWroteThem() throws Exception {
        replica.start(Replica.SETTINGS);
        origin.execute(
                "USE " + schema,
                "CREATE TABLE kept (id INT PRIMARY KEY, ts TIMESTAMP, d DATE AS (DATE(ts)) STORED, UNIQUE (d))",
                "CREATE TABLE virtuals (id INT PRIMARY KEY, ts TIMESTAMP, d DATE AS (DATE(ts)) VIRTUAL, UNIQUE (d))",
                "CREATE TABLE indexed (id INT PRIMARY KEY, ts TIMESTAMP, UNIQUE ((DATE(ts))))",
                "CREATE TABLE checked (id INT PRIMARY KEY, ts TIMESTAMP, CHECK (HOUR(ts) < 12))",
                "CREATE TABLE named (id INT PRIMARY KEY, ts TIMESTAMP, m VARCHAR(20) AS (MONTHNAME(ts)) STORED)",
                "CREATE TABLE dates (id INT PRIMARY KEY, t VARCHAR(20), d DATE AS (CAST(t AS DATE)) STORED)",
                "CREATE TABLE divided (id INT PRIMARY KEY, n INT, q INT AS (1 / n) STORED)",
                "CREATE TABLE bag (ts TIMESTAMP, h INT AS (HOUR(ts)) STORED) ENGINE = MyISAM");
        int year = 2020;
        for (String zone : List.of("+05:00", "SYSTEM", "-11:30")) {
            year++;
            String times = String.format("(%1$d, '%1$d-03-15 01:30:00'), (-%1$d, '%1$d-03-14 23:30:00')", year);
            origin.execute(
                    "USE " + schema,
                    "SET time_zone = '" + zone + "'",
                    "INSERT INTO kept (id, ts) VALUES " + times,
                    "INSERT INTO virtuals (id, ts) VALUES " + times,
                    "INSERT INTO indexed (id, ts) VALUES " + times,
                    "INSERT INTO bag (ts) VALUES ('2026-03-15 01:30:00')",
                    "INSERT INTO checked VALUES (" + year + ", '2026-03-15 11:30:00')");
        }
        origin.execute(
                "USE " + schema,
                "SET time_zone = '+05:00', lc_time_names = 'ru_RU'",
                "INSERT INTO named (id, ts) VALUES (1, '2026-04-01 01:30:00')",
                "SET lc_time_names = 'en_US'",
                "INSERT INTO named (id, ts) VALUES (2, '2026-04-01 01:30:00')",
                "SET sql_mode = ''",
                "INSERT INTO dates (id, t) VALUES (1, '0000-00-00'), (2, '2026-00-00')",
                "INSERT INTO divided (id, n) VALUES (1, 0)",
                "SET sql_mode = 'ALLOW_INVALID_DATES'",
                "INSERT INTO dates (id, t) VALUES (3, '2026-02-31')",
                "SET sql_mode = 'NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO'",
                "INSERT INTO dates (id, t) VALUES (4, '0000-00-00')",
                "INSERT INTO divided (id, n) VALUES (2, 0)",
                "XA START 'a'",
                "INSERT INTO named (id, ts) VALUES (3, '2026-04-01 01:30:00')",
                "XA END 'a'",
                "XA COMMIT 'a' ONE PHASE");
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        replica.assertSame(schema);
        assertThat(server.queryOne("SELECT GROUP_CONCAT(HEX(m) ORDER BY id) FROM " + schema + ".named"))
                .isEqualTo(origin.queryOne("SELECT GROUP_CONCAT(HEX(m) ORDER BY id) FROM " + schema + ".named"))
                .startsWith("D090");
        for (String table : List.of("kept", "virtuals", "indexed")) {
            // By the index itself: its entries were computed when the rows were written.
            String entries = "SELECT GROUP_CONCAT(DATE(ts) ORDER BY id) FROM " + schema + "." + table
                    + " WHERE DATE(ts) BETWEEN '2021-03-15' AND '2021-03-15'";
            assertThat(server.queryOne(entries)).as(table).isEqualTo(origin.queryOne(entries));
        }
    }

    /**
     * The settings that come with rows needn't be those by which their origin has computed them. What it has stored is
     * in the images.
     */
    @Test
    void rowsHoldWhatTheirOriginHasStored() throws Exception {
        replica.start(Replica.SETTINGS);
        origin.execute(
                "USE " + schema,
                "CREATE TABLE named (id INT PRIMARY KEY, n INT, d DATETIME, j JSON, m VARCHAR(20) AS (MONTHNAME(d))"
                        + " STORED, l VARCHAR(20) AS (LOWER(m)) STORED, x VARCHAR(30) AS (CONCAT(m, id / 7)) STORED)",
                "CREATE TABLE bound (id INT PRIMARY KEY, d DATETIME, m VARCHAR(20) AS (MONTHNAME(d)) STORED, KEY (m))",
                "CREATE TABLE zoned (id INT PRIMARY KEY, n INT, ts TIMESTAMP, h INT AS (HOUR(ts)) STORED)",
                "CREATE TABLE kept (id VARCHAR(9) PRIMARY KEY, n INT, ts TIMESTAMP, d DATE AS (DATE(ts)) STORED,"
                        + " h INT AS (HOUR(ts)) STORED, UNIQUE (d))",
                "CREATE TABLE virtuals (id INT PRIMARY KEY, ts TIMESTAMP, d DATE AS (DATE(ts)), UNIQUE (d))",
                "CREATE TABLE checked (id INT PRIMARY KEY, ts TIMESTAMP, CHECK (HOUR(ts) < 7))",
                "CREATE TABLE plain (id INT PRIMARY KEY, j JSON, v INT AS (j->'$.v') STORED)");
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        // The table is opened here by whoever reads it.
        for (String locale : List.of("fr_FR", "it_IT", "ru_RU")) {
            server.execute("SET lc_time_names = '" + locale + "'", "SELECT * FROM " + schema + ".bound");
        }
        origin.execute(
                "USE " + schema,
                "SET lc_time_names = 'de_DE', div_precision_increment = 9",
                "SELECT * FROM named",
                "SELECT * FROM bound",
                "SET lc_time_names = 'en_US', div_precision_increment = 2",
                "INSERT INTO named (id, d) VALUES (1, '2026-03-15 01:30:00'), (2, NULL), (3, '2026-05-15 00:00:00')",
                "INSERT INTO bound (id, d) VALUES (1, '2026-03-15 01:30:00')",
                "SET binlog_row_image = 'MINIMAL'",
                "UPDATE named SET d = '2026-12-01', j = '{\"a\": \"0123456789\"}' WHERE id = 3",
                "UPDATE named SET n = 1",
                "SET binlog_row_image = 'FULL', binlog_row_value_options = 'PARTIAL_JSON'",
                "UPDATE named SET j = JSON_SET(j, '$.a', '1'), d = '2026-10-01' WHERE id = 3",
                "INSERT INTO plain (id, j) VALUES (1, '{\"v\": 4}')");
        origin.execute(
                "USE " + schema,
                "SET time_zone = '+05:00'",
                "BEGIN",
                "INSERT INTO zoned (id, ts) VALUES (1, '2026-03-15 01:30:00')",
                "SET time_zone = '-03:30'",
                "INSERT INTO zoned (id, ts) VALUES (2, '2026-03-15 01:30:00')",
                "INSERT INTO kept (id, ts) VALUES ('a', '2026-03-15 01:30:00'), ('b', '2026-03-14 23:30:00')",
                "INSERT INTO virtuals (id, ts) VALUES (1, '2026-03-15 01:30:00'), (2, '2026-03-14 23:30:00')",
                "INSERT INTO checked VALUES (1, '2026-03-15 01:30:00')",
                "COMMIT",
                "SET time_zone = '+09:00', binlog_row_image = 'MINIMAL'",
                "UPDATE zoned SET n = 1",
                "UPDATE kept SET n = 1",
                "UPDATE kept SET id = 'c' WHERE id = 'b'");
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        replica.assertSame(schema);
        assertThat(server.queryOne("SELECT GROUP_CONCAT(x ORDER BY id) FROM " + schema + ".named"))
                .isEqualTo(origin.queryOne("SELECT GROUP_CONCAT(x ORDER BY id) FROM " + schema + ".named"));
        assertThat(server.queryOne("SELECT COUNT(*) FROM " + schema + ".kept FORCE INDEX (d) WHERE d = '2026-03-14'"))
                .isEqualTo("1");
    }

    @Test
    void whatNoSettingsExplainIsADifference() throws Exception {
        replica.start(Replica.SETTINGS);
        origin.execute("CREATE TABLE " + schema + ".t (id INT PRIMARY KEY, n INT, x INT AS (n / 2) STORED, KEY (x))");
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        server.execute(
                "SET sql_log_bin = 0",
                "ALTER TABLE " + schema + ".t DROP COLUMN x, ADD COLUMN x INT AS (n / 3) STORED, ADD KEY (x)");
        origin.execute("INSERT INTO " + schema + ".t (id, n) VALUES (1, 6)");
        replica.take(seqno -> seqno - 1);
        QuorateException failure = replica.awaitFailure();
        assertThat(failure.code()).isEqualTo(ErrorCode.APPLY_MISMATCH);
        assertThat(failure).hasMessageContaining(schema + ".t").hasMessageContaining("[x]");
        assertThat(server.queryLong("SELECT COUNT(*) FROM " + schema + ".t")).isZero();
    }

    @Test
    void aTimeZoneThatTheServerDoesNotKnowIsNamed() throws Exception {
        replica.start(Replica.SETTINGS);
        origin.execute(
                "CREATE TABLE " + schema + ".t (id INT PRIMARY KEY, ts TIMESTAMP, h INT AS (HOUR(ts)) STORED)",
                "SET sql_log_bin = 0",
                "INSERT INTO mysql.time_zone VALUES (77, 'N')",
                "INSERT INTO mysql.time_zone_name VALUES ('Here/Only', 77)",
                "INSERT INTO mysql.time_zone_transition_type VALUES (77, 0, 3600, 0, 'HO')",
                "SET sql_log_bin = 1, time_zone = 'Here/Only'",
                "INSERT INTO " + schema + ".t (id, ts) VALUES (1, '2026-03-15 01:30:00')");
        replica.take(seqno -> seqno - 1);
        QuorateException failure = replica.awaitFailure();
        assertThat(failure.code()).isEqualTo(ErrorCode.TIME_ZONE_LACKING);
        assertThat(failure).hasMessageContaining("Here/Only");
    }

    @Test
    void nothingIsLostOrTwiceAfterKill9InMidApply() throws Exception {
        origin.execute(
                "CREATE TABLE " + schema + ".t (id INT AUTO_INCREMENT PRIMARY KEY, n INT)",
                "CREATE TABLE " + schema + ".log (what INT, at INT)");
        List<String> statements = new ArrayList<>(List.of("USE " + schema));
        for (int i = 0; i < 2000; i++) {
            statements.add(
                    i % 2 == 0 ? "INSERT INTO t (n) VALUES (" + i + ")" : "INSERT INTO log VALUES (" + i + ", 1)");
        }
        origin.execute(statements.toArray(String[]::new));
        replica.take(seqno -> seqno <= 3 ? seqno - 1 : 2);
        ApplierSettings settings = Replica.SETTINGS.withWorkers(4).withGroups(8, 1 << 20, Duration.ZERO);
        for (int kill = 1; kill <= 2; kill++) {
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
        int fixed = 19 + 2 + 50 + 4 + 1;
        List<Integer> different = new ArrayList<>();
        for (int at = fixed; at < ours.length - 5; at++) {
            if (ours[at] != servers[at]) {
                different.add(at - fixed + 1);
            }
        }
        if (servers.length == ours.length) {
            assertThat(different).isEmpty();
        } else {
            // 9.x has one more type, of tagged GTIDs, and has done with rows as of 5.1.
            assertThat(servers).hasSize(ours.length + 1);
            assertThat(different).contains(15).isSubsetOf(15, 23, 24, 25);
        }
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
        origin.execute(origin.dialect().resetBinlogs());
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

    /**
     * Its client is gone, and the server doesn't know: what it has sent off commits after the next applier has begun.
     */
    @Test
    void whatAnApplierBeforeThisOneStillCommitsIsNotAppliedTwice() throws Exception {
        both("CREATE TABLE " + schema + ".keyless (a INT)");
        origin.execute(origin.dialect().resetBinlogs());
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
        origin.execute(origin.dialect().resetBinlogs());
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
