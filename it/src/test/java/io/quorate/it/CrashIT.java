// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.Sandbox.Part;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** SIGKILL at moments drawn by a seed, under load on all nodes; then everything must be there, once, and equal. */
@Tag("long")
@Timeout(900)
class CrashIT {
    private static Cluster cluster;

    @BeforeAll
    static void start() throws Exception {
        cluster = Cluster.start(3, Map.of());
        cluster.mysql(1).execute("CREATE DATABASE load_test", Load.TABLE);
        cluster.assertConverged();
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    static Stream<Arguments> killed() {
        return Stream.of(
                Arguments.of(1, Part.SERVICE),
                Arguments.of(3, Part.MYSQLD),
                Arguments.of(2, Part.BOTH),
                Arguments.of(2, Part.SERVICE),
                Arguments.of(1, Part.MYSQLD));
    }

    @ParameterizedTest
    @MethodSource("killed")
    void losesAndDoublesNothingWhenKilled(int node, Part part) throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        cluster.mysql(1).execute("DELETE FROM load_test.ledger");
        cluster.assertConverged();
        Map<Integer, Integer> acknowledged;
        try (Load load = new Load(cluster, seed, 1, 2, 3)) {
            load.goesOn(10, 1, 2, 3);
            Thread.sleep(random.nextInt(1500));
            cluster.kill(node, part);
            int other = node % 3 + 1;
            // Those go on without it.
            cluster.awaitOrdered(other, cluster.lastOrdered(other) + 50);
            Thread.sleep(random.nextInt(1500));
            assertThat(cluster.restart(node)).isTrue();
            load.goesOn(10, 1, 2, 3);
            acknowledged = load.stop();
        }
        assertThat(acknowledged.values()).as("everybody wrote").allMatch(n -> n > 5);
        Load.assertNothingLost(cluster, acknowledged, seed);
    }

    @Test
    void orderedXaIsDecidedByTheClientAlsoAcrossCrashes() throws Exception {
        cluster.mysql(1)
                .execute("CREATE TABLE IF NOT EXISTS load_test.xa (id INT PRIMARY KEY)", "DELETE FROM load_test.xa");
        prepare("'kept'", 1);
        prepare("'dropped'", 2);
        prepare("'decided while away'", 3);
        cluster.mysql(1).execute("INSERT INTO load_test.xa VALUES (10)");
        cluster.awaitQuery(2, "SELECT COUNT(*) FROM load_test.xa WHERE id = 10", "1");
        assertThat(cluster.mysql(2).queryLong("SELECT COUNT(*) FROM load_test.xa WHERE id < 10"))
                .as("prepared is not ordered")
                .isZero();
        cluster.kill(1, Part.SERVICE);
        cluster.mysql(1).execute("XA COMMIT 'decided while away'");
        cluster.restart(1);
        cluster.kill(1, Part.MYSQLD);
        cluster.restart(1);
        cluster.mysql(1).execute("XA COMMIT 'kept'", "XA ROLLBACK 'dropped'", "INSERT INTO load_test.xa VALUES (11)");
        cluster.awaitQuery(3, "SELECT GROUP_CONCAT(id ORDER BY id) FROM load_test.xa", "1,3,10,11");
        cluster.assertConverged();
    }

    private static int nodeOf(String server) {
        return cluster.servers().stream()
                .filter(node -> cluster.mysql(node).uuid().equals(server))
                .findFirst()
                .orElseThrow();
    }

    /** The UUIDs of those servers of these nodes whose event scheduler is on. */
    private static List<String> runEvents(List<Integer> nodes) {
        return nodes.stream()
                .filter(node ->
                        cluster.mysql(node).queryOne("SELECT @@event_scheduler").equals("ON"))
                .map(node -> cluster.mysql(node).uuid())
                .toList();
    }

