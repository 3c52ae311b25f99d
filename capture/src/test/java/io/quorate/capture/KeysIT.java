// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static io.quorate.capture.CaptureFixture.type;
import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.OriginPosition;
import io.quorate.core.WriteSet;
import io.quorate.sandbox.MySqlServer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(180)
class KeysIT {
    private static MySqlServer server;
    private static CaptureFixture fixture;
    private static int tables;

    @BeforeAll
    static void start() {
        server = MySqlServer.builder()
                .relaxed()
                .option("loose-restrict-fk-on-non-standard-key", "OFF")
                .start();
        server.execute("CREATE DATABASE k");
        fixture = new CaptureFixture(server);
    }

    @AfterAll
    static void stop() {
        fixture.close();
        server.close();
    }

    /** Makes a table; {@code T} in later statements of the test stands for it. */
    private static String table(String columns) {
        String name = "k.t" + ++tables;
        server.execute("CREATE TABLE " + name + " " + columns);
        return name;
    }

    private static Keys keys(String table, String... statements) throws InterruptedException {
        for (int i = 0; i < statements.length; i++) {
            statements[i] = statements[i].replaceAll("\\bT\\b", table);
        }
        return fixture.captureOne(statements).keys();
    }

    private static long tableKey(String table) {
        return KeyNames.table("k", table.substring(2));
    }

    /** The hashes of one type, without the table's own key. */
    private static Set<Long> of(Keys keys, KeyType type, String table) {
        Set<Long> hashes = new HashSet<>();
        for (int i = 0; i < keys.size(); i++) {
            if (keys.type(i) == type && keys.hash(i) != tableKey(table)) {
                hashes.add(keys.hash(i));
            }
        }
        return hashes;
    }

    @Test
    void sharesTheTableAndTakesEachUniqueKeyExclusively() throws Exception {
        String t = table("(id INT PRIMARY KEY, a INT UNIQUE, b INT, c INT, UNIQUE (b, c), KEY (c))");
        Keys insert = keys(t, "INSERT INTO T VALUES (1, 2, 3, 4)");
        assertThat(type(insert, tableKey(t))).isEqualTo(KeyType.SHARED);
        assertThat(of(insert, KeyType.EXCLUSIVE, t)).hasSize(3);
        assertThat(keys(t, "DELETE FROM T WHERE id = 1")).isEqualTo(insert);
    }

    @Test
    void tellsKeysLeftAloneFromKeysThatChange() throws Exception {
        String t = table("(id INT PRIMARY KEY, a INT UNIQUE, b INT)");
        Keys insert = keys(t, "INSERT INTO T VALUES (1, 2, 3)");
        Keys other = keys(t, "UPDATE T SET b = 4 WHERE id = 1");
        assertThat(of(other, KeyType.UPDATE, t)).isEqualTo(of(insert, KeyType.EXCLUSIVE, t));
        assertThat(of(other, KeyType.EXCLUSIVE, t)).isEmpty();
        Keys changed = keys(t, "UPDATE T SET a = 5 WHERE id = 1");
        assertThat(of(changed, KeyType.UPDATE, t)).hasSize(1);
        assertThat(of(changed, KeyType.EXCLUSIVE, t)).hasSize(2);
        Keys moved = keys(t, "UPDATE T SET id = 9 WHERE id = 1");
        assertThat(of(moved, KeyType.EXCLUSIVE, t)).hasSize(2);
    }

    @Test
    void skipsKeysThatHoldNull() throws Exception {
        String t = table("(id INT PRIMARY KEY, a INT UNIQUE, b INT, c INT, UNIQUE (b, c))");
        assertThat(of(keys(t, "INSERT INTO T VALUES (1, NULL, 3, NULL)"), KeyType.EXCLUSIVE, t))
                .hasSize(1);
        assertThat(of(keys(t, "UPDATE T SET a = 1, c = 1 WHERE id = 1"), KeyType.EXCLUSIVE, t))
                .hasSize(2);
        assertThat(of(keys(t, "UPDATE T SET a = NULL WHERE id = 1"), KeyType.EXCLUSIVE, t))
                .hasSize(1);
    }

