// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.Sandbox.Part;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A definition on one node beside what another one writes and the first hasn't seen. Whatever becomes of it, all nodes
 * end SYNCED with the same, and the rows that were acknowledged are there. {@code -Dquorate.cells=all} goes through all
 * kinds; otherwise only some do.
 */
@Timeout(3600)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class DefinitionsIT {
    private static final boolean ALL = "all".equals(System.getProperty("quorate.cells"));
    private static final String T = "CREATE TABLE t (id INT PRIMARY KEY, a INT)";
    /** Where foreign keys are checked. */
    private static final int NO_PARENT = 1824;

    private static final String ONE = "INSERT INTO t VALUES (1, 1)";

    private static Cluster cluster;
    private static Definitions schema;

    /**
     * One case.
     *
     * @param name what happens
     * @param always whether it is among those that always run
     * @param setUp what both nodes have seen; {@code t} is the table that is looked at in the end
     * @param unseen what n2 writes, and n1 hasn't seen
     * @param definition what n1 runs
     * @param rows how many rows {@code t} has in the end
     * @param sign what the definition has made of {@code t}, in SHOW CREATE TABLE
     * @param took whether it is there in the end
     */
    record Cell(
            String name,
            boolean always,
            List<String> setUp,
            List<String> unseen,
            List<String> definition,
            int rows,
            String sign,
            boolean took) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static Cell cell(
            String name, boolean always, List<String> setUp, String unseen, String definition, int rows, String sign) {
        return new Cell(name, always, setUp, List.of(unseen), List.of(definition), rows, sign, true);
    }

    private static Cell failing(
            String name, boolean always, List<String> setUp, String unseen, String definition, int rows, String sign) {
        return new Cell(name, always, setUp, List.of(unseen), List.of(definition), rows, sign, false);
    }

    static Stream<Cell> cells() {
        List<String> t = List.of(T, ONE);
        List<String> text =
                List.of("CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(50))", "INSERT INTO t VALUES (1, 'x')");
        List<String> enums =
                List.of("CREATE TABLE t (id INT PRIMARY KEY, a ENUM('x', 'y'))", "INSERT INTO t VALUES (1, 'x')");
        String row = "INSERT INTO t VALUES (2, 2)";
        Stream<Cell> all = Stream.of(
                new Cell(
                        "unique, and a duplicate, and a row that is written under it",
                        true,
                        t,
                        List.of("INSERT INTO t VALUES (2, 1)"),
                        List.of("ALTER TABLE t ADD UNIQUE u (a)", "INSERT INTO t VALUES (3, 3)"),
                        2,
                        "UNIQUE KEY",
                        false),
                new Cell(
                        "a column and unique, and a duplicate, and a row with the column",
                        false,
                        t,
                        List.of("INSERT INTO t VALUES (2, 1)"),
                        List.of("ALTER TABLE t ADD b INT, ADD UNIQUE u (a)", "INSERT INTO t VALUES (3, 3, 3)"),
                        2,
                        "`b`",
                        false),
                new Cell(
                        "unique, and a duplicate of what is written under it",
                        false,
                        t,
                        List.of("INSERT INTO t VALUES (2, 5)"),
                        List.of("ALTER TABLE t ADD UNIQUE u (a)", "INSERT INTO t VALUES (3, 5)"),
                        2,
                        "UNIQUE KEY",
                        true),
                new Cell(
                        "foreign key, and a child of a parent that is deleted under it",
                        true,
                        List.of(T, ONE, "CREATE TABLE p (id INT PRIMARY KEY)", "INSERT INTO p VALUES (1), (2)"),
                        List.of("INSERT INTO t VALUES (2, 2)"),
                        List.of("ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES p (id)", "DELETE FROM p WHERE id = 2"),
                        2,
                        "FOREIGN KEY",
                        true),
                new Cell(
                        "a database dropped, and a row elsewhere",
                        true,
                        List.of(
                                T,
                                ONE,
                                "CREATE DATABASE IF NOT EXISTS gone",
                                "CREATE TABLE gone.t (id INT PRIMARY KEY)",
                                "INSERT INTO gone.t VALUES (1)"),
                        List.of(row),
                        List.of("DROP DATABASE gone"),
                        2,
                        "`a`",
                        true),
                new Cell(
                        "a database dropped, and a row in it",
                        false,
                        List.of(
                                T,
                                ONE,
                                "DROP DATABASE IF EXISTS gone",
                                "CREATE DATABASE gone CHARACTER SET latin1",
                                "CREATE TABLE gone.s (a VARCHAR(5))",
                                "CREATE TABLE gone.u (id INT PRIMARY KEY)",
                                "CREATE VIEW gone.v AS SELECT id FROM gone.u"),
                        List.of("INSERT INTO gone.u VALUES (1)", "CREATE TABLE gone.w (a VARCHAR(5))"),
                        List.of("DROP DATABASE gone"),
                        1,
                        "`a`",
                        true),
                new Cell(
                        "a database that another node makes otherwise, and what is made in both",
                        true,
                        List.of(T, ONE, "DROP DATABASE IF EXISTS made"),
                        List.of(
                                "CREATE DATABASE made CHARACTER SET latin1",
                                "CREATE TABLE made.s (a VARCHAR(5))",
                                "CREATE PROCEDURE made.p (a VARCHAR(5)) SELECT a"),
                        List.of("CREATE DATABASE made", "CREATE TABLE made.u (a VARCHAR(5))", row),
                        2,
                        "`a`",
                        true),
                new Cell(
                        "a database's characters, and a table and a procedure that are made in it",
                        false,
                        List.of(T, ONE, "DROP DATABASE IF EXISTS made", "CREATE DATABASE made"),
                        List.of("CREATE TABLE made.s (a VARCHAR(5))"),
                        List.of(
                                "ALTER DATABASE made CHARACTER SET latin1",
                                "CREATE TABLE made.u (a VARCHAR(5))",
                                "CREATE PROCEDURE made.p (a VARCHAR(5)) SELECT a"),
                        1,
                        "`a`",
                        true),
                cell("unique, and none", false, t, row, "ALTER TABLE t ADD UNIQUE u (a)", 2, "UNIQUE KEY"),
                failing(
                        "check, and a row against it",
                        false,
                        t,
                        "INSERT INTO t VALUES (2, -1)",
                        "ALTER TABLE t ADD CHECK (a > 0)",
                        2,
                        "CHECK"),
                failing(
                        "not null, and a null",
                        false,
                        t,
                        "INSERT INTO t VALUES (2, NULL)",
                        "ALTER TABLE t MODIFY a INT NOT NULL",
                        2,
                        "`a` int NOT NULL"),
                failing(
                        "foreign key, and an orphan",
                        false,
                        List.of(T, ONE, "CREATE TABLE p (id INT PRIMARY KEY)", "INSERT INTO p VALUES (1)"),
                        row,
                        "ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES p (id)",
                        2,
                        "FOREIGN KEY"),
                cell("a column behind", true, t, row, "ALTER TABLE t ADD b INT NULL, ADD c INT DEFAULT 5", 2, "`c`"),
                cell("a column between", false, t, row, "ALTER TABLE t ADD b INT DEFAULT 5 AFTER id", 2, "`b`"),
                cell("an index", false, t, row, "ALTER TABLE t ADD INDEX i (a)", 2, "KEY `i`"),
                cell(
                        "longer text",
                        false,
                        text,
                        "INSERT INTO t VALUES (2, 'y')",
                        "ALTER TABLE t MODIFY a VARCHAR(60)",
                        2,
                        "varchar(60)"),
                cell(
                        "a label more",
                        false,
                        enums,
                        "INSERT INTO t VALUES (2, 'y')",
                        "ALTER TABLE t MODIFY a ENUM('x', 'y', 'z')",
                        2,
                        "'z'"),
                failing("a column dropped", false, t, row, "ALTER TABLE t DROP COLUMN a", 2, "never"),
                failing("truncate", true, t, row, "TRUNCATE t", 2, "never"),
                failing("drop", false, t, row, "DROP TABLE t", 2, "never"),
                failing("rename", false, t, row, "RENAME TABLE t TO other", 2, "never"),
                failing(
                        "swap",
                        false,
                        List.of(T, ONE, "CREATE TABLE u LIKE t", "INSERT INTO u SELECT * FROM t"),
                        row,
                        "RENAME TABLE t TO old, u TO t",
                        2,
                        "never"),
                new Cell(
                        "a default that goes as soon as its column is there",
                        false,
                        t,
                        List.of(row),
                        List.of("ALTER TABLE t ADD b INT DEFAULT 5", "ALTER TABLE t ALTER b DROP DEFAULT"),
                        2,
                        "`b` int DEFAULT '5'",
                        true),
                cell("the same table", true, List.of(), T, T, 0, "`a` int"),
                failing(
                        "another table of that name",
                        false,
                        List.of(),
                        T,
                        "CREATE TABLE t (id INT PRIMARY KEY)",
                        0,
                        "never"),
                cell(
                        "the same account",
                        false,
                        t,
                        "CREATE USER IF NOT EXISTS same@localhost",
                        "CREATE USER IF NOT EXISTS same@localhost",
                        1,
                        "`a`"),
                new Cell(
                        "a view that another node makes otherwise, and what else there is besides tables",
                        true,
                        t,
                        List.of("CREATE VIEW v AS SELECT 1 AS one"),
                        List.of(
                                "CREATE VIEW v AS SELECT 2 AS two",
                                "CREATE USER only_here@localhost",
                                "CREATE PROCEDURE p () SELECT 1",
                                "CREATE TRIGGER r BEFORE INSERT ON still FOR EACH ROW SET @a = 1",
                                row,
                                "UPDATE still SET a = 5 WHERE id = 1"),
                        2,
                        "`a`",
                        true),
                new Cell(
                        "a view of all columns, and another column",
                        true,
                        t,
                        List.of("ALTER TABLE t ADD b INT"),
                        List.of("CREATE VIEW v AS SELECT * FROM t"),
                        1,
                        "`b`",
                        true),
                failing("a loser before it", false, t, "UPDATE t SET a = 2", "UPDATE t SET a = 3", 1, "never"),
                failing(
                        "partitions",
                        false,
                        t,
                        "INSERT INTO t VALUES (200, 2)",
                        "ALTER TABLE t PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (100))",
                        2,
                        "PARTITION"));
        return all.filter(cell -> ALL || cell.always);
    }

    @BeforeAll
    static void start() throws Exception {
        cluster = Cluster.start(3, Map.of("quorate.sst.method", "stream", "quorate.ddl.fence-max", "8s"));
        ServiceRights.asThePageSays(cluster);
        schema = new Definitions(cluster);
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    @ParameterizedTest
    @MethodSource("cells")
    @Order(1)
    void besideWhatItHasNotSeen(Cell cell) throws Exception {
        schema.begin(cell.setUp);
        List<Long> untouched = schema.untouched();
        unseen(1, cell.unseen, cell.definition);
        cluster.assertConverged();
        assertThat(schema.untouched())
                .as("other tables stay as they are; %s", cluster.logged(1, "copied"))
                .isEqualTo(untouched);
        assertThat(cluster.objectsThatDiffer()).isEmpty();
        for (int n = 1; n <= 3; n++) {
            assertThat(cluster.mysql(n).queryLong("SELECT COUNT(*) FROM d.t")).isEqualTo(cell.rows);
            assertThat(schema.definition(n)).as("n%d", n).isEqualTo(schema.definition(1));
        }
        assertThat(schema.definition(1).contains(cell.sign))
                .as(schema.definition(1))
                .isEqualTo(cell.took);
    }

    /**
     * Beside the table that is copied, the server has transactions of its own that it had not settled: one that lost,
     * one that was built on the definition, and some that passed. A child is copied with its parent, a table
     * without a key because what was written to it can't be taken back.
     */
    @Test
    @Tag("long")
    @Order(2)
    void whatItsClientsWroteToOtherTablesIsSettledAsTheOrderSays() throws Exception {
        schema.begin(List.of(
                T,
                ONE,
                "CREATE TABLE child (id INT PRIMARY KEY, t INT, FOREIGN KEY (t) REFERENCES t (id))",
                "INSERT INTO child VALUES (1, 1)",
                "CREATE TABLE keyless (a INT)"));
        List<Long> untouched = schema.untouched();
        cluster.pause(1);
        try {
            long before = cluster.lastOrdered(2);
            schema.run(2, List.of("INSERT INTO t VALUES (2, 2)", "UPDATE still SET a = 10 WHERE id = 1"));
            cluster.awaitOrdered(2, before + 1);
            schema.run(1, List.of("ALTER TABLE t DROP COLUMN a", "INSERT INTO keyless VALUES (1), (1)"));
            schema.run(1, List.of("UPDATE still SET a = 11 WHERE id = 1", "INSERT INTO still VALUES (3, 3)"));
            schema.run(1, List.of("UPDATE still SET a = 12 WHERE id = 2", "INSERT INTO child VALUES (2, 1)"));
            schema.run(1, List.of("BEGIN", "INSERT INTO t VALUES (4)", "INSERT INTO still VALUES (4, 4)", "COMMIT"));
            schema.run(2, List.of("INSERT INTO child VALUES (3, 2)"));
        } finally {
            cluster.goOn(1);
        }
        // Wherever this meets the copy, it goes on.
        assertThat(Cluster.within(Cluster.LIMIT, () -> !cluster.state(1).equals("SYNCED")))
                .isTrue();
        cluster.kill(1, Part.SERVICE);
        cluster.startAgain();
        cluster.assertConverged();
        assertThat(schema.untouched()).isEqualTo(untouched);
        for (int n = 1; n <= 3; n++) {
            assertThat(cluster.mysql(n).query("SELECT id, a FROM d.still ORDER BY id"))
                    .as("n%d", n)
                    .isEqualTo(List.of(List.of("1", "10"), List.of("2", "12"), List.of("3", "3")));
            assertThat(cluster.mysql(n).query("SELECT id, t FROM d.child ORDER BY id"))
                    .isEqualTo(List.of(List.of("1", "1"), List.of("2", "1"), List.of("3", "2")));
            assertThat(cluster.mysql(n).queryLong("SELECT COUNT(*) FROM d.keyless WHERE a = 1"))
                    .isEqualTo(2);
        }
        schema.run(1, List.of("INSERT INTO t VALUES (5, 5)", "INSERT INTO still VALUES (5, 5)"));
        cluster.assertConverged();
    }

    /** As three instances of an application do that boot at once; nor is what one of them overwrites a difference. */
    @Test
    @Order(3)
    void theSameDefinitionOnTwoNodesIsNoDifference() throws Exception {
        schema.begin(List.of(T, ONE, "CREATE VIEW v AS SELECT a FROM t", "CREATE DATABASE IF NOT EXISTS one"));
        int copies = cluster.steps(1, "copy_completed");
        List<String> same = List.of(
                "ALTER DATABASE one CHARACTER SET latin1",
                "CREATE DATABASE two",
                "CREATE TABLE IF NOT EXISTS u (id INT PRIMARY KEY, at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)",
                "ALTER TABLE t ADD b INT NOT NULL DEFAULT 5, ADD INDEX (b)",
                "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET NEW.b = 6",
                "GRANT SELECT ON d.* TO app@localhost");
        unseen(
                1,
                Stream.concat(same.stream(), Stream.of("CREATE OR REPLACE VIEW v AS SELECT id FROM t"))
                        .toList(),
                same.size() + 1,
                Stream.concat(
                                same.stream(),
                                Stream.of(
                                        "CREATE OR REPLACE VIEW v AS SELECT a, id FROM t",
                                        "INSERT INTO u (id) VALUES (1)"))
                        .toList());
        cluster.assertConverged();
        assertThat(cluster.steps(1, "copy_completed"))
                .as("n1 got copies: %s", cluster.logged(1, "copied"))
                .isEqualTo(copies);
        assertThat(cluster.objectsThatDiffer()).isEmpty();
        for (int n = 1; n <= 3; n++) {
            assertThat(schema.definition(n)).as("n%d", n).isEqualTo(schema.definition(1));
        }
        schema.run(1, List.of("DROP DATABASE one", "DROP DATABASE two", "REVOKE SELECT ON d.* FROM app@localhost"));
        cluster.assertConverged();
    }

    /** Those that are built on one another have all been run before the first one comes from the other node. */
    @Test
    @Order(3)
    void theSameScriptOnTwoNodesIsNoDifference() throws Exception {
        schema.begin(List.of("CREATE TABLE p (id INT PRIMARY KEY)", "INSERT INTO p VALUES (1)"));
        int copies = cluster.steps(1, "copy_completed");
        List<String> script = List.of(
                "CREATE TABLE t (id INT PRIMARY KEY, a INT)",
                "INSERT INTO t VALUES (1, 1)",
                "ALTER TABLE t ADD b INT NOT NULL DEFAULT 5",
                "CREATE INDEX i ON t (b)",
                "CREATE TABLE w (id INT PRIMARY KEY, a INT)",
                "ALTER TABLE w ADD UNIQUE (a)",
                "ALTER TABLE w ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES p (id)",
                "ALTER TABLE w DROP INDEX a, MODIFY a BIGINT, DROP FOREIGN KEY f",
                "CREATE TRIGGER tr BEFORE INSERT ON w FOR EACH ROW SET NEW.a = 1",
                "RENAME TABLE w TO v",
                "INSERT INTO v VALUES (1, 1)",
                "INSERT INTO t VALUES (2, 2, 2)");
        unseen(1, script, script.size(), script);
        cluster.assertConverged();
        assertThat(cluster.steps(1, "copy_completed"))
                .as("n1 got copies: %s", cluster.logged(1, "QRT-"))
                .isEqualTo(copies);
        for (int n = 1; n <= 3; n++) {
            assertThat(schema.definition(n)).as("n%d", n).isEqualTo(schema.definition(2));
            assertThat(cluster.mysql(n).query("SELECT * FROM d.t ORDER BY id"))
                    .isEqualTo(List.of(List.of("1", "1", "5"), List.of("2", "2", "2")));
            assertThat(cluster.mysql(n).query("SHOW CREATE TABLE d.v"))
                    .isEqualTo(cluster.mysql(2).query("SHOW CREATE TABLE d.v"));
        }
    }

    /** Whose definition lost against one that only its own server could run has overwritten what all others hold. */
    @Test
    @Order(3)
    void whatAVoidDefinitionWouldHaveOverwrittenIsTakenBack() throws Exception {
        schema.begin(List.of(T, ONE, "CREATE VIEW v AS SELECT a FROM t"));
        int copies = cluster.steps(2, "copy_completed");
        cluster.mysql(1).execute("SET SESSION sql_log_bin = 0", "CREATE TABLE d.here (id INT PRIMARY KEY)");
        unseen(
                2,
                List.of("CREATE OR REPLACE VIEW v AS SELECT id FROM here"),
                List.of("CREATE OR REPLACE VIEW v AS SELECT id FROM t"));
        assertThat(Cluster.within(Cluster.LIMIT, () -> cluster.steps(2, "copy_completed") > copies))
                .as(cluster.reason(2))
                .isTrue();
        cluster.mysql(1).execute("SET SESSION sql_log_bin = 0", "DROP TABLE d.here");
        cluster.assertConverged();
        assertThat(cluster.objectsThatDiffer()).isEmpty();
        assertThat(cluster.mysql(2)
                        .queryOne("SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_NAME = 'v'"))
                .isEqualTo("a");
    }

    /** Whoever uses the table waits for its definition, as for one on a server alone; nobody else does. */
    @Test
    @Order(3)
    void nobodyHearsOfTheDefinitionOfATableThatHeDoesNotUse() throws Exception {
        schema.begin(List.of(
                "CREATE TABLE other (id INT PRIMARY KEY AUTO_INCREMENT)",
                "CREATE TABLE p (id BIGINT PRIMARY KEY)",
                "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a INT)",
                "CREATE TABLE log (id INT)",
                "CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW INSERT INTO log VALUES (NEW.id)",
                "INSERT INTO t (a) VALUES (1)"));
        whileOthersWriteElsewhere(() -> {
            schema.run(
                    1,
                    List.of(
                            "ALTER TABLE t ADD b INT",
                            "ALTER TABLE t ADD c INT NOT NULL FIRST",
                            "ALTER TABLE t ADD UNIQUE (a), MODIFY b BIGINT",
                            "ALTER TABLE t ADD FOREIGN KEY (b) REFERENCES p (id)",
                            "ALTER TABLE t DROP COLUMN c",
                            "CREATE DATABASE IF NOT EXISTS elsewhere",
                            "CREATE TABLE elsewhere.u LIKE t",
                            "CREATE VIEW elsewhere.v AS SELECT * FROM t",
                            "TRUNCATE t",
                            "RENAME TABLE t TO away, elsewhere.u TO t",
                            "DROP TABLE away"));
            cluster.awaitQuery(3, "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_NAME = 'away'", "0");
        });
        schema.run(1, List.of("DROP DATABASE elsewhere"));
        cluster.assertConverged();
    }

    /** The rows of clients who use the table lose, and are undone while others go on. */
    @Test
    @Order(3)
    void norOfRowsThatLoseAgainstIt() throws Exception {
        schema.begin(List.of("CREATE TABLE other (id INT PRIMARY KEY AUTO_INCREMENT)", T, ONE));
        whileOthersWriteElsewhere(() -> {
            for (int i = 0; i < 5; i++) {
                unseen(
                        2,
                        List.of("ALTER TABLE t ADD b" + i + " INT NOT NULL DEFAULT 5 FIRST"),
                        List.of("UPDATE t SET a = a + 1", "INSERT INTO t (id) VALUES (" + (i + 2) + ")"));
                cluster.awaitQuery(
                        2, "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_NAME = 't'", i + 3 + "");
                // Waits until the service is done with the table: paused earlier, it would keep that locked.
                cluster.mysql(2).queryLong("SELECT COUNT(*) FROM d.t");
            }
        });
        assertThat(cluster.mysql(2).queryOne("SELECT CONCAT(COUNT(*), ':', MAX(a)) FROM d.t"))
                .isEqualTo("1:1");
    }

    /** As an index that comes, one that goes and was not unique: the server's clients have shown that by their rows. */
    @Test
    @Order(3)
    void whatRefusedNoneOfTheRowsGoesWithoutACopy() throws Exception {
        schema.begin(
                List.of("CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY i (a), CONSTRAINT c CHECK (a < 10))", ONE));
        cluster.assertConverged();
        int copies = cluster.steps(1, "copy_completed");
        unseen(
                1,
                List.of("INSERT INTO t VALUES (2, 2)", "UPDATE t SET a = 3 WHERE id = 1"),
                List.of("ALTER TABLE t DROP CHECK c", "INSERT INTO t VALUES (3, 30)"));
        cluster.assertConverged();
        unseen(1, List.of("INSERT INTO t VALUES (4, 4)"), List.of("DROP INDEX i ON t", "INSERT INTO t VALUES (5, 5)"));
        cluster.assertConverged();
        assertThat(cluster.steps(1, "copy_completed")).isEqualTo(copies);
        for (int n = 1; n <= 3; n++) {
            assertThat(schema.rows(n, "t")).isEqualTo("1:3,2:2,3:30,4:4,5:5");
            assertThat(schema.definition(n)).doesNotContain("KEY `i`", "CHECK");
        }
    }

    /** Clients of n2 and n3 write to another table meanwhile, and hear no error. */
    private static void whileOthersWriteElsewhere(Step step) throws Exception {
        cluster.assertConverged();
        AtomicBoolean done = new AtomicBoolean();
        List<CompletableFuture<Integer>> writers = new ArrayList<>();
        for (int n : List.of(2, 3)) {
            writers.add(CompletableFuture.supplyAsync(() -> {
                try (Connection client = cluster.app(n);
                        Statement statement = client.createStatement()) {
                    int rows = 0;
                    for (; rows == 0 || !done.get(); rows++) {
                        statement.executeUpdate("INSERT INTO d.other VALUES (NULL)");
                        Thread.sleep(5);
                    }
                    return rows;
                } catch (SQLException | InterruptedException e) {
                    throw new IllegalStateException("a client of n" + n + " hears " + e.getMessage(), e);
                }
            }));
        }
        try {
            step.run();
        } finally {
            done.set(true);
        }
        long rows = 0;
        for (CompletableFuture<Integer> writer : writers) {
            rows += writer.get(Cluster.LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
        cluster.assertConverged();
        assertThat(cluster.mysql(1).queryLong("SELECT COUNT(*) FROM d.other")).isEqualTo(rows);
    }

    /** What is done meanwhile. */
    private interface Step {
        void run() throws Exception;
    }

    /** What an audit would find, and nobody has met yet. */
    @Test
    @Order(3)
    void tablesAreCopiedWhenSomebodyAsksForIt() throws Exception {
        schema.begin(List.of(T, "INSERT INTO t VALUES (1, 1), (2, 2)"));
        List<Long> untouched = schema.untouched();
        cluster.mysql(3).execute("SET SESSION sql_log_bin = 0", "DELETE FROM d.t", "INSERT INTO d.t VALUES (3, 3)");
        assertThat(cluster.post(3, "/actuator/heal", "{\"tables\": \"t\"}")).contains("SCHEMA.TABLE");
        // Nothing is copied for a name that is no table's: a node would be away for nothing, or get all data anew.
        assertThat(cluster.post(3, "/actuator/heal", "{\"tables\": \"d.t.x\"}")).contains("SCHEMA.TABLE, not d.t.x");
        assertThat(cluster.post(3, "/actuator/heal", "{\"tables\": \"d.t, d.nope\"}"))
                .contains("there is no table d.nope, neither here nor at n");
        assertThat(cluster.post(3, "/actuator/heal", "{\"tables\": \"mysql.user\"}"))
                .contains("none of users' tables");
        assertThat(cluster.post(3, "/actuator/heal", "{\"tables\": \"d.t\"}")).contains("\"done\":true");
        cluster.awaitQuery(3, "SELECT GROUP_CONCAT(id ORDER BY id) FROM d.t", "1,2");
        cluster.assertConverged();
        assertThat(schema.untouched()).isEqualTo(untouched);
    }

    /** One server refuses what the others take, because somebody wrote to it without the binlog. */
    @Test
    @Order(3)
    void theOddServerGetsACopyOfTheOthers() throws Exception {
        schema.begin(List.of(T, ONE));
        cluster.mysql(3).execute("SET SESSION sql_log_bin = 0", "INSERT INTO d.t VALUES (2, 1)");
        schema.run(1, List.of("ALTER TABLE t ADD UNIQUE u (a)"));
        cluster.assertConverged();
        assertThat(schema.definition(3)).contains("UNIQUE KEY");
        assertThat(cluster.mysql(3).queryLong("SELECT COUNT(*) FROM d.t")).isOne();
        assertThat(cluster.http(3, "/actuator/conflicts")).contains("QRT-5004");
    }

    /** In sessions that have set what they can; each server's own logs are no definition of the cluster's. */
    @Test
    @Order(3)
    void aDefinitionDoesTheSameWhateverItsSessionHasSet() throws Exception {
        cluster.mysql(2).execute("SET GLOBAL log_output = 'TABLE', slow_query_log = ON");
        for (SessionKind session : List.of(SessionKind.odd(), SessionKind.wordPress())) {
            String name = "session_" + session.name().toLowerCase(Locale.ROOT);
            try (Connection client = cluster.mysql(1).connect();
                    Statement statement = client.createStatement()) {
                statement.execute("CREATE DATABASE " + name);
                for (String set : session.set()) {
                    statement.execute("SET " + set);
                }
                for (String sql : SessionKind.definitions()) {
                    try {
                        statement.execute(sql.formatted(name));
                    } catch (SQLException e) {
                        assertThat(e.getErrorCode()).as(sql).isEqualTo(NO_PARENT);
                    }
                }
                statement.execute("ALTER TABLE mysql.slow_log ENGINE = MyISAM");
                statement.execute("ALTER TABLE mysql.slow_log ENGINE = CSV");
                // While the session is there to be asked.
                cluster.assertConverged();
            }
        }
        assertThat(cluster.objectsThatDiffer()).isEmpty();
        // A copy of what the odd session has computed.
        cluster.mysql(3).execute("SET SESSION sql_log_bin = 0", "DELETE FROM session_odd.b");
        cluster.mysql(1).execute("UPDATE session_odd.b SET a = a + 100");
        cluster.awaitQuery(3, "SELECT COUNT(*) FROM session_odd.b", "3");
        cluster.assertConverged();
        for (int n = 1; n <= 3; n++) {
            assertThat(cluster.mysql(n).queryOne("SELECT GROUP_CONCAT(w ORDER BY id) FROM session_odd.b"))
                    .as("n%d", n)
                    .isEqualTo("53,13");
            assertThat(cluster.mysql(n).queryLong("SELECT COUNT(*) FROM mysql.slow_log"))
                    .isNotNegative();
        }
        cluster.mysql(2).execute("SET GLOBAL log_output = DEFAULT, slow_query_log = DEFAULT");
    }

    /** What a function gives that is in no log is on no other server; the one where it was run gets theirs. */
    @Test
    @Tag("long")
    @Order(5)
    void whatIsInNoLogIsTakenBackByACopy() throws Exception {
        schema.begin(List.of(T, ONE));
        schema.run(1, List.of("ALTER TABLE t ADD b INT DEFAULT (PS_CURRENT_THREAD_ID())"));
        cluster.awaitQuery(1, "SELECT COUNT(*) FROM information_schema.columns WHERE table_name = 't'", "2");
        cluster.assertConverged();
        schema.run(1, List.of("CREATE EVENT e ON SCHEDULE EVERY @@wait_timeout SECOND DO SET @x = 1"));
        cluster.awaitQuery(1, "SELECT COUNT(*) FROM information_schema.events WHERE event_schema = 'd'", "0");
        cluster.assertConverged();
        assertThat(cluster.objectsThatDiffer()).isEmpty();
    }

    /** What another node runs comes before what a paused one's server runs without having seen it. */
    private static void unseen(int paused, List<String> first, List<String> second) throws Exception {
        unseen(paused, first, 1, second);
    }

    /** @param ordered how many transactions of the first are ordered before the second begins */
    private static void unseen(int paused, List<String> first, int ordered, List<String> second) throws Exception {
        int other = 3 - paused;
        cluster.pause(paused);
        try {
            long before = cluster.lastOrdered(other);
            schema.run(other, first);
            cluster.awaitOrdered(other, before + ordered - 1);
            schema.run(paused, second);
        } finally {
            cluster.goOn(paused);
        }
    }

    /** A row from the second node comes before what the first one runs without having seen it; the third one dies. */
    private static void unseenAndWithoutTheThird(String row, String... statements) throws Exception {
        cluster.pause(1);
        try {
            long before = cluster.lastOrdered(2);
            schema.run(2, List.of(row));
            cluster.awaitOrdered(2, before);
            schema.run(1, List.of(statements));
            cluster.kill(3, Part.SERVICE);
        } finally {
            cluster.goOn(1);
        }
    }

    /** The one that is gone isn't waited for. When it is back, it finds the definition void, and a row built on it. */
    @Test
    @Tag("long")
    @Order(4)
    void aVerdictIsFoundWithoutWhoIsAwayAndHeldToByWhoComesBack() throws Exception {
        schema.begin(List.of(T, ONE));
        unseenAndWithoutTheThird(
                "INSERT INTO t VALUES (2, 1)",
                "ALTER TABLE t ADD b INT, ADD UNIQUE u (a)",
                "INSERT INTO t VALUES (3, 3, 3)");
        cluster.awaitQuery(1, "SELECT SUM(id) FROM d.t", "3");
        cluster.startAgain();
        cluster.assertConverged();
        assertThat(schema.definition(3)).doesNotContain("UNIQUE KEY");
        assertThat(cluster.mysql(3).queryLong("SELECT COUNT(*) FROM d.t")).isEqualTo(2);
    }

    /** Two of three servers may be odd at the same time; each of them is to come back without the other. */
    @Test
    @Tag("long")
    @Order(4)
    void whoDefinedATableBeforeARowCameGetsACopyThoughOnlyOneOtherHasIt() throws Exception {
        schema.begin(List.of(T, ONE));
        unseenAndWithoutTheThird("INSERT INTO t VALUES (2, 2)", "ALTER TABLE t ADD b INT DEFAULT 5 FIRST");
        cluster.awaitQuery(1, "SELECT GROUP_CONCAT(b ORDER BY id) FROM d.t", "5,5");
        cluster.awaitState(1, "SYNCED");
        cluster.startAgain();
        cluster.assertConverged();
    }

    /** No two servers number them alike, so the others keep the table as it was; so does the one, by a copy. */
    @Test
    @Tag("long")
    @Order(5)
    void numbersForRowsWithoutAnOrderAreTakenBackByACopy() throws Exception {
        schema.begin(List.of("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1), (2)"));
        schema.run(
                1,
                List.of("ALTER TABLE t ADD id INT AUTO_INCREMENT PRIMARY KEY FIRST", "INSERT INTO t (a) VALUES (3)"));
        cluster.awaitQuery(1, "SELECT COUNT(*) FROM information_schema.columns WHERE table_name = 't'", "1");
        cluster.assertConverged();
        for (int n = 1; n <= 3; n++) {
            assertThat(cluster.mysql(n).queryLong("SELECT COUNT(*) FROM d.t")).isEqualTo(2);
            assertThat(cluster.http(n, "/actuator/conflicts")).contains("NOT_REPEATABLE");
        }
    }

    @Test
    @Order(6)
    void whatIsOrderedFirstCostsNoRow() throws Exception {
        schema.begin(List.of(T, ONE));
        new OrderedFirstCases(cluster).besideWritersOfAllNodes();
    }

    @Test
    @Tag("long")
    @Order(7)
    void whatIsOrderedFirstAndFailsFailsEverywhereAlike() throws Exception {
        schema.begin(List.of(T, "INSERT INTO t VALUES (1, 1), (2, 1)"));
        OrderedFirstCases cases = new OrderedFirstCases(cluster);
        cases.aDuplicateKeepsAUniqueKeyFromEverybody();
        cases.ofTwoNodesThatCreateOneTableOneIsRefusedByTheServers();
        cases.onlyWhoMayDoEverythingMayAsk();
    }

    @Test
    @Tag("long")
    @Order(8)
    void whatIsOrderedFirstHappensEverywhereOrNowhere() throws Exception {
        schema.begin(List.of(T, ONE));
        OrderedFirstCases cases = new OrderedFirstCases(cluster);
        cases.whoIsAwayIsNamedAndNothingHappens();
        cases.fencesOfANodeThatIsGoneAreLifted();
    }

    /** What another node's client may do, this node's service may not: nothing is lost, and nobody has to start it. */
    @Test
    @Order(11)
    void aDefinitionForWhichARightIsLackingIsRunOnceThatIsGranted() throws Exception {
        schema.begin(List.of(T, ONE));
        // Which the account itself needs for nothing here, but GRANT ALL takes it.
        ServiceRights.revoke(cluster.mysql(2), "EVENT");
        // For longer than a connection is used for definitions: who is connected keeps the right.
        TimeUnit.MILLISECONDS.sleep(1100);
        schema.run(
                1,
                List.of(
                        "CREATE FUNCTION one() RETURNS INT DETERMINISTIC RETURN 1",
                        "SET GLOBAL log_bin_trust_function_creators = ON",
                        "CREATE FUNCTION d.anything() RETURNS DOUBLE RETURN RAND()",
                        "SET GLOBAL log_bin_trust_function_creators = OFF",
                        "CREATE USER later@localhost",
                        "GRANT ALL ON d.* TO later@localhost WITH GRANT OPTION",
                        "CREATE DEFINER = later@localhost VIEW seen AS SELECT * FROM t",
                        "INSERT INTO t VALUES (5, 5)"));
        assertThat(Cluster.within(Cluster.LIMIT, () -> cluster.reason(2).contains("QRT-1006")))
                .isTrue();
        assertThat(cluster.reason(2)).contains("GRANT ALL PRIVILEGES ON `d`.*", "later");
        assertThat(cluster.state(2)).isEqualTo("CONNECTED");
        assertThat(schema.rows(2, "t")).doesNotContain("5:5");

        ServiceRights.grant(cluster.mysql(2), "EVENT");
        cluster.awaitState(2, "SYNCED");
        cluster.assertConverged();
        assertThat(cluster.mysql(2).queryOne("SELECT d.one()")).isEqualTo("1");
        schema.run(2, List.of("DROP USER later@localhost"));
        cluster.assertConverged();
    }

    /** Its children are not in the binlog, and when it is undone nothing on the server says that there were any. */
    @Test
    @Order(12)
    void whatADeleteThatLosesAgainstItsForeignKeysEndTookComesBack() throws Exception {
        schema.begin(List.of(
                T,
                "INSERT INTO t VALUES (1, 1), (2, 2)",
                "CREATE TABLE child (id INT PRIMARY KEY, t INT, CONSTRAINT f FOREIGN KEY (t) REFERENCES t (id)"
                        + " ON DELETE CASCADE)",
                "INSERT INTO child VALUES (1, 1), (2, 2)"));
        List<Long> untouched = schema.untouched();
        unseen(2, List.of("ALTER TABLE child DROP FOREIGN KEY f"), List.of("DELETE FROM t WHERE id = 2"));
        cluster.assertConverged(2);
        for (int n = 1; n <= 3; n++) {
            assertThat(schema.rows(n, "t")).as("n%d", n).isEqualTo("1:1,2:2");
            assertThat(cluster.mysql(n).query("SELECT id, t FROM d.child ORDER BY id"))
                    .as("n%d", n)
                    .isEqualTo(List.of(List.of("1", "1"), List.of("2", "2")));
        }
        assertThat(schema.untouched())
                .as("nothing else is copied than the two tables; %s", cluster.logged(2, "copied"))
                .isEqualTo(untouched);
    }

    /** What its keys were when they were written, the server doesn't say any more. */
    @Test
    @Tag("long")
    @Order(13)
    void rowsFromBeforeAnotherPrimaryKeyLoseAgainstTheSameRow() throws Exception {
        for (String later :
                List.of("ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (id, a)", "RENAME TABLE t TO away")) {
            schema.begin(List.of(T, "INSERT INTO t VALUES (1, 1)", "ALTER TABLE t MODIFY a INT NOT NULL"));
            unseen(1, List.of("UPDATE t SET a = 2 WHERE id = 1"), List.of("UPDATE t SET a = 3 WHERE id = 1", later));
            cluster.assertConverged();
            for (int n = 1; n <= 3; n++) {
                assertThat(schema.rows(n, "t")).as("n%d, %s", n, later).isEqualTo("1:2");
            }
        }
    }

    /** As after a copy by stream, which leaves tablespaces as they are. */
    @Test
    @Tag("long")
    @Order(14)
    void dropsOfWhatTheOthersNeverHadAreVoid() throws Exception {
        schema.begin(List.of(T, ONE));
        int copies = cluster.steps(1, "copy_completed");
        cluster.mysql(1)
                .execute(
                        "SET SESSION sql_log_bin = 0",
                        "CREATE TABLESPACE here ADD DATAFILE 'here.ibd'",
                        "SET SESSION sql_log_bin = 1",
                        "DROP TABLESPACE here");
        // It conflicts with everything, so nobody writes until it is settled.
        assertThat(Cluster.within(Cluster.LIMIT, () -> cluster.steps(1, "copy_completed") > copies))
                .as("n1 has run what is void: %s", cluster.reason(1))
                .isTrue();
        cluster.awaitState(1, "SYNCED");
        cluster.assertConverged();
        for (int n = 1; n <= 3; n++) {
            assertThat(schema.rows(n, "t")).as("n%d", n).isEqualTo("1:1");
        }
    }

    /** Some accounts are kept out by nothing. */
    @Test
    @Tag("long")
    @Order(15)
    void whatSomebodyDropsInTheMidstOfItsCopyIsDroppedEverywhere() throws Exception {
        schema.begin(List.of(T, ONE));
        Definitions.untilDone(() -> {
            // A copy that is over before it is paused is made again.
            cluster.post(1, "/actuator/heal", "{\"tables\": \"d.t\"}");
            return cluster.post(1, "/actuator/transfer", "{\"action\": \"pause\"}");
        });
        assertThat(Cluster.within(Cluster.LIMIT, () -> cluster.reason(1).contains("paused")))
                .as(cluster.reason(1))
                .isTrue();
        schema.run(1, List.of("DROP TABLE t"));
        cluster.post(1, "/actuator/transfer", "{\"action\": \"resume\"}");
        cluster.awaitQuery(2, "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_NAME = 't'", "0");
        cluster.assertConverged();
    }

    /** Files are not in the binlog. Who has imported them alone gets a copy, and nobody can read the others' table. */
    @Test
    @Tag("long")
    @Order(16)
    void aTablespaceIsImportedWhereItsFilesAre() throws Exception {
        schema.begin(List.of(T, ONE));
        Path exported = Files.createDirectory(cluster.mysql(1).directory().resolve("exported"));
        try (Connection connection = cluster.mysql(1).connect();
                Statement statement = connection.createStatement()) {
            statement.execute("FLUSH TABLES d.t FOR EXPORT");
            copyTablespace(cluster.mysql(1).dataDirectory().resolve("d"), exported);
            statement.execute("UNLOCK TABLES");
        }
        long before = cluster.lastOrdered(1);
        schema.run(1, List.of("ALTER TABLE t DISCARD TABLESPACE"));
        cluster.awaitOrdered(1, before);
        // An audit doesn't wait for it.
        assertThat(cluster.post(2, "/actuator/audit", "{\"action\": \"start\"}"))
                .contains("\"done\":true");
        assertThat(Cluster.within(Cluster.LIMIT, () -> !audit(2).contains("\"ended\":null")))
                .as(audit(2))
                .isTrue();
        assertThat(audit(2)).contains(" discarded for table");
        copyTablespace(exported, cluster.mysql(1).dataDirectory().resolve("d"));
        schema.run(1, List.of("ALTER TABLE t IMPORT TABLESPACE"));
        assertThat(Cluster.within(Cluster.LIMIT, () -> cluster.reason(1).contains("IMPORT TABLESPACE, or drop it")))
                .as(cluster.reason(1))
                .isTrue();
        for (int node = 2; node <= 3; node++) {
            copyTablespace(exported, cluster.mysql(node).dataDirectory().resolve("d"));
        }
        schema.run(2, List.of("ALTER TABLE t IMPORT TABLESPACE"));
        cluster.awaitState(1, "SYNCED");
        cluster.assertConverged();
        assertThat(schema.rows(1, "t")).isEqualTo("1:1");
    }

    /** The audit of a node, as it shows it. */
    private static String audit(int node) {
        try {
            return cluster.http(node, "/actuator/audit");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }

    private static void copyTablespace(Path from, Path to) throws IOException {
        for (String file : List.of("t.ibd", "t.cfg")) {
            Files.copy(from.resolve(file), to.resolve(file), StandardCopyOption.REPLACE_EXISTING);
        }
    }
}
