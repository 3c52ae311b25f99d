// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.Certified;
import io.quorate.core.ColumnMask;
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
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Two servers write the same rows. The origin's transactions come first in the order; the other server's are in its
 * database already, and go.
 */
@Timeout(400)
class UndoIT extends OriginAndServer {
    private static final long ROW = 77;
    private static final Keys CASCADING = new Keys(
            new long[] {ROW, Keys.CASCADES},
            new byte[] {(byte) KeyType.EXCLUSIVE.ordinal(), (byte) KeyType.SHARED.ordinal()});

    private SharedOwnWrites own;
    private int captured;
    /** Whether the capture says so of what is captured. */
    private boolean cascades;

    /**
     * @param setUp on both servers, unlogged
     * @param here each element a transaction of a client of the server that loses
     * @param there each element a transaction of the winner
     */
    private record Case(String name, List<String> setUp, List<String> here, List<String> there) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Case> cases() {
        List<String> rows = List.of(
                "CREATE TABLE t (id INT PRIMARY KEY, u INT, v VARCHAR(20), UNIQUE KEY (u))",
                "INSERT INTO t VALUES (1, 1, 'one'), (2, 2, 'two'), (3, 3, 'three')");
        List<String> keyless = List.of(
                "CREATE TABLE t (a INT, b VARCHAR(20))", "INSERT INTO t VALUES (1, 'one'), (1, 'one'), (2, NULL)");
        List<String> family = List.of(
                "CREATE TABLE p (id INT PRIMARY KEY, v INT)",
                "CREATE TABLE c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id))",
                "INSERT INTO p VALUES (1, 0), (2, 0)");
        return Stream.of(
                new Case(
                        "update, update",
                        rows,
                        List.of("UPDATE t SET v = 'here' WHERE id = 1"),
                        List.of("UPDATE t SET v = 'there' WHERE id = 1")),
                new Case(
                        "names in other scripts",
                        List.of(
                                "CREATE TABLE t (ключ INT PRIMARY KEY, 値 VARCHAR(20), `e€` INT)",
                                "INSERT INTO t VALUES (1, 'one', 1)"),
                        List.of("UPDATE t SET 値 = 'ici' WHERE ключ = 1"),
                        List.of("UPDATE t SET 値 = 'là' WHERE ключ = 1")),
                new Case(
                        "insert, insert of the same key",
                        rows,
                        List.of("INSERT INTO t VALUES (4, 4, 'here')"),
                        List.of("INSERT INTO t VALUES (4, 40, 'there')")),
                new Case(
                        "insert, insert of the same unique value",
                        rows,
                        List.of("INSERT INTO t VALUES (4, 9, 'here')"),
                        List.of("INSERT INTO t VALUES (5, 9, 'there')")),
                new Case(
                        "delete, update",
                        rows,
                        List.of("DELETE FROM t WHERE id = 1"),
                        List.of("UPDATE t SET v = 'there' WHERE id = 1")),
                new Case(
                        "update, delete",
                        rows,
                        List.of("UPDATE t SET v = 'here' WHERE id = 1"),
                        List.of("DELETE FROM t WHERE id = 1")),
                new Case(
                        "delete, delete",
                        rows,
                        List.of("DELETE FROM t WHERE id = 1"),
                        List.of("DELETE FROM t WHERE id = 1")),
                new Case(
                        "a moved primary key, update",
                        rows,
                        List.of("UPDATE t SET id = 10 WHERE id = 1"),
                        List.of("UPDATE t SET v = 'there' WHERE id = 1")),
                new Case(
                        "unique values in a circle, one of them taken",
                        rows,
                        List.of(
                                "UPDATE t SET u = 9 WHERE id = 1",
                                "UPDATE t SET u = 1 WHERE id = 2",
                                "UPDATE t SET u = 2 WHERE id = 1"),
                        List.of("UPDATE t SET u = 9 WHERE id = 3")),
                new Case(
                        "many rows of one transaction, one of them met",
                        rows,
                        List.of("UPDATE t SET v = 'here', u = u + 10 ORDER BY id"),
                        List.of("DELETE FROM t WHERE id = 2")),
                new Case(
                        "stored columns that were computed in another time zone, one of two rows met",
                        List.of(
                                "CREATE TABLE t (id INT PRIMARY KEY, n INT, ts TIMESTAMP, h INT AS (HOUR(ts)) STORED,"
                                        + " d DATE AS (DATE(ts)) STORED, KEY (d))",
                                "SET time_zone = '+09:00'",
                                "INSERT INTO t (id, ts) VALUES (1, '2026-03-15 01:30:00'), (2, '2026-03-15 01:30:00')"),
                        List.of("UPDATE t SET n = 1"),
                        List.of("UPDATE t SET n = 2 WHERE id = 2")),
                new Case(
                        "built one on another",
                        rows,
                        List.of(
                                "INSERT INTO t VALUES (4, 4, 'here')",
                                "UPDATE t SET v = 'again' WHERE id = 4",
                                "DELETE FROM t WHERE id = 4",
                                "INSERT INTO t VALUES (4, 5, 'anew')"),
                        List.of("INSERT INTO t VALUES (4, 4, 'there')")),
                new Case(
                        "without keys: update, update",
                        keyless,
                        List.of("UPDATE t SET b = 'here' LIMIT 1"),
                        List.of("UPDATE t SET b = 'there' WHERE a = 1")),
                new Case(
                        "without keys: the same row twice",
                        keyless,
                        List.of("INSERT INTO t VALUES (7, 'x')"),
                        List.of("INSERT INTO t VALUES (7, 'x')")),
                new Case(
                        "without keys: NULL, delete and update",
                        keyless,
                        List.of("DELETE FROM t WHERE a = 2"),
                        List.of("UPDATE t SET a = 3 WHERE a = 2")),
                new Case(
                        "child, parent deleted",
                        family,
                        List.of("INSERT INTO c VALUES (1, 1)"),
                        List.of("DELETE FROM p WHERE id = 1")),
                new Case(
                        "parent deleted, child",
                        family,
                        List.of("DELETE FROM p WHERE id = 1"),
                        List.of("INSERT INTO c VALUES (1, 1)")),
                new Case(
                        "parent with its child, the same parent",
                        family,
                        List.of("INSERT INTO p VALUES (3, 1)", "INSERT INTO c VALUES (1, 3)"),
                        List.of("INSERT INTO p VALUES (3, 2)")),
                new Case(
                        "JSON in part, with its session's image",
                        List.of(
                                "CREATE TABLE t (id INT PRIMARY KEY, j JSON, k INT)",
                                "INSERT INTO t VALUES (1, '{\"a\": \"one\", \"b\": 2}', 0)"),
                        List.of("SET SESSION binlog_row_value_options = 'PARTIAL_JSON';"
                                + "UPDATE t SET j = JSON_SET(j, '$.a', 'two') WHERE id = 1"),
                        List.of("UPDATE t SET k = 1 WHERE id = 1")));
    }