    @Test
    void takesWholeRowsWhereThereIsNoUniqueKey() throws Exception {
        String t = table("(a INT, b VARCHAR(9), KEY (a))");
        Keys insert = keys(t, "INSERT INTO T VALUES (1, 'x')");
        assertThat(of(insert, KeyType.EXCLUSIVE, t)).hasSize(1);
        Keys update = keys(t, "UPDATE T SET b = 'y'");
        assertThat(of(update, KeyType.EXCLUSIVE, t)).hasSize(2).containsAll(of(insert, KeyType.EXCLUSIVE, t));
        assertThat(of(update, KeyType.EXCLUSIVE, t)).containsAll(of(keys(t, "DELETE FROM T"), KeyType.EXCLUSIVE, t));
    }

    @Test
    void takesWholeRowsWhoseOnlyUniqueKeyIsNull() throws Exception {
        String t = table("(a INT UNIQUE, b INT)");
        Keys insert = keys(t, "INSERT INTO T VALUES (NULL, 1)");
        assertThat(of(insert, KeyType.EXCLUSIVE, t)).hasSize(1);
        Keys update = keys(t, "UPDATE T SET a = 1");
        assertThat(of(update, KeyType.EXCLUSIVE, t)).hasSize(2).containsAll(of(insert, KeyType.EXCLUSIVE, t));
        assertThat(of(keys(t, "UPDATE T SET b = 2"), KeyType.UPDATE, t)).hasSize(1);
    }

    @Test
    void refersToTheParentByItsOwnKey() throws Exception {
        String parent = table("(id INT PRIMARY KEY, x VARCHAR(20) UNIQUE, y INT, z INT, UNIQUE (z, y))");
        String child = table("(id INT PRIMARY KEY, p INT, q VARCHAR(50), r INT, s INT,"
                + " FOREIGN KEY (p) REFERENCES " + parent + " (id), FOREIGN KEY (q) REFERENCES " + parent + " (x),"
                + " FOREIGN KEY (r, s) REFERENCES " + parent + " (z, y))");
        Keys inserted = keys(parent, "INSERT INTO T VALUES (7, 'Ab', 1, 2)");
        Keys insert = keys(child, "INSERT INTO T VALUES (1, 7, 'aB', 2, 1)");
        assertThat(of(insert, KeyType.REFERENCE, child)).isEqualTo(of(inserted, KeyType.EXCLUSIVE, parent));
        Keys touched = keys(child, "UPDATE T SET r = NULL WHERE id = 1");
        assertThat(of(touched, KeyType.REFERENCE, child)).hasSize(3);
        assertThat(of(keys(child, "DELETE FROM T"), KeyType.REFERENCE, child)).hasSize(2);
    }

    @Test
    void refersToAParentThatIsNotUnique() throws Exception {
        String parent = table("(id INT PRIMARY KEY, x INT, KEY (x))");
        String child = table("(id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES " + parent + " (x))");
        Keys inserted = keys(parent, "INSERT INTO T VALUES (1, 5)");
        Keys insert = keys(child, "INSERT INTO T VALUES (1, 5)");
        assertThat(of(inserted, KeyType.EXCLUSIVE, parent))
                .hasSize(2)
                .containsAll(of(insert, KeyType.REFERENCE, child));
    }

