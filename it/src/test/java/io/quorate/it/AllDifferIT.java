// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Where most servers, or all, hold something else than the order says. */
@Tag("long")
@Timeout(3600)
class AllDifferIT {
    private static final String T = "CREATE TABLE t (id INT PRIMARY KEY, a INT)";
    private static final int BETWEEN = 20;
    private static final int MANY = 300;
    private static final int LOSING_ATTEMPTS = 10;

    private static Cluster cluster;
    private static Definitions schema;
    private static int value;

    @BeforeAll
    static void start() throws Exception {
        // Small batches, so that many rounds of the order lie between a client's row and its definition: that is the
        // time in which the other nodes' rows have to be ordered.
        cluster = Cluster.start(
                3,
                Map.of(
                        "quorate.sst.method", "stream",
                        "quorate.sst.chunk", "20KB",
                        "quorate.sst.bytes-per-second-max", "40KB",
                        "quorate.order.proposal-bytes-max", "1KB"));
        schema = new Definitions(cluster);
    }

    @AfterAll
    static void end() {
        cluster.close(false);
    }

    /** Where most servers lack what one holds, a copy would make the wrong of one server the wrong of all. */
    @Test
    void rowsThatOneServerAloneHasLostAreNotTakenFromTheOthers() throws Exception {
        oneLosesItsRowsAndWrites();
        for (int n = 2; n <= 3; n++) {
            int node = n;
            assertThat(Cluster.within(Cluster.LIMIT, () -> cluster.reason(node).contains("only n1 of 3")))
                    .as("%s", cluster.reason(n))
                    .isTrue();
            assertThat(cluster.mysql(n).queryLong("SELECT COUNT(*) FROM d.t")).isEqualTo(3);
        }
        // Somebody finds that the one is right after all.
        for (int n = 2; n <= 3; n++) {
            assertThat(cluster.post(n, "/actuator/heal", "{\"tables\": \"d.t\"}"))
                    .contains("\"done\":true");
        }
        cluster.assertConverged();
        assertThat(schema.rows(3, "t")).isEqualTo("2:20");
    }

    /** As before, and the one is wrong. */
    @Test
    void oneOfTheOthersMayBeChosen() throws Exception {
        oneLosesItsRowsAndWrites();
        trust(2);
        cluster.assertConverged();
        for (int n = 1; n <= 3; n++) {
            assertThat(schema.rows(n, "t")).isEqualTo("1:1,2:2,3:3");
        }
    }

    /** None can give the others a copy. What was written to other tables meanwhile is everywhere. */
    @Test
    void whereAllServersDifferOneIsChosen() throws Exception {
        schema.begin(List.of(T, "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)"));
        List<Long> untouched = schema.untouched();
        for (int n = 1; n <= 3; n++) {
            cluster.mysql(n).execute("SET SESSION sql_log_bin = 0", "DELETE FROM d.t WHERE id = " + n);
            cluster.pause(n);
        }
        try {
            schema.run(
                    1,
                    List.of("BEGIN", "UPDATE t SET a = 10 WHERE id > 1", "INSERT INTO still VALUES (3, 3)", "COMMIT"));
            schema.run(
                    2,
                    List.of("BEGIN", "UPDATE t SET a = 20 WHERE id = 1", "INSERT INTO still VALUES (4, 4)", "COMMIT"));
        } finally {
            cluster.goOn(cluster.servers());
        }
        for (int n = 1; n <= 3; n++) {
            int node = n;
            assertThat(Cluster.within(Cluster.LIMIT, () -> cluster.reason(node).contains("quorate heal --trust")))
                    .as("n%d: %s", n, cluster.reason(n))
                    .isTrue();
        }
        trust(1);
        cluster.assertConverged();
        for (int n = 1; n <= 3; n++) {
            assertThat(schema.rows(n, "t")).as("n%d", n).isEqualTo("2:10,3:10");
            assertThat(schema.rows(n, "still")).as("n%d", n).isEqualTo("1:1,2:2,3:3,4:4");
        }
        assertThat(schema.untouched().get(0)).isEqualTo(untouched.get(0));
    }

