// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.cli.CertificateAuthority;
import io.quorate.sandbox.Sandbox.Part;
import io.quorate.sandbox.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Members come, go, are replaced and restarted one after the other, while clients write; at last most are lost. */
@Timeout(900)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class MembersIT {
    @TempDir
    private static Path sql;

    private static Cluster cluster;

    /** An old server with tables, and two new ones, in one of which somebody has made a database. */
    @BeforeAll
    static void start() throws Exception {
        List<String> first = new ArrayList<>();
        for (String statement : List.of(
                "CREATE DATABASE IF NOT EXISTS old",
                "CREATE TABLE IF NOT EXISTS old.t (id INT PRIMARY KEY) SELECT 7 AS id")) {
            first.add("SET @first = IF(@@server_id = 1, '" + statement + "', 'DO 0');");
            first.addAll(List.of("PREPARE first FROM @first;", "EXECUTE first;"));
        }
        first.add("SET @second = IF(@@server_id = 2, 'CREATE DATABASE IF NOT EXISTS of_two', 'DO 0');");
        first.addAll(List.of("PREPARE second FROM @second;", "EXECUTE second;"));
        Path file = Files.write(sql.resolve("first.sql"), first);
        Map<String, String> set = new HashMap<>(Cluster.TLS);
        set.put("mysql.init-file", file.toString());
        cluster = Cluster.create(3, set);
        cluster.start();
        // A server that comes later is a new one, also where it is called n1.
        Files.writeString(file, "DO 0;");
        for (int node : cluster.numbers()) {
            assertThat(cluster.mysql(node).queryOne("SELECT id FROM old.t")).isEqualTo("7");
            assertThat(cluster.mysql(node).query("SHOW DATABASES LIKE 'of_two'"))
                    .isEmpty();
        }
        cluster.mysql(1)
                .execute(
                        "CREATE DATABASE load_test",
                        Load.TABLE,
                        "CREATE TABLE load_test.steady (node INT, n INT, PRIMARY KEY (node, n))");
        cluster.assertConverged();
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    private static int leader() throws InterruptedException {
        int[] leader = new int[1];
        assertThat(Cluster.within(Cluster.LIMIT, () -> {
                    leader[0] = cluster.numbers().stream()
                            .mapToInt(cluster::leader)
                            .filter(n -> cluster.numbers().contains(n))
                            .findFirst()
                            .orElse(0);
                    return leader[0] > 0;
                }))
                .as("somebody leads")
                .isTrue();
        return leader[0];
    }

    @Test
    @Order(1)
    void aFourthComesAndTheLeaderGoesUnderLoad() throws Exception {
        long seed = System.nanoTime();
        Map<Integer, Integer> acknowledged;
        try (Load load = Load.inBackground(cluster, seed, 1, 2, 3)) {
            load.goesOn(10, 1, 2, 3);
            cluster.add();
            assertThat(cluster.numbers()).containsExactly(1, 2, 3, 4);
            assertThat(cluster.http(1, "/actuator/members")).contains("n4");
            load.goesOn(10, 1, 2, 3);
            acknowledged = load.stop();
        }
        Load.assertNothingLost(cluster, acknowledged, seed);
        int leader = leader();
        cluster.remove("n" + leader);
        assertThat(leader()).isNotEqualTo(leader);
        // Who is gone for good is not missed, though the others' configuration still has it.
        assertThat(cluster.http(leader(), "/actuator/cluster")).doesNotContain("UNREACHABLE");
        // Votes on definitions don't wait for who is gone.
        awaitVoters(3);
        // One of that name comes again, with nothing of what the other one had.
        cluster.add();
        Load.assertNothingLost(cluster, acknowledged, seed);
        assertThat(cluster.http(leader(), "/actuator/members")).contains("\"generation\":2");
        cluster.remove("n4");
        awaitVoters(3);
        cluster.assertConverged();
    }

    private static void awaitVoters(int count) throws InterruptedException {
        for (int node : cluster.numbers()) {
            assertThat(Cluster.within(Cluster.LIMIT, () -> voters(node) == count))
                    .as("n%d counts %d voters instead of %d", node, voters(node), count)
                    .isTrue();
        }
    }

    private static int voters(int node) {
        return (int) cluster.metric(node, "quorate_certification_voters");
    }

    @Test
    @Tag("long")
    @Order(2)
    void aNodeThatLostItsDirectoryIsReplacedUnderItsName() throws Exception {
        cluster.mysql(1).execute("INSERT INTO load_test.steady VALUES (100, 1)");
        cluster.assertConverged();
        // The leader of all nodes.
        int lost = leader();
        int other = lost % 3 + 1;
        int before = generation("n" + lost, other);
        cluster.kill(lost, Part.SERVICE);
        // Written while no service looks: it must not be lost with the directory.
        cluster.mysql(lost).execute("INSERT INTO load_test.steady VALUES (100, 2)");
        cluster.mysql(other).execute("INSERT INTO load_test.steady VALUES (100, 3)");
        deleteTree(cluster.node(lost).serviceLog().resolveSibling("quorate"));
        assertThat(cluster.restart(lost)).isTrue();
        cluster.awaitQuery(other, "SELECT COUNT(*) FROM load_test.steady WHERE node = 100", "3");
        cluster.assertConverged();
        assertThat(generation("n" + lost, other)).isEqualTo(before + 1);
    }

    private static int generation(String name, int asked) throws IOException, InterruptedException {
        for (JsonNode member : JsonMapper.shared()
                .readTree(cluster.http(asked, "/actuator/members"))
                .path("members")) {
            if (member.path("name").asString().equals(name)) {
                return member.path("generation").asInt();
            }
        }
        return 0;
    }

    /** One that forgot what it acknowledged must not help the others to forget it, too, before they have met. */
    @Test
    @Tag("long")
    @Order(3)
    void aNodeThatLostItsDirectoryWhileAllWereDownWaitsToBeReplaced() throws Exception {
        int before = generation("n3", 1);
        cluster.mysql(3).execute("INSERT INTO load_test.steady VALUES (100, 4)");
        cluster.assertConverged();
        cluster.killAll();
        deleteTree(cluster.node(3).serviceLog().resolveSibling("quorate"));
        cluster.startAgain();
        cluster.assertConverged();
        assertThat(generation("n3", 1)).isEqualTo(before + 1);
    }

    /** Nobody could tell what of the cluster's data its tables have. */
    @Test
    @Tag("long")
    @Order(4)
    void aServerOfUnknownContentIsRefused() throws Exception {
        cluster.kill(3, Part.SERVICE);
        deleteTree(cluster.node(3).serviceLog().resolveSibling("quorate"));
        cluster.mysql(3).execute("SET SESSION sql_log_bin = 0", "DROP DATABASE quorate");
        assertThatThrownBy(() -> cluster.restart(3))
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining("QRT-3010");
        // As a supervisor would: what the others heard of the directory meanwhile doesn't make it a member's.
        cluster.kill(3, Part.SERVICE);
        assertThatThrownBy(() -> cluster.restart(3))
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining("QRT-3010");
        cluster.remove("n3");
        cluster.add();
        cluster.assertConverged();
    }

    /**
     * All nodes get new certificates, then all services are restarted, one after the other, so that the others connect
     * again; then each leads. Not one write is refused or lost.
     */
    @Test
    @Tag("long")
    @Order(5)
    void neitherNewCertificatesNorARollingRestartNorALeaderThatIsChosenRefusesAWrite() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger written = new AtomicInteger();
        SQLException[] refused = new SQLException[1];
        Thread[] writers = new Thread[3];
        for (int i = 0; i < 3; i++) {
            int node = i + 1;
            writers[i] = new Thread(() -> writeSteadily(node, stop, written, refused));
            writers[i].start();
        }
        renewCertificates();
        for (int node = 1; node <= 3; node++) {
            cluster.stopService(node);
            assertThat(cluster.restart(node)).isTrue();
        }
        for (int node = 1; node <= 3; node++) {
            assertLeadsWhenAsked(node);
        }
        int before = written.get();
        Cluster.within(Cluster.LIMIT, () -> written.get() > before + 60 || refused[0] != null);
        stop.set(true);
        for (Thread writer : writers) {
            writer.join(60_000);
        }
        assertThat((Throwable) refused[0]).as("a refused write").isNull();
        cluster.assertConverged();
        assertThat(cluster.mysql(1).queryLong("SELECT COUNT(*) FROM load_test.steady WHERE node <= 3"))
                .isEqualTo(written.get());
    }

    /** With one node's key, as far as it goes beyond what a client with all rights can do anyway. */
    @Test
    @Order(6)
    void aMembersKeyReadsNoAccountsAndHoldsNobodyUp(@TempDir Path directory) throws Exception {
        cluster.kill(3, Part.SERVICE);
        try (MemberKey key = MemberKey.of(cluster, 3, directory)) {
            String user = "{\"table\":{\"schema\":\"mysql\",\"name\":\"user\"},";
            assertThat(key.ask(1, "audit.next", user + "\"from\":null}")).contains("it was dropped meanwhile");
            assertThat(key.ask(1, "audit.rows", user + "\"stretch\":{\"from\":null,\"to\":null},\"after\":0}"))
                    .contains("has no table mysql.user");
            assertThat(key.ask(
                            1,
                            "copy.rows-of-tables",
                            "{\"after\":0,\"tables\":[{\"schema\":\"mysql\"," + "\"table\":\"user\"}]}"))
                    .contains("gives tables of users alone");
            // n3 may have led, so n1 has no majority for a moment.
            String[] answer = new String[1];
            assertThat(Cluster.within(Cluster.LIMIT, () -> {
                        answer[0] = key.ask(1, "definition.fence", "{\"after\":1000000000000000}");
                        return answer[0].contains("doesn't know of 1000000000000000 definitions");
                    }))
                    .as(answer[0])
                    .isTrue();
            try (Connection app = cluster.app(1);
                    Statement client = app.createStatement()) {
                Cluster.executeWhenWritable(client, "INSERT INTO load_test.steady VALUES (200, 1)");
                assertThat(cluster.post(1, "/actuator/members", "{\"action\":\"leave\",\"member\":\"n2\"}"))
                        .contains("\"done\":false", "without n2 NOBODY COULD WRITE");
                client.execute("INSERT INTO load_test.steady VALUES (200, 2)");
            }
        }
        assertThat(cluster.restart(3)).isTrue();
        cluster.assertConverged();
    }

    /** The majority is lost, and one node goes on alone. */
    @Test
    @Order(7)
    void aSurvivorGoesOnAloneWithAllItHasAndTheOthersJoinIt() throws Exception {
        cluster.mysql(1).execute("CREATE TABLE load_test.t (id INT PRIMARY KEY)", "DELETE FROM load_test.ledger");
        cluster.assertConverged();
        assertThat(askToForce(1)).contains("there is a majority");
        long seed = System.nanoTime();
        Map<Integer, Integer> acknowledged;
        try (Load load = Load.inBackground(cluster, seed, 1)) {
            load.goesOn(20, 1);
            cluster.kill(2, Part.BOTH);
            cluster.kill(3, Part.BOTH);
            cluster.awaitState(1, "NON_PRIMARY");
            acknowledged = load.stop();
        }
        assertThat(Cluster.within(Cluster.LIMIT, () -> recovery().contains("\"present\":[]")))
                .isTrue();
        assertThat(recovery()).contains("\"majority\":false").contains("\"name\":\"n2\"");
        assertThat(cluster.post(1, "/actuator/recovery", "{\"action\":\"force\",\"cluster\":\"other\"}"))
                .contains("\"done\":false");
        force(1);
        assertThat(askToForce(1)).as("it is alone already").contains("nothing has to be forced");
        cluster.awaitState(1, "SYNCED");
        cluster.mysql(1).execute("INSERT INTO load_test.t VALUES (1)");
        assertThat(cluster.post(1, "/actuator/drain", "{}"))
                .contains("\"done\":false", "without the server of n1 NOBODY COULD WRITE");
        cluster.startAgain();
        cluster.mysql(3).execute("INSERT INTO load_test.t VALUES (2)");
        Load.assertNothingLost(cluster, acknowledged, seed);
        for (int n = 1; n <= 3; n++) {
            assertThat(cluster.mysql(n).queryLong("SELECT COUNT(*) FROM load_test.t"))
                    .isEqualTo(2);
        }
        // A majority of the three is one again.
        cluster.kill(1, Part.BOTH);
        cluster.awaitQuery(2, "SELECT @@read_only", "0");
        cluster.mysql(2).execute("INSERT INTO load_test.t VALUES (3)");
        cluster.awaitQuery(3, "SELECT COUNT(*) FROM load_test.t", "3");
    }

    /** The first has missed the third row, which the others have ordered. */
    @Test
    @Tag("long")
    @Order(8)
    void aNodeWithAHistoryOfItsOwnIsNotLetIn() throws Exception {
        cluster.kill(2, Part.BOTH);
        cluster.kill(3, Part.BOTH);
        assertThat(cluster.restart(1)).as("it has no majority").isFalse();
        force(1);
        cluster.awaitState(1, "SYNCED");
        cluster.awaitQuery(1, "SELECT @@read_only", "0");
        for (int id = 10; id < 20; id++) {
            cluster.mysql(1).execute("INSERT INTO load_test.t VALUES (" + id + ")");
        }
        assertThatThrownBy(() -> cluster.restart(2))
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining("QRT-3010")
                .hasMessageContaining("history of its own");
        // And it stays out.
        Thread.sleep(2000);
        assertThat(cluster.state(2)).isEqualTo("LEFT");
        assertThat(cluster.mysql(2).queryOne("SELECT @@read_only")).isEqualTo("1");
        assertThat(cluster.mysql(1).queryLong("SELECT COUNT(*) FROM load_test.t WHERE id = 3"))
                .isZero();
    }

    private static String recovery() {
        try {
            return cluster.http(1, "/actuator/recovery");
        } catch (IOException e) {
            return e.toString();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "interrupted";
        }
    }

    private static String askToForce(int node) throws Exception {
        return cluster.post(
                node, "/actuator/recovery", "{\"action\":\"force\",\"cluster\":\"" + cluster.name() + "\"}");
    }

    private static void force(int node) throws Exception {
        assertThat(askToForce(node)).contains("\"done\":true");
    }

    /** The services take them while they run. */
    private static void renewCertificates() throws IOException, InterruptedException {
        Duration validity = Duration.ofDays(5);
        CertificateAuthority authority =
                CertificateAuthority.open(cluster.directory(1).resolveSibling("certs"), Clock.systemUTC());
        for (int node = 1; node <= 3; node++) {
            authority.renew("n" + node, validity);
        }
        for (int node = 1; node <= 3; node++) {
            int each = node;
            assertThat(Cluster.within(Cluster.LIMIT, () -> {
                        double expires = cluster.metric(each, "quorate_tls_expires_seconds");
                        return expires > 0 && expires <= validity.toSeconds();
                    }))
                    .as("n%d has its new certificate", node)
                    .isTrue();
        }
    }

    /** It says so to another node, and again if it wasn't level with the leader just then. */
    private static void assertLeadsWhenAsked(int heir) throws Exception {
        int asked = heir % 3 + 1;
        String wish = "{\"action\": \"lead\", \"member\": \"n" + heir + "\"}";
        for (long began = System.nanoTime(); cluster.leader(asked) != heir; ) {
            assertThat(System.nanoTime() - began)
                    .as("n%d leads within %s", heir, Cluster.LIMIT)
                    .isLessThan(Cluster.LIMIT.toNanos());
            cluster.post(asked, "/actuator/members", wish);
        }
    }

    private static void writeSteadily(int node, AtomicBoolean stop, AtomicInteger written, SQLException[] refused) {
        try (Connection connection = cluster.app(node);
                PreparedStatement insert = connection.prepareStatement("INSERT INTO load_test.steady VALUES (?, ?)")) {
            for (int n = 0; !stop.get(); n++) {
                insert.setInt(1, node);
                insert.setInt(2, n);
                insert.executeUpdate();
                written.incrementAndGet();
                Thread.sleep(50);
            }
        } catch (SQLException e) {
            refused[0] = e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void deleteTree(Path tree) throws IOException {
        try (Stream<Path> files = Files.walk(tree)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