    @Test
    void takesTablesThatACascadeReachesBeyondTheChildren() throws Exception {
        String top = table("(id INT PRIMARY KEY, n INT)");
        String middle = table("(id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES " + top
                + " (id) ON DELETE CASCADE ON UPDATE CASCADE)");
        String bottom =
                table("(id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES " + middle + " (id) ON DELETE CASCADE)");
        server.execute(
                "INSERT INTO " + top + " VALUES (1, 1)",
                "INSERT INTO " + middle + " VALUES (1, 1)",
                "INSERT INTO " + bottom + " VALUES (1, 1)");
        Keys unconcerned = keys(top, "UPDATE T SET n = 2");
        assertThat(type(unconcerned, tableKey(middle))).isNull();
        assertThat(type(unconcerned, tableKey(bottom))).isNull();
        assertThat(type(unconcerned, Keys.CASCADES)).isNull();
        for (String statement : List.of("UPDATE T SET id = 2", "DELETE FROM T")) {
            Keys cascading = keys(top, statement);
            assertThat(type(cascading, tableKey(middle))).isEqualTo(KeyType.SHARED);
            assertThat(type(cascading, tableKey(bottom))).isEqualTo(KeyType.EXCLUSIVE);
            assertThat(type(cascading, Keys.CASCADES)).isEqualTo(KeyType.SHARED);
        }
    }

    /** Otherwise nothing would stand between the two: one node deletes children that the other one keeps. */
    @Test
    void aDeleteThatCascadesMeetsWhoDropsTheForeignKey() throws Exception {
        String parent = table("(id INT PRIMARY KEY)");
        String child = table("(id INT PRIMARY KEY, p INT, CONSTRAINT " + parent.replace('.', '_')
                + " FOREIGN KEY (p) REFERENCES " + parent + " (id) ON DELETE CASCADE)");
        server.execute("INSERT INTO " + parent + " VALUES (1)", "INSERT INTO " + child + " VALUES (1, 1)");
        Keys deleted = keys(parent, "DELETE FROM T");
        Keys dropped = keys(child, "ALTER TABLE T DROP FOREIGN KEY " + parent.replace('.', '_'));
        assertThat(type(deleted, tableKey(child))).isEqualTo(KeyType.SHARED);
        assertThat(type(dropped, tableKey(child))).isEqualTo(KeyType.EXCLUSIVE);
        assertThat(type(dropped, Keys.NO_ROWS_BEFORE)).isEqualTo(KeyType.SHARED);
    }

    /** Whoever undoes the delete can't ask the server, which has no foreign key any more. */
    @Test
    void whereAForeignKeyMayBeGoneADeleteSaysThatItMayHaveCascaded() throws Exception {
        String parent = table("(id INT PRIMARY KEY)");
        String child = table("(id INT PRIMARY KEY, p INT, CONSTRAINT " + parent.replace('.', '_') + " FOREIGN KEY (p)"
                + " REFERENCES " + parent + " (id) ON DELETE CASCADE)");
        server.execute("INSERT INTO " + parent + " VALUES (1)", "INSERT INTO " + child + " VALUES (1, 1)");
        OriginPosition start = CaptureFixture.present(server);
        server.execute(
                "INSERT INTO " + parent + " VALUES (2)",
                "DELETE FROM " + parent + " WHERE id = 1",
                "ALTER TABLE " + child + " DROP FOREIGN KEY " + parent.replace('.', '_'),
                "DELETE FROM " + parent);
        try (CaptureFixture behind = new CaptureFixture(server, start)) {
            behind.awaitAll();
            List<WriteSet> captured = behind.recorder.writeSets();
            assertThat(captured)
                    .extracting(w -> w.keys().contains(Keys.CASCADES))
                    .containsExactly(false, true, false, false);
            assertThat(captured.get(1).keys().contains(Keys.CASCADES_ANYWHERE)).isTrue();
        }
    }