    /** Each because of a definition of its own clients that lost, of another table: they give one another theirs. */
    @Test
    void whereAllServersDifferInDifferentTablesNobodyNeedsToChoose() throws Exception {
        List<Long> untouched = null;
        // All of them lose; but one may have its copy before another one has heard that.
        for (int attempt = 0;
                attempt < LOSING_ATTEMPTS && LosingDefinitions.begunAmongWaiting(cluster) == 0;
                attempt++) {
            untouched = allLoseADefinition(node -> List.of());
            cluster.assertConverged();
        }
        assertThat(LosingDefinitions.begunAmongWaiting(cluster))
                .as("all waited, and one began")
                .isPositive();
        assertThat(schema.untouched()).isEqualTo(untouched);
        for (int n = 1; n <= 3; n++) {
            for (int each = 1; each <= 3; each++) {
                assertThat(schema.rows(n, "t" + each)).as("t%d of n%d", each, n).isEqualTo("1:1,2:20,3:3");
            }
            assertThat(cluster.mysql(n).queryLong("SELECT COUNT(*) FROM d.still"))
                    .isEqualTo(2 + 3 * BETWEEN);
        }
    }

    /** Its own table is gone, and those that have it wait for copies of others. */
    @Test
    void aCopyThatIsUnderWayGoesOnWithWhatThoseGiveThatWait() throws Exception {
        schema.begin(List.of(
                T,
                "INSERT INTO t VALUES (1, 1)",
                "CREATE TABLE t2 LIKE t",
                "CREATE TABLE t3 LIKE t",
                "INSERT INTO t2 VALUES (1, 1)",
                "INSERT INTO t3 VALUES (1, 1)",
                "CREATE TABLE wide (id INT PRIMARY KEY, s VARCHAR(500))",
                "INSERT INTO wide WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 500)"
                        + " SELECT n, REPEAT('x', 500) FROM r"));
        cluster.assertConverged();
        assertThat(cluster.post(1, "/actuator/heal", "{\"tables\": \"d.wide\"}"))
                .contains("\"done\":true");
        assertThat(Cluster.within(Cluster.LIMIT, () -> !cluster.logged(1, "copying table d.wide")
                        .isEmpty()))
                .isTrue();
        transfer(1, "{\"action\": \"pause\"}");
        List<Integer> others = List.of(2, 3);
        for (int n : others) {
            cluster.pause(n);
        }
        for (int n : others) {
            cluster.mysql(n)
                    .execute(
                            "SET SESSION binlog_format = 'STATEMENT'",
                            "UPDATE d.t" + n + " SET a = 7",
                            "FLUSH PRIVILEGES",
                            "ANALYZE TABLE d.still");
        }
        cluster.goOn(others);
        for (int n : others) {
            assertThat(Cluster.within(Cluster.LIMIT, () -> cluster.reason(n).contains("QRT-2011")))
                    .as(cluster.reason(n))
                    .isTrue();
        }
        transfer(1, "{\"action\": \"resume\"}");
        cluster.assertConverged();
        for (int n = 1; n <= 3; n++) {
            assertThat(cluster.mysql(n).queryLong("SELECT COUNT(*) FROM d.wide"))
                    .isEqualTo(500);
            assertThat(schema.rows(n, "t2")).isEqualTo("1:1");
            assertThat(schema.rows(n, "t3")).isEqualTo("1:1");
        }
    }

    private static void transfer(int node, String what) throws Exception {
        assertThat(cluster.post(node, "/actuator/transfer", what)).contains("\"done\":true");
    }

    /** None has run the triggers of the others, so none gives the tables of these. */
    @Test
    void whereTriggersAreDefinedBesideItOneMayBeChosen() throws Exception {
        for (int attempt = 0; attempt < LOSING_ATTEMPTS; attempt++) {
            allLoseADefinition(node -> List.of(
                    "CREATE TRIGGER own" + node + " BEFORE INSERT ON t" + node + " FOR EACH ROW SET @a = 1",
                    "CREATE TRIGGER other" + node + " AFTER DELETE ON still FOR EACH ROW SET @a = 1",
                    "DROP TRIGGER other" + node));
            assertThat(Cluster.within(Cluster.LIMIT, () -> anyIs("JOINER"))).isTrue();
            assertThat(Cluster.within(
                            Cluster.LIMIT,
                            () -> cluster.reason(1).contains("quorate heal --trust") || !anyIs("JOINER")))
                    .isTrue();
            boolean chosen = cluster.reason(1).contains("quorate heal --trust");
            if (chosen) {
                Definitions.untilDone(() -> cluster.post(1, "/actuator/heal", "{\"trust\": true}"));
            }
            cluster.assertConverged();
            assertThat(cluster.objectsThatDiffer()).isEmpty();
            if (chosen) {
                return;
            }
        }
        throw new AssertionError("never did all wait");
    }