    @Override
    @BeforeEach
    void begin() {
        super.begin();
        captured = 0;
        own = new SharedOwnWrites(new OwnWrites(0, Map.of(), c -> true));
        replica.ownWrites((applied, undone, isHere) -> own);
    }

    private void in(MySqlServer where, String transaction) {
        List<String> statements = new ArrayList<>(List.of("USE " + schema));
        statements.addAll(List.of(transaction.split(";")));
        where.execute(statements.toArray(String[]::new));
    }

    /** Hands over what clients of the server committed, all of it on one row, as far as keys go. */
    private List<WriteSet> capture() {
        server.execute("FLUSH BINARY LOGS");
        List<WriteSet> all = BinlogReader.writeSets(server.dataDirectory());
        List<WriteSet> fresh = new ArrayList<>();
        for (WriteSet w : all.subList(captured, all.size())) {
            WriteSet one = withRow(w, UUID.fromString(server.uuid()), w.gtid().number());
            fresh.add(own.captured(cascades ? one.withKeys(CASCADING) : one));
        }
        captured = all.size();
        own.covered(Long.MAX_VALUE, 0);
        return fresh;
    }

    private static WriteSet withRow(WriteSet w, UUID source, long number) {
        return withKey(w, source, number, ROW);
    }

    private static WriteSet withKey(WriteSet w, UUID source, long number, long key) {
        Keys keys = new Keys(new long[] {key}, new byte[] {(byte) KeyType.EXCLUSIVE.ordinal()});
        return new WriteSet(new Gtid(source, number), 0, w.committedMicros(), w.kind(), keys, w.payload());
    }

    private List<Certified> winners() {
        origin.execute("FLUSH BINARY LOGS");
        List<Certified> certified = new ArrayList<>();
        for (WriteSet w : BinlogReader.writeSets(origin.dataDirectory())) {
            long seqno = certified.size() + 1L;
            certified.add(
                    Records.certified(seqno, seqno - 1, withRow(w, w.gtid().source(), seqno)));
        }
        return certified;
    }