    /** What else is defined meanwhile leaves it at what can be seen. */
    @Test
    void whereTheForeignKeyIsStillThereADeleteSaysWhatItReached() throws Exception {
        String parent = table("(id INT PRIMARY KEY)");
        String child =
                table("(id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES " + parent + " (id) ON DELETE CASCADE)");
        String other = table("(id INT PRIMARY KEY)");
        server.execute("INSERT INTO " + parent + " VALUES (1)", "INSERT INTO " + child + " VALUES (1, 1)");
        OriginPosition start = CaptureFixture.present(server);
        server.execute(
                "DELETE FROM " + parent,
                "ALTER TABLE " + parent + " ADD COLUMN u INT UNIQUE",
                "ALTER TABLE " + child + " ADD INDEX (p, id)",
                "DROP TABLE " + other);
        try (CaptureFixture behind = new CaptureFixture(server, start)) {
            behind.awaitAll();
            Keys deleted = behind.recorder.writeSets().get(0).keys();
            assertThat(deleted.contains(Keys.NO_ROWS_BEFORE))
                    .as("its own keys aren't known")
                    .isTrue();
            assertThat(deleted.contains(Keys.CASCADES)).isTrue();
            assertThat(deleted.contains(Keys.CASCADES_ANYWHERE)).isFalse();
            assertThat(type(deleted, tableKey(child))).isEqualTo(KeyType.SHARED);
        }
    }

    @Test
    void aCheckGoesBesideRowsAndThoseAfterItMayNeedThat() throws Exception {
        String t = table("(id INT PRIMARY KEY, a INT, CONSTRAINT c_gone CHECK (a < 10))");
        Keys dropped = keys(t, "ALTER TABLE T DROP CHECK c_gone");
        assertThat(type(dropped, tableKey(t))).isEqualTo(KeyType.UPDATE);
        assertThat(dropped.contains(Keys.NO_ROWS_BEFORE)).isFalse();
        assertThat(dropped.contains(Keys.KEEPS_COLUMNS)).isFalse();
    }

    /** Where rows have shown how the table was defined; otherwise it may have been any index. */
    @Test
    void anIndexThatRefusedNothingGoesBesideRows() throws Exception {
        String columns = "(id INT PRIMARY KEY, a INT, u INT, KEY i (a), UNIQUE v (u))";
        String cold = table(columns);
        assertThat(type(keys(cold, "ALTER TABLE T DROP INDEX i"), tableKey(cold)))
                .isEqualTo(KeyType.EXCLUSIVE);
        String t = table(columns);
        keys(t, "INSERT INTO T VALUES (1, 1, 1)");
        Keys plain = keys(t, "DROP INDEX i ON T");
        assertThat(type(plain, tableKey(t))).isEqualTo(KeyType.UPDATE);
        assertThat(plain.contains(Keys.NO_ROWS_BEFORE)).isFalse();
        assertThat(plain.contains(Keys.KEEPS_COLUMNS)).isTrue();
        keys(t, "INSERT INTO T VALUES (2, 2, 2)");
        assertThat(type(keys(t, "ALTER TABLE T DROP KEY V"), tableKey(t))).isEqualTo(KeyType.EXCLUSIVE);
        keys(t, "INSERT INTO T VALUES (3, 3, 2)");
        assertThat(type(keys(t, "DROP INDEX `PRIMARY` ON T"), tableKey(t))).isEqualTo(KeyType.EXCLUSIVE);
    }

    @Test
    void aDefinitionThatRowsFitMeetsOnlyOtherDefinitionsAndRowsWithoutKeys() throws Exception {
        String t = table("(a INT, u INT UNIQUE)");
        server.execute("INSERT INTO " + t + " VALUES (1, 1), (2, NULL), (3, NULL)");
        long whole = KeyNames.wholeRows("k", t.substring(2));
        assertThat(type(keys(t, "INSERT INTO T VALUES (4, NULL)"), whole)).isNull();
        assertThat(type(keys(t, "UPDATE T SET a = 5 WHERE a = 1"), whole)).isNull();
        assertThat(type(keys(t, "UPDATE T SET a = 6 WHERE a = 2"), whole)).isEqualTo(KeyType.SHARED);
        assertThat(type(keys(t, "DELETE FROM T WHERE a = 3"), whole)).isEqualTo(KeyType.SHARED);
        Keys column = keys(t, "ALTER TABLE T ADD z INT");
        assertThat(type(column, tableKey(t))).isEqualTo(KeyType.UPDATE);
        assertThat(type(column, whole)).isEqualTo(KeyType.EXCLUSIVE);
        Keys index = keys(t, "CREATE INDEX i ON T (a)");
        assertThat(type(index, tableKey(t))).isEqualTo(KeyType.UPDATE);
        assertThat(type(index, whole)).isNull();
        assertThat(type(keys(t, "ALTER TABLE T ADD UNIQUE (a)"), tableKey(t))).isEqualTo(KeyType.EXCLUSIVE);
    }