    /** Otherwise each of the three would do what an event does, and an event that has run would be dropped by all. */
    @Test
    void anEventRunsOnOneServerAndAnotherOneTakesOver() throws Exception {
        cluster.mysql(2)
                .execute(
                        "CREATE TABLE load_test.ran"
                                + " (id BIGINT AUTO_INCREMENT PRIMARY KEY, what CHAR(4), server CHAR(36))",
                        "CREATE EVENT load_test.each ON SCHEDULE EVERY 1 SECOND DO"
                                + " INSERT INTO load_test.ran (what, server) VALUES ('each', @@server_uuid)",
                        "CREATE EVENT load_test.once ON SCHEDULE AT NOW() + INTERVAL 2 SECOND DO"
                                + " INSERT INTO load_test.ran (what, server) VALUES ('once', @@server_uuid)");
        String ran = "SELECT COUNT(*) >= 3 FROM load_test.ran WHERE what = 'each' AND server = '%s'";
        String runs = "SELECT GROUP_CONCAT(DISTINCT server) FROM load_test.ran";
        cluster.awaitQuery(1, "SELECT COUNT(*) FROM load_test.ran WHERE what = 'once'", "1");
        String first = cluster.mysql(1).queryOne(runs);
        cluster.awaitQuery(1, ran.formatted(first), "1");
        assertThat(cluster.mysql(1).queryOne(runs)).as("one server").isEqualTo(first);
        for (int node : cluster.servers()) {
            cluster.awaitQuery(
                    node,
                    "SELECT GROUP_CONCAT(EVENT_NAME, STATUS) FROM information_schema.EVENTS"
                            + " WHERE EVENT_SCHEMA = 'load_test'",
                    "eachENABLED");
        }
        int runner = nodeOf(first);
        assertThat(cluster.http(1, "/actuator/members"))
                .containsOnlyOnce("\"runsEvents\":true")
                .contains("\"runsEvents\":false");

        cluster.kill(runner, Part.BOTH);
        int other = runner % 3 + 1;
        // Where one node takes over from another that is gone, both of the others may run an event before they agree.
        cluster.awaitQuery(other, "SELECT COUNT(DISTINCT server) > 1 FROM load_test.ran", "1");
        List<Integer> left =
                cluster.servers().stream().filter(node -> node != runner).toList();
        assertThat(Cluster.within(Duration.ofSeconds(30), () -> runEvents(left).size() == 1))
                .as("one of the others runs events")
                .isTrue();
        String second = runEvents(left).get(0);
        assertThat(cluster.restart(runner)).isTrue();
        cluster.awaitQuery(runner, "SELECT @@event_scheduler", "OFF");
        for (int node : cluster.servers()) {
            assertThat(cluster.mysql(node)
                            .queryOne("SELECT VARIABLE_VALUE FROM performance_schema.persisted_variables"
                                    + " WHERE VARIABLE_NAME = 'event_scheduler'"))
                    .as("what mysqld of n%d starts with", node)
                    .isEqualTo("OFF");
        }
        cluster.mysql(runner).execute("DROP EVENT load_test.each");
        cluster.assertConverged(runner);
        assertThat(runEvents(cluster.servers())).as("it stays where it is").containsExactly(second);
        for (int node : cluster.servers()) {
            assertThat(cluster.http(node, "/actuator/conflicts"))
                    .as("n%d", node)
                    .doesNotContain("EVENT");
        }

        int taken = nodeOf(second);
        cluster.mysql(taken).execute("SET GLOBAL event_scheduler = OFF");
        int next = cluster.servers().stream()
                .filter(node -> node != taken)
                .findFirst()
                .orElseThrow();
        cluster.awaitQuery(next, "SELECT @@event_scheduler", "ON");
        assertThat(cluster.mysql(taken).queryOne("SELECT @@event_scheduler"))
                .as("somebody has switched it off")
                .isEqualTo("OFF");
        cluster.mysql(taken).execute("SET GLOBAL event_scheduler = ON");
        cluster.awaitQuery(Math.max(taken, next), "SELECT @@event_scheduler", "OFF");
    }

    private static void prepare(String xid, int id) throws SQLException {
        // On its own connection, which leaves the prepared transaction behind.
        try (var connection = cluster.mysql(1).connect();
                Statement statement = connection.createStatement()) {
            statement.execute("XA START " + xid);
            statement.execute("INSERT INTO load_test.xa VALUES (" + id + ")");
            statement.execute("XA END " + xid);
            statement.execute("XA PREPARE " + xid);
        }
    }

    /** A server starts closed for clients, and nothing that is applied shows that it is another one. */
    @Test
    void aServerThatIsBackBeforeItsServiceLooksIsOpenedAgain() throws Exception {
        cluster.assertConverged();
        cluster.pause(2);
        try {
            cluster.kill(2, Part.MYSQLD);
            cluster.bringUp(2);
            cluster.awaitQuery(2, "SELECT @@read_only", "1");
        } finally {
            cluster.goOn(2);
        }
        cluster.awaitQuery(2, "SELECT @@read_only", "0");
        cluster.assertConverged();
    }

    @Test
    void refusesToOrderWithoutAMajorityAndComesBackWithIt() throws Exception {
        cluster.mysql(1).execute("CREATE TABLE IF NOT EXISTS load_test.alone (id INT PRIMARY KEY)");
        cluster.assertConverged();
        cluster.kill(2, Part.BOTH);
        cluster.kill(3, Part.BOTH);
        long start = System.nanoTime();
        cluster.awaitState(1, "NON_PRIMARY");
        System.out.println("NON_PRIMARY after " + Duration.ofNanos(System.nanoTime() - start));
        assertThat(cluster.reason(1)).contains("QRT-3003");
        cluster.awaitQuery(1, "SELECT @@read_only", "1");
        long ordered = cluster.lastOrdered(1);
        // root passes read_only; what it writes now waits until there is a majority again.
        cluster.mysql(1).execute("INSERT INTO load_test.alone VALUES (1)");
        assertThat(Cluster.within(Duration.ofSeconds(2), () -> cluster.lastOrdered(1) > ordered))
                .as("nothing is ordered alone")
                .isFalse();
        cluster.restart(2);
        cluster.awaitQuery(2, "SELECT COUNT(*) FROM load_test.alone", "1");
        cluster.restart(3);
        cluster.awaitState(1, "SYNCED");
        cluster.awaitQuery(1, "SELECT @@read_only", "0");
        cluster.assertConverged();
    }
}