    /** Each because of a definition of its own clients that lost, of the same table. */
    @Test
    void whereAllServersDifferInOneTableADefinitionStandsUnderWhichAllRowsFit() throws Exception {
        List<Long> untouched = List.of();
        for (int attempt = 0; attempt < LOSING_ATTEMPTS && LosingDefinitions.kept(cluster) == 0; attempt++) {
            untouched = allDefineOneTable("DROP CHECK c, DROP COLUMN gone");
            cluster.assertConverged();
        }
        assertThat(LosingDefinitions.kept(cluster))
                .as("all waited, and one kept its own")
                .isPositive();
        assertThat(schema.untouched()).isEqualTo(untouched);
        for (int n = 1; n <= 3; n++) {
            assertThat(schema.definition(n)).as("n%d", n).doesNotContain("CHECK", "gone");
            LosingDefinitions.assertRowsAreThere(cluster, n, value);
            assertThat(cluster.mysql(n).queryLong("SELECT COUNT(*) FROM d.still"))
                    .isEqualTo(2 + 3 * MANY);
        }
    }

    /** Nobody can tell what the rows that were written without it would be. */
    @Test
    void whereRowsFitUnderNoneOfTheDefinitionsOneIsChosen() throws Exception {
        boolean chosen = false;
        for (int attempt = 0; attempt < LOSING_ATTEMPTS && !chosen; attempt++) {
            long before = LosingDefinitions.keptInVain(cluster);
            allDefineOneTable("DROP CHECK c, RENAME COLUMN a TO b");
            // At most one of the three can have passed.
            assertThat(Cluster.within(Cluster.LIMIT, () -> anyIs("JOINER"))).isTrue();
            assertThat(Cluster.within(
                            Cluster.LIMIT,
                            () -> LosingDefinitions.keptInVain(cluster) == before + 3 || !anyIs("JOINER")))
                    .isTrue();
            chosen = LosingDefinitions.keptInVain(cluster) == before + 3;
            if (chosen) {
                trust(2);
            }
            cluster.assertConverged();
        }
        assertThat(chosen).as("all waited").isTrue();
        for (int n = 1; n <= 3; n++) {
            assertThat(schema.definition(n)).as("n%d", n).contains("`b`");
            assertThat(cluster.mysql(n).queryLong("SELECT b FROM d.t WHERE id = 2"))
                    .as("the chosen server's own")
                    .isEqualTo(value + 1);
            assertThat(cluster.mysql(n).queryLong("SELECT COUNT(*) FROM d.still"))
                    .isEqualTo(2 + 3 * MANY);
        }
    }

    private static boolean anyIs(String state) {
        return cluster.servers().stream().anyMatch(n -> cluster.state(n).equals(state));
    }

    private static List<Long> allDefineOneTable(String change) throws Exception {
        schema.begin(List.of(
                "CREATE TABLE t (id INT PRIMARY KEY, gone VARCHAR(20), a INT, CONSTRAINT c CHECK (a < 10000))"));
        for (int n = 1; n <= 3; n++) {
            // Otherwise rows that are captured after the definition conflict with all others of the table.
            schema.run(n, List.of("INSERT INTO t VALUES (" + n + ", 'gone', " + n + ")"));
        }
        cluster.assertConverged();
        List<Long> untouched = schema.untouched();
        value += 10;
        LosingDefinitions.runOnOne(cluster, MANY, value, change);
        return untouched;
    }

    private static List<Long> allLoseADefinition(IntFunction<List<String>> more) throws Exception {
        List<String> setUp = new ArrayList<>(List.of(T));
        for (int n = 1; n <= 3; n++) {
            setUp.add("CREATE TABLE t" + n + " (id INT, a INT)");
            setUp.add("INSERT INTO t" + n + " VALUES (1, 1), (2, 2), (3, 3)");
        }
        schema.begin(setUp);
        List<Long> untouched = schema.untouched();
        // No two servers number rows alike that have no key, so it is void whatever comes before it.
        LosingDefinitions.runOnEach(cluster, BETWEEN, "ADD n INT AUTO_INCREMENT PRIMARY KEY", more);
        return untouched;
    }

    private static void oneLosesItsRowsAndWrites() throws Exception {
        schema.begin(List.of(T, "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)"));
        cluster.mysql(1).execute("SET SESSION sql_log_bin = 0", "DELETE FROM d.t");
        cluster.mysql(1).execute("INSERT INTO d.t VALUES (2, 20)");
        cluster.awaitState(2, "JOINER");
        cluster.awaitState(3, "JOINER");
    }

    private static void trust(int node) throws Exception {
        // Before it can be chosen, what its clients have committed must be ordered.
        Definitions.untilDone(() -> cluster.post(node, "/actuator/heal", "{\"trust\": true, \"tables\": \"d.t\"}"));
    }
}