    @Test
    void noticesForeignKeysThatComeLater() throws Exception {
        String parent = table("(id INT PRIMARY KEY, x INT, KEY (x))");
        String child = table("(id INT PRIMARY KEY, p INT)");
        assertThat(keys(parent, "INSERT INTO T VALUES (1, 5)").size()).isEqualTo(2);
        assertThat(keys(child, "INSERT INTO T VALUES (1, 5)").size()).isEqualTo(2);
        server.execute("ALTER TABLE " + child + " ADD FOREIGN KEY (p) REFERENCES " + parent + " (x)");
        assertThat(keys(parent, "INSERT INTO T VALUES (2, 6)").size()).isEqualTo(3);
        assertThat(keys(child, "INSERT INTO T VALUES (2, 6)").size()).isEqualTo(3);
    }

    /** An application that migrates makes hundreds of tables, and others write to theirs meanwhile. */
    @Test
    void whatIsKnownOfATableStaysWhenAnotherOneIsDefined() throws Exception {
        String t = table("(id INT PRIMARY KEY, a INT UNIQUE)");
        String child = table("(id INT PRIMARY KEY, p INT)");
        keys(t, "INSERT INTO T VALUES (1, 1)");
        long loads = fixture.capture.stats().schemaLoads();
        server.execute(
                "CREATE TABLE " + t + "_other (id INT PRIMARY KEY)",
                "ALTER TABLE " + t + "_other ADD a INT, ADD UNIQUE (a)",
                "CREATE DATABASE elsewhere",
                "CREATE TABLE elsewhere.u (id INT PRIMARY KEY)",
                "TRUNCATE elsewhere.u",
                "DROP DATABASE elsewhere",
                "CREATE VIEW " + t + "_view AS SELECT 1");
        assertThat(keys(t, "INSERT INTO T VALUES (2, 2)").size()).isEqualTo(3);
        assertThat(fixture.capture.stats().schemaLoads()).isEqualTo(loads);
        server.execute("ALTER TABLE " + child + " ADD CONSTRAINT f FOREIGN KEY (p) REFERENCES " + t + " (a)");
        keys(t, "INSERT INTO T VALUES (3, 3)");
        assertThat(fixture.capture.stats().schemaLoads()).isEqualTo(loads + 1);
        server.execute("ALTER TABLE " + child + " DROP FOREIGN KEY f");
        keys(t, "INSERT INTO T VALUES (4, 4)");
        assertThat(fixture.capture.stats().schemaLoads())
                .as("its child's alone names it")
                .isEqualTo(loads + 2);
    }

    @Test
    void noticesDefinitionsThatChangeWithoutBeingLogged() throws Exception {
        String t = table("(id INT PRIMARY KEY, a INT)");
        assertThat(keys(t, "INSERT INTO T VALUES (1, 1)").size()).isEqualTo(2);
        // Definitions are told apart by the second.
        Thread.sleep(1100);
        server.execute("SET sql_log_bin = 0", "ALTER TABLE " + t + " ADD UNIQUE (a)");
        assertThat(keys(t, "INSERT INTO T VALUES (2, 2)").size()).isEqualTo(3);
    }

    @Test
    void locksTheTableForRowsOlderThanItsDefinition() throws Exception {
        String t = table("(id INT PRIMARY KEY, a INT UNIQUE)");
        fixture.awaitAll();
        fixture.recorder.clear();
        fixture.recorder.block(true);
        // The reader is held at the first, so that the second is read when the index is gone already.
        server.execute("INSERT INTO " + t + " VALUES (1, 1)");
        server.execute("ALTER TABLE " + t + " COMMENT 'other'");
        server.execute("INSERT INTO " + t + " VALUES (2, 2)");
        Thread.sleep(1100);
        server.execute("ALTER TABLE " + t + " DROP INDEX a");
        fixture.recorder.block(false);
        fixture.awaitAll();
        WriteSet second = fixture.recorder.writeSets().get(2);
        assertThat(type(second.keys(), tableKey(t))).isEqualTo(KeyType.EXCLUSIVE);
    }