    private static Certified failed(long seqno, WriteSet w) {
        return new Certified(
                seqno, Verdict.CONFLICT, 1, 1, Records.rows(seqno, 0, 1).position(), true, w);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void theLoserIsUndoneWithTheWinnersApply(Case c) throws Exception {
        List<String> setUp = new ArrayList<>(List.of("USE " + schema));
        setUp.addAll(c.setUp);
        both(setUp.toArray(String[]::new));
        c.here.forEach(sql -> in(server, sql));
        List<WriteSet> losers = capture();
        c.there.forEach(sql -> in(origin, sql));
        List<Certified> winners = winners();
        replica.append(winners);
        replica.start(Replica.SETTINGS);
        replica.awaitApplied();
        replica.assertSame(schema);
        assertThat(losers).hasSize(c.here.size());
        assertThat(replica.stats().undone()).isEqualTo(losers.size());
        assertThat(server.queryLong("SELECT COUNT(*) FROM quorate.undone")).isEqualTo(losers.size());

        // In their own places in the order nothing is left to do.
        List<Certified> failures = new ArrayList<>();
        for (WriteSet loser : losers) {
            failures.add(failed(winners.size() + failures.size() + 1L, loser));
        }
        own.ordered(failures, losers.get(losers.size() - 1).gtid().number(), 0);
        replica.append(failures);
        replica.awaitApplied();
        replica.assertSame(schema);
        assertThat(replica.stats().undone()).isEqualTo(losers.size());
    }

    /** As when the definition of another node came between the loser and the winner. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void theLoserIsUndoneThoughItsTableHasGotColumns(Case c) throws Exception {
        List<String> setUp = new ArrayList<>(List.of("USE " + schema));
        setUp.addAll(c.setUp);
        both(setUp.toArray(String[]::new));
        c.here.forEach(sql -> in(server, sql));
        List<WriteSet> losers = capture();
        for (String table : server.queryOne("SELECT GROUP_CONCAT(table_name) FROM information_schema.tables"
                        + " WHERE table_schema = '" + schema + "'")
                .split(",")) {
            both("ALTER TABLE " + schema + "." + table + " ADD more VARCHAR(9) DEFAULT 'x', ADD still INT");
        }
        c.there.forEach(sql -> in(origin, withColumns(sql)));
        replica.append(winners());
        replica.start(Replica.SETTINGS);
        replica.awaitApplied();
        replica.assertSame(schema);
        assertThat(replica.stats().undone()).isEqualTo(losers.size());
    }

    /** Its server is the odd one then, whatever the others hold. */
    @Test
    void theLoserCantBeUndoneOnceItsTableHasGotColumnsInFront() throws Exception {
        both("CREATE TABLE " + schema + ".t (id INT PRIMARY KEY, v INT)", "INSERT INTO " + schema + ".t VALUES (1, 1)");
        in(server, "UPDATE t SET v = 2 WHERE id = 1");
        List<WriteSet> losers = capture();
        both("ALTER TABLE " + schema + ".t ADD more INT DEFAULT 3 FIRST");
        in(origin, "UPDATE t SET v = 3 WHERE id = 1");
        replica.append(winners());
        replica.start(Replica.SETTINGS);
        QuorateException failure = replica.awaitFailure();
        assertThat(failure.code()).isEqualTo(ErrorCode.UNDO_IMPOSSIBLE);
        assertThat(failure.difference().writeSets())
                .containsExactly(losers.get(0).gtid());
    }

    /** An INSERT says nothing of the columns behind. */
    private static String withColumns(String sql) {
        return sql.startsWith("INSERT") ? sql.substring(0, sql.length() - 1) + ", DEFAULT, DEFAULT)" : sql;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void whatFailedForAnotherReasonIsUndoneInItsPlace(Case c) throws Exception {
        List<String> setUp = new ArrayList<>(List.of("USE " + schema));
        setUp.addAll(c.setUp);
        both(setUp.toArray(String[]::new));
        c.here.forEach(sql -> in(server, sql));
        List<WriteSet> losers = capture();
        List<Certified> failures = new ArrayList<>();
        for (WriteSet loser : losers) {
            failures.add(failed(failures.size() + 1L, loser));
        }
        own.ordered(failures, losers.get(losers.size() - 1).gtid().number(), 0);
        replica.append(failures);
        replica.start(Replica.SETTINGS);
        replica.awaitApplied();
        replica.assertSame(schema);
        assertThat(replica.stats().undone()).isEqualTo(losers.size());
    }

    /**
     * A group before it may have to undo the same: until it is its turn, a group must not have touched a loser's rows.
     */
    @Test
    void onlyTheGroupThatCommitsNextUndoes() throws Exception {
        both(
                "CREATE TABLE " + schema + ".t (id INT PRIMARY KEY, v INT)",
                "INSERT INTO " + schema + ".t VALUES (1, 1), (2, 2)");
        in(server, "UPDATE t SET v = 20 WHERE id = 2");
        capture();
        in(origin, "UPDATE t SET v = 11 WHERE id = 1");
        in(origin, "UPDATE t SET v = 22 WHERE id = 2");
        List<Certified> both = winners();
        WriteSet first = both.get(0).writeSet();
        replica.append(List.of(
                Records.certified(1, 0, withKey(first, first.gtid().source(), 1, 99)),
                Records.certified(2, 0, both.get(1).writeSet())));
        try (Connection client = server.connect();
                Connection other = server.connect();
                Statement holding = client.createStatement();
                Statement looking = other.createStatement()) {
            client.setAutoCommit(false);
            holding.execute("SELECT * FROM " + schema + ".t WHERE id = 1 FOR UPDATE");
            replica.start(Replica.SETTINGS
                    .withGroups(1, 1 << 20, Duration.ZERO)
                    .withLocks(Duration.ofSeconds(50), Duration.ZERO, 100));
            while (replica.stats().executing() < 2) {
                Thread.sleep(10);
            }
            Thread.sleep(300);
            looking.execute("SELECT * FROM " + schema + ".t WHERE id = 2 FOR UPDATE NOWAIT");
            client.rollback();
        }
        replica.awaitApplied();
        replica.assertSame(schema);
        assertThat(replica.stats().undone()).isEqualTo(1);
    }

    /** What a statement dooms is undone before it, and whoever keeps its rows goes, as for any group. */
    @Test
    void whoKeepsWhatIsUndoneBeforeAStatementIsEnded() throws Exception {
        both("CREATE TABLE " + schema + ".t (id INT PRIMARY KEY, v INT)", "INSERT INTO " + schema + ".t VALUES (1, 1)");
        in(server, "UPDATE t SET v = 20 WHERE id = 1");
        capture();
        in(origin, "ALTER TABLE t ADD COLUMN w INT");
        replica.append(winners());
        try (Connection client = server.connect();
                Statement holding = client.createStatement()) {
            holding.execute("BEGIN");
            holding.execute("SELECT * FROM " + schema + ".t WHERE id = 1 FOR UPDATE");
            replica.start(Replica.SETTINGS.withLocks(Duration.ofSeconds(5), Duration.ofMillis(500), 3));
            replica.awaitApplied();
        }
        replica.assertSame(schema);
        assertThat(replica.stats().undone()).isEqualTo(1);
        assertThat(replica.stats().blockersKilled()).isEqualTo(1);
    }

    @Test
    void anUndoIsNotForgottenAndNotDoneTwiceInTheNextSession() throws Exception {
        both("CREATE TABLE " + schema + ".t (id INT PRIMARY KEY, v INT)", "INSERT INTO " + schema + ".t VALUES (1, 1)");
        in(server, "UPDATE t SET v = v + 10 WHERE id = 1");
        WriteSet loser = capture().get(0);
        in(origin, "UPDATE t SET v = 5 WHERE id = 1");
        replica.append(winners());
        replica.start(Replica.SETTINGS);
        replica.awaitApplied();
        replica.stop();
        Certified failure = failed(2, loser);
        replica.ownWrites((applied, undone, isHere) -> {
            assertThat(applied).isEqualTo(1);
            assertThat(undone).containsExactly(Map.entry(1L, 1L));
            SharedOwnWrites next = new SharedOwnWrites(new OwnWrites(applied, undone, isHere));
            next.ordered(List.of(failure), 1, 0);
            next.covered(Long.MAX_VALUE, 0);
            return next;
        });
        replica.append(List.of(failure));
        replica.start(Replica.SETTINGS);
        replica.awaitApplied();
        replica.assertSame(schema);
        assertThat(replica.stats().undone()).isZero();
    }

    @Test
    void whatSomebodyChangedUnloggedIsNeverGuessed() throws Exception {
        both("CREATE TABLE " + schema + ".t (id INT PRIMARY KEY, v INT)");
        in(server, "INSERT INTO t VALUES (1, 1)");
        capture();
        in(server, "SET SESSION sql_log_bin = 0;DELETE FROM t WHERE id = 1");
        in(origin, "INSERT INTO t VALUES (1, 2)");
        replica.append(winners());
        replica.start(Replica.SETTINGS);
        QuorateException failure = replica.awaitFailure();
        assertThat(failure.code()).isEqualTo(ErrorCode.UNDO_MISMATCH);
        assertThat(failure).hasMessageContaining(server.uuid() + ":1");
        assertThat(server.queryLong("SELECT COUNT(*) FROM " + schema + ".t")).isZero();
    }

    /** The server looks rows up by their keys and would overwrite what somebody wrote around the binlog. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE t SET v = 4 WHERE id = 1",
                "UPDATE t SET v = NULL WHERE id = 1",
                "UPDATE t SET w = 'ONE' WHERE id = 1",
                "UPDATE t SET w = CONCAT(w, ' ') WHERE id = 1"
            })
    void aRowThatSomebodyChangedUnloggedIsNeverOverwritten(String around) throws Exception {
        both(
                "CREATE TABLE " + schema + ".t (id INT PRIMARY KEY, v INT, w VARCHAR(20))",
                "INSERT INTO " + schema + ".t VALUES (1, 1, 'one')");
        in(server, "UPDATE t SET v = 2 WHERE id = 1");
        capture();
        in(server, "SET SESSION sql_log_bin = 0;" + around);
        String held = server.queryOne("SELECT CONCAT_WS('|', v, w) FROM " + schema + ".t");
        in(origin, "UPDATE t SET v = 3 WHERE id = 1");
        replica.append(winners());
        replica.start(Replica.SETTINGS.withMask(new ColumnMask(List.of("*.t.w"))));
        QuorateException failure = replica.awaitFailure();
        assertThat(failure.code()).isEqualTo(ErrorCode.UNDO_MISMATCH);
        assertThat(failure)
                .hasMessageContaining("was left with {id=1, v=2, w=(masked)} and holds {id=1, v=")
                .hasMessageNotContaining("=one");
        assertThat(server.queryOne("SELECT CONCAT_WS('|', v, w) FROM " + schema + ".t"))
                .isEqualTo(held);
    }

    /** What is left of each type is found to be what it is: nothing is taken for somebody's write. */
    @Test
    void rowsOfEveryTypeAreAsTheyWereLeft() throws Exception {
        String types = "a TINYINT, b BIGINT UNSIGNED, c DECIMAL(20, 7), d DECIMAL(30, 30), e FLOAT, f DOUBLE, g DATE,"
                + " h DATETIME(3), i TIMESTAMP(5) NULL, j TIME(2), j0 TIME, k YEAR, l VARCHAR(20), m VARBINARY(300),"
                + " n CHAR(5), o DATETIME, p MEDIUMINT UNSIGNED, q BINARY(5), r ENUM('x', 'y'), s SET('a', 'b', 'c'),"
                + " t BIT(13), u TEXT, v LONGBLOB, w JSON, x VARCHAR(20) CHARACTER SET latin1, y CHAR(9)"
                + " CHARACTER SET utf16,"
                + " z GEOMETRY, aa FLOAT, ab TIMESTAMP NULL, ac INT GENERATED ALWAYS AS (a + 1), ad"
                + " DATETIME(6), ae BIT(64)";
        both(
                "USE " + schema,
                "CREATE TABLE one (id INT PRIMARY KEY, " + types + ")",
                "CREATE TABLE text (id VARCHAR(20) COLLATE utf8mb4_general_ci, n CHAR(6) CHARACTER SET latin1, v INT,"
                        + " PRIMARY KEY (id, n))",
                "CREATE TABLE times (id DATE, at DATETIME(3), y YEAR, d DECIMAL(9, 3), v INT, PRIMARY KEY (id,"
                        + " at, y, d))",
                "CREATE TABLE bin (id BINARY(4), w VARBINARY(9), v INT, PRIMARY KEY (id, w))",
                "CREATE TABLE odd (id FLOAT PRIMARY KEY, v INT)",
                "INSERT INTO one (id, a) VALUES (2, 5)",
                "INSERT INTO text VALUES ('Ä ', 'é', 1)",
                "INSERT INTO times VALUES ('2024-02-29', '1999-12-31 23:59:59.987', 2024, -1.500, 1)",
                "INSERT INTO bin VALUES (x'4100', x'2000', 1)",
                "INSERT INTO odd VALUES (0.1, 1)");
        String values = "-3, 18446744073709551615, -1234567890123.0000001, 1e-30, 0.1, 1e100, '2024-02-29',"
                + " '1999-12-31 23:59:59.987', '2024-01-02 03:04:05.67890', '-11:22:33.50', '-11:22:33', 2026,"
                + " 'grün  ',"
                + " x'00ff00', 'ab', '9999-12-31 23:59:59', 8388608, x'4100', 'y', 'a,c', b'1010101010101',"
                + " REPEAT('ü', 999),"
                + " REPEAT(x'00ff', 70000), '{\"k\": [1, 2]}', 'Müller', 'ab', ST_GeomFromText('POINT(1 2)'), -0e0,"
                + " '2038-01-19 03:14:07', '1000-01-01 00:00:00.000001', 18446744073709551615";
        String columns = types.replaceAll("\\([^)]*\\)|'[^']*'", "")
                .replaceAll("\\b([a-z]+[0-9]?) [A-Z][^,]*", "$1")
                .replace(" ac,", "");
        in(server, "SET time_zone = '+03:00';INSERT INTO one (id, " + columns + ") VALUES (1, " + values + ")");
        in(server, "UPDATE one SET a = NULL, e = 0.3, i = NULL, r = 'x', t = 0 WHERE id = 1");
        in(
                server,
                "UPDATE one SET b = 0, c = 0, d = -0.5, f = -0e0, g = '1000-01-01', j = '0:0:0.5', l = '' WHERE"
                        + " id = 2");
        in(server, "UPDATE text SET v = 2;UPDATE times SET v = 2;UPDATE bin SET v = 2;UPDATE odd SET v = 2");
        capture();
        in(origin, "UPDATE one SET a = 9 WHERE id = 2");
        replica.append(winners());
        replica.start(Replica.SETTINGS);
        replica.awaitApplied();
        replica.assertSame(schema);
        assertThat(replica.stats().undone()).isEqualTo(7);
    }

    @Test
    void whatCascadedOrWasAStatementOrHadNoImageCantBeUndone() throws Exception {
        refused("DELETE FROM p WHERE id = 1", "whose foreign keys cascade");
        refused("UPDATE p SET id = 5 WHERE id = 2", "whose foreign keys cascade");
        refused("ALTER TABLE p ADD x INT", "it is a statement");
        refused("SET SESSION binlog_row_image = 'MINIMAL';UPDATE p SET v = 3 WHERE id = 2", "lack columns");
        refused("INSERT INTO m VALUES (1)", ".m, whose engine MyISAM has no transactions");
    }

    /** As where a transaction loses against the statement that drops the foreign key. */
    @Test
    void whatCascadedCantBeUndoneWhenItsForeignKeyIsGone() throws Exception {
        cascades = true;
        String dropped = "SET SESSION sql_log_bin = 0;ALTER TABLE c DROP FOREIGN KEY c_ibfk_1";
        refused("DELETE FROM p WHERE id = 1", dropped, "may have cascaded that are gone since");
        refused("UPDATE p SET id = 5 WHERE id = 2", dropped, "may have cascaded that are gone since");
    }

    private void refused(String sql, String why) throws Exception {
        refused(sql, "DO 0", why);
    }

    /** @param since what is done before it is undone */
    private void refused(String sql, String since, String why) throws Exception {
        begin();
        both(
                "USE " + schema,
                "CREATE TABLE p (id INT PRIMARY KEY, v INT)",
                "CREATE TABLE c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE"
                        + " ON UPDATE SET NULL)",
                "INSERT INTO p VALUES (1, 0), (2, 0)",
                "INSERT INTO c VALUES (1, 1), (2, 2)",
                "CREATE TABLE m (id INT PRIMARY KEY) ENGINE=MyISAM");
        in(server, sql);
        capture();
        in(server, since);
        in(origin, "UPDATE p SET v = 9 WHERE id = 2");
        replica.append(winners());
        replica.start(Replica.SETTINGS);
        QuorateException failure = replica.awaitFailure();
        assertThat(failure.code()).isEqualTo(ErrorCode.UNDO_IMPOSSIBLE);
        assertThat(failure).hasMessageContaining(why);
        replica.close();
    }
}