    /** The keys of a row that came after the first statement, and is read when the later ones have been executed. */
    private static Keys readLate(String t, String first, String... later) throws Exception {
        // Then the reader knows the table.
        fixture.captureOne("INSERT INTO " + t + " VALUES (1, 1)");
        fixture.recorder.clear();
        fixture.recorder.block(true);
        server.execute(first, "INSERT INTO " + t + " VALUES (2, 2)");
        fixture.recorder.awaitBlocked();
        // Definitions are told apart by the second.
        Thread.sleep(1100);
        server.execute(later);
        fixture.recorder.block(false);
        fixture.awaitAll();
        return fixture.recorder.writeSets().get(1).keys();
    }

    @Test
    void rowsOlderThanADefinitionThatTheyFitHaveKeysOfTheirOwn() throws Exception {
        String t = table("(id INT PRIMARY KEY, a INT UNIQUE)");
        Keys keys = readLate(
                t, "OPTIMIZE TABLE " + t, "ALTER TABLE " + t + " ADD z INT", "CREATE INDEX i ON " + t + " (a)");
        assertThat(type(keys, tableKey(t))).isEqualTo(KeyType.SHARED);
        assertThat(of(keys, KeyType.EXCLUSIVE, t)).hasSize(2);
    }

    /** What is known from before the index went must not be taken for what holds after it is back. */
    @Test
    void rowsOlderThanADefinitionThatIsBackHaveItsTablesKey() throws Exception {
        String t = table("(id INT PRIMARY KEY, a INT UNIQUE)");
        Keys keys = readLate(t, "ALTER TABLE " + t + " DROP INDEX a", "ALTER TABLE " + t + " ADD UNIQUE (a)");
        assertThat(type(keys, tableKey(t))).isEqualTo(KeyType.EXCLUSIVE);
    }

    @Test
    void rowsOlderThanAnIndexThatIsGoneAgainHaveTheirTablesKey() throws Exception {
        String t = table("(id INT PRIMARY KEY, a INT)");
        Keys keys = readLate(t, "ALTER TABLE " + t + " ADD UNIQUE u (a)", "DROP INDEX u ON " + t);
        assertThat(type(keys, tableKey(t))).isEqualTo(KeyType.EXCLUSIVE);
    }

    @Test
    void locksTheTableWhenItIsGoneOrItsKeysAreExpressions() throws Exception {
        String t = table("(id INT PRIMARY KEY, a INT, UNIQUE ((a + 1)))");
        assertThat(type(keys(t, "INSERT INTO T VALUES (1, 1)"), tableKey(t))).isEqualTo(KeyType.EXCLUSIVE);
        String gone = table("(id INT PRIMARY KEY)");
        fixture.awaitAll();
        fixture.recorder.clear();
        fixture.recorder.block(true);
        server.execute(
                "INSERT INTO " + t + " VALUES (2, 2)", "INSERT INTO " + gone + " VALUES (1)", "DROP TABLE " + gone);
        fixture.recorder.block(false);
        fixture.awaitAll();
        WriteSet w = fixture.recorder.writeSets().get(1);
        assertThat(type(w.keys(), tableKey(gone))).isEqualTo(KeyType.EXCLUSIVE);
    }

    @Test
    void locksTheTableWhenRowImagesLackKeys() throws Exception {
        String t = table("(id INT PRIMARY KEY, a INT UNIQUE, b INT)");
        server.execute("INSERT INTO " + t + " VALUES (1, 1, 1)");
        for (String statement : new String[] {"UPDATE T SET b = 2", "DELETE FROM T"}) {
            Keys minimal = keys(t, "SET binlog_row_image=MINIMAL", statement);
            assertThat(type(minimal, tableKey(t))).isEqualTo(KeyType.EXCLUSIVE);
        }
        Keys partial = keys(
                table("(id INT PRIMARY KEY, j JSON)"),
                "SET binlog_row_value_options=PARTIAL_JSON",
                "INSERT INTO T VALUES (1, '{\"a\": \"some text\", \"b\": 2}')");
        assertThat(partial.size()).isEqualTo(2);
    }

    @Test
    void locksTheTableWhenRowImagesHaveNoColumns() throws Exception {
        String t = table("(id INT PRIMARY KEY AUTO_INCREMENT, a INT DEFAULT 1)");
        String defaults = table("(a INT DEFAULT 1 UNIQUE, b INT DEFAULT 2)");
        assertThat(type(
                        keys(defaults, "SET binlog_row_image=MINIMAL", "INSERT INTO T () VALUES ()"),
                        tableKey(defaults)))
                .isEqualTo(KeyType.EXCLUSIVE);
        assertThat(keys(t, "INSERT INTO T () VALUES ()").size()).isEqualTo(2);
    }

    @Test
    void readsPartialJson() throws Exception {
        String t = table("(id INT PRIMARY KEY, j JSON, k JSON, n INT)");
        server.execute("INSERT INTO " + t + " VALUES (1, '{\"a\": \"some text that is long\", \"b\": 2}', '[1]', 1)");
        Keys partial =
                keys(t, "SET binlog_row_value_options=PARTIAL_JSON", "UPDATE T SET j = JSON_SET(j, '$.b', 3), n = 2");
        assertThat(of(partial, KeyType.UPDATE, t)).hasSize(1);
        assertThat(partial.size()).isEqualTo(2);
    }

    @Test
    void readsRowsAcrossEveryType() throws Exception {
        String t = table("(a TINYINT, b TINYINT UNSIGNED, c SMALLINT, d MEDIUMINT, e INT, f BIGINT, g FLOAT, h DOUBLE,"
                + " i DECIMAL(30, 10), j DECIMAL(5, 0), k DATE, l TIME, m TIME(3), n DATETIME, o DATETIME(6),"
                + " p TIMESTAMP NULL, q TIMESTAMP(2) NULL, r YEAR, s CHAR(10), t CHAR(255) CHARACTER SET"
                + " utf8mb4, u VARCHAR(10),"
                + " v VARCHAR(300), w BINARY(5), x VARBINARY(5), y TINYTEXT, z TEXT, aa MEDIUMTEXT, ab LONGBLOB,"
                + " ac ENUM('a', 'b'), ad SET('a', 'b', 'c'), ae BIT(1), af BIT(17), ag JSON, ah GEOMETRY,"
                + " ai INT AS (a + 1), aj INT AS (a + 2) STORED, ak BOOL, al INT NULL, am INT UNSIGNED, id INT"
                + " UNSIGNED,"
                + " UNIQUE (id), UNIQUE (ai), UNIQUE (r))");
        Keys keys = keys(
                t,
                "INSERT INTO T (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab,"
                        + " ac, ad, ae, af, ag, ah, ak, am, id) VALUES (1, 255, 2, 3, 4, 5, 1.5, 2.5, 12345.678, 99999,"
                        + " '2024-01-02', '-10:11:12', '10:11:12.345', '2024-01-02 03:04:05', '2024-01-02"
                        + " 03:04:05.678901',"
                        + " '2024-01-02 03:04:05', '2024-01-02 03:04:05.67', 2024, 'abc', REPEAT('ä', 255),"
                        + " 'x', REPEAT('y', 300),"
                        + " 'bin', 'var', 'tiny', 'text', 'medium', REPEAT('b', 70000), 'b', 'a,c', b'1', b'10101',"
                        + " '{\"a\": 1}', ST_GeomFromText('POINT(1 2)'), TRUE, 7, 4000000000)");
        Keys one = keys(table("(id INT UNSIGNED, UNIQUE (id))"), "INSERT INTO T VALUES (4000000000)");
        assertThat(of(keys, KeyType.EXCLUSIVE, t)).hasSize(3);
        assertThat(one.size()).isEqualTo(2);
    }

    /** Pairs that an index holds equal: the server must refuse the second as a duplicate, and the keys must meet. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "VARCHAR(20) CHARACTER SET utf8mb4|'Straße'|'STRASSE'",
                "VARCHAR(20) CHARACTER SET utf8mb4|'résumé'|'Resume'",
                "VARCHAR(20) CHARACTER SET utf8mb4|'æon'|'AEON'",
                "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_as_ci|'é'|'É'",
                "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci|'a   '|'Ä'",
                "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci|'😀'|'😡'",
                "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci|'か'|'カ'",
                "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin|'a '|'a'",
                "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_danish_ci|'Aa'|'å'",
                "VARCHAR(20) CHARACTER SET latin1|'Müller '|'mÜLLER'",
                "VARCHAR(20) CHARACTER SET latin1|'y'|'Ü'",
                "VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_german2_ci|'Müller'|'MUELLER'",
                "VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_bin|'a'|'a  '",
                "VARCHAR(20) CHARACTER SET utf16|'é'|'E'",
                "VARCHAR(20) CHARACTER SET utf32|'é'|'E'",
                "VARCHAR(20) CHARACTER SET dec8|'é'|'E'",
                "CHAR(20) CHARACTER SET utf8mb4|'Ab'|'aB'",
                "TINYTEXT CHARACTER SET utf8mb4|'Ab'|'aB'",
                "BINARY(5)|'a'|X'6100'",
                "FLOAT|0.0|-0e0",
                "DOUBLE|0.0|-0e0",
                "DECIMAL(10, 2)|1|1.00",
                "DATETIME(3)|'2024-01-02'|'2024-01-02 00:00:00.000'",
                "TIME(2)|'-00:00:00.50'|'-0:0:0.5'",
                "ENUM('a', 'b')|'a'|1",
                "SET('a', 'b')|'b,a'|3",
                "BIT(10)|b'11'|3",
            })
    void meetsWhereTheIndexHoldsValuesEqual(String column, String one, String other) throws Exception {
        String index = column.startsWith("TINYTEXT") ? "a(10)" : "a";
        String t = table("(a " + column + ", UNIQUE (" + index + "))");
        Keys first = keys(t, "SET NAMES utf8mb4", "INSERT INTO T VALUES (" + one + ")");
        assertThat(server.queryOne("SELECT COUNT(*) FROM " + t)).isEqualTo("1");
        server.execute("SET NAMES utf8mb4", "INSERT IGNORE INTO " + t + " VALUES (" + other + ")");
        assertThat(server.queryOne("SELECT COUNT(*) FROM " + t))
                .as("the index holds them equal")
                .isEqualTo("1");
        server.execute("DELETE FROM " + t);
        Keys second = keys(t, "SET NAMES utf8mb4", "INSERT INTO T VALUES (" + other + ")");
        assertThat(of(second, KeyType.EXCLUSIVE, t)).isEqualTo(of(first, KeyType.EXCLUSIVE, t));
    }

    @Test
    void countsOnlyThePrefixOfAPrefixIndex() throws Exception {
        String t = table("(a VARCHAR(50) CHARACTER SET utf8mb4, b VARBINARY(50), UNIQUE (a(3)), UNIQUE (b(3)))");
        Keys first = keys(t, "INSERT INTO T VALUES ('äbcdef', 'abcdef')");
        Keys second = keys(t, "UPDATE T SET a = 'ABCxyz', b = 'abcxyz'");
        // The bytes changed, so both count as changed; their hashes meet.
        assertThat(of(second, KeyType.EXCLUSIVE, t)).isEqualTo(of(first, KeyType.EXCLUSIVE, t));
    }
}
